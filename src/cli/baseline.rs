//! `--baseline FILE`: the expected failures of the official conformance suite.

use camino::Utf8Path;

use super::Problem;
use crate::load;
use crate::model::baseline::Baseline;
use crate::report::Untrusted;
use crate::report::terminal::eprint_line;

/// The most characters of the line that names the entries without a check.
const LINE: usize = 1000;

/// Reads a baseline, and names the entries that casebook has no check for.
pub(super) fn read(file: Option<&Utf8Path>) -> Result<Option<Baseline>, Problem> {
    let Some(file) = file else { return Ok(None) };
    let baseline = load::baseline(file)?;
    let (used, unmatched) = (baseline.entries.len(), baseline.unmatched.len());
    let text = format!("baseline {file}: {used} of {} entries have checks in casebook", used + unmatched);
    eprint_line(&Untrusted(&text).line(LINE));
    if unmatched > 0 {
        let text = format!("not in casebook: {}", baseline.unmatched.join(", "));
        eprint_line(&Untrusted(&text).line(LINE));
    }
    Ok(Some(baseline))
}
