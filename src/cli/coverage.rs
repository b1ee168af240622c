//! `casebook coverage`: compares the requirement catalogue with the cases.

use std::collections::BTreeSet;

use super::base::exit::Exit;
use super::base::problem::Problem;
use super::base::results::source;
use super::{CoverageArgs, CoverageFormat};
use crate::load;
use crate::model::Printable;
use crate::model::case::Library;
use crate::report::coverage::Coverage;
use crate::report::{Report, ReportContext, terminal};

pub(super) fn coverage(args: &CoverageArgs) -> Result<Exit, Problem> {
    let library = load::load(&args.cases.sources()?)?;
    let mut coverage = Coverage::of(&library);
    if let Some(sep) = args.sep {
        coverage = coverage.of_sep(sep);
    }
    if let (true, Some(sep)) = (coverage.entries().is_empty(), args.sep) {
        return Err(Problem::new(Exit::Usage, unknown_sep(sep, &library)));
    }
    if !args.run_logs.is_empty() {
        let sources = args.run_logs.iter().map(|path| source(path)).collect::<Result<Vec<_>, _>>()?;
        coverage = coverage.decided(&Report::new(&sources, &ReportContext::default()));
    }
    let text: Printable = match (args.format, args.sep) {
        (CoverageFormat::Text, _) => coverage.text().into(),
        (CoverageFormat::Md, _) => coverage.markdown().into(),
        (CoverageFormat::Json, _) => Printable::json(&format!("{:#}", coverage.json())),
        (CoverageFormat::SepYaml, Some(sep)) => coverage.traceability(sep).into(),
        (CoverageFormat::SepYaml, None) => {
            return Err(Problem::new(Exit::Usage, "--format sep-yaml is the file of one proposal; add --sep N"));
        }
    };
    terminal::print_line(&text.trimmed());
    Ok(Exit::Fine)
}

/// The error for a proposal without requirements.
fn unknown_sep(sep: u32, library: &Library) -> String {
    let numbers = library.requirements.keys().filter_map(|id| {
        let (folder, _) = id.as_str().split_once('/')?;
        folder.strip_prefix("sep-")?.parse::<u32>().ok()
    });
    let numbers: Vec<_> = numbers.collect::<BTreeSet<_>>().iter().map(ToString::to_string).collect();
    let known = if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") };
    format!("the cases have no requirement of SEP {sep}; the proposals with a folder are {known}")
}
