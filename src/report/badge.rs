//! A column as a badge: the JSON that shields-style endpoints read.
//!
//! Takes a report, gives a file name and a text for each column. A badge is green only where all tests ran and all
//! checks hold. Requirements that are left to the author have no part in the share and the colour, and are counted beside
//! them.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::{Column, Report, Untrusted, embargo};
use crate::model::untrusted::escape_json;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Badge {
    schema_version: u32,
    label: String,
    message: String,
    color: &'static str,
    is_error: bool,
}

/// Returns for each column a file name that is valid on every system, and the text of the file.
pub fn badges(report: &Report) -> Vec<(String, String)> {
    let mut files = Files::default();
    let badge = |column: &Column| {
        let text = serde_json::to_string(&badge(column)).expect("texts are JSON");
        (format!("{}.json", files.place(&file_name(&column.name))), escape_json(&text).into_owned() + "\n")
    };
    report.targets.iter().map(badge).collect()
}

fn badge(column: &Column) -> Badge {
    let must = column.rates.must();
    let broken: usize =
        column.statuses.iter().filter(|(one, _)| one.is_unexpected(false)).map(|(_, tests)| tests).sum();
    let share = format!("{} of MUST", must.percent());
    let (message, color) = if column.unverified.is_some() {
        ("unverified".to_owned(), "lightgrey")
    } else if must.asked == 0 {
        ("not run".to_owned(), "lightgrey")
    } else if broken > 0 || !column.stale.is_empty() || !column.snapshots.is_empty() {
        (format!("{share}, {broken} failing"), "red")
    } else if column.missing > 0 {
        (format!("{share}, {} not run", column.missing), "yellow")
    } else if must.held == must.asked {
        (share, "brightgreen")
    } else {
        (share, "yellow")
    };
    let message = match column.rates.musts_left() {
        left if left > 0 && must.asked > 0 => format!("{message}, {left} left to the author"),
        _ => message,
    };
    let message = embargo(column).map_or(message.clone(), |text| format!("{message}, {text}"));
    let label = format!("MCP {}", Untrusted(&column.name).line(100));
    Badge { schema_version: 1, label, message, color, is_error: broken > 0 }
}

/// Unique file names: of several equal names, all but the first get a number.
#[derive(Default)]
struct Files {
    taken: HashSet<String>,
    /// The numbers that were tried for each name.
    numbers: HashMap<String, usize>,
}

impl Files {
    fn place(&mut self, name: &str) -> String {
        let mut file = name.to_owned();
        // File systems may ignore case.
        while !self.taken.insert(file.to_ascii_lowercase()) {
            let number = self.numbers.entry(name.to_ascii_lowercase()).or_insert(1);
            *number += 1;
            file = format!("{name}_{number}");
        }
        file
    }
}

/// Returns a name such as `some-sdk_low`, without colons, slashes and invisible characters.
fn file_name(name: &str) -> String {
    let keep = |one: char| if one.is_ascii_alphanumeric() || matches!(one, '-' | '.') { one } else { '_' };
    let name: String = name.chars().take(100).map(keep).collect();
    name.trim_start_matches('.').to_owned()
}
