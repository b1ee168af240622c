//! `casebook report`: records of any number of runs, as reports; nothing is started.

use camino::Utf8Path;

use super::{Exit, Problem, ReportArgs, outputs};
use crate::load;
use crate::report::terminal::aside;
use crate::report::{GapKind, Source, Untrusted};
use crate::run::{LogError, read_what_is_there};

pub(super) fn report(args: &ReportArgs) -> Result<Exit, Problem> {
    let library = load::load(&args.cases.sources()?)?;
    let (mut sources, mut unread) = (Vec::new(), Vec::new());
    // What went over the wire lies beside a record, and a shell's `*` means both.
    for path in args.records.iter().filter(|path| !path.as_str().ends_with(".wire.jsonl")) {
        match source(path) {
            Ok(source) => sources.push(source),
            Err(problem) => unread.push(problem),
        }
    }
    for problem in &unread {
        aside(&problem.text);
    }
    if sources.is_empty() {
        return Err(Problem::new(Exit::Usage, "none of the records can be read; there is nothing to report"));
    }
    if !unread.is_empty() {
        aside(&format!(
            "casebook: the other {} of {} records are reported",
            sources.len(),
            sources.len() + unread.len()
        ));
    }
    let (report, gap) = outputs::settle(&sources, &library, &args.outputs(), args.annotations, args.strict)?;
    for reason in &report.partial {
        aside(&format!("partial: {}", Untrusted(reason).line(1000)));
    }
    let missing = report.targets.iter().any(|column| column.missing > 0);
    Ok(if !unread.is_empty() || gap == Some(GapKind::Contradiction) {
        Exit::Usage
    } else if missing || gap == Some(GapKind::Missing) {
        Exit::Interrupted
    } else if args.check && !report.is_as_expected(args.strict) {
        Exit::Unexpected
    } else {
        Exit::Fine
    })
}

/// A record, as far as it can be read.
pub(super) fn source(path: &Utf8Path) -> Result<Source, Problem> {
    let (log, cut) = read_what_is_there(path)?;
    Ok(Source {
        name: path.to_string(),
        header: log.header,
        records: log.records,
        footer: log.footer,
        is_broken: matches!(cut, Some(LogError::Line { .. })),
        cut: cut.map(|error| error.to_string()),
    })
}
