//! Bodies rendered and parsed: of any observation, of every snapshot of this repository, and of damaged text.

use camino::Utf8PathBuf;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::fuzz::fuzz;
use crate::judge::samples;
use crate::model::case::{Flaw, Outcome};
use crate::model::observation::{
    AdvertisedTool, AnswerObservation, ListChange, Observation, Observed, StepObservation,
};
use crate::model::record::Record;
use crate::report::snapshot::{self, file_text};

/// Text that could be taken for a line, a way or a test of a snapshot.
fn text() -> impl Strategy<Value = String> {
    const LIKE_LINES: &[&str] =
        &["", " ", "\n", "\r\n", "\n    2 success", "\n  2026-07-28 http: success", "a\nb/c", "---\n", "::error::"];
    prop_oneof![prop::sample::select(LIKE_LINES).prop_map(str::to_owned), any::<String>(), "[ \\n\\r:;0-9a-z-]{0,400}"]
}

fn observed() -> impl Strategy<Value = Observed> {
    prop_oneof![
        text().prop_map(|text| Observed::Value(Value::String(text))),
        text().prop_map(Observed::Unreadable),
        text().prop_map(|text| Observed::Unreadable(format!("left out: {text}"))),
    ]
}

fn advertised() -> impl Strategy<Value = AdvertisedTool> {
    (vec(text(), 0..3), vec(text(), 0..3), vec(text(), 0..3), option::of(text()))
        .prop_map(|(removed, added, changed, unreadable)| AdvertisedTool { removed, added, changed, unreadable })
}

fn step() -> impl Strategy<Value = StepObservation> {
    let values = (option::of(observed()), option::of(observed()), vec(observed(), 0..3), option::of(observed()));
    let tools = (
        btree_map(text(), advertised(), 0..3),
        option::of(text()),
        option::of(text()),
        option::of(prop::sample::select(ListChange::ALL)),
    );
    (prop::sample::select(Outcome::ALL), option::of(any::<i64>()), values, tools).prop_map(
        |(outcome, code, (saw, structured, asked, content), (advertised, tool, unread, varies))| StepObservation {
            code,
            saw,
            structured,
            asked,
            text: unread.clone().map(Observed::Unreadable),
            rounds: unread.into_iter().map(Observed::Unreadable).collect(),
            answered: vec![AnswerObservation { action: None, content, code }],
            advertised,
            tools: tool.into_iter().map(|name| (name, Flaw::ALL.iter().copied().collect())).collect(),
            varies,
            ..samples::step(outcome)
        },
    )
}

fn observation() -> impl Strategy<Value = Observation> {
    (vec(step(), 0..3), option::of(text()), any::<bool>()).prop_map(|(steps, cannot, leaky)| Observation {
        cannot,
        leaky,
        ..samples::observation(steps)
    })
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    let name = || "[a-z0-9]{1,3}(-[a-z0-9]{1,3})?";
    let how = prop::sample::select(vec!["2025-06-18", "2025-11-25", "2026-07-28"]);
    let id = (name(), option::of(name()), how, prop::sample::select(Transport::ALL));
    let id = id.prop_map(|(test, row, revision, transport)| {
        let row = row.map(|row| format!("/{row}")).unwrap_or_default();
        format!("f/c/{test}{row}@{revision}+{transport}")
    });
    vec((id, observation()), 0..12).prop_map(|tests| {
        let record = |(id, observation): (String, Observation)| Record {
            observation,
            ..samples::record(0, &id, Outcome::Success)
        };
        tests.into_iter().map(record).collect()
    })
}

/// Variants with observations; one without a name if there is only one.
fn variants() -> impl Strategy<Value = Snapshot> {
    (vec(records(), 0..4), vec(records(), 0..4)).prop_map(|(some, others)| {
        let mut snapshot = Snapshot::default();
        // Variants of a target have tests in common.
        let bodies = some.iter().map(Body::from_records).scan(Body::default(), |all, body| {
            *all = std::mem::take(all).with(body);
            Some(all.clone())
        });
        let bodies: Vec<_> = bodies.chain(others.iter().map(Body::from_records)).collect();
        let is_one = bodies.len() == 1;
        for (body, name) in bodies.into_iter().zip(["http", "2025-06-18", "of", "a", "b", "cannot", "c"]) {
            if !body.is_empty() {
                snapshot.insert(if is_one { "" } else { name }.to_owned(), body);
            }
        }
        snapshot
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn snapshot_of_any_observations_is_parsed_as_it_was_rendered(variants in variants()) {
        prop_assert_eq!(&parse(&render(&variants)), &Ok(variants.clone()));
        let file = file_text("t", &crate::model::CaseId::new("f", "c"), &render(&variants));
        prop_assert_eq!(&snapshot::parse(&file), &Ok(variants.clone()));
        prop_assert_eq!(&snapshot::parse(&file.replace('\n', "\r\n")), &Ok(variants));
    }

    #[test]
    fn divided_body_has_each_observation_in_one_part(records in records(), http in any::<bool>()) {
        let body = Body::from_records(&records);
        let (meant, others) = body.clone().divide(|_, (_, transport)| (transport == Transport::Http) == http);
        prop_assert!(meant.ways().iter().all(|(path, ways)| ways.iter().all(|way| !others.has(path, *way))));
        prop_assert_eq!(meant.with(others), body);
    }
}

#[test]
fn snapshots_of_this_repository_are_rendered_as_they_stand() {
    fn walk(folder: &camino::Utf8Path, found: &mut Vec<Utf8PathBuf>) {
        for entry in folder.read_dir_utf8().expect("a folder") {
            let path = entry.expect("an entry").path().to_owned();
            match path.extension() {
                Some("snap") => found.push(path),
                _ if path.is_dir() => walk(&path, found),
                _ => {}
            }
        }
    }
    let mut files = Vec::new();
    walk(&camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots"), &mut files);
    assert!(files.len() > 1000, "the snapshots were not found");
    for path in files {
        let text = std::fs::read_to_string(&path).expect("text");
        let parsed = snapshot::parse(&text).unwrap_or_else(|error| panic!("{path}:{}: {error}", error.line));
        assert_eq!(render(&parsed), snapshot::body(&text), "{path}");
    }
}

#[test]
fn documented_examples_are_rendered_as_they_stand() {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/targets.md")).expect("text");
    let examples: Vec<_> = docs.split("```").filter_map(|block| block.strip_prefix("text\nunless noted")).collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        let text = format!("unless noted{}", example.replace("; structured content is …", USUAL));
        assert_eq!(parse(&text).map(|snapshot| render(&snapshot)), Ok(text));
    }
}

#[test]
fn malformed_body_is_refused_at_its_line() {
    let head = "unless noted: 2026-07-28 http; structured content is as the tool saw it, and text mirrors it\n";
    let parse = |text: &str| parse(&format!("{head}{text}"));
    let two = "a\n  2026-07-28 http: success\n";
    for (text, line, words) in [
        ("  2026-07-28 http: success", 2, "an observation without a test above it"),
        ("a\n    1 success", 3, "a line of an observation without its first line above it"),
        ("a\n  success\n\n    1 success", 5, "a line of an observation without its first line above it"),
        ("a/b/c\n", 2, "is not the name of a test"),
        ("a b\n", 2, "is not the name of a test"),
        ("a\n  2026-07-28: success", 3, "does not begin with revisions and transports"),
        ("a\n  2026-07-28 http", 3, "does not begin with revisions and transports"),
        ("a\n  2026-07-28 smoke: success", 3, "does not begin with revisions and transports"),
        ("a\n  2026-07-28..2025-06-18 http: success", 3, "does not begin with revisions and transports"),
        ("a\n  2\u{1b}[2J", 3, "`2\\u{1b}[2J` does not begin"),
        (&format!("{two}  2025-06-18..2026-07-28 http: crash"), 4, "a second observation on 2026-07-28 over http"),
        (&format!("{two}  crash"), 4, "a second observation on 2026-07-28 over http"),
        (&format!("{two}b\n{two}"), 5, "the test `a` for the second time"),
        ("a\na", 3, "the test `a` for the second time"),
    ] {
        let error = parse(text).expect_err(text);
        assert!(error.line == line && error.reason.contains(words), "{text:?}: {error:?}");
    }
    let error = super::parse(two).expect_err("no head");
    assert!(error.line == 1 && error.reason.contains("another version of casebook wrote it"), "{error:?}");
    assert_eq!(snapshot::parse(&format!("---\nsource: x\n---\n{head}{two}{two}")).expect_err("twice").line, 7);
    assert_eq!(super::parse(""), Ok(Snapshot::default()));
}

#[test]
fn fuzzed_snapshot_is_refused_or_parsed_as_it_is_rendered() {
    let folder = camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots/reference");
    let seeds = ["elicitation/actions", "sep-2106/bounds", "tools/list", "sep-2322/client-answers"];
    let seeds = seeds.map(|case| std::fs::read_to_string(folder.join(format!("{case}.snap"))).expect("a snapshot"));
    fuzz("snapshots", seeds, |bytes| {
        if let Ok(snapshot) = snapshot::parse(&String::from_utf8_lossy(bytes)) {
            assert_eq!(parse(&render(&snapshot)), Ok(snapshot));
        }
    });
}
