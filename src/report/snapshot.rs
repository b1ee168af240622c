//! Observations → snapshot text, one file a case file and target, in insta's file format.
//!
//! Takes records of one case file and target, gives a body; compares bodies, reads and writes their files. What varies
//! from run to run has no place in it. Must not know verdicts: a snapshot tells what a target does, not whether that is
//! right.

mod body;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write as _};

pub use self::body::{Body, Malformed, Way, Ways};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::Untrusted;
use crate::model::bound::{cut_text, in_short};
use crate::model::case::{Flaw, TextState};
use crate::model::observation::{
    AdvertisedTool, AnswerObservation, Observation, Observed, Params, Round, SizeClass, StepObservation,
};
use crate::model::record::Record;
use crate::model::{CaseId, TargetId, TestId, is_id};

/// How many characters of a value are shown before it is told by its length and hash.
const SHOWN: usize = 160;
/// The end of the name of a snapshot's file.
const EXTENSION: &str = ".snap";
/// The number of entries of a folder that are looked at.
const MOST_ENTRIES: usize = 10_000;

/// The file of a case's snapshot in its target's folder.
pub fn path(folder: &Utf8Path, case: &CaseId) -> Utf8PathBuf {
    folder.join(case.folder()).join(format!("{}{EXTENSION}", case.file()))
}

/// The path of a test in the snapshot of its case file, and the way in which it is run.
fn place(test: &TestId) -> (String, Way) {
    let path = test.row.as_ref().map_or_else(|| test.test.clone(), |row| format!("{}/{row}", test.test));
    (path, (test.revision, test.transport))
}

/// The tests of a case file, as its snapshot has them.
pub fn ways<'t>(tests: impl IntoIterator<Item = &'t TestId>) -> Ways {
    let mut ways = Ways::new();
    for (path, way) in tests.into_iter().map(place) {
        ways.entry(path).or_default().insert(way);
    }
    ways
}

/// Returns whether a test is among others on this way.
pub fn has(ways: &Ways, path: &str, way: Way) -> bool {
    ways.get(path).is_some_and(|ways| ways.contains(&way))
}

impl Body {
    /// Adds the observation of a test.
    pub fn add(&mut self, record: &Record) {
        let (path, way) = place(&record.test);
        // Lines have no white space at their ends, which editors and other readers of snapshots drop.
        let text = observation(&record.observation);
        self.insert(path, way, text.split('\n').map(str::trim_end).collect::<Vec<_>>().join("\n"));
    }
}

/// The body of records that are all here.
pub fn render<'a>(records: impl IntoIterator<Item = &'a Record>) -> String {
    let mut body = Body::default();
    records.into_iter().for_each(|record| body.add(record));
    body.text()
}

/// One step on the same line, several each on a line of its own.
pub(super) fn observation(seen: &Observation) -> String {
    let leaky = if seen.leaky { " (leaky)" } else { "" };
    if seen.unavailable.is_some() {
        return format!(" unavailable{leaky}");
    }
    if let Some(reason) = &seen.cannot {
        return format!(" cannot: {}{leaky}", Untrusted(reason).line(SHOWN));
    }
    match seen.steps.as_slice() {
        [one] => format!(" {}{leaky}", step(one)),
        steps => {
            let lines = steps.iter().enumerate().map(|(index, one)| format!("\n    {} {}", index + 1, step(one)));
            format!("{leaky}{}", lines.collect::<String>())
        }
    }
}

/// What stays the same from run to run: neither times nor an error's words.
fn step(seen: &StepObservation) -> String {
    let mut parts = vec![seen.outcome.to_string()];
    parts.extend(seen.code.map(|code| format!("code {code}")));
    // The usual ones would only tell HTTP from stdio.
    parts.extend(seen.status.filter(|status| !matches!(status, 200 | 202)).map(|status| format!("status {status}")));
    parts.extend(seen.saw.as_ref().map(|saw| format!("saw {}", value(saw))));
    let structured = seen.structured.as_ref().filter(|_| seen.structured != seen.saw);
    parts.extend(structured.map(|value| format!("structured {}", self::value(value))));
    parts.extend(seen.text.as_ref().map(text));
    parts.extend(seen.advertised.iter().map(|(name, tool)| advertised(name, tool)));
    parts.extend(seen.tools.iter().map(|(name, flaws)| found(name, flaws)));
    parts.extend(seen.varies.then(|| "varies".to_owned()));
    parts.extend(seen.asked.iter().map(|params| format!("asked {}", value(params))));
    parts.extend(seen.answered.iter().map(answered));
    parts.extend(seen.rounds.iter().map(round));
    parts.extend(seen.canary.map(|canary| format!("canary {canary}")));
    parts.extend((seen.size != SizeClass::Small).then(|| format!("size {}", seen.size)));
    parts.join("; ")
}

fn advertised(name: &str, tool: &AdvertisedTool) -> String {
    let mut told = format!("{} listed", Untrusted(name).line(SHOWN));
    if tool.as_given() {
        return told + " as given";
    }
    if let Some(reason) = &tool.unreadable {
        write!(told, " unreadable ({})", Untrusted(reason).line(SHOWN)).expect("a string takes all");
    }
    for (sign, pointers) in [('-', &tool.removed), ('+', &tool.added), ('~', &tool.changed)] {
        for pointer in pointers {
            write!(told, " {sign}{}", Untrusted(pointer).line(SHOWN)).expect("a string takes all");
        }
    }
    told
}

fn found(name: &str, flaws: &BTreeSet<Flaw>) -> String {
    let told = [Untrusted(name).line(SHOWN), "listed".to_owned()];
    told.into_iter().chain(flaws.iter().map(ToString::to_string)).collect::<Vec<_>>().join(" ")
}

fn round(round: &Observed<Round>) -> String {
    let round = match round {
        Observed::Value(round) => round,
        Observed::Unreadable(reason) => return format!("round unreadable ({})", Untrusted(reason).line(SHOWN)),
    };
    let id = if round.fresh_id { "" } else { " old id" };
    let params = if round.params == Params::Same { "" } else { " other params" };
    format!("round state {}{id}{params}", round.state)
}

fn answered(answer: &AnswerObservation) -> String {
    let action = answer.action.map_or("oddly", |action| action.word());
    let code = answer.code.map(|code| format!(" code {code}")).unwrap_or_default();
    let content = answer.content.as_ref().map(|content| format!(" {}", value(content))).unwrap_or_default();
    format!("answered {action}{code}{content}")
}

fn text(text: &Observed<TextState>) -> String {
    match text {
        Observed::Value(text) => format!("text {text}"),
        Observed::Unreadable(reason) => format!("text unreadable ({})", Untrusted(reason).line(SHOWN)),
    }
}

/// A value, or in angle brackets why it cannot be read.
fn value(value: &Observed) -> String {
    match value {
        Observed::Value(json_value) => json(json_value),
        // A record that lacks the value has what is shown of it.
        Observed::Unreadable(reason) => {
            let text = cut_text(value).map_or_else(|| format!("\"<{reason}>\""), str::to_owned);
            Untrusted(&text).line(2 * SHOWN)
        }
    }
}

/// A value with its members in one order, since many languages have none.
fn json(value: &Value) -> String {
    let mut sorted = value.clone();
    sorted.sort_all_objects();
    let text = sorted.to_string();
    if text.chars().count() <= SHOWN {
        return Untrusted(&text).line(SHOWN);
    }
    Untrusted(&in_short(value)).line(2 * SHOWN)
}

/// The file's text: insta's front matter, and the body.
pub fn file(target: &TargetId, case: &CaseId, body: &str) -> String {
    format!("---\nsource: tests/conformance.rs\ndescription: \"{case} as {target} has it\"\n---\n{}\n", body.trim_end())
}

/// The body of a file: everything after the second `---` line.
pub fn body(file: &str) -> &str {
    let lines = file.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some((line.trim_end(), *end))
    });
    lines.filter(|(line, _)| *line == "---").nth(1).map_or(file, |(_, end)| &file[end..])
}

/// Parses the text of a file.
///
/// # Errors
/// The first line of the file that no snapshot has.
pub fn parse(file: &str) -> Result<Body, Malformed> {
    let body = body(file);
    let above = file[..file.len() - body.len()].lines().count();
    Body::parse(body).map_err(|malformed| Malformed { line: malformed.line + above, ..malformed })
}

/// The case files that have a snapshot in a target's folder; links are not followed.
pub fn cases(folder: &Utf8Path) -> BTreeSet<CaseId> {
    let entries = |folder: &Utf8Path| folder.read_dir_utf8().into_iter().flatten().flatten().take(MOST_ENTRIES);
    let is_folder = |entry: &camino::Utf8DirEntry| entry.file_type().is_ok_and(|one| one.is_dir());
    let folders = entries(folder).filter(|entry| is_id(entry.file_name()) && is_folder(entry));
    let in_folder = |folder: camino::Utf8DirEntry| {
        let files = entries(folder.path()).filter_map(|entry| {
            let file = entry.file_name().strip_suffix(EXTENSION).filter(|file| is_id(file))?;
            Some(CaseId::new(folder.file_name(), file))
        });
        files.collect::<Vec<_>>()
    };
    folders.flat_map(in_folder).collect()
}

/// Writes a snapshot's file, whole or not at all.
///
/// # Errors
/// Those of the file system.
pub fn write(path: &Utf8Path, target: &TargetId, case: &CaseId, body: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Utf8Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut new = tempfile::Builder::new();
    new.prefix(".casebook-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As for any other new file; the umask takes from it.
        new.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut new = new.tempfile_in(folder)?;
    new.write_all(file(target, case, body).as_bytes())?;
    new.persist(path).map(drop).map_err(|error| error.error)
}

/// Where two bodies differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff(pub Vec<DiffLine>);

/// One line of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffLine {
    /// Lines that are alike were left out here.
    Gap,
    /// It stands in both.
    Same(String),
    /// Only the old body has it.
    Old(String),
    /// Only the new body has it.
    New(String),
}

/// Compares bodies as insta does: neither the last line's end counts, nor how lines end. `None` where they are alike.
///
/// Only bodies of the same runs may be compared; which tests a filter left out isn't known here.
pub fn compare(old: &str, new: &str) -> Option<Diff> {
    let [old, new] = [old, new].map(|text| text.replace("\r\n", "\n").trim_end().to_owned() + "\n");
    if old == new {
        return None;
    }
    let diff = TextDiff::from_lines(&old, &new);
    let mut lines = Vec::new();
    for (index, hunk) in diff.grouped_ops(2).iter().enumerate() {
        if index > 0 {
            lines.push(DiffLine::Gap);
        }
        lines.extend(hunk.iter().flat_map(|op| diff.iter_changes(op)).map(|change| {
            let text = change.value().trim_end_matches('\n').to_owned();
            match change.tag() {
                ChangeTag::Equal => DiffLine::Same(text),
                ChangeTag::Delete => DiffLine::Old(text),
                ChangeTag::Insert => DiffLine::New(text),
            }
        }));
    }
    Some(Diff(lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::bound::bound;
    use crate::model::case::{CanaryState, Outcome};
    use serde_json::json;

    fn record(test: &str, step: StepObservation) -> Record {
        Record { observation: samples::observation(vec![step]), ..samples::record(0, test, Outcome::Success) }
    }

    fn sample() -> String {
        let saw = |value: Value| StepObservation {
            saw: Some(Observed::Value(value.clone())),
            structured: Some(Observed::Value(value)),
            text: Some(Observed::Value(TextState::Mirrors)),
            said: Some("never shown".into()),
            ..samples::step(Outcome::Success)
        };
        let listed = AdvertisedTool { removed: vec!["/inputSchema/anyOf".into()], ..AdvertisedTool::default() };
        let list = StepObservation {
            advertised: [("find".into(), listed), ("other".into(), AdvertisedTool::default())].into(),
            canary: Some(CanaryState::Untouched),
            ..samples::step(Outcome::Success)
        };
        let error = StepObservation { code: Some(-32602), ..samples::step(Outcome::ProtocolError) };
        let two = Record {
            observation: samples::observation(vec![samples::step(Outcome::Success), samples::step(Outcome::Crash)]),
            ..samples::record(0, "f/c/two@2026-07-28+http", Outcome::Success)
        };
        render(&[
            record("f/c/call/a@2026-07-28+http", StepObservation { status: Some(400), ..error.clone() }),
            record("f/c/call/a@2025-06-18+stdio", saw(json!({"b": "\u{202e}", "a": 1}))),
            record("f/c/call/a@2025-06-18+http", saw(json!({"a": 1, "b": "\u{202e}"}))),
            record("f/c/call/a@2025-11-25+http", saw(json!({"a": 1, "b": "\u{202e}"}))),
            record("f/c/call/a@2025-11-25+stdio", saw(json!({"a": 1, "b": "\u{202e}"}))),
            record("f/c/call/a@2026-07-28+stdio", error),
            record("f/c/any@2026-07-28+http", list),
            two,
        ])
    }

    #[test]
    fn runs_that_were_observed_alike_share_a_line() {
        let expected = r#"any
  2026-07-28 http: success; find listed -/inputSchema/anyOf; other listed as given; canary untouched
call/a
  2025-06-18..2025-11-25 stdio http: success; saw {"a":1,"b":"\u{202e}"}; text mirrors structured
  2026-07-28 stdio: protocol-error; code -32602
  2026-07-28 http: protocol-error; code -32602; status 400
two
  2026-07-28 http:
    1 success
    2 crash
"#;
        assert_eq!(sample(), expected);
    }

    #[test]
    fn a_large_value_is_told_by_its_length_and_hash() {
        let text = json(&json!({"p": "x".repeat(100_000)}));
        assert!(text.contains("(100008 bytes, ") && text.len() < 200, "{text}");
    }

    #[test]
    fn insta_reads_the_file_as_we_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(folder.path()).expect("UTF-8");
        let (target, case) = (samples::target(), CaseId::new("f", "c"));
        let path = path(root, &case);
        write(&path, &target, &case, &sample()).expect("written");
        let mut settings = insta::Settings::new();
        settings.set_snapshot_path(path.parent().expect("a folder"));
        settings.set_prepend_module_to_snapshot(false);
        settings.bind(|| insta::assert_snapshot!("c", sample()));
        let text = std::fs::read_to_string(&path).expect("text");
        assert_eq!(compare(body(&text), &sample()), None);
        assert_eq!(path, root.join("f/c.snap"));
    }

    #[test]
    fn a_difference_keeps_two_lines_around_it() {
        let old = "a\nb\nc\nd\ne\n";
        assert_eq!(compare(old, "a\r\nb\r\nc\r\nd\r\ne"), None);
        let diff = compare(old, "a\nb\nc\nd\nf\n").expect("a difference");
        let same = |text: &str| DiffLine::Same(text.into());
        assert_eq!(diff.0, [same("c"), same("d"), DiffLine::Old("e".into()), DiffLine::New("f".into())]);
    }

    #[test]
    fn value_that_was_cut_has_the_snapshot_of_the_whole() {
        let value = json!({"b": 1, "a": ["x\u{1b}".repeat(200_000)]});
        let step = StepObservation { structured: Some(value.into()), ..samples::step(Outcome::Success) };
        let whole = samples::observation(vec![step]);
        let mut cut = whole.clone();
        assert!(bound(&mut cut, 1 << 10) > 0);
        assert_eq!(observation(&cut), observation(&whole));
    }
}
