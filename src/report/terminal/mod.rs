//! What a run shows while it goes, and at its end. The only user of terminal crates.
//!
//! Takes records as they come in the order of the plan, gives lines: above a progress bar on a terminal, and a line a
//! case file elsewhere. Text of targets is made harmless here.

mod findings;
mod plain;
mod progress;
mod safe;
mod summary;
mod timings;

pub use plain::{
    annotate, colours, colours_errors, eprint_line, finish_output, ignore_broken_pipe, keep_error, print_line, show,
};
pub use progress::Progress;

use std::io::{self, IsTerminal as _, Write};
use std::time::Duration;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use unicode_width::UnicodeWidthStr as _;

use self::findings::Findings;
use self::safe::SafeWriter;
use super::snapshot::{Diff, DiffLine};
use super::{Counts, RunSummary, Status, Untrusted};
use crate::model::record::Record;
use crate::model::spec::Catalogue;
use crate::model::transcript::Transcript;
use crate::model::{CaseId, TargetId, TestId};

/// A test that takes longer is marked, in microseconds.
const SLOW: u64 = 2_000_000;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

/// The display of one run.
pub struct Terminal<W: Write> {
    out: SafeWriter<W>,
    bar: ProgressBar,
    is_live: bool,
    group: Option<Group>,
    total: Counts,
    findings: Findings,
    snapshots: SnapshotCounts,
}

/// Numbers of snapshots that are not as observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SnapshotCounts {
    /// Those that differ.
    changed: usize,
    /// Those that should be there.
    missing: usize,
    /// Those that cannot be read.
    unreadable: usize,
}

/// The case file whose tests are coming in.
struct Group {
    target: TargetId,
    case: CaseId,
    counts: Counts,
}

impl Terminal<AutoStream<io::Stdout>> {
    /// Shows a run of so many tests on standard output, in colour where that is wanted, with a progress bar on
    /// standard error where that is a terminal.
    pub fn new(planned: usize) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let mut terminal = Self::to(AutoStream::auto(io::stdout()), planned, ProgressDrawTarget::stderr());
        terminal.is_live = is_terminal && !terminal.bar.is_hidden();
        terminal
    }
}

impl<W: Write> Terminal<W> {
    fn to(out: W, planned: usize, target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(Some(planned as u64), target);
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {wide_msg}").expect("the template is right");
        bar.set_style(style.progress_chars("━╸ "));
        let (total, findings) = (Counts::default(), Findings::default());
        let out = SafeWriter::new(out);
        Self { out, bar, is_live: false, group: None, total, findings, snapshots: SnapshotCounts::default() }
    }

    /// A test has begun.
    pub fn on_begin(&mut self, target: &TargetId, test: &TestId) {
        self.bar.set_message(format!("{}  {}", tally(&self.total), name(target, test)));
    }

    /// A test has ended.
    ///
    /// # Errors
    /// What the output says.
    pub fn on_record(&mut self, record: &Record, transcript: Option<&Transcript>) -> io::Result<()> {
        let status = Status::of(record);
        self.turn_to(record)?;
        self.total.add(status);
        self.group.iter_mut().for_each(|group| group.counts.add(status));
        self.findings.add(record, transcript);
        let is_bad = status.is_unexpected(false);
        // A target that was given up is named once, at the end.
        let is_bad = is_bad && (record.observation.unavailable.is_none() || record.bug);
        if is_bad || status == Status::Warned || record.micros >= SLOW {
            self.bar.suspend(|| line(&mut self.out, record, status))?;
        }
        self.bar.inc(1);
        self.bar.set_message(format!("{}  {}", tally(&self.total), name(&record.target, &record.test)));
        Ok(())
    }

    /// A test still runs.
    ///
    /// # Errors
    /// What the output says.
    pub fn on_slow(&mut self, target: &TargetId, test: &TestId, after: Duration) -> io::Result<()> {
        let name = name(target, test);
        let Self { bar, out, .. } = self;
        bar.suspend(|| {
            writeln!(out, "{YELLOW}{:>12}{YELLOW:#}  {name} {DIM}still runs after {} s{DIM:#}", "SLOW", after.as_secs())
        })
    }

    /// Prints a notice about the run as a whole.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn on_notice(&mut self, notice: &str) -> io::Result<()> {
        let Self { bar, out, .. } = self;
        bar.suspend(|| writeln!(out, "{YELLOW}{:>12}{YELLOW:#}  {notice}", "LOAD"))
    }

    /// Tells of the case file before, where the record is of another one and no bar tells.
    fn turn_to(&mut self, record: &Record) -> io::Result<()> {
        let is_same = |group: &Group| group.case == record.test.case && group.target == record.target;
        if self.group.as_ref().is_some_and(is_same) {
            return Ok(());
        }
        self.end_group()?;
        let (target, case) = (record.target.clone(), record.test.case.clone());
        self.group = Some(Group { target, case, counts: Counts::default() });
        Ok(())
    }

    fn end_group(&mut self) -> io::Result<()> {
        let Some(Group { target, case, counts }) = self.group.take().filter(|_| !self.is_live) else {
            return Ok(());
        };
        let name = of(&target, &case);
        let Self { bar, out, .. } = self;
        bar.suspend(|| writeln!(out, "{DIM}{:>12}{DIM:#}  {name}: {}", counts.total(), tally(&counts)))
    }

    /// A snapshot differs from what was observed.
    ///
    /// # Errors
    /// What the output says.
    pub fn on_diff(&mut self, target: &TargetId, case: &CaseId, diff: &Diff) -> io::Result<()> {
        self.end_group()?;
        self.snapshots.changed += 1;
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

    /// There is no snapshot to compare with.
    ///
    /// # Errors
    /// What the output says.
    pub fn on_missing(&mut self, target: &TargetId, case: &CaseId) -> io::Result<()> {
        self.end_group()?;
        self.snapshots.missing += 1;
        let Self { bar, out, .. } = self;
        bar.suspend(|| writeln!(out, "\n{BOLD}snapshot missing{BOLD:#}  {}", of(target, case)))
    }

    /// A snapshot cannot be read.
    ///
    /// # Errors
    /// What the output says.
    pub fn on_unreadable(&mut self, target: &TargetId, case: &CaseId, why: &str) -> io::Result<()> {
        self.end_group()?;
        self.snapshots.unreadable += 1;
        let Self { bar, out, .. } = self;
        bar.suspend(|| {
            writeln!(out, "\n{BOLD}snapshot unreadable{BOLD:#}  {}", of(target, case))?;
            writeln!(out, "    {}", Untrusted(why).line(400))
        })
    }

    /// Shows the findings and the numbers of a run that has ended, with `rates` those too.
    ///
    /// # Errors
    /// What the output says.
    pub fn finish(mut self, summary: &RunSummary, catalogue: &Catalogue, strict: bool, rates: bool) -> io::Result<()> {
        self.end_group()?;
        self.bar.finish_and_clear();
        self.findings.print(&mut self.out, catalogue)?;
        if rates {
            summary::rates(&mut self.out, summary)?;
        }
        summary::print(&mut self.out, summary, strict, self.snapshots)?;
        self.out.flush()
    }
}

/// What is unexpected in these records, in plain text; nothing where all is as expected.
pub fn failures(records: &[Record], catalogue: &Catalogue) -> String {
    let mut findings = Findings::default();
    let unexpected = records.iter().filter(|record| Status::of(record).is_unexpected(false));
    unexpected.for_each(|record| findings.add(record, None));
    let mut plain = Vec::new();
    let mut out = SafeWriter::new(anstream::StripStream::new(&mut plain as &mut dyn Write));
    findings.print(&mut out, catalogue).expect("writing to memory never fails");
    drop(out);
    String::from_utf8_lossy(&plain).into_owned()
}

/// One line for a test that isn't a plain pass.
fn line(out: &mut impl Write, record: &Record, status: Status) -> io::Result<()> {
    let style = style(status);
    let slow = if record.micros >= SLOW { "  SLOW" } else { "" };
    let name = name(&record.target, &record.test);
    let time = time(record.micros);
    writeln!(out, "{style}{status:>12}{style:#}  {name} {DIM}{time}{DIM:#}{YELLOW}{slow}{YELLOW:#}")
}

fn style(status: Status) -> Style {
    match status {
        Status::Passed | Status::Observed => GREEN,
        Status::Known | Status::Noted | Status::Cannot => CYAN,
        Status::Warned => YELLOW,
        Status::Flaky | Status::Inconclusive | Status::Failed | Status::Error => RED,
    }
}

/// `40 passed, 2 failed`.
fn tally(counts: &Counts) -> String {
    let parts: Vec<_> = counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
    parts.join(", ")
}

fn of(target: &TargetId, case: &CaseId) -> String {
    Untrusted(&format!("{target}  {case}")).line(200)
}

/// The names in a record may come from a file that somebody sent.
fn name(target: &TargetId, test: &TestId) -> String {
    Untrusted(&format!("{target}  {test}")).line(300)
}

/// A text that is filled up with blanks to a width in columns of a terminal.
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
