//! JSON Schema keywords × targets, as a table.
//!
//! Takes a report, gives a section if the report has such tests. Names of keywords and targets are untrusted text.

use crate::model::markdown::code;
use crate::report::Report;
use crate::report::keywords::Table;

/// The section.
pub(super) fn table(report: &Report) -> Option<String> {
    let Table { columns, rows } = Table::of(report)?;
    let mut out = "### JSON Schema keywords\n\n| |".to_owned();
    out.extend(columns.iter().map(|(target, door)| format!(" {} {door} |", code(target, 80))));
    out += "\n| --- |";
    out += &" ---: |".repeat(columns.len());
    out.push('\n');
    for (keyword, rates) in &rows {
        out += &format!("| {} |", code(keyword, 60));
        for rate in rates {
            match rate {
                None => out += " · |",
                Some(rate) if rate.held == rate.asked => out += &format!(" {} |", rate.asked),
                Some(rate) => out += &format!(" **{}/{}** |", rate.held, rate.asked),
            }
        }
        out.push('\n');
    }
    Some(out + "\n<sub>Correct tests, of all that were run; a single number where all are correct.</sub>\n\n")
}
