//! Expectations, controls and known failures, judged over observations made by hand.

use serde_json::json;

use super::*;
use crate::fuzz;
use crate::jsonrpc::nesting;
use crate::judge::samples::{self, call, check, id, observation, requirement, step, target};
use crate::load::{Source, load};
use crate::model::RequirementId;
use crate::model::callable::Callable;
use crate::model::case::{Expectation, Flaw, Matcher, Outcome, TextState, Then};
use crate::model::observation::{Observed, Relayed, StepObservation};
use crate::model::pair::{MessagePlaces, RequestState};
use crate::model::spec::Revisions;
use crate::model::target::{Claims, Known, LeftToAuthor, Setup, TargetKind};
use crate::model::transcript::Party;

fn catalogue(requirements: &[(&str, Level)]) -> Catalogue {
    let all = requirements.iter().map(|(name, level)| requirement(name, *level));
    all.map(|requirement| (requirement.id.clone(), requirement)).collect()
}

fn wants(outcome: Outcome) -> Expectation {
    Expectation { outcome: vec![outcome], ..Expectation::default() }
}

fn test(requirement: &str, alternatives: Vec<Expectation>) -> Test {
    samples::test(&[], vec![(call("t"), check(requirement, alternatives))])
}

fn target_with(known: &[(&str, &str)]) -> Target {
    let known = known.iter().map(|(pattern, requirement)| Known {
        short: None,
        test: pattern.parse().expect("a pattern"),
        requirement: RequirementId::within("f", requirement),
        reason: "it is so".into(),
        issue: None,
        repro: None,
        is_shared: false,
    });
    Target {
        id: target(),
        title: String::new(),
        file: None,
        folder: "t".into(),
        setup: Setup::default(),
        callable: Callable::default(),
        drives: TargetKind::Adapter(Vec::new()),
        env: BTreeMap::new(),
        secrets: Vec::new(),
        announced: Claims::default(),
        claims: Claims::default(),
        known: known.collect(),
        repro: Vec::new(),
        author: Vec::new(),
        snapshots: None,
        language: None,
        api: None,
        by_hand: BTreeMap::new(),
        unverified: None,
        needs: Vec::new(),
        package: None,
        survey: None,
    }
}

/// The verdicts of a test that expects a success and ends with this outcome.
fn verdict_kinds(level: Level, outcome: Outcome) -> Vec<VerdictKind> {
    let catalogue = catalogue(&[("r", level)]);
    let test = test("r", vec![wants(Outcome::Success)]);
    let mut judge = Judge::new(&catalogue, &[]);
    kinds(&judge.judge(&target(), &test, &id("f/c/t@2026-07-28+http"), &observation(vec![step(outcome)])))
}

fn kinds(verdicts: &[Verdict]) -> Vec<VerdictKind> {
    verdicts.iter().map(|verdict| verdict.kind).collect()
}

#[test]
fn level_decides_the_verdict_of_a_violation() {
    use VerdictKind::{Fail, NotTaken, Note, Pass, Taken, Warn};
    let all = [
        (Level::Must, Pass, Fail),
        (Level::MustNot, Pass, Fail),
        (Level::Should, Pass, Warn),
        (Level::ShouldNot, Pass, Warn),
        (Level::May, Taken, NotTaken),
        (Level::Derived, Pass, Note),
    ];
    for (level, held, broken) in all {
        assert_eq!(verdict_kinds(level, Outcome::Success), [held], "{level}");
        assert_eq!(verdict_kinds(level, Outcome::ToolError), [broken], "{level}");
    }
}

#[test]
fn first_alternative_that_holds_is_named() {
    let catalogue = catalogue(&[("r", Level::Must), ("may", Level::May)]);
    let named = |name: &str, outcome| Expectation { name: Some(name.into()), ..wants(outcome) };
    let allowed_by = Some(RequirementId::within("f", "may"));
    let alternatives =
        vec![named("one", Outcome::Success), Expectation { allowed_by, ..named("two", Outcome::ToolError) }];
    let test = test("r", alternatives);
    let mut judge = Judge::new(&catalogue, &[]);
    let mut judged = |outcome| {
        judge.judge(&target(), &test, &id("f/c/t@2026-07-28+http"), &observation(vec![step(outcome)])).remove(0)
    };
    assert_eq!(
        (judged(Outcome::Success).kind, judged(Outcome::ToolError).kind),
        (VerdictKind::Pass, VerdictKind::Allowed)
    );
    let lines = |verdict: &Verdict| verdict.detail.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(lines(&judged(Outcome::ToolError)), ["two: allowed by f/may"]);
    let failed = judged(Outcome::Crash);
    assert_eq!(failed.kind, VerdictKind::Fail);
    assert_eq!(
        lines(&failed),
        ["one: outcome: expected success, observed crash", "two: outcome: expected tool-error, observed crash"]
    );
}

#[test]
fn check_is_judged_only_while_its_requirement_is_in_force() {
    let mut catalogue = catalogue(&[("r", Level::Must)]);
    let newest = Revision::newest();
    let rule = catalogue.values_mut().next().expect("one requirement");
    rule.revisions = Revisions { since: Some(newest), ..Revisions::default() };
    let test = test("r", vec![wants(Outcome::Success)]);
    let mut judge = Judge::new(&catalogue, &[]);
    let seen = observation(vec![step(Outcome::Success)]);
    assert!(judge.judge(&target(), &test, &id("f/c/t@2025-06-18+http"), &seen).is_empty());
    assert_eq!(judge.judge(&target(), &test, &id("f/c/t@2026-07-28+http"), &seen).len(), 1);
}

fn governed((level, control): (Level, Control), outcome: Outcome, row: &str) -> VerdictKind {
    let catalogue = catalogue(&[("ctl", level), ("r", Level::Must)]);
    let governor = Test {
        id: "ctl".into(),
        control: Some(control),
        row: Some("a".into()),
        ..test("ctl", vec![wants(Outcome::Success)])
    };
    let test = Test { row: Some(row.into()), ..test("r", vec![wants(Outcome::ToolError)]) };
    let mut judge = Judge::new(&catalogue, &[]);
    judge.judge(&target(), &governor, &id("f/c/ctl/a@2026-07-28+http"), &observation(vec![step(outcome)]));
    let id = id(&format!("f/c/t/{row}@2026-07-28+http"));
    judge.judge(&target(), &test, &id, &observation(vec![step(Outcome::ToolError)])).remove(0).kind
}

#[test]
fn failed_control_decides_about_its_scope() {
    use Outcome::{Crash, InvalidMessage, Oversized, Success, Timeout, ToolError};
    for level in [Level::Must, Level::Derived, Level::May] {
        assert_eq!(governed((level, Control::Row), Success, "a"), VerdictKind::Pass);
        assert_eq!(governed((level, Control::Row), ToolError, "a"), VerdictKind::NotAsked);
        assert_eq!(governed((level, Control::Row), Crash, "a"), VerdictKind::Inconclusive);
    }
    for (outcome, kind) in [
        (ToolError, VerdictKind::NotAsked),
        (Crash, VerdictKind::Inconclusive),
        (Timeout, VerdictKind::Inconclusive),
        (InvalidMessage, VerdictKind::Inconclusive),
        (Oversized, VerdictKind::Inconclusive),
    ] {
        assert_eq!(governed((Level::Must, Control::Row), outcome, "a"), kind);
        assert_eq!(governed((Level::Must, Control::Row), outcome, "b"), VerdictKind::Pass);
        assert_eq!(governed((Level::Must, Control::File), outcome, "b"), kind);
        let names = |name: &str| Control::Tests(vec!["first".into(), name.into()]);
        assert_eq!(governed((Level::Must, names("t")), outcome, "b"), kind);
        assert_eq!(governed((Level::Must, names("other")), outcome, "b"), VerdictKind::Pass);
    }
}

#[test]
fn control_after_one_that_did_not_hold_shows_nothing() {
    let catalogue = catalogue(&[("r", Level::Must)]);
    let control =
        |id: &str, wanted| Test { id: id.into(), control: Some(Control::File), ..test("r", vec![wants(wanted)]) };
    let second = |first: Outcome, second: Outcome| {
        let mut judge = Judge::new(&catalogue, &[]);
        let mut judged = |test: &Test, seen| {
            let id = id(&format!("f/c/{}@2026-07-28+http", test.id));
            judge.judge(&target(), test, &id, &observation(vec![step(seen)])).remove(0).kind
        };
        judged(&control("fits", Outcome::Success), first);
        judged(&control("misfits", Outcome::ToolError), second)
    };
    assert_eq!(second(Outcome::Crash, Outcome::Crash), VerdictKind::Inconclusive);
    assert_eq!(second(Outcome::ToolError, Outcome::ToolError), VerdictKind::NotAsked);
    assert_eq!(second(Outcome::Success, Outcome::Crash), VerdictKind::Fail);
}

#[test]
fn fetch_counts_without_its_control() {
    let catalogue = catalogue(&[("ctl", Level::Must), ("r", Level::MustNot)]);
    let governor =
        Test { id: "ctl".into(), control: Some(Control::File), ..test("ctl", vec![wants(Outcome::Success)]) };
    let wanted = Expectation { canary: Some(CanaryState::Untouched), ..Expectation::default() };
    let test = test("r", vec![wanted]);
    for (canary, kind) in [
        (CanaryState::Untouched, VerdictKind::NotAsked),
        (CanaryState::Touched, VerdictKind::Fail),
        (CanaryState::Disclosed, VerdictKind::Fail),
    ] {
        let mut judge = Judge::new(&catalogue, &[]);
        judge.judge(&target(), &governor, &id("f/c/ctl@2026-07-28+http"), &observation(vec![step(Outcome::ToolError)]));
        let seen = observation(vec![StepObservation { canary: Some(canary), ..step(Outcome::Success) }]);
        assert_eq!(judge.judge(&target(), &test, &id("f/c/t@2026-07-28+http"), &seen).remove(0).kind, kind);
    }
}

/// The verdicts on a control that ends with this outcome, and on a test that it governs.
fn after_control(targets: &[Target], alternatives: Vec<Expectation>, outcome: Outcome) -> (Verdict, Verdict) {
    let catalogue = catalogue(&[("r", Level::Must), ("other", Level::Must)]);
    let control = Test { control: Some(Control::File), ..test("r", alternatives) };
    let governed = test("other", vec![wants(Outcome::ToolError)]);
    let mut judge = Judge::new(&catalogue, targets);
    let id = id("f/c/t@2026-07-28+http");
    let mut judged = |test, outcome| judge.judge(&target(), test, &id, &observation(vec![step(outcome)])).remove(0);
    (judged(&control, outcome), judged(&governed, Outcome::ToolError))
}

/// A step of a pair, with what the user of the client got and what the server sent.
fn relayed(user: Outcome, server: Outcome) -> StepObservation {
    let relayed = Relayed {
        server: Box::new(step(server)),
        request: RequestState::AsGiven,
        question_changed: false,
        schema_changed: false,
        faults: Vec::new(),
        places: MessagePlaces::default(),
        agreed: None,
        silent_stream: None,
    };
    StepObservation { relayed: Some(relayed), ..step(user) }
}

#[test]
fn exception_for_an_error_after_which_nothing_is_asked_is_not_asked() {
    let catalogue = catalogue(&[("r", Level::Derived)]);
    let nothing = Expectation { name: Some("an error".into()), not_asked: true, ..wants(Outcome::ToolError) };
    let test = test("r", vec![wants(Outcome::Success), nothing]);
    let kind = |user: Outcome, server: Outcome| {
        let mut judge = Judge::new(&catalogue, &[]);
        let seen = observation(vec![relayed(user, server)]);
        judge.judge(&target(), &test, &id("f/c/t@2025-11-25+http"), &seen)[0].kind
    };
    assert_eq!(kind(Outcome::Refused, Outcome::ToolError), VerdictKind::NotAsked);
    assert_eq!(kind(Outcome::Refused, Outcome::Success), VerdictKind::Note);
    assert_eq!(kind(Outcome::Refused, Outcome::ProtocolError), VerdictKind::Note);
    assert_eq!(kind(Outcome::Timeout, Outcome::ToolError), VerdictKind::Note);
}

/// The reference speaks one revision at a time, so that no mutant breaks these requirements.
#[test]
fn exception_of_an_older_client_counts_by_what_the_server_sent() {
    let library = load(&[Source::Embedded]).expect("the embedded cases are sound");
    let cases = library.cases.iter().filter(|case| case.id.as_str().ends_with("values-for-older-clients"));
    let tests: Vec<_> = cases.flat_map(|case| &case.tests).collect();
    assert!(tests.len() > 1);
    for test in tests {
        let id = id(&format!("{}@2025-06-18+http", test.path()));
        let kinds = |last: StepObservation| -> Vec<VerdictKind> {
            let mut steps = vec![last; test.steps.len()];
            steps[0] = relayed(Outcome::Success, Outcome::Success);
            let mut verdicts = Judge::new(&library.requirements, &[]).judge(&target(), test, &id, &observation(steps));
            verdicts.retain(|one| one.requirement.as_str() == "pairs/older-client-gets-result");
            verdicts.dedup_by_key(|one| one.kind);
            verdicts.iter().map(|one| one.kind).collect()
        };
        let kind = |user, server| kinds(relayed(user, server));
        assert_eq!(kind(Outcome::Success, Outcome::Success), [VerdictKind::Pass]);
        assert_eq!(kind(Outcome::Refused, Outcome::Success), [VerdictKind::NotAsked]);
        assert_eq!(kind(Outcome::Refused, Outcome::ToolError), [VerdictKind::Note]);
        assert_eq!(kind(Outcome::ToolError, Outcome::ToolError), [VerdictKind::Note]);
        // The server was not built.
        assert_eq!(kinds(step(Outcome::Refused)), [VerdictKind::NotAsked]);
    }
}

#[test]
fn alternative_with_nothing_to_check_is_not_asked() {
    let named = |name: &str, outcome| Expectation { name: Some(name.into()), ..wants(outcome) };
    let alternatives = || {
        let nothing = Expectation { not_asked: true, ..named("there is no state", Outcome::ProtocolError) };
        vec![named("verified", Outcome::Success), nothing]
    };
    let lines = |verdict: &Verdict| verdict.detail.iter().map(ToString::to_string).collect::<Vec<_>>();
    let (first, then) = after_control(&[], alternatives(), Outcome::ProtocolError);
    assert_eq!((first.kind, lines(&first)), (VerdictKind::NotAsked, vec!["there is no state".to_owned()]));
    assert_eq!((then.kind, lines(&then)), (VerdictKind::NotAsked, vec!["its control f/c/t was not asked".to_owned()]));
    assert!(!first.is_decided() && !then.is_decided());
    let (held, then) = after_control(&[], alternatives(), Outcome::Success);
    assert_eq!((held.kind, then.kind), (VerdictKind::Pass, VerdictKind::Pass));
    let (failed, then) = after_control(&[], alternatives(), Outcome::ToolError);
    assert_eq!((failed.kind, then.kind), (VerdictKind::Fail, VerdictKind::NotAsked));
}

#[test]
fn failure_left_to_the_author_is_no_failure_of_the_sdk() {
    let left = |test: &str| LeftToAuthor {
        short: None,
        test: test.parse().expect("a pattern"),
        requirement: RequirementId::within("f", "r"),
        reason: "validate the arguments yourself".into(),
        url: "https://example.com/low".into(),
        is_shared: false,
    };
    let targets = [Target { author: vec![left("f/c")], ..target_with(&[]) }];
    let (control, governed) = after_control(&targets, vec![wants(Outcome::Success)], Outcome::ToolError);
    assert_eq!((control.kind, control.excuses), (VerdictKind::Author, Some(VerdictKind::Fail)));
    assert_eq!(control.known.as_ref().and_then(|left| left.url.as_deref()), Some("https://example.com/low"));
    assert!(!control.is_decided());
    assert_eq!(governed.kind, VerdictKind::NotAsked);

    let catalogue = catalogue(&[("r", Level::Must)]);
    let test = test("r", vec![wants(Outcome::Success)]);
    let id = id("f/c/t@2026-07-28+http");
    let mut judge = Judge::new(&catalogue, &targets);
    let unread = Some("a message that is not UTF-8".to_owned());
    let unclear = StepObservation { unread, ..step(Outcome::Refused) };
    let refused =
        Test { steps: samples::test(&[], vec![(call("t"), check("r", vec![wants(Outcome::Refused)]))]).steps, ..test };
    let kind = judge.judge(&target(), &refused, &id, &observation(vec![unclear])).remove(0).kind;
    assert_eq!(kind, VerdictKind::Inconclusive, "nobody has to cause it");
    judge.judge(&target(), &refused, &id, &observation(vec![step(Outcome::Refused)]));
    assert_eq!(judge.stale().len(), 1);
    assert!(judge.stale()[0].to_string().contains("remove it from [[author]]"));
}

#[test]
fn failed_control_affects_one_transport_and_target() {
    let catalogue = catalogue(&[("r", Level::Must)]);
    let test = test("r", vec![wants(Outcome::Success)]);
    let control = Test { control: Some(Control::File), ..self::test("r", vec![wants(Outcome::Success)]) };
    let mut judge = Judge::new(&catalogue, &[]);
    judge.judge(&target(), &control, &id("f/c/t@2026-07-28+http"), &observation(vec![step(Outcome::Crash)]));
    let good = observation(vec![step(Outcome::Success)]);
    let kind = |verdicts: Vec<Verdict>| verdicts[0].kind;
    assert_eq!(kind(judge.judge(&target(), &test, &id("f/c/t@2026-07-28+stdio"), &good)), VerdictKind::Pass);
    let Ok(other) = "sample:low".parse();
    assert_eq!(kind(judge.judge(&other, &test, &id("f/c/t@2026-07-28+http"), &good)), VerdictKind::Pass);
    assert_eq!(kind(judge.judge(&target(), &test, &id("f/c/t@2026-07-28+http"), &good)), VerdictKind::Inconclusive);
}

#[test]
fn inexpressible_test_has_the_verdict_cannot() {
    let catalogue = catalogue(&[("r", Level::Must)]);
    let test = test("r", vec![wants(Outcome::Success)]);
    let mut judge = Judge::new(&catalogue, &[]);
    let cannot = Observation { cannot: Some("no such thing".into()), ..observation(vec![]) };
    let gone = Observation { unavailable: Some("given up".into()), ..observation(vec![]) };
    let id = id("f/c/t@2026-07-28+http");
    assert_eq!(kinds(&judge.judge(&target(), &test, &id, &cannot)), [VerdictKind::Cannot]);
    assert_eq!(kinds(&judge.judge(&target(), &test, &id, &gone)), [VerdictKind::Error]);
    assert_eq!(kinds(&judge.judge(&target(), &test, &id, &observation(vec![]))), [VerdictKind::Error]);
}

#[test]
fn known_failure_is_excused_and_stale_if_it_always_holds() {
    let catalogue = catalogue(&[("r", Level::Must)]);
    let test = test("r", vec![wants(Outcome::Success)]);
    let targets = [target_with(&[("f/c/**@2026-07-28", "r"), ("f/c/other", "r")])];
    let id = id("f/c/t@2026-07-28+http");
    let (good, bad) = (observation(vec![step(Outcome::Success)]), observation(vec![step(Outcome::Crash)]));
    let mut judge = Judge::new(&catalogue, &targets);
    let verdict = judge.judge(&target(), &test, &id, &bad).remove(0);
    let reason = verdict.known.as_ref().map(|known| known.reason.as_str());
    assert_eq!((verdict.kind, reason), (VerdictKind::Known, Some("it is so")));
    judge.judge(&target(), &test, &id, &good);
    assert!(judge.stale().is_empty());
    let mut judge = Judge::new(&catalogue, &targets);
    judge.judge(&target(), &test, &id, &good);
    assert_eq!(judge.stale().len(), 1);
    assert!(judge.stale()[0].to_string().contains("f/r no longer fails in f/c/**@2026-07-28"));
    // An entry of tests that are not asked has nothing to excuse.
    let nothing = Expectation { name: Some("nothing".into()), not_asked: true, ..wants(Outcome::ToolError) };
    let absent = self::test("r", vec![wants(Outcome::Success), nothing]);
    let mut judge = Judge::new(&catalogue, &targets);
    let judged = judge.judge(&target(), &absent, &id, &observation(vec![step(Outcome::ToolError)]));
    assert_eq!((kinds(&judged), judge.stale().len()), (vec![VerdictKind::NotAsked], 1));

    // What every test looks for has no verdict where it holds.
    let mut judge = Judge::new(&catalogue, &[target_with(&[("f/c/**", "stdio/nothing-but-messages")])]);
    judge.judge(&target(), &test, &id, &good);
    assert_eq!(judge.stale().len(), 1);

    // The tests of a shared entry that fail may be those that only another variant runs.
    let mut shared = target_with(&[("f/c/**", "r")]);
    shared.known.iter_mut().for_each(|known| known.is_shared = true);
    let mut judge = Judge::new(&catalogue, &[shared]);
    judge.judge(&target(), &test, &id, &good);
    assert!(judge.stale().is_empty());
}

#[test]
fn known_failure_of_a_control_is_still_a_failure() {
    let targets = [target_with(&[("f/c", "r")])];
    let kinds = |outcome| {
        let (control, governed) = after_control(&targets, vec![wants(Outcome::Success)], outcome);
        (control.kind, governed.kind)
    };
    assert_eq!(kinds(Outcome::ToolError), (VerdictKind::Known, VerdictKind::NotAsked));
    assert_eq!(kinds(Outcome::Crash), (VerdictKind::Known, VerdictKind::Inconclusive));
}

/// The verdict on a step with this expectation at this level.
fn weighed(level: Level, wanted: Expectation, seen: StepObservation) -> Verdict {
    let catalogue = catalogue(&[("r", level)]);
    let test = test("r", vec![wanted]);
    let mut judge = Judge::new(&catalogue, &[]);
    judge.judge(&target(), &test, &id("f/c/t@2026-07-28+http"), &observation(vec![seen])).remove(0)
}

fn unreadable() -> Observed {
    Observed::Unreadable("number out of range at line 1 column 5".into())
}

#[test]
fn unreadable_value_is_inconclusive_at_every_level() {
    let seen = || {
        let parts = [("message".to_owned(), unreadable()), ("status".to_owned(), json!(200).into())];
        StepObservation {
            structured: Some(unreadable()),
            saw: Some(unreadable()),
            text: Some(Observed::Unreadable("two equal keys".into())),
            asked: vec![unreadable()],
            replies: vec![parts.into()],
            ..step(Outcome::Success)
        }
    };
    let equals = || Some(Matcher::Equals((&json!({})).into()));
    let looks = |at: &str| json!({ "properties": { at: { "type": "object" } } });
    let wanted = || {
        [
            Expectation { structured: equals(), ..Expectation::default() },
            Expectation { saw: Some(Matcher::Contains((&json!({})).into())), ..Expectation::default() },
            Expectation { asked: equals(), ..Expectation::default() },
            Expectation { text: Some(TextState::Mirrors), ..Expectation::default() },
            Expectation { text: Some(TextState::Absent), ..Expectation::default() },
            Expectation { reply: Some(looks("message").into()), ..Expectation::default() },
            Expectation { reply: Some(json!({ "not": looks("message") }).into()), ..Expectation::default() },
            Expectation { reply: Some(json!({ "additionalProperties": true }).into()), ..Expectation::default() },
            Expectation { matches: Some(looks("structured").into()), ..Expectation::default() },
            Expectation { matches: Some(json!({ "not": looks("asked") }).into()), ..Expectation::default() },
        ]
    };
    for level in [Level::Must, Level::MustNot, Level::Should, Level::ShouldNot, Level::May, Level::Derived] {
        for (index, wanted) in wanted().into_iter().enumerate() {
            let verdict = weighed(level, wanted, seen());
            assert_eq!(verdict.kind, VerdictKind::Inconclusive, "{level} {index}: {:?}", verdict.detail);
            assert!(verdict.detail[0].to_string().contains("cannot be read"), "{:?}", verdict.detail);
        }
    }
}

#[test]
fn readable_key_is_judged_beside_an_unreadable_one() {
    let seen = || {
        let parts = [("message".to_owned(), unreadable()), ("status".to_owned(), json!(200).into())];
        StepObservation { structured: Some(unreadable()), replies: vec![parts.into()], ..step(Outcome::Success) }
    };
    let kind = |wanted| weighed(Level::Must, wanted, seen()).kind;
    let status =
        |status| Some(json!({ "required": ["message"], "properties": { "status": { "const": status } } }).into());
    assert_eq!(kind(Expectation { reply: status(200), ..Expectation::default() }), VerdictKind::Pass);
    assert_eq!(kind(Expectation { reply: status(400), ..Expectation::default() }), VerdictKind::Fail);
    let both = Expectation { structured: Some(Matcher::Equals((&json!({})).into())), ..wants(Outcome::ToolError) };
    assert_eq!(kind(both), VerdictKind::Fail);
    let absent = Expectation { structured: Some(Matcher::Absent), ..Expectation::default() };
    assert_eq!(kind(absent), VerdictKind::Fail);
}

#[test]
fn absence_beside_an_unreadable_message_is_inconclusive() {
    let kind = |wanted| {
        let unread = Some("a message that is not UTF-8".to_owned());
        weighed(Level::MustNot, wanted, StepObservation { unread, ..step(Outcome::Success) }).kind
    };
    let absent = || Some(Matcher::Absent);
    assert_eq!(kind(wants(Outcome::Success)), VerdictKind::Pass);
    assert_eq!(kind(wants(Outcome::Crash)), VerdictKind::Fail);
    for wanted in [
        Expectation { asked: absent(), ..Expectation::default() },
        Expectation { structured: absent(), ..Expectation::default() },
        Expectation { matches: Some(json!({ "not": { "required": ["rounds"] } }).into()), ..Expectation::default() },
        Expectation { reply: Some(json!(true).into()), ..Expectation::default() },
    ] {
        assert_eq!(kind(wanted), VerdictKind::Inconclusive);
    }
    let without_code = json!({ "not": { "required": ["code"] } });
    assert_eq!(
        kind(Expectation { matches: Some(without_code.into()), ..Expectation::default() }),
        VerdictKind::Inconclusive
    );
    let of_time = json!({ "properties": { "took": { "const": "instant" } } });
    assert_eq!(kind(Expectation { matches: Some(of_time.into()), ..Expectation::default() }), VerdictKind::Pass);
}

#[test]
fn flaw_that_another_flaw_may_hide_is_inconclusive() {
    use VerdictKind::{Fail, Inconclusive, Pass};
    let kind = |flaws: &[Flaw], without: &[Flaw]| {
        let tools = [("t".to_owned(), flaws.iter().copied().collect())].into();
        let wanted = Expectation { without: without.iter().copied().collect(), ..Expectation::default() };
        // The tool has something that each flaw is about.
        let possible_flaws = Flaw::ALL.iter().copied().collect();
        weighed(Level::Must, wanted, StepObservation { tools, possible_flaws, ..step(Outcome::Success) }).kind
    };
    for hiding in [Flaw::Deep, Flaw::Large, Flaw::Unreadable] {
        assert_eq!(kind(&[hiding], &[Flaw::InvalidInputSchema]), Inconclusive);
        assert_eq!(kind(&[hiding], &[Flaw::ListedTwice, Flaw::NoObjectRoot]), Pass);
        assert_eq!(kind(&[hiding, Flaw::ListedTwice], &[Flaw::ListedTwice, Flaw::DanglingReference]), Fail);
    }
    assert_eq!(kind(&[Flaw::UnknownDialect], &[Flaw::InvalidOutputSchema]), Inconclusive);
    assert_eq!(kind(&[Flaw::UncheckedReference], &[Flaw::DanglingReference]), Inconclusive);
    assert_eq!(kind(&[Flaw::UncheckedReference], &[Flaw::InvalidInputSchema]), Pass);
}

#[test]
fn content_of_an_absent_answer_is_inconclusive() {
    use VerdictKind::{Fail, Inconclusive};
    let reply = json!({ "properties": { "message": { "required": ["error"] } } });
    let content = || Expectation { reply: Some(reply.clone().into()), ..wants(Outcome::ProtocolError) };
    let seen = |wanted: Expectation, outcome: Outcome| weighed(Level::Must, wanted, step(outcome)).kind;
    for absent in [Outcome::Timeout, Outcome::Crash, Outcome::EmptyReply, Outcome::Oversized] {
        assert_eq!(seen(content(), absent), Inconclusive, "{absent}");
        let kind = if absent == Outcome::Oversized { Inconclusive } else { Fail };
        assert_eq!(seen(wants(Outcome::ProtocolError), absent), kind, "{absent}");
    }
    assert_eq!(seen(content(), Outcome::Success), Fail);
}

#[test]
fn stray_line_violates_its_own_sentence_in_any_test() {
    let only =
        Requirement { id: RequirementId::within("stdio", "nothing-but-messages"), ..requirement("x", Level::MustNot) };
    let mut catalogue = catalogue(&[("r", Level::Must)]);
    catalogue.insert(only.id.clone(), only);
    let test = test("r", vec![wants(Outcome::Success)]);
    let judged = |stray: Option<&str>| {
        let step = StepObservation { stray: stray.map(str::to_owned), ..step(Outcome::Success) };
        let mut judge = Judge::new(&catalogue, &[]);
        judge.judge(&target(), &test, &id("f/c/t@2026-07-28+stdio"), &observation(vec![step]))
    };
    assert_eq!(kinds(&judged(None)), [VerdictKind::Pass]);
    let verdicts = judged(Some("ready"));
    assert_eq!(kinds(&verdicts), [VerdictKind::Pass, VerdictKind::Fail]);
    assert_eq!(verdicts[1].detail[0].to_string(), "standard output: `ready` is no message");
}

#[test]
fn stray_line_breaks_a_check_of_its_sentence_that_did_not_see_it() {
    let only =
        Requirement { id: RequirementId::within("stdio", "nothing-but-messages"), ..requirement("x", Level::MustNot) };
    let mut catalogue = catalogue(&[]);
    catalogue.insert(only.id.clone(), only);
    let mut test = test("r", vec![wants(Outcome::Success)]);
    let Then::Checks(checks) = &mut test.steps[0].then else { panic!("a test with a check") };
    checks[0].requirement = RequirementId::within("stdio", "nothing-but-messages");
    let step = StepObservation { stray: Some("ready".to_owned()), ..step(Outcome::Success) };
    let mut judge = Judge::new(&catalogue, &[]);
    let verdicts = judge.judge(&target(), &test, &id("f/c/t@2026-07-28+stdio"), &observation(vec![step]));
    assert_eq!(kinds(&verdicts), [VerdictKind::Fail]);
}

#[test]
fn value_is_never_read_back_as_a_reason() {
    for value in [json!({ "unreadable": "x" }), json!({ "value": 1 }), json!(null), json!("<2000 levels deep>")] {
        let kept = Observed::Value(value);
        let line = serde_json::to_string(&kept).expect("JSON");
        assert_eq!(serde_json::from_str::<Observed>(&line).expect("it is read again"), kept);
    }
}

#[test]
fn fuzzed_message_of_a_target_gets_an_observation() {
    let library = load(&[Source::Embedded]).expect("the embedded cases");
    let all: BTreeMap<String, _> =
        library.cases.iter().flat_map(|case| &case.tests).map(|test| (test.path(), test)).collect();
    let seeds: Vec<_> = fuzz::samples::transcripts().filter(|seed| all.contains_key(&seed.test.path())).collect();
    assert!(seeds.len() > 10, "the samples are of other cases");
    let mut judge = Judge::new(&library.requirements, []);
    let judge = std::cell::RefCell::new(&mut judge);
    fuzz::fuzz("replies", fuzz::samples::texts(), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let mut transcript = seeds[bytes.len() % seeds.len()].clone();
        let messages = transcript.steps.iter_mut().flat_map(|step| &mut step.messages);
        messages.filter(|message| message.from == Party::Target).for_each(|message| message.text = text.to_string());
        for handed in transcript.steps.iter_mut().filter_map(|step| step.handed.as_mut()) {
            *handed = text.to_string();
        }
        let test = all[&transcript.test.path()];
        let observation = observe(test, &transcript);
        judge.borrow_mut().judge(&transcript.target, test, &transcript.test, &observation);
        let line = serde_json::to_vec(&observation).expect("an observation is JSON");
        assert_eq!(nesting::read::<Observation>(&line).expect("it is read again"), observation);
    });
}
