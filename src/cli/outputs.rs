//! Reports as files: what was asked for by `--report KIND=FILE`, and what GitHub is told without being asked.
//!
//! Takes a report, writes bytes. Must not know how a report is made.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::str::FromStr;

use camino::{Utf8Path, Utf8PathBuf};

use super::Problem;
use crate::model::case::{Library, Test};
use crate::model::record::Record;
use crate::model::spec::words;
use crate::model::transcript::Transcript;
use crate::model::untrusted::escape_json;
use crate::report::html::{Evidence, page};
use crate::report::markdown::{COMMENT, SUMMARY, markdown};
use crate::report::terminal::{annotate, show};
use crate::report::{self, Book, GapKind, Report, Source, badges, junit, merge};
use crate::run::{hash, read_wire};

words! {
    /// What a report can be written as.
    Kind {
        /// For readers: one page with the evidence in it.
        Html = "html",
        /// For whatever shows test results.
        Junit = "junit",
        /// For a job summary or a comment.
        Markdown = "md",
        /// For programs.
        Json = "json",
        /// For a README: a folder, a file a target.
        Badge = "badge",
    }
}

words! {
    /// Who is told where the findings are.
    Annotations {
        /// A GitHub job.
        Github = "github",
    }
}

/// `KIND=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// What is written.
    pub kind: Kind,
    /// Where; `-` is standard output.
    pub path: Utf8PathBuf,
}

impl Output {
    /// Whether it goes to standard output.
    pub fn is_standard(&self) -> bool {
        self.path == "-"
    }
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, path) = text.split_once('=').ok_or_else(|| format!("`{text}` is no report; write KIND=FILE"))?;
        if path.is_empty() {
            return Err(format!("`{text}` names no file; write {kind}=FILE"));
        }
        Ok(Self { kind: kind.parse()?, path: path.into() })
    }
}

/// Whether there is anything to write.
pub(super) fn is_wanted(outputs: &[Output], annotations: Option<Annotations>) -> bool {
    !outputs.is_empty() || annotations.is_some() || summary_file().is_some()
}

/// Makes the report of these records, and writes all that is wanted of it. Gives it, with its gravest gap.
pub(super) fn settle(
    sources: &[Source],
    library: &Library,
    outputs: &[Output],
    annotations: Option<Annotations>,
    strict: bool,
) -> Result<(Report, Option<GapKind>), Problem> {
    let files = library.cases.iter().map(|case| (case.id.clone(), case.path.clone())).collect();
    let merged = merge(sources);
    let report = Report::new(&merged, &Book { catalogue: library.requirements.clone(), files });
    let written = write(&report, outputs, |report| proofs(report, sources, library)).and(summarise(&report));
    if annotations.is_some() {
        for line in report::annotations(&report, strict) {
            annotate(&line);
        }
    }
    written.map(|()| (report, merged.gaps.first().map(|gap| gap.kind)))
}

/// Writes all of it; what can't be written doesn't keep the rest from being.
fn write(report: &Report, outputs: &[Output], proofs: impl Fn(&Report) -> Evidence) -> Result<(), Problem> {
    let mut written = Ok(());
    for Output { kind, path } in outputs {
        let one = match kind {
            Kind::Html => put(path, &page(report, &proofs(report))),
            Kind::Junit => put(path, &junit(report)),
            Kind::Markdown => put(path, &markdown(report, COMMENT)),
            Kind::Json => put(path, &(escape_json(&serde_json::to_string(report).expect("a report is JSON")) + "\n")),
            Kind::Badge => badges(report).iter().try_for_each(|(name, text)| match path.as_str() {
                "-" => put(path, text),
                _ => put(&path.join(name), text),
            }),
        };
        written = written.and(one);
    }
    written
}

/// What the transcripts beside the records prove. A record that stands alone is reported without.
fn proofs(report: &Report, sources: &[Source], library: &Library) -> Evidence {
    let tests = library.cases.iter().flat_map(|case| &case.tests);
    let tests: HashMap<String, &Test> = tests.map(|test| (test.path(), test.as_ref())).collect();
    // A case that has changed since has another fixture.
    let fixture = |record: &Record, transcript: &Transcript| {
        let test = tests.get(&record.test.path()).filter(|test| hash(test) == record.hash)?;
        Some(test.given.template().render(&transcript.bindings))
    };
    let mut evidence = Evidence::of(report);
    for source in sources {
        let transcripts = read_wire(Utf8Path::new(&source.name)).into_iter().flatten().flatten();
        evidence.read(report, source, transcripts, fixture);
    }
    evidence
}

fn put(path: &Utf8Path, text: &str) -> Result<(), Problem> {
    let written = if path == "-" {
        show(text)
    } else {
        let folder = path.parent().filter(|folder| !folder.as_str().is_empty());
        folder.map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text))
    };
    written.map_err(|error| Problem::unsaved(path, &error))
}

/// In a GitHub job, appends the summary of this step.
fn summarise(report: &Report) -> Result<(), Problem> {
    let Some(path) = summary_file() else { return Ok(()) };
    let problem =
        |error| Problem::new(super::Exit::Unsaved, format!("cannot write GITHUB_STEP_SUMMARY, {path}: {error}"));
    let mut file = fs::OpenOptions::new().create(true).append(true).open(&path).map_err(problem)?;
    // Earlier commands of the step count too.
    let there = file.metadata().map_or(0, |metadata| usize::try_from(metadata.len()).unwrap_or(usize::MAX));
    let room = SUMMARY.saturating_sub(there.saturating_add(1));
    let text = markdown(report, room);
    if text.len() > room {
        return Ok(());
    }
    file.write_all(text.as_bytes()).map_err(problem)
}

fn summary_file() -> Option<String> {
    std::env::var("GITHUB_STEP_SUMMARY").ok().filter(|path| !path.is_empty())
}
