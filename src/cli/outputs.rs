//! Reports as files: the options `--report KIND=FILE` and `--annotations`, and the summary of a GitHub job.
//!
//! Takes run logs, writes bytes. Must not know the forms of a report.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::str::FromStr;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::{Exit, Problem};
use crate::model::case::{Library, Test};
use crate::model::record::Record;
use crate::model::spec::words;
use crate::model::transcript::Transcript;
use crate::report::html::{Evidence, page};
use crate::report::markdown::{COMMENT, SUMMARY, markdown};
use crate::report::terminal::{annotate, show};
use crate::report::{self, Report, ReportContext, Source, badges, junit};
use crate::run::{hash, read_wire};

words! {
    /// The form of a report.
    Kind {
        /// One page for readers, with the evidence in it.
        Html = "html",
        /// `JUnit` XML.
        Junit = "junit",
        /// Markdown for a job summary or a comment.
        Markdown = "md",
        /// JSON for programs.
        Json = "json",
        /// Badges for a README: a folder with a file for each target.
        Badge = "badge",
    }
}

words! {
    /// The CI system whose annotations are printed.
    Annotations {
        /// GitHub Actions.
        Github = "github",
    }
}

/// The options of every command that makes reports.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputArgs {
    /// Write a report: html, junit, md or json and a file, or badge and a folder; may be repeated
    #[arg(long = "report", value_name = "KIND=FILE")]
    pub reports: Vec<Output>,
    /// Print the findings as lines that mark the case files
    #[arg(long, value_name = "github")]
    pub annotations: Option<Annotations>,
    /// Also fail on violated SHOULDs, and on tests that the adapter cannot express
    #[arg(long)]
    pub strict: bool,
}

impl OutputArgs {
    /// Returns whether there is anything to write.
    pub(super) fn is_wanted(&self) -> bool {
        !self.reports.is_empty() || self.annotations.is_some() || summary_file().is_some()
    }

    /// Refuses reports to standard output, where a run is shown there.
    pub(super) fn check(&self) -> Result<(), Problem> {
        let text = "standard output shows the run; give the report a file, or make it with `casebook report`";
        if self.reports.iter().any(Output::is_standard) { Err(Problem::new(Exit::Usage, text)) } else { Ok(()) }
    }

    /// Makes the report of some run logs, and writes all that is wanted of it.
    pub(super) fn write(&self, sources: &[Source], library: &Library) -> Result<Report, Problem> {
        let files = library.cases.iter().map(|case| (case.id.clone(), case.path.clone())).collect();
        let report = Report::new(sources, &ReportContext { catalogue: library.requirements.clone(), files });
        let mut written = Ok(());
        for output in &self.reports {
            // A report that can't be written doesn't keep the others from being.
            written = written.and(output.write(&report, || evidence(&report, sources, library)));
        }
        let written = written.and(append_summary(&report));
        if self.annotations.is_some() {
            report::annotations(&report, self.strict).iter().for_each(annotate);
        }
        written.map(|()| report)
    }
}

/// `KIND=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The form.
    pub kind: Kind,
    /// The file, or a folder of badges; `-` is standard output.
    pub path: Utf8PathBuf,
}

impl Output {
    fn is_standard(&self) -> bool {
        self.path == "-"
    }

    fn write(&self, report: &Report, evidence: impl FnOnce() -> Evidence) -> Result<(), Problem> {
        let path = &self.path;
        match self.kind {
            Kind::Html => put(path, &page(report, &evidence())),
            Kind::Junit => put(path, &junit(report)),
            Kind::Markdown => put(path, &markdown(report, COMMENT)),
            Kind::Json => put(path, &report.json()),
            Kind::Badge => badges(report).iter().try_for_each(|(name, text)| {
                if self.is_standard() { put(path, text) } else { put(&path.join(name), text) }
            }),
        }
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

/// The evidence in the transcripts beside the run logs. A run log without them is reported without evidence.
fn evidence(report: &Report, sources: &[Source], library: &Library) -> Evidence {
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
fn append_summary(report: &Report) -> Result<(), Problem> {
    let Some(path) = summary_file() else { return Ok(()) };
    let problem = |error| Problem::new(Exit::Unsaved, format!("cannot write GITHUB_STEP_SUMMARY, {path}: {error}"));
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
