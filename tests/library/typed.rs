//! The published page of typed tools, `docs/typed-tools.md`, from the records of a run.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use casebook::model::case::{Library, Outcome, Test};
use casebook::model::observation::{Observed, StepObservation};
use casebook::model::reason::Finding;
use casebook::model::record::Record;
use casebook::model::spec::{Revision, Transport};
use casebook::model::template::Template;
use casebook::report::Source;
use serde_json::Value;

/// The revisions that the page shows.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
/// The characters of a value in a cell.
const SHORT: usize = 40;
/// The characters of a schema.
const LONG: usize = 400;
/// The groups of entries, each with its title.
const GROUPS: [(&str, &str); 5] = [
    ("arguments", "Parameters"),
    ("no-data", "Parameters that are no data"),
    ("results", "Results"),
    ("odd-results", "Results that the type cannot say"),
    ("forms", "Forms"),
];

/// A typed tool, with the names of its rows.
struct TypedTool {
    typed: String,
    rows: Vec<String>,
}

/// Returns the page without its first line.
pub(crate) fn page(sources: &[Source], library: &Library) -> String {
    let mut text = String::from(
        "# What SDKs make of typed tools

Authors write typed code, and the SDK derives the schema of a tool, checks its arguments, sends its result, and makes its forms.
This page says what arrives, for each type that authors write. The code is in the [adapters](../targets), one file with `typed` or
`authored` in its name for each SDK.

✓ the value arrives, and what is listed is what is checked. A word tells what differs; two words with `2025:` and `2026:` are those of
the revisions 2025-11-25 and 2026-07-28. – the language or the SDK cannot write it.
",
    );
    let records: Vec<&Record> = sources.iter().flat_map(|source| &source.records).filter(|one| is_shown(one)).collect();
    let mut targets: Vec<String> = records.iter().map(|one| one.target.to_string()).collect();
    targets.sort();
    targets.dedup();
    for (file, title) in GROUPS {
        let entries = entries(library, file);
        let names: Vec<_> = targets.iter().map(|one| one.split(':').next().unwrap_or(one).to_owned()).collect();
        write!(text, "\n## {title}\n\n| type | {} |\n| --- |{}\n", names.join(" | "), " --- |".repeat(targets.len()))
            .expect("text");
        for entry in entries.values() {
            let cell = |target: &String| cell(&records, target, file, entry);
            let cells: Vec<String> = targets.iter().map(cell).collect();
            writeln!(text, "| {} | {} |", escaped(&entry.typed), cells.join(" | ")).expect("text");
        }
        for (tool, entry) in &entries {
            text.push_str(&details(&records, &targets, file, tool, entry));
        }
    }
    text
}

fn is_shown(record: &Record) -> bool {
    record.test.case.folder() == "typed"
        && record.test.transport == Transport::Http
        && record.target.to_string() != "reference"
        && REVISIONS.contains(&record.test.revision.name())
}

/// The typed tools of a case file, by name.
fn entries(library: &Library, file: &str) -> BTreeMap<String, TypedTool> {
    let mut entries: BTreeMap<String, TypedTool> = BTreeMap::new();
    let case =
        library.cases.iter().find(|case| case.id.folder() == "typed" && case.id.file() == file).expect("the case");
    for test in &case.tests {
        let Test { row, given, .. } = &**test;
        let tool = &given.tools[0];
        let Some(Template::String(typed)) = tool.definition.get("typed") else { panic!("{} is not typed", tool.name) };
        let entry =
            entries.entry(tool.name.clone()).or_insert_with(|| TypedTool { typed: typed.clone(), rows: Vec::new() });
        let row = row.clone().expect("a row");
        if !entry.rows.contains(&row) {
            entry.rows.push(row);
        }
    }
    entries
}

/// The records of one tool on one target and revision.
fn seen<'a>(records: &[&'a Record], target: &str, file: &str, entry: &TypedTool, revision: &str) -> Vec<&'a Record> {
    let is_of = |one: &&&Record| {
        one.target.to_string() == target
            && one.test.case.file() == file
            && one.test.revision.name() == revision
            && one.test.row.as_ref().is_some_and(|row| entry.rows.contains(row))
    };
    records.iter().filter(is_of).copied().collect()
}

fn cell(records: &[&Record], target: &str, file: &str, entry: &TypedTool) -> String {
    let words: Vec<String> =
        REVISIONS.iter().map(|revision| words(&seen(records, target, file, entry, revision))).collect();
    match words.as_slice() {
        [old, new] if old == new || old.is_empty() => new.clone(),
        [old, new] if new.is_empty() => old.clone(),
        [old, new] => format!("2025: {old}<br>2026: {new}"),
        _ => String::new(),
    }
}

/// The only step that the words are about.
fn step(record: &Record) -> Option<&StepObservation> {
    record.observation.steps.first()
}

/// Says in a few words what a target makes of a tool; empty if it was not asked.
fn words(seen: &[&Record]) -> String {
    if seen.is_empty() {
        return String::new();
    }
    if seen.iter().any(|one| one.observation.cannot.is_some()) {
        return "–".to_owned();
    }
    let of = |name: &str| seen.iter().filter(|one| one.test.test == name).copied().collect::<Vec<_>>();
    if of("listed").into_iter().filter_map(step).any(|step| step.outcome == Outcome::Refused) {
        return "refused when it is registered".to_owned();
    }
    let broken = |one: &&Record, requirement: &str| {
        one.verdicts.iter().any(|verdict| {
            verdict.requirement.as_str().ends_with(&format!("/{requirement}")) && verdict.kind.is_broken()
        })
    };
    let breaks = |requirement: &str| seen.iter().any(|one| broken(one, requirement));
    if breaks("sibling-survives") {
        return "**the list fails**".to_owned();
    }
    let mut words: Vec<String> = Vec::new();
    let mut say = |is_so: bool, text: &str| {
        if is_so && !words.iter().any(|word| word == text) {
            words.push(text.to_owned());
        }
    };
    say(breaks("input-root-is-object"), "**the input schema is no object**");
    say(breaks("schema-is-valid"), "**an invalid schema is listed**");
    for one in of("arrives").iter().filter(|one| broken(one, "arguments-unchanged")) {
        say(
            true,
            &match step(one) {
                Some(StepObservation { saw: Some(saw), outcome: Outcome::Success, .. }) => {
                    format!("arrives as {}", value(saw, SHORT))
                }
                _ => "a right value is refused".to_owned(),
            },
        );
    }
    say(breaks("inputs-validated"), "**takes what its schema refuses**");
    say(breaks("listed-is-taken") && !breaks("arguments-unchanged"), "refuses what its schema accepts");
    say(breaks("no-coercion"), "converts other types");
    say(breaks("parameters-described"), "default or description not listed");
    for one in of("returned") {
        let name = one.verdicts.iter().find(|verdict| verdict.requirement.as_str() == "tools/structured-returned");
        let name = name.and_then(|verdict| verdict.detail.first()).and_then(|detail| detail.alternative.clone());
        if broken(&one, "structured-returned") {
            say(
                true,
                &match step(one) {
                    Some(StepObservation { structured: Some(structured), .. }) => {
                        format!("sent as {}", value(structured, SHORT))
                    }
                    Some(step) => step.outcome.to_string(),
                    None => "not sent".to_owned(),
                },
            );
        } else {
            say(name.as_deref() == Some("as the only member"), "✓ wrapped");
            say(name.as_deref() == Some("without structured content"), "without structured content");
        }
    }
    say(of("sent").iter().any(|one| broken(one, "structured-returned")), "cannot be sent");
    say(breaks("output-conforms") || breaks("output-present"), "**breaks its own schema**");
    say(breaks("object-output-before-2026"), "the output schema is no object");
    say(breaks("text-mirrors-structured"), "without its JSON as text");
    for one in of("answered").into_iter().filter_map(step) {
        say(one.outcome != Outcome::Success, one.outcome.as_ref());
        if let Some(structured) = &one.structured {
            say(one.outcome == Outcome::Success, &format!("sent as {}", value(structured, SHORT)));
        }
    }
    let asked = [of("asked"), of("form")].concat();
    let is_mute = !asked.is_empty() && asked.iter().copied().filter_map(step).all(|step| step.asked.is_empty());
    let is_uncontrolled = |one: &&Record| {
        let mut details = one.verdicts.iter().flat_map(|verdict| &verdict.detail);
        details.any(|detail| matches!(detail.finding, Finding::ControlFailed { .. }))
    };
    // Where not even a plain form is asked, nothing is known of the type.
    let cannot_ask = is_mute && asked.iter().all(is_uncontrolled);
    let is_http = asked.iter().all(|one| one.test.transport == Transport::Http);
    say(cannot_ask, if is_http { "over HTTP: cannot ask" } else { "cannot ask" });
    say(is_mute && !cannot_ask, "the type is refused");
    say(breaks("form-is-flat"), "asks with a form that no client has to know");
    say(breaks("older-enums-only"), "asks with choices of a later revision");
    say(breaks("field-kept"), "the form says less");
    say(breaks("answer-arrives") && !cannot_ask, "the answer is lost");
    say(breaks("default-has-the-type"), "a default of another type");
    if words.is_empty() { "✓".to_owned() } else { words.join("; ") }
}

/// The schemas and values of a tool, folded.
fn details(records: &[&Record], targets: &[String], file: &str, tool: &str, entry: &TypedTool) -> String {
    let mut rows = String::new();
    for target in targets {
        let newest = REVISIONS.iter().rev().map(|revision| seen(records, target, file, entry, revision));
        let Some(seen) = newest.into_iter().find(|seen| !seen.is_empty()) else { continue };
        let steps = || seen.iter().copied().filter_map(step);
        let key = if file.ends_with("results") { "outputSchema" } else { "inputSchema" };
        let listed = steps().find_map(|step| step.listed.get(tool)?.get(key).cloned());
        let form = steps()
            .find_map(|step| step.asked.first())
            .and_then(|asked| asked.value()?.get("requestedSchema").cloned());
        let listed = listed.or(form.map(Observed::Value));
        let shown = steps().find_map(|step| step.saw.as_ref().or(step.structured.as_ref()));
        let cannot = seen.iter().find_map(|one| one.observation.cannot.clone());
        let (listed, shown) = match (cannot, listed, shown) {
            (Some(reason), ..) => (escaped(&reason), String::new()),
            (None, None, None) => continue,
            (None, listed, shown) => {
                let code = |one: Option<&Observed>| one.map(|one| value(one, LONG)).unwrap_or_default();
                (code(listed.as_ref()), code(shown))
            }
        };
        let name = target.split(':').next().unwrap_or(target);
        writeln!(rows, "| {name} | {listed} | {shown} |").expect("text");
    }
    if rows.is_empty() {
        return rows;
    }
    format!(
        "\n<details><summary><code>{tool}</code></summary>\n\n{}\n\n| | listed | value |\n| --- | --- | --- |\n{rows}\n</details>\n",
        escaped(&entry.typed)
    )
}

/// A value as code in a cell of a table.
fn value(value: &Observed, length: usize) -> String {
    let text = value.value().map_or_else(|| "not read".to_owned(), Value::to_string);
    let cut: String = text.chars().take(length).collect();
    let mark = if cut.len() < text.len() { "…" } else { "" };
    format!("<code>{}{mark}</code>", escaped(&cut))
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '|' => out.push_str("&#124;"),
            '*' | '_' | '`' | '[' | ']' | '\\' | '~' | '$' => write!(out, "&#{};", u32::from(c)).expect("text"),
            _ => out.push(c),
        }
    }
    out
}

/// Returns whether all revisions of the page exist.
#[test]
fn revisions_of_the_page_are_known() {
    assert!(REVISIONS.iter().all(|name| Revision::all().any(|one| one.name() == *name)));
}
