//! `casebook report`: writes reports from any number of run logs. It starts no target.

use camino::{Utf8Path, Utf8PathBuf};

use super::base::exit::Exit;
use super::base::outputs::{Kind, Output, OutputArgs};
use super::base::problem::Problem;
use super::base::results::source;
use super::{ReportArgs, site};
use crate::load;
use crate::model::case::Library;
use crate::report::terminal::eprint_line;
use crate::report::{CaveatKind, Untrusted};

pub(super) fn report(args: &ReportArgs) -> Result<Exit, Problem> {
    let library = load::load(&args.cases.sources()?)?;
    // Transcripts are beside run logs, and a pattern of the shell such as `*.jsonl` matches both.
    let run_logs = args.run_logs.iter().map(Utf8PathBuf::as_path);
    let run_logs: Vec<&Utf8Path> = run_logs.filter(|path| !path.as_str().ends_with(".wire.jsonl")).collect();
    let mut outputs = args.outputs.clone();
    let sites: Vec<_> = outputs.reports.extract_if(.., |output| output.kind == Kind::Site).collect();
    let is_default = outputs.reports.is_empty();
    if is_default && sites.is_empty() {
        outputs.reports.push(Output { kind: Kind::Markdown, path: "-".into() });
    }
    let mut done = Vec::new();
    if !is_default || sites.is_empty() || args.check {
        done.push(write(&outputs, args.check, &run_logs, &library));
    }
    // After a report that cannot be written, the others are still written.
    done.extend(sites.iter().map(|output| site::write(&output.path, &run_logs, &library)));
    done.into_iter().try_fold(Exit::Fine, |gravest, one| Ok(gravest.max(one?)))
}

/// Writes all reports except sites.
fn write(outputs: &OutputArgs, check: bool, run_logs: &[&Utf8Path], library: &Library) -> Result<Exit, Problem> {
    let (mut sources, mut unread) = (Vec::new(), Vec::new());
    for path in run_logs {
        match source(path) {
            Ok(source) => sources.push(source),
            Err(problem) => unread.push(problem),
        }
    }
    for problem in &unread {
        eprint_line(&problem.text);
    }
    if sources.is_empty() {
        return Err(Problem::new(Exit::Usage, "cannot read any of the run logs; no report was written"));
    }
    if !unread.is_empty() {
        eprint_line(&format!(
            "casebook: the reports contain the other {} of {} run logs",
            sources.len(),
            sources.len() + unread.len()
        ));
    }
    let report = outputs.write(&sources, library)?;
    outputs.print_paths();
    for caveat in &report.partial {
        eprint_line(&format!("partial: {}", Untrusted(&caveat.text).line(1000)));
    }
    let gravest = report.partial.first().map(|caveat| caveat.kind);
    Ok(if !unread.is_empty() || gravest == Some(CaveatKind::Contradiction) {
        Exit::Usage
    } else if report.missing() > 0 || gravest == Some(CaveatKind::Missing) {
        Exit::Interrupted
    } else if check && !report.is_as_expected(outputs.strict) {
        Exit::Unexpected
    } else {
        Exit::Fine
    })
}
