//! The display of a run, while it goes on and at its end. The only user of terminal crates.
//!
//! Takes records in the order of the plan. While a run goes on, a terminal shows a progress bar, any other output ten
//! lines at most, and the first failures of a long run at once; with `is_verbose` there is a line for each test. At the end come the findings, the worst first, and
//! the numbers. Text of targets is made harmless here.

mod encounter;
pub(super) mod evidence;
mod findings;
mod pairs;
mod plain;
mod progress;
mod safe;
mod summary;

pub use encounter::{EncounterView, Tally};
pub use pairs::PairTerminal;
pub use plain::{
    annotate, colours, colours_errors, eprint_line, finish_output, ignore_broken_pipe, keep_error, print_line, show,
};
pub use progress::Progress;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Write};
use std::time::Duration;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use unicode_width::UnicodeWidthStr as _;

use self::findings::{Extent, Findings};
use self::safe::SafeWriter;
use super::snapshot::{Diff, DiffLine};
use super::{Counts, RunSummary, Status, Untrusted};
use crate::model::case::Library;
use crate::model::record::Record;
use crate::model::spec::Catalogue;
use crate::model::text::grouped;
use crate::model::transcript::Transcript;
use crate::model::verdict::VerdictKind;
use crate::model::{CaseId, RequirementId, TargetId, TestId};

/// A test that takes longer is marked as slow, in microseconds.
const SLOW: u64 = 2_000_000;
/// A run of fewer tests shows no progress but on a terminal.
const LONG: usize = 1_000;
/// The number of lines that show the progress of a long run.
const PROGRESS_LINES: usize = 10;
/// The number of requirements whose first failure a long run shows at once.
const EARLY: usize = 10;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

/// Standard output, in colour where the user wants it.
type StandardOutput = SafeWriter<AutoStream<io::Stdout>>;

fn standard_output() -> StandardOutput {
    SafeWriter::new(AutoStream::auto(io::stdout()))
}

/// The display of one run.
pub struct Terminal<W: Write> {
    out: SafeWriter<W>,
    bar: ProgressBar,
    /// Set where the progress bar is visible.
    is_live: bool,
    is_verbose: bool,
    /// The number of planned tests; 0 where their results are there already.
    planned: usize,
    total: Counts,
    findings: Findings,
    /// The requirements whose first failure was shown while the run goes on.
    early: BTreeSet<RequirementId>,
}

impl Terminal<AutoStream<io::Stdout>> {
    /// Shows a run of so many planned tests of a library on standard output, in colour where the user wants it, and a
    /// progress bar on standard error where that is a terminal. `is_verbose` shows a line for each test, and each
    /// finding in full.
    pub fn new(planned: usize, library: &Library, is_verbose: bool) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let findings = Findings::new(library);
        let mut terminal =
            Self::to(AutoStream::auto(io::stdout()), planned, findings, ProgressDrawTarget::stderr(), is_verbose);
        terminal.is_live = is_terminal && !terminal.bar.is_hidden();
        terminal
    }

    /// Shows the records of a run that has ended before, without progress.
    pub fn replay(library: &Library, is_verbose: bool) -> Self {
        let out = AutoStream::auto(io::stdout());
        Self::to(out, 0, Findings::new(library), ProgressDrawTarget::hidden(), is_verbose)
    }
}

impl<W: Write> Terminal<W> {
    fn to(out: W, planned: usize, findings: Findings, target: ProgressDrawTarget, is_verbose: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(planned as u64), target);
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {wide_msg}").expect("the template is valid");
        bar.set_style(style.progress_chars("━╸ "));
        let (out, total) = (SafeWriter::new(out), Counts::default());
        Self { out, bar, is_live: false, is_verbose, planned, total, findings, early: BTreeSet::new() }
    }

    /// Takes the beginning of a test.
    pub fn on_begin(&mut self, target: &TargetId, test: &TestId) {
        self.bar.set_message(format!("{}  {}", self.total, name(target, test)));
    }

    /// Takes the record of a test that has ended, and its transcript where there is one.
    ///
    /// # Errors
    /// Those of the output.
    pub fn on_record(&mut self, record: &Record, transcript: Option<&Transcript>) -> io::Result<()> {
        let status = Status::of(record);
        self.total.add(status);
        self.findings.add(record, transcript);
        if self.is_verbose {
            self.bar.suspend(|| line(&mut self.out, record, status))?;
        } else {
            self.early_failure(record, status)?;
            self.progress(record)?;
        }
        self.bar.inc(1);
        self.bar.set_message(format!("{}  {}", self.total, name(&record.target, &record.test)));
        Ok(())
    }

    /// Prints the first failure of a requirement in a long run, so that nobody waits for its end to see that a change broke
    /// something.
    fn early_failure(&mut self, record: &Record, status: Status) -> io::Result<()> {
        let is_shown = status == Status::Failed && self.planned >= LONG && self.early.len() < EARLY;
        let failed = record.verdicts.iter().filter(|verdict| is_shown && verdict.kind == VerdictKind::Fail);
        let Some(first) = failed.map(|verdict| &verdict.requirement).find(|failed| !self.early.contains(failed)) else {
            return Ok(());
        };
        self.early.insert(first.clone());
        let (style, name) = (style(status), name(&record.target, &record.test));
        let Self { bar, out, .. } = self;
        bar.suspend(|| writeln!(out, "{style}{status:>12}{style:#}  {first}  {DIM}{name}{DIM:#}"))
    }

    /// Prints a line at each tenth of a long run that no progress bar shows.
    fn progress(&mut self, record: &Record) -> io::Result<()> {
        let (ran, planned) = (self.total.total(), self.planned);
        if self.is_live || planned < LONG || ran >= planned {
            return Ok(());
        }
        let lines = |tests: usize| tests.saturating_mul(PROGRESS_LINES) / planned;
        if lines(ran) == lines(ran - 1) {
            return Ok(());
        }
        let (share, tally) = (100 * ran / planned, &self.total);
        let tests = format!("{} of {} tests", grouped(ran), grouped(planned));
        let target = Untrusted(&record.target.to_string()).line(200);
        let Self { bar, out, .. } = self;
        bar.suspend(|| writeln!(out, "{DIM}{share:>10} %{DIM:#}  {tests}, now {target}: {tally}"))
    }

    /// Takes the notice that a test is still running.
    ///
    /// # Errors
    /// Those of the output.
    pub fn on_slow(&mut self, target: &TargetId, test: &TestId, after: Duration) -> io::Result<()> {
        let name = name(target, test);
        let Self { bar, out, .. } = self;
        bar.suspend(|| {
            writeln!(out, "{YELLOW}{:>12}{YELLOW:#}  {name} {DIM}still runs after {} s{DIM:#}", "slow", after.as_secs())
        })
    }

    /// Shows a snapshot that differs from the observations.
    ///
    /// # Errors
    /// Those of the output.
    pub fn on_diff(&mut self, target: &TargetId, case: &CaseId, diff: &Diff) -> io::Result<()> {
        let Self { bar, out, .. } = self;
        bar.suspend(|| {
            writeln!(out, "\n{BOLD}snapshot changed{BOLD:#}  {}", of(target, case))?;
            for line in &diff.0 {
                match line {
                    DiffLine::Gap => writeln!(out, "    {DIM}…{DIM:#}"),
                    DiffLine::Same(text) => writeln!(out, "    {DIM}{}{DIM:#}", Untrusted(text).line(400)),
                    DiffLine::Old(text) => writeln!(out, "  {RED}- {}{RED:#}", Untrusted(text).line(400)),
                    DiffLine::New(text) => writeln!(out, "  {GREEN}+ {}{GREEN:#}", Untrusted(text).line(400)),
                }?;
            }
            Ok(())
        })
    }

    /// Shows that a case file has no snapshot.
    ///
    /// # Errors
    /// Those of the output.
    pub fn on_missing(&mut self, target: &TargetId, case: &CaseId) -> io::Result<()> {
        let Self { bar, out, .. } = self;
        bar.suspend(|| writeln!(out, "\n{BOLD}snapshot missing{BOLD:#}  {}", of(target, case)))
    }

    /// Shows that a snapshot cannot be read.
    ///
    /// # Errors
    /// Those of the output.
    pub fn on_unreadable(&mut self, target: &TargetId, case: &CaseId, why: &str) -> io::Result<()> {
        let Self { bar, out, .. } = self;
        bar.suspend(|| {
            writeln!(out, "\n{BOLD}snapshot unreadable{BOLD:#}  {}", of(target, case))?;
            writeln!(out, "    {}", Untrusted(why).line(400))
        })
    }

    /// Shows the findings and the numbers of a run that has ended. With `strict`, violated SHOULDs and tests that the
    /// adapter cannot express are unexpected.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self, summary: &RunSummary, catalogue: &Catalogue, strict: bool) -> io::Result<()> {
        self.bar.finish_and_clear();
        let extent = Extent { is_verbose: self.is_verbose, is_strict: strict };
        self.findings.print(&mut self.out, catalogue, extent)?;
        summary::print(&mut self.out, summary, extent)?;
        self.out.flush()
    }
}

/// Shows an encounter with a client on standard output, in colour where the user wants it.
///
/// # Errors
/// Those of the output.
pub fn show_encounter(library: &Library, view: EncounterView<'_>) -> io::Result<()> {
    encounter::print(&mut SafeWriter::new(AutoStream::auto(io::stdout())), library, view)
}

/// Returns the unexpected findings of some records in plain text; an empty text where there are none.
///
/// # Panics
/// Never: writing to memory doesn't fail.
pub fn failures(records: &[Record], library: &Library) -> String {
    let mut findings = Findings::new(library);
    let unexpected = records.iter().filter(|record| Status::of(record).is_unexpected(false));
    unexpected.for_each(|record| findings.add(record, None));
    let mut plain = Vec::new();
    let mut out = SafeWriter::new(anstream::StripStream::new(&mut plain as &mut dyn Write));
    let extent = Extent { is_verbose: true, is_strict: false };
    findings.print(&mut out, &library.requirements, extent).expect("writing to memory never fails");
    drop(out);
    String::from_utf8_lossy(&plain).into_owned()
}

/// Prints the line of one test.
fn line(out: &mut impl Write, record: &Record, status: Status) -> io::Result<()> {
    let style = style(status);
    let slow = if record.micros >= SLOW { "  slow" } else { "" };
    let name = name(&record.target, &record.test);
    let time = time(record.micros);
    writeln!(out, "{style}{status:>12}{style:#}  {name} {DIM}{time}{DIM:#}{YELLOW}{slow}{YELLOW:#}")
}

fn style(status: Status) -> Style {
    match status {
        Status::Passed | Status::Observed => GREEN,
        Status::NotAsked | Status::NotAdopted | Status::Author | Status::Known | Status::Noted | Status::Cannot => CYAN,
        Status::Warned => YELLOW,
        Status::Flaky | Status::Inconclusive | Status::Failed | Status::Error => RED,
    }
}

fn of(target: &TargetId, case: &CaseId) -> String {
    Untrusted(&format!("{target}  {case}")).line(200)
}

/// The name of a test on a target, escaped: the names in a run log may be anybody's.
fn name(target: &TargetId, test: &TestId) -> String {
    Untrusted(&format!("{target}  {test}")).line(300)
}

/// Pads a text with blanks to a width in columns of a terminal.
fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// The width of the widest of some texts, in columns of a terminal.
fn widest<'t>(texts: impl IntoIterator<Item = &'t String>) -> usize {
    texts.into_iter().map(|text| text.width()).max().unwrap_or(0)
}

/// `0.204 s`.
fn time(micros: u64) -> String {
    format!("{:.3} s", Duration::from_micros(micros).as_secs_f64())
}

#[cfg(test)]
mod tests;
