//! The static site: links that lead to files, data that match their schemas, addresses that stay, and text that stays text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use casebook::load;
use casebook::model::case::Library;
use casebook::model::record::{Footer, Header, Record};
use casebook::report::Source;
use casebook::report::evidence::Evidence;
use casebook::report::site::{Site, groups};
use serde_json::{Value, json};

const HOSTILE: &str = "</pre></script><img src=x onerror=alert(1)>\"'&` \u{1b}[31m\u{202e}\u{0}\n::error::x";

type Files = BTreeMap<String, String>;

fn library() -> Library {
    load::load(&[load::Source::Embedded]).expect("the embedded cases")
}

fn record(target: &str, index: usize, kind: &str, said: &str) -> Record {
    let (test, requirement, level) = [
        ("sep-2106/external-ref/called/http", "sep-2106/no-network-deref", "MUST NOT"),
        ("tools/root-type/refused", "f/unknown", "SHOULD"),
    ][index % 2];
    let mut verdict = json!({
        "step": 0, "requirement": requirement, "level": level, "kind": kind,
        "detail": [{ "finding": { "undecidable": { "place": "outcome", "reason": said } } }], "line": 7,
    });
    if kind == "known" || kind == "author" {
        verdict["excuses"] = json!("fail");
        let issue = if index < 2 { "https://example.com/issues/1" } else { "javascript:alert(1)" };
        verdict["known"] = json!({ "test": "**", "reason": said, "issue": issue });
    }
    let record = json!({
        "index": index, "target": target, "test": format!("{test}@2026-07-28+http"), "title": said,
        "hash": "0", "micros": 1, "verdicts": [verdict],
        "observation": { "steps": [{ "outcome": "success", "took": "instant", "size": "small" }] },
    });
    serde_json::from_value(record).expect("a record")
}

fn source(target: &str, version: Option<&str>, kinds: [&str; 2], said: &str) -> Source {
    let header = json!({
        "format": 3, "casebook": "0", "targets": [target], "planned": 2, "cases": "c0",
        "about": [{ "target": target, "title": said, "version": version, "planned": 2 }],
        "skipped": [{ "target": target, "reason": { "role": "client" }, "tests": 3 }],
    });
    let header: Header = serde_json::from_value(header).expect("a header");
    let records = kinds.iter().enumerate().map(|(index, kind)| record(target, index, kind, said)).collect();
    let footer = Footer { ran: 2, micros: 1, ..Footer::default() };
    Source { name: said.to_owned(), header, records, footer: Some(footer), cut: None, is_broken: false }
}

fn made(library: &Library, sources: &[Source]) -> Files {
    let headers: Vec<Header> = sources.iter().map(|source| source.header.clone()).collect();
    let mut files = Files::new();
    let mut put = |path: &str, text: &str| {
        files.insert(path.to_owned(), text.to_owned());
        Ok(())
    };
    let mut site = Site::new(library, &headers);
    for group in groups(&headers) {
        let sources = group.iter().map(|at| sources[*at].clone()).collect();
        site.add(sources, |report, _| Evidence::of(report), &mut put).expect("a map takes it");
    }
    site.finish(&mut put).expect("a map takes it");
    files
}

fn samples() -> Vec<Source> {
    vec![
        source("sdk:low", Some("sdk 1.9.0"), ["pass", "pass"], "it is slow"),
        source("sdk:low", Some("sdk 1.10.0"), ["known", "pass"], "it is slow"),
        source("sdk:high", Some("sdk 1.10.0"), ["author", "cannot"], "it is slow"),
        source("other", None, ["fail", "warn"], "it is slow"),
        source("other", Some("old 0.1"), ["fail", "warn"], "it is slow"),
        source("other", Some("old 0.2"), ["pass", "not-asked"], "it is slow"),
        source("reference", None, ["pass", "pass"], "it is slow"),
        source("../../e<vil>\"&'", Some(HOSTILE), ["fail", "known"], HOSTILE),
    ]
}

fn parsed(files: &Files, name: &str) -> Value {
    serde_json::from_str(&files[name]).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn data_of_a_site_match_their_schemas() {
    let files = made(&library(), &samples());
    let schema_of = |name: &str| match name.strip_prefix("api/v1/").expect("data").split_once('/') {
        Some((folder, _)) => format!("api/v1/schemas/{folder}.json"),
        None => format!("api/v1/schemas/{}", &name["api/v1/".len()..]),
    };
    let data: Vec<&String> =
        files.keys().filter(|name| name.starts_with("api/v1/") && !name.contains("/schemas/")).collect();
    assert_eq!(data.len(), 5 + samples().len());
    for name in data {
        let validator = jsonschema::validator_for(&parsed(&files, &schema_of(name))).expect("a schema");
        let value = parsed(&files, name);
        let wrong: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
        // A schema that allows everything proves nothing.
        let mut broken = value.clone();
        let first = broken.as_object().expect("an object").keys().next_back().expect("a member").clone();
        broken.as_object_mut().expect("an object").remove(&first);
        assert!(!validator.is_valid(&broken), "{name} without {first}");
    }
}

#[test]
fn compat_data_name_the_version_that_changed_the_answer() {
    let files = made(&library(), &samples());
    let feed = parsed(&files, "api/v1/compat.json");
    let support = |target: &str| {
        let groups = feed["capabilities"].as_object().expect("groups");
        let feature = groups.values().find_map(|group| group.get("external-references")).expect("the capability");
        feature["__compat"]["support"][target].clone()
    };
    assert_eq!(support("sdk"), json!({ "version_added": true, "version_removed": "1.10.0" }));
    assert_eq!(support("other"), json!({ "version_added": "0.2" }));
    assert_eq!(support("reference"), Value::Null);
    let page = &files["targets/sdk/low/1.10.0/index.html"];
    for words in
        ["since 1.10.0; it held in 1.9.0", "What changed since", "https://example.com/issues/1", "casebook run sdk:low"]
    {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn addresses_stay_with_more_run_logs() {
    let library = library();
    let all = samples();
    let before = made(&library, &all[..4]);
    let after = made(&library, &all);
    let lost: Vec<_> = before.keys().filter(|path| !after.contains_key(*path)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let result = "results/sdk/low/1.9.0/sep-2106/external-ref/index.html";
    assert!(before[result].contains("id=\"called/http@2026-07-28+http\""));
    for path in ["targets/other/_/unversioned/index.html", "badges/sdk/server.json", "badges/agreement.json", result] {
        assert!(before.contains_key(path), "{path}");
    }
}

fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|own| own == extension)
}

/// The values of an attribute.
fn attributes<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let start = format!(" {name}=\"");
    let after = text.match_indices(&start).map(|(at, _)| &text[at + start.len()..]);
    after.map(|rest| rest.split('"').next().expect("a value")).collect()
}

/// The path that a relative link of a page leads to.
fn followed(page: &str, link: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        if part == ".." { assert!(parts.pop().is_some(), "{page}: {link} leaves the site") } else { parts.push(part) }
    }
    parts.join("/")
}

#[test]
fn links_lead_to_files_of_the_site_and_to_anchors() {
    let files = made(&library(), &samples());
    let pages: BTreeMap<&String, (&String, BTreeSet<&str>)> = files
        .iter()
        .filter(|(path, _)| has_extension(path, "html"))
        .map(|(path, text)| (path, (text, attributes(text, "id").into_iter().collect())))
        .collect();
    let mut wrong = Vec::new();
    for (path, (text, own)) in &pages {
        assert!(text.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;"), "{path}");
        assert!(text.contains("Conformance: what the specification says of each target"), "{path}");
        assert!(["<script", "<iframe", "<img", "<object"].iter().all(|tag| !text.contains(tag)), "{path}");
        for link in attributes(text, "href") {
            let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
            match anchor {
                _ if file.starts_with("https://") => {}
                Some(anchor) if file.is_empty() => {
                    wrong.extend((!own.contains(anchor)).then(|| format!("{path}: {link}")));
                }
                _ => {
                    let to = followed(path, file);
                    let ids = pages.get(&to).map(|(_, ids)| ids);
                    let is_there = files.contains_key(&to)
                        && anchor.is_none_or(|anchor| ids.is_some_and(|ids| ids.contains(anchor)));
                    wrong.extend((!is_there).then(|| format!("{path}: {link}")));
                }
            }
        }
    }
    assert!(
        pages.len() > 500 && wrong.is_empty(),
        "{} wrong, of {} pages: {:#?}",
        wrong.len(),
        pages.len(),
        &wrong[..wrong.len().min(20)]
    );
    assert!(files["index.html"].len() < 300_000, "{}", files["index.html"].len());
}

#[test]
fn hostile_text_is_text_in_every_file() {
    let files = made(&library(), &samples());
    for (path, text) in &files {
        let is_safe = |one: char| one.is_ascii_alphanumeric() || "-._/~".contains(one);
        assert!(path.chars().all(is_safe) && !path.split('/').any(|part| [".", "..", ""].contains(&part)), "{path}");
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\0']), "{path}");
        assert!(has_extension(path, "json") || !text.contains("<img src=x") && !text.contains("</script>"), "{path}");
        assert!(!text.contains("href=\"javascript:"), "{path}");
    }
    assert!(files.keys().any(|path| path.starts_with("targets/e-vil~") && path.ends_with("/index.html")));
}
