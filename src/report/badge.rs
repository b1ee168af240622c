//! Badges: the JSON that shields-style endpoints read.
//!
//! Takes a report, gives a file name and a text for each column, and for each of its roles. A badge of a column is green
//! only where all tests ran and all checks hold. Requirements that are left to the author have no part in the share and the colour, and are counted beside
//! them.

use serde::Serialize;

use super::file_names::{FileNames, plain};
use super::{Column, Rate, Report, SentenceRates, Untrusted};
use crate::model::untrusted::escape_json;

/// A badge: a label, a message, and the colour of the message.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Badge {
    schema_version: u32,
    label: String,
    message: String,
    color: &'static str,
    is_error: bool,
}

/// Returns for each column a file name that is valid on every system, and the text of the file; then the same for each
/// role of each column, with the share of sentences.
pub fn badges(report: &Report) -> Vec<(String, String)> {
    let mut files = FileNames::new('_');
    let places: Vec<String> = report.targets.iter().map(|column| files.place(&file_name(&column.name))).collect();
    let of_column = |(column, place): (&Column, &String)| (format!("{place}.json"), badge(column).json());
    let mut all: Vec<_> = report.targets.iter().zip(&places).map(of_column).collect();
    for (column, place) in report.targets.iter().zip(&places) {
        for (role, rates) in &column.sentences {
            let label = format!("{} {role} {}", begin(column), Untrusted(&column.name).line(100));
            let place = files.place(&format!("{place}-{role}"));
            let size = column.set.as_ref().and_then(|set| set.sizes.get(role)).map(|[musts, _]| *musts);
            all.push((format!("{place}.json"), Badge::of_sentences(label, rates, size).json()));
        }
    }
    all
}

impl Badge {
    /// The share of MUST sentences that hold, of those that were decided, or of so many in a frozen set. Known failures do
    /// not hold.
    pub(super) fn of_sentences(label: String, rates: &SentenceRates, set: Option<usize>) -> Self {
        let all = set.map_or(rates.must.asked, |size| size.saturating_sub(rates.author).max(rates.must.asked));
        let rate = Rate { held: rates.must.held, asked: all };
        let Rate { held, asked } = rate;
        let message = match (asked, rates.author) {
            (0, _) => "not tested".to_owned(),
            (_, 0) => format!("{held} of {asked} MUST"),
            (_, left) => format!("{held} of {asked} MUST, {left} left to the author"),
        };
        Self { schema_version: 1, label, message, color: colour(rate), is_error: false }
    }

    /// The share of capabilities on which all targets do the same and right.
    pub(super) fn of_agreement(rate: Rate) -> Self {
        let Rate { held, asked } = rate;
        let message = if asked == 0 { "not tested".to_owned() } else { format!("{held} of {asked} capabilities") };
        Self { schema_version: 1, label: "MCP agreement".to_owned(), message, color: colour(rate), is_error: false }
    }

    /// The badge as JSON for an endpoint.
    pub(super) fn json(&self) -> String {
        escape_json(&serde_json::to_string(self).expect("texts are JSON")).into_owned() + "\n"
    }
}

/// Green only if all holds.
fn colour(rate: Rate) -> &'static str {
    match rate.per_mille() {
        _ if rate.asked == 0 => "lightgrey",
        1000 => "brightgreen",
        900.. => "yellow",
        _ => "red",
    }
}

/// The first words of a label: `MCP`, with the frozen set if only its checks were run.
fn begin(column: &Column) -> String {
    column.set.as_ref().map_or_else(|| "MCP".to_owned(), |set| format!("MCP {}", Untrusted(&set.name).line(40)))
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
    let label = format!("{} {}", begin(column), Untrusted(&column.name).line(100));
    Badge { schema_version: 1, label, message, color, is_error: broken > 0 }
}

/// Returns a name such as `some-sdk_low`, without colons, slashes and invisible characters.
fn file_name(name: &str) -> String {
    plain(name, &['-', '.'], '_').trim_start_matches('.').to_owned()
}
