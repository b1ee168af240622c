//! Answers: their words, the variant that answers, failed controls and values.

use super::*;
use crate::judge::samples;
use crate::model::case::{Library, Outcome};
use crate::model::known::KnownAs;
use crate::model::reason::Finding;
use crate::model::record::{About, Footer, Header, Verdict};
use crate::model::spec::Requirement;
use crate::model::verdict::VerdictKind;
use crate::report::{Source, tests};

/// A test of a row, its kind of verdict, and the `short` of its known failure.
type Seen<'s> = (&'s str, VerdictKind, Option<&'s str>);

/// The answers to one question about these targets.
fn asked(targets: &[(&str, &[Seen<'_>])], shows: Option<Value>) -> CapabilityRow {
    let requirement = samples::requirement("r", Level::Must);
    let requirement = Requirement { short: Some("what happens".to_owned()), harm: Harm::DataLoss, ..requirement };
    let capability = Capability {
        id: "q".to_owned(),
        question: "Is it so?".to_owned(),
        is_first: true,
        right_is_yes: true,
        absent: None,
        shows: shows.map(|value| Shown { test: "f/c/value@2026-07-28".to_owned(), value }),
        unasked: None,
        since: None,
        decided_by: vec![Decider { requirement: requirement.id.clone(), tests: vec!["f/c".to_owned()], short: None }],
    };
    let group = CapabilityGroup {
        id: "g".to_owned(),
        title: "G".to_owned(),
        role: Role::Server,
        capabilities: vec![capability],
    };
    let record = |target: &str, (name, kind, short): &Seen<'_>| {
        let known = short.map(|short| KnownAs { short: Some(short.to_owned()), ..tests::stale().known });
        let excuses = known.is_some().then_some(VerdictKind::Fail);
        let mut verdict = Verdict { excuses, known, ..tests::verdict(*kind) };
        if *kind == VerdictKind::NotAsked {
            verdict.detail = vec![Finding::ControlFailed { control: "f/control/t".to_owned() }.into()];
        }
        let mut record = samples::record(0, &format!("f/{name}@2026-07-28+http"), Outcome::Success);
        record.observation.steps[0].structured = Some(serde_json::json!({ "result": [1] }).into());
        (record.target, record.verdicts) = (target.parse().expect("a name"), vec![verdict]);
        record
    };
    let records: Vec<_> = targets.iter().flat_map(|(name, seen)| seen.iter().map(|one| record(name, one))).collect();
    let about = |name: &&str| About {
        target: name.parse().expect("a name"),
        title: String::new(),
        language: None,
        api: name.split(':').nth(1).map(|variant| format!("Api({variant})")),
        by_hand: BTreeMap::new(),
        version: Some("pkg 1.0".to_owned()),
        date: None,
        dependencies: BTreeMap::new(),
        unverified: None,
        ad_hoc: false,
        pair: None,
        planned: 1,
    };
    let names: Vec<_> = targets.iter().map(|(name, _)| *name).collect();
    let header = Header {
        targets: names.iter().map(|name| name.parse().expect("a name")).collect(),
        about: names.iter().map(about).collect(),
        ..tests::header(records.len())
    };
    let roles = records.iter().map(|record| (record.test.case.clone(), Role::Server)).collect();
    let context = ReportContext {
        catalogue: [(requirement.id.clone(), requirement)].into(),
        capabilities: vec![group],
        roles,
        ..ReportContext::of(&Library::default())
    };
    let footer = Some(Footer { ran: records.len(), ..tests::footer() });
    let source = Source { records, footer, ..Source::begun("run.jsonl", &header) };
    Report::new(&[source], &context).capabilities.remove(0).capabilities.remove(0)
}

fn told(row: &CapabilityRow) -> Vec<(Answer, &str)> {
    row.answers.iter().map(|cell| (cell.answer, cell.words.as_str())).collect()
}

#[test]
fn answer_has_the_words_of_the_most_common_reason() {
    use VerdictKind::{Author, Cannot, Fail, Inconclusive, Known, Pass};
    let slow = Some("it is slow");
    for (seen, answer) in [
        (&[("c/a", Pass, None), ("c/b", Pass, None)][..], (Answer::Right, "yes")),
        (&[("c/a", Pass, None), ("c/b", Fail, None)], (Answer::Partly, "what happens")),
        (&[("c/a", Known, slow), ("c/b", Fail, None), ("c/d", Pass, None)], (Answer::Wrong, "it is slow")),
        (&[("c/a", Fail, None), ("c/b", Known, slow), ("c/d", Known, slow)], (Answer::Wrong, "it is slow")),
        (&[("c/a", Author, slow), ("c/b", Cannot, None)], (Answer::Author, "it is slow")),
        (&[("c/a", Cannot, None)], (Answer::Absent, "not with this API")),
        (&[("c/a", Pass, None), ("c/b", Cannot, None), ("c/d", Cannot, None)], (Answer::Absent, "not with this API")),
        (&[("c/a", Inconclusive, None)], (Answer::NotTested, "not decided")),
    ] {
        assert_eq!(told(&asked(&[("sdk", seen)], None)), [answer], "{seen:?}");
    }
}

#[test]
fn failed_control_tells_why_nothing_was_asked() {
    let seen = [("control/t", VerdictKind::Known, Some("checks nothing")), ("c/a", VerdictKind::NotAsked, None)];
    assert_eq!(told(&asked(&[("sdk", &seen)], None)), [(Answer::Wrong, "checks nothing")]);
    // A few checks that hold beside many that were not asked are no answer.
    let seen = [seen[0], seen[1], ("c/b", VerdictKind::NotAsked, None), ("c/d", VerdictKind::Pass, None)];
    assert_eq!(told(&asked(&[("sdk", &seen)], None)), [(Answer::Wrong, "checks nothing")]);
}

#[test]
fn rare_exception_is_named_beside_the_right_answer() {
    let names: Vec<_> = (10..30).map(|number| format!("c/t{number}")).collect();
    let kind = |at| if at == 0 { VerdictKind::Fail } else { VerdictKind::Pass };
    let mut seen: Vec<_> = names.iter().enumerate().map(|(at, name)| (name.as_str(), kind(at), None)).collect();
    assert_eq!(told(&asked(&[("sdk", &seen)], None)), [(Answer::Nearly, "what happens")]);
    seen.pop();
    assert_eq!(told(&asked(&[("sdk", &seen)], None)), [(Answer::Partly, "what happens")]);
}

#[test]
fn variant_answers_where_the_first_cannot_and_warns_where_it_harms() {
    use VerdictKind::{Cannot, Fail, Pass};
    let row = asked(&[("sdk:high", &[("c/a", Cannot, None)]), ("sdk:low", &[("c/a", Pass, None)])], None);
    assert_eq!(told(&row), [(Answer::Partly, "works only with Api(low)"), (Answer::Right, "yes")]);
    assert_eq!(row.answers[0].by.as_deref(), Some("Api(low)"));
    let row = asked(&[("sdk:high", &[("c/a", Pass, None)]), ("sdk:low", &[("c/a", Fail, None)])], None);
    assert_eq!(told(&row)[0], (Answer::Partly, "fails with Api(low)"));
}

#[test]
fn value_is_the_answer_if_it_is_another_one() {
    let seen = [("c/value", VerdictKind::Pass, None)];
    let told_of = |value| told(&asked(&[("sdk", &seen)], Some(value)))[0].1.to_owned();
    assert_eq!(told_of(serde_json::json!({ "result": [1] })), "yes");
    assert_eq!(told_of(serde_json::json!([1])), r#"{"result":[1]}"#);
}
