//! Baselines in every usual form, anything else, hostile files, and the checks that stand for scenarios.

use super::*;
use crate::fuzz::fuzz;
use crate::load::render;
use crate::model::untrusted::is_safe;

fn read(text: &str) -> Result<Vec<String>, String> {
    let mut reader = Reader::new(Arc::new(File::new("expected.yml", text.to_owned())));
    let entries = entries(&mut reader, text).into_iter();
    let entries = entries.map(|Entry { role, scenario, check }| match check {
        Some(check) => format!("{role} {scenario}:{check}"),
        None => format!("{role} {scenario}"),
    });
    let entries = entries.collect();
    match reader.into_found().first() {
        None => Ok(entries),
        Some(first) => Err(first.line()),
    }
}

#[test]
fn both_lists_are_read_in_every_usual_form() {
    let text = "\u{feff}---\n# comment\r\nserver:   # why\r\n    # SEP-1\r\n    - ping # slow\r\n    - 'caching'\r\n\
                \x20   - \"a:b-$c\"\r\n\n'client':\n- auth/iss\n-  x\n";
    let expected = ["server ping", "server caching", "server a:b-$c", "client auth/iss", "client x"];
    assert_eq!(read(text).expect("a baseline"), expected);
    for text in ["", "# nothing\n", "client: []\nserver: ~\n", "server:\nclient: null\n"] {
        assert!(read(text).expect(text).is_empty(), "{text}");
    }
    assert_eq!(read("server: [ping, 'a:b', ] # two\n").expect("a list"), ["server ping", "server a:b"]);
}

#[test]
fn anything_else_is_an_error_at_its_line() {
    for (text, expected) in [
        ("- ping\n", "1:1: syntax: an item outside of the lists"),
        ("server: []\n  - ping\n", "2:3: syntax: an item outside of the lists"),
        ("server: ping\n", "1:9: syntax: the value is no list"),
        ("server: [ping\n", "1:9: syntax: the value is no list"),
        ("servers:\n  - ping\n", "1:1: unknown-key: the file has a list that no baseline has"),
        ("server:\n  - ping\nserver:\n  - a\n", "3:1: syntax: the file has `server` twice"),
        ("server:\n  - ping\n   - caching\n", "3:4: syntax: the items of a list are indented differently"),
        ("server:\n\t- ping\n", "2:2: syntax: a tab begins the line"),
        ("server:\n  ping\n", "2:3: syntax: the line is no item of a list"),
        ("server:\n  -\n", "2:4: syntax: the entry is empty"),
        ("server:\n  - a: b\n", "2:5: syntax: a check id is missing after the colon"),
        ("server:\n  - a:\n", "2:5: syntax: a check id is missing after the colon"),
        ("server:\n  - :b\n", "2:5: syntax: the entry is not the name"),
        ("server:\n  - a:b:c\n", "2:5: syntax: the entry is not the name"),
        ("server:\n  - a#b\n", "2:5: syntax: the entry is not the name"),
        ("server:\n  - *all\n", "2:5: syntax: the entry is not the name"),
        ("server:\n  - !!str ping\n", "2:5: syntax: the entry is not the name"),
        ("server:\n  - |\n    ping\n", "2:5: syntax: the entry is not the name"),
        ("server:\n  - - ping\n", "2:5: syntax: the entry is not the name"),
        ("server:\n  - [ping]\n", "2:5: syntax: the entry is not the name"),
        ("server: [a,,b]\n", "1:12: syntax: the entry is empty"),
        ("server:\n  - \u{1b}[2J\n", "2:5: syntax: the entry is not the name"),
        ("server\n", "1:1: syntax: the line is neither a list nor an item"),
        ("server:\n  - ping\n---\nclient:\n", "3:1: syntax: the line is neither a list nor an item"),
        ("server:\n  - ping:ping\n  - ping\n", "2:5: conflicting-keys: the whole scenario `ping` is listed too"),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.starts_with(&format!("expected.yml:{expected}")), "{text:?}: {error}");
    }
    let long = format!("server:\n  - {}\n", "a".repeat(LONGEST + 1));
    assert!(read(&long).expect_err("too long").contains("the entry has more than 200 bytes"));
}

#[test]
fn any_baseline_is_read_or_its_mistakes_render() {
    let seeds = ["server:\n  - ping # a\n  - 'a:b'\n\nclient: [x, \"y\"]\n", "---\nclient:\n- a/b:c-$d\nserver: ~\n"];
    fuzz("baselines", seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut reader = Reader::new(Arc::new(File::new("expected.yml", text.clone())));
        entries(&mut reader, &text);
        assert!(is_safe(render(&reader.into_found(), false).as_str()));
    });
}

#[test]
fn large_file_of_mistakes_reports_the_first_ones() {
    let text = "server: x\n".repeat(100_000);
    let mut reader = Reader::new(Arc::new(File::new("expected.yml", text.clone())));
    entries(&mut reader, &text);
    let found = reader.into_found();
    assert!((100..300).contains(&found.len()), "{}", found.len());
}

#[test]
fn entries_have_the_checks_of_their_scenarios() {
    let text = "server:\n  - ping\n  - tools-list:tools-name-format\n  - resources-list\n  - ping\n  - caching:ping\n";
    let mut reader = Reader::new(Arc::new(File::new("expected.yml", text.to_owned())));
    let lines = entries(&mut reader, text);
    let baseline = matched(Utf8Path::new("expected.yml"), &lines, &agreement::embedded());
    let names: Vec<_> = baseline.entries.iter().map(|entry| (entry.name.as_str(), entry.checks.len())).collect();
    assert_eq!(names, [("ping", 1), ("tools-list:tools-name-format", 2)]);
    assert_eq!(baseline.unmatched, ["resources-list", "caching:ping"]);
    let client = [Entry { role: Role::Client, scenario: "ping", check: None }];
    assert_eq!(matched(Utf8Path::new("x"), &client, &agreement::embedded()).unmatched, ["ping"]);
}
