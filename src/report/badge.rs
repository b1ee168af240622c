//! A column as a badge: the JSON that shields-style endpoints read.
//!
//! Takes a report, gives a file name and a text a column. Green is only what was run whole and held.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::{Column, Report, Standing, Untrusted};
use crate::model::spec::Level;
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

/// A file's name, safe on every system, and its text; by column.
pub fn badges(report: &Report) -> Vec<(String, String)> {
    let mut files = Files::default();
    let badge = |(column, name): (&Column, &String)| {
        let text = serde_json::to_string(&badge(column, name)).expect("texts are JSON");
        (format!("{}.json", files.place(&plain(name))), escape_json(&text).into_owned() + "\n")
    };
    report.targets.iter().zip(&report.names()).map(badge).collect()
}

fn badge(column: &Column, name: &str) -> Badge {
    let must = column.rates.of(&[Level::Must, Level::MustNot]);
    let broken = [Standing::Failed, Standing::Flaky, Standing::Inconclusive, Standing::Error]
        .map(|standing| column.count(standing))
        .iter()
        .sum::<usize>();
    let share = format!("{} of MUST", must.percent());
    let ran: usize = column.standings.values().sum();
    let (message, color) = if column.unverified.is_some() {
        ("unverified".to_owned(), "lightgrey")
    } else if ran == 0 || must.asked == 0 {
        ("not run".to_owned(), "lightgrey")
    } else if broken > 0 || !column.stale.is_empty() {
        (format!("{share}, {broken} failing"), "red")
    } else if column.missing > 0 {
        (format!("{share}, {} not run", column.missing), "yellow")
    } else if must.held == must.asked {
        (share, "brightgreen")
    } else {
        (share, "yellow")
    };
    let label = format!("MCP {}", Untrusted(name).line(100));
    Badge { schema_version: 1, label, message, color, is_error: broken > 0 }
}

/// The names of files, so that none overwrites another: of several that are the same, each but the first gets a number.
#[derive(Default)]
struct Files {
    taken: HashSet<String>,
    /// The numbers that were tried for each name.
    numbers: HashMap<String, usize>,
}

impl Files {
    fn place(&mut self, name: &str) -> String {
        let mut file = name.to_owned();
        // Systems differ in whether they tell `a` from `A`.
        while !self.taken.insert(file.to_ascii_lowercase()) {
            let number = self.numbers.entry(name.to_ascii_lowercase()).or_insert(1);
            *number += 1;
            file = format!("{name}_{number}");
        }
        file
    }
}

/// `some-sdk_low`: no colons, no slashes, nothing hidden.
fn plain(name: &str) -> String {
    let keep = |one: char| if one.is_ascii_alphanumeric() || matches!(one, '-' | '.') { one } else { '_' };
    let plain: String = name.chars().take(100).map(keep).collect();
    plain.trim_start_matches('.').to_owned()
}
