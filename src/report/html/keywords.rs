//! JSON Schema keywords × targets, as a table of the page.
//!
//! Takes a report, gives a section where it has such tests, and nothing where it has none.

use std::fmt::Write as _;

use super::text::line;
use crate::report::keywords::Table;
use crate::report::{Rate, Report};

pub(super) fn table(report: &Report) -> String {
    let Some(Table { columns, rows }) = Table::of(report) else { return String::new() };
    let head: Vec<_> =
        columns.iter().map(|(target, door)| format!("<th scope=\"col\">{} {door}</th>", line(target))).collect();
    let mut body = String::new();
    for (keyword, rates) in &rows {
        let _ = write!(body, "<tr><th scope=\"row\">{}</th>", line(keyword));
        for (rate, (target, door)) in rates.iter().zip(&columns) {
            let _ = write!(body, "{}", cell(*rate, &line(&format!("{target} {door}"))));
        }
        body += "</tr>\n";
    }
    format!(
        "<details class=\"keywords\" open><summary>JSON Schema keywords: tests that are right, of those that were \
         asked</summary>\n<table class=\"summary\" aria-label=\"JSON Schema keywords\">\n<thead><tr>\
         <th scope=\"col\">Keyword</th>{}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n</details>\n",
        head.concat()
    )
}

fn cell(rate: Option<Rate>, label: &str) -> String {
    match rate {
        None => format!("<td class=\"zero\" data-label=\"{label}\">·</td>"),
        Some(Rate { held, asked }) => {
            let class = if held == asked { "" } else { "warn" };
            format!("<td class=\"{class}\" data-label=\"{label}\">{held}/{asked}</td>")
        }
    }
}
