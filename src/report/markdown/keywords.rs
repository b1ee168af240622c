//! JSON Schema keywords × targets, as a table.
//!
//! Takes a report, gives a section where it has such tests. Keywords and targets are names of anybody.

use std::fmt::Write as _;

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
        write!(out, "| {} |", code(keyword, 60)).expect("a string takes all");
        for rate in rates {
            match rate {
                None => out += " · |",
                Some(rate) if rate.held == rate.asked => write!(out, " {} |", rate.asked).expect("a string takes all"),
                Some(rate) => write!(out, " **{}/{}** |", rate.held, rate.asked).expect("a string takes all"),
            }
        }
        out.push('\n');
    }
    Some(out + "\n<sub>Tests that are right, of those that were asked; one number where all are.</sub>\n\n")
}
