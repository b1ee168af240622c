//! Snapshots: the observations of one case file and target, in all its variants, as text in insta's file format.
//!
//! Takes records of one case file and variant, gives a body; compares bodies, reads and writes the files of all bodies of
//! a target. What varies from run to run is left out. Must not know verdicts.

mod body;
mod differences;
mod observation;

use std::collections::BTreeSet;
use std::io::{self, Write as _};

pub use self::body::{Body, Malformed, Snapshot, Way, Ways, render};
pub use self::differences::{differences, folder_of_variant};
pub use self::observation::observation;

use camino::{Utf8Path, Utf8PathBuf};
use similar::{ChangeTag, TextDiff};

use crate::file;
use crate::model::case::{Does, Test, Tool, When};
use crate::model::record::Record;
use crate::model::spec::Role;
use crate::model::{CaseId, TargetId, TestId, is_id};

/// The end of the name of a snapshot's file.
const EXTENSION: &str = ".snap";
/// The largest snapshot that is read, in bytes.
const MOST_BYTES: usize = 64 << 20;
/// The largest number of entries of a folder that are read.
const MOST_ENTRIES: usize = 10_000;

/// The file of a case's snapshot in its target's folder.
pub fn path(folder: &Utf8Path, case: &CaseId) -> Utf8PathBuf {
    folder.join(case.folder()).join(format!("{}{EXTENSION}", case.file()))
}

/// The variant of a target; empty if it has none.
pub fn variant(target: &TargetId) -> &str {
    target.variant.as_deref().unwrap_or_default()
}

/// The path of a test in the snapshot of its case file, and the way in which it is run.
fn place(test: &TestId) -> (String, Way) {
    let path = test.row.as_ref().map_or_else(|| test.test.clone(), |row| format!("{}/{row}", test.test));
    (path, (test.revision, test.transport))
}

/// Returns whether a test has the same observation in each run; snapshots contain only such tests. Where the messages of
/// two calls, or of a call and a notification, cross each other, their order differs; questions in URL mode may have random
/// ids; and whether a client gets a response within its own short time limit depends on the load of the machine.
pub fn is_repeatable(test: &Test) -> bool {
    let crosses = |when: &When| matches!(when, When::Cancel { .. } | When::Call { parallel: true, .. });
    let sends = |tool: &Tool| matches!(tool.does, Does::Log | Does::Progress);
    let asks_by_url = |tool: &Tool| {
        let question = tool.definition.get("does").and_then(|does| does.get("elicit"));
        question.is_some_and(|question| question.get("url").is_some())
    };
    let varies = |tool: &Tool| sends(tool) || (test.role == Role::Server && asks_by_url(tool));
    test.request_timeout.is_none()
        && !test.steps.iter().any(|step| crosses(&step.when))
        && !test.given.tools.iter().any(varies)
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
    /// The observations of all given records.
    pub fn from_records<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut body = Self::default();
        records.into_iter().for_each(|record| body.add(record));
        body
    }

    /// Adds the observation of a test.
    pub fn add(&mut self, record: &Record) {
        let (path, way) = place(&record.test);
        // Lines have no white space at their ends, which editors and other readers of snapshots drop.
        let text = observation(&record.observation);
        self.insert(path, way, text.split('\n').map(str::trim_end).collect::<Vec<_>>().join("\n"));
    }
}

/// The file's text: insta's front matter, and the body. `target` is the name without a variant.
pub fn file_text(target: &str, case: &CaseId, body: &str) -> String {
    format!("---\ndescription: \"{case} as {target} has it\"\n---\n{}\n", body.trim_end())
}

/// The body of a file: everything after the second `---` line.
pub fn body(file: &str) -> &str {
    let lines = file.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some((line.trim_end(), *end))
    });
    lines.filter(|(line, _)| *line == "---").nth(1).map_or(file, |(_, end)| &file[end..])
}

/// Returns whether a snapshot, or the folder of its folder of cases, is a link.
pub fn is_behind_link(path: &Utf8Path) -> bool {
    let is_link = |path: &Utf8Path| path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    is_link(path) || path.parent().is_some_and(is_link)
}

/// Reads a snapshot; `None` where there is no such file.
///
/// # Errors
/// The reason why it cannot be read, with its path.
pub fn read(path: &Utf8Path) -> Result<Option<Snapshot>, String> {
    match file::read_text(path, MOST_BYTES) {
        Ok(text) => parse(&text).map(Some).map_err(|error| format!("{path}:{}: {error}", error.line)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{path}: {error}")),
    }
}

/// Parses the text of a file.
///
/// # Errors
/// The first line of the file that no snapshot has.
pub fn parse(file: &str) -> Result<Snapshot, Malformed> {
    let body = body(file);
    let above = file[..file.len() - body.len()].lines().count();
    body::parse(body).map_err(|malformed| Malformed { line: malformed.line + above, ..malformed })
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

/// The case files of which a target's folder has snapshots of this variant, or snapshots that cannot be read.
pub fn cases_of_variant(folder: &Utf8Path, variant: &str) -> BTreeSet<CaseId> {
    let mut cases = cases(folder);
    cases.retain(|case| match read(&path(folder, case)) {
        Ok(snapshot) => snapshot.is_some_and(|snapshot| snapshot.contains_key(variant)),
        Err(_) => true,
    });
    cases
}

/// Keeps other runs from writing to the folder of a snapshot until the result is dropped, where the system can lock
/// folders. Two runs can accept two variants of a target at the same time, and these share a file.
pub fn lock(path: &Utf8Path) -> Option<std::fs::File> {
    let folder = path.parent()?;
    std::fs::create_dir_all(folder).ok()?;
    let folder = std::fs::File::open(folder).ok()?;
    folder.lock().ok().map(|()| folder)
}

/// Writes a snapshot's file atomically.
///
/// # Errors
/// Those of the file system.
pub fn write(path: &Utf8Path, target: &TargetId, case: &CaseId, snapshot: &Snapshot) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Utf8Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut new = tempfile::Builder::new();
    new.prefix(".casebook-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The mode of any other new file; the umask removes bits from it.
        new.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut new = new.tempfile_in(folder)?;
    new.write_all(file_text(&target.name, case, &render(snapshot)).as_bytes())?;
    new.persist(path).map(drop).map_err(|error| error.error)
}

/// The difference between two bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff(pub Vec<DiffLine>);

/// One line of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffLine {
    /// Equal lines were left out here.
    Gap,
    /// Both bodies have it.
    Same(String),
    /// Only the old body has it.
    Old(String),
    /// Only the new body has it.
    New(String),
}

/// Compares bodies as insta does: line endings are ignored. `None` if the bodies are equal.
///
/// Both bodies must have the same tests: this function does not know filters.
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
    use crate::model::case::{CanaryState, Outcome, TextState};
    use crate::model::observation::{AdvertisedTool, Observed, StepObservation};
    use serde_json::{Value, json};

    fn record(test: &str, step: StepObservation) -> Record {
        Record { observation: samples::observation(vec![step]), ..samples::record(0, test, Outcome::Success) }
    }

    fn sample() -> Snapshot {
        let saw = |value: Value| StepObservation {
            saw: Some(Observed::Value(value.clone())),
            structured: Some(Observed::Value(value)),
            text: Some(Observed::Value(TextState::Mirrors)),
            said: Some("never shown".into()),
            ..samples::step(Outcome::Success)
        };
        let listed = AdvertisedTool { removed: vec!["/inputSchema/anyOf".into()], ..AdvertisedTool::default() };
        let as_given = ["other", "third"].map(|name| (name.to_owned(), AdvertisedTool::default()));
        let list = StepObservation {
            advertised: [("find".into(), listed)].into_iter().chain(as_given).collect(),
            canary: Some(CanaryState::Untouched),
            ..samples::step(Outcome::Success)
        };
        let error = StepObservation { code: Some(-32602), ..samples::step(Outcome::ProtocolError) };
        let asked = StepObservation { asked: vec![json!("long".repeat(30)).into()], ..samples::step(Outcome::Success) };
        let two = Record {
            observation: samples::observation(vec![asked, samples::step(Outcome::Crash)]),
            ..samples::record(0, "f/c/two@2026-07-28+http", Outcome::Success)
        };
        let both = || json!({"b": "\u{202e}", "a": 1});
        let body = Body::from_records(&[
            record("f/c/call/a@2026-07-28+http", StepObservation { status: Some(400), ..error.clone() }),
            record("f/c/call/a@2025-06-18+stdio", saw(both())),
            record("f/c/call/a@2025-06-18+http", saw(both())),
            record("f/c/call/a@2025-11-25+http", saw(both())),
            record("f/c/call/a@2025-11-25+stdio", saw(both())),
            record("f/c/call/a@2026-07-28+stdio", error),
            record("f/c/any@2026-07-28+http", list.clone()),
            record("f/c/call/b@2026-07-28+http", list),
            two,
        ]);
        Snapshot::from([(String::new(), body)])
    }

    #[test]
    fn equal_observations_share_a_line_and_equal_tests_a_block() {
        let expected = r#"unless noted: 2025-06-18..2026-07-28 stdio http; structured content is as the tool saw it, and text mirrors it

any
call/b
  2026-07-28 http: success; listed as given: other, third; find listed -/inputSchema/anyOf; canary untouched

call/a
  2025-06-18..2025-11-25 stdio http: success; saw {"a":1,"b":"\u{202e}"}
  2026-07-28 stdio: protocol-error; code -32602
  2026-07-28 http: protocol-error; code -32602; status 400

two
  2026-07-28 http: steps
    1 success
        asked "LONG"
    2 crash
"#;
        assert_eq!(render(&sample()), expected.replace("LONG", &"long".repeat(30)));
    }

    #[test]
    fn insta_reads_the_same_body_from_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(folder.path()).expect("UTF-8");
        let (target, case) = (samples::target(), CaseId::new("f", "c"));
        let path = path(root, &case);
        write(&path, &target, &case, &sample()).expect("written");
        let mut settings = insta::Settings::new();
        settings.set_snapshot_path(path.parent().expect("a folder"));
        settings.set_prepend_module_to_snapshot(false);
        settings.bind(|| insta::assert_snapshot!("c", render(&sample())));
        let text = std::fs::read_to_string(&path).expect("text");
        assert_eq!(compare(body(&text), &render(&sample())), None);
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
}
