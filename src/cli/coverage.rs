//! `casebook coverage`: the catalogue against the cases, for people, programs and the specification's process.

use super::{CoverageArgs, CoverageFormat, Exit, Problem};
use crate::load;
use crate::model::Printable;
use crate::report::coverage::Coverage;
use crate::report::terminal;

pub(super) fn coverage(args: &CoverageArgs) -> Result<Exit, Problem> {
    let library = load::load(&args.cases.sources()?)?;
    let mut coverage = Coverage::of(&library);
    if let Some(sep) = args.sep {
        coverage = coverage.of_sep(sep);
    }
    if coverage.entries().is_empty() {
        return Err(Problem::new(Exit::Usage, "no requirement is of that proposal"));
    }
    let text: Printable = match (args.format, args.sep) {
        (CoverageFormat::Text, _) => coverage.text().into(),
        (CoverageFormat::Md, _) => coverage.markdown().into(),
        (CoverageFormat::Json, _) => Printable::json(&format!("{:#}", coverage.json())),
        (CoverageFormat::SepYaml, Some(sep)) => coverage.traceability(sep).into(),
        (CoverageFormat::SepYaml, None) => {
            return Err(Problem::new(Exit::Usage, "`--format sep-yaml` is of one proposal; add `--sep N`"));
        }
    };
    terminal::print_line(&text.trimmed());
    Ok(Exit::Fine)
}
