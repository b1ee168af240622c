//! The options `--report KIND=FILE`, `--view` and `--strict`, and the job summary of GitHub Actions.
//!
//! Takes run logs, writes report files. Must not know the content of a report.

use std::fs;
use std::io::Write as _;
use std::str::FromStr;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use clap::builder::TypedValueParser;

use super::exit::Exit;
use super::heading;
use super::logs::now;
use super::problem::Problem;
use super::values;
use crate::model::case::Library;
use crate::model::record::{Footer, Header};
use crate::model::spec::words;
use crate::report::evidence::Evidence;
use crate::report::history::History;
use crate::report::markdown::{COMMENT, SUMMARY, markdown, proposal};
use crate::report::pairs::{self, Pairs};
use crate::report::site::page;
use crate::report::terminal::{annotate, eprint_line, show};
use crate::report::{self, Report, ReportContext, Source, View, badges, junit, official};
use crate::run::read_wire;

/// The report on proposed sentences where there is none.
const NO_PROPOSAL: &str = "No target was asked about a proposed sentence (`\"since\": \"draft\"`).\n";
/// The report on releases where there is one of each target.
const NO_HISTORY: &str = "No target has several releases in these run logs.\n";
/// The name that stands for standard output.
const STANDARD: &str = "-";

words! {
    /// The format of a report.
    Kind {
        /// One HTML page, with the evidence in it.
        Html = "html",
        /// `JUnit` XML.
        Junit = "junit",
        /// Markdown, for a job summary or a comment.
        Markdown = "md",
        /// Markdown about several releases of a target: since when, and what each release changed.
        History = "history",
        /// JSON, for programs.
        Json = "json",
        /// Badges for a README: a folder with one file per target.
        Badge = "badge",
        /// One HTML page about pairs of clients and servers.
        Pairs = "pairs",
        /// Markdown about the sentences that are only proposed: what each target does today.
        Proposal = "proposal",
        /// A folder of pages about any number of targets and versions.
        Site = "site",
        /// A folder with the results in the form of the official suite.
        Official = "official",
        /// Annotations of the case files for GitHub Actions, which reads standard output.
        Github = "github",
    }
}

impl Kind {
    /// Returns the name of a file, or of a folder, for an example.
    const fn example(self) -> &'static str {
        match self {
            Self::Html => "report.html",
            Self::Junit => "junit.xml",
            Self::Markdown => "report.md",
            Self::History => "history.md",
            Self::Json => "report.json",
            Self::Badge => "badges",
            Self::Pairs => "pairs.html",
            Self::Proposal => "proposal.md",
            Self::Site => "site",
            Self::Official => "results",
            Self::Github => STANDARD,
        }
    }

    /// Returns the format that the extension of a file name suggests.
    fn of_file(name: &str) -> Option<Self> {
        let extension = Utf8Path::new(name).extension()?;
        Self::ALL.iter().copied().find(|kind| Utf8Path::new(kind.example()).extension() == Some(extension))
    }
}

/// The options of every command that writes reports.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputArgs {
    /// Write a report of KIND html, junit, md, history, json, badge, pairs, proposal, site, official or github;
    /// repeatable
    ///
    /// FILE is a folder for badges, for a site, and for the files `checks.json` of the official suite; a file that ends
    /// with `.md` gets the report of pairs as Markdown. Only `casebook report` writes a site, and accepts `-` for standard
    /// output. `github=-` prints findings as annotations of the case files for GitHub Actions.
    #[arg(long = "report", value_name = "KIND=FILE", help_heading = heading::OUTPUT)]
    pub reports: Vec<Output>,
    /// Answer this question in reports: conformance or expectation [default: conformance for several targets]
    ///
    /// In the conformance view, known failures are failures. The expectation view says whether anything was other than
    /// it was expected. The exit status and reports of KIND junit and github always have the expectation view.
    #[arg(long, value_name = "VIEW", value_parser = view(), hide_possible_values = true)]
    #[arg(help_heading = heading::OUTPUT)]
    pub view: Option<View>,
    /// Also fail on violated SHOULDs and on tests that the adapter cannot express
    #[arg(long, help_heading = heading::RESULT)]
    pub strict: bool,
}

fn view() -> impl TypedValueParser<Value = View> {
    values::word(View::ALL.iter().map(|view| view.word()))
}

impl OutputArgs {
    /// Returns whether any report is to be written.
    pub(in crate::cli) fn is_wanted(&self) -> bool {
        !self.reports.is_empty() || summary_file().is_some()
    }

    /// Returns the source of the reports on a run that begins, if any report is to be written.
    pub(in crate::cli) fn begin(&self, run_log: Option<&Utf8Path>, header: &Header) -> Option<Source> {
        self.is_wanted().then(|| Source::begun(run_log.map_or("the run", Utf8Path::as_str), header))
    }

    /// Writes the reports on a run that has ended.
    pub(in crate::cli) fn end(&self, source: Option<Source>, footer: Footer, library: &Library) -> Result<(), Problem> {
        let Some(source) = source else { return Ok(()) };
        self.write(&[Source { footer: Some(footer), ..source }], library).map(|_| ())
    }

    /// Refuses sites and reports on standard output, for commands that show a run there.
    pub(in crate::cli) fn check(&self) -> Result<(), Problem> {
        let is_refused = |output: &&Output| match output.kind {
            Kind::Github => false,
            Kind::Site => true,
            _ => output.is_standard(),
        };
        let Some(Output { kind, path }) = self.reports.iter().find(is_refused) else { return Ok(()) };
        let why = match kind {
            Kind::Site => "from one run",
            _ => "to standard output, which shows the run",
        };
        let text = format!(
            "cannot write --report {kind}={path} {why}; use `casebook report RUN_LOG --report {kind}={path}` afterwards"
        );
        Err(Problem::new(Exit::Usage, text))
    }

    /// Refuses a report of pairs, for a command that has none.
    pub(in crate::cli) fn refuse_pairs(&self) -> Result<(), Problem> {
        if self.reports.iter().all(|output| output.kind != Kind::Pairs) {
            return Ok(());
        }
        let text = "cannot write --report pairs=FILE: there are no results of pairs; test some with `casebook pair CLIENT \
                    SERVER --report pairs=FILE`";
        Err(Problem::new(Exit::Usage, text))
    }

    /// Builds the report of some run logs and writes it in all requested formats.
    pub(in crate::cli) fn write(&self, sources: &[Source], library: &Library) -> Result<Report, Problem> {
        if !sources.iter().any(has_pairs) {
            self.refuse_pairs()?;
        }
        let mut report = Report::new(sources, &ReportContext::of(library));
        report.view = self.view.unwrap_or(report.view);
        let mut written = Ok(());
        for output in &self.reports {
            // After a report that cannot be written, the others are still written.
            let page = || page(sources, library, &report, &evidence(&report, sources));
            let history = || History::all(sources, &ReportContext::of(library));
            let done = match output.kind {
                Kind::Official => put_all(&output.path, &official(&report, &library.requirements, &now())),
                _ => output.write(&report, self.strict, page, history, || pairs(sources, library)),
            };
            written = written.and(done);
        }
        written.and(append_summary(&report)).map(|()| report)
    }

    /// Prints the path of each written report, or why one could not be written. Returns the effect on the result of a run.
    pub(in crate::cli) fn tell(&self, written: Result<(), Problem>) -> Exit {
        match written {
            Ok(()) => {
                self.print_paths();
                Exit::Fine
            }
            Err(problem) => {
                eprint_line(&problem.text);
                problem.exit
            }
        }
    }

    /// Prints the path of each written report.
    pub(in crate::cli) fn print_paths(&self) {
        for output in self.reports.iter().filter(|output| !output.is_standard()) {
            eprint_line(&format!("report: {}", output.path));
        }
    }
}

/// `KIND=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The format.
    pub kind: Kind,
    /// The file, or a folder of badges or of a site; `-` is standard output.
    pub path: Utf8PathBuf,
}

impl Output {
    fn is_standard(&self) -> bool {
        self.path == STANDARD
    }

    fn write(
        &self,
        report: &Report,
        strict: bool,
        page: impl FnOnce() -> String,
        history: impl FnOnce() -> Vec<History>,
        pairs: impl FnOnce() -> Pairs,
    ) -> Result<(), Problem> {
        let path = &self.path;
        match self.kind {
            Kind::Html => put(path, &page()),
            Kind::Junit => put(path, &junit(report)),
            Kind::Markdown => put(path, &markdown(report, COMMENT)),
            Kind::History => {
                let all = history();
                let text: String = all.iter().map(History::markdown).collect();
                put(path, if all.is_empty() { NO_HISTORY } else { &text })
            }
            Kind::Json => put(path, &report.json()),
            Kind::Proposal => put(path, &proposal(report).unwrap_or_else(|| NO_PROPOSAL.to_owned())),
            Kind::Pairs if path.extension() == Some("md") => put(path, &pairs::markdown::markdown(&pairs())),
            Kind::Pairs => put(path, &pairs::html::page(&pairs())),
            Kind::Badge => put_all(path, &badges(report)),
            // `casebook report` writes a site from the run logs, which do not fit into one report.
            Kind::Site | Kind::Official => Ok(()),
            Kind::Github => {
                report::annotations(report, strict).iter().for_each(annotate);
                Ok(())
            }
        }
    }
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let kinds: Vec<_> = Kind::ALL.iter().map(|kind| kind.word()).collect();
        let file = Kind::of_file(text).filter(|_| !text.contains('='));
        let guess = file.map(|kind| format!("did you mean `{kind}={text}`?"));
        let (kind, path): (Kind, _) = values::kind(text, &kinds, "KIND=FILE", "html=report.html", guess)?;
        if path.is_empty() {
            return Err(format!("the file is missing; write {kind}=FILE, as in {kind}={}", kind.example()));
        }
        match kind {
            Kind::Site if path == STANDARD => Err("a site is a folder; write site=DIR, as in site=site".to_owned()),
            Kind::Github if path != STANDARD => {
                Err("GitHub reads annotations from standard output; write github=-".to_owned())
            }
            _ => Ok(Self { kind, path: path.into() }),
        }
    }
}

/// Reads the messages beside the run logs. A run log without transcripts gives none.
pub(in crate::cli) fn evidence(report: &Report, sources: &[Source]) -> Evidence {
    let mut evidence = Evidence::of(report);
    for source in sources {
        evidence.read(source, read_wire(Utf8Path::new(&source.name)).into_iter().flatten().flatten());
    }
    evidence
}

/// Reads the results of pairs, with the messages of those that failed.
pub(in crate::cli) fn pairs(sources: &[Source], library: &Library) -> Pairs {
    let mut pairs = Pairs::new(library);
    for source in sources {
        pairs.describe(&source.header);
        source.records.iter().for_each(|record| pairs.add(record));
    }
    for source in sources.iter().filter(|source| has_pairs(source)) {
        let transcripts = read_wire(Utf8Path::new(&source.name)).into_iter().flatten().flatten();
        transcripts.for_each(|transcript| pairs.add_evidence(&transcript));
    }
    pairs
}

fn has_pairs(source: &Source) -> bool {
    source.header.about.iter().any(|about| about.pair.is_some())
}

/// Writes files below a folder, or one after the other to standard output.
fn put_all(folder: &Utf8Path, files: &[(String, String)]) -> Result<(), Problem> {
    let at = |name: &str| if folder == STANDARD { folder.to_owned() } else { folder.join(name) };
    files.iter().try_for_each(|(name, text)| put(&at(name), text))
}

fn put(path: &Utf8Path, text: &str) -> Result<(), Problem> {
    if path == STANDARD {
        return show(text).map_err(|error| Problem::output(&error));
    }
    let folder = path.parent().filter(|folder| !folder.as_str().is_empty());
    let written = folder.map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text));
    written.map_err(|error| Problem::unsaved(path, &error))
}

/// Appends the summary of this step, in a job of GitHub Actions.
fn append_summary(report: &Report) -> Result<(), Problem> {
    let Some(path) = summary_file() else { return Ok(()) };
    let problem = |error| Problem::new(Exit::Unsaved, format!("cannot write GITHUB_STEP_SUMMARY, {path}: {error}"));
    let mut file = fs::OpenOptions::new().create(true).append(true).open(&path).map_err(problem)?;
    // The summaries of earlier commands of the step count towards the limit.
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
