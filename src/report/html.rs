//! [`Report`] and [`Evidence`] → one HTML page that needs nothing else: no network, no fonts, no second file.
//!
//! The page's script reads the data that stands in it and writes text nodes only; its policy lets nothing else run.
//! Must not know where records come from.

mod evidence;
mod front;
mod keywords;
mod pack;
mod text;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

pub use evidence::Evidence;

use super::Report;
use pack::Pack;

const STYLE: &str = include_str!("html/page.css");

/// One script, in the order in which its parts need each other.
const SCRIPT: &str = concat!(
    "\"use strict\";\n",
    include_str!("html/text.js"),
    include_str!("html/data.js"),
    include_str!("html/filter.js"),
    include_str!("html/matrix.js"),
    include_str!("html/evidence.js"),
    include_str!("html/page.js"),
);

/// Draws the page.
pub fn page(report: &Report, evidence: &Evidence) -> String {
    let (proofs, left_out) = evidence.elements();
    format!(
        include_str!("html/page.html"),
        policy = policy(),
        generator = text::line(&format!("casebook {}", report.casebook)),
        title = text::line(&front::title(report)),
        lead = text::line(&front::lead(report)),
        partial = front::partial(report),
        summary = front::summary(report),
        keywords = keywords::table(report),
        plain = front::plain(report),
        data = text::embedded(&Pack::new(report, left_out)),
        evidence = proofs,
        style = STYLE,
        script = SCRIPT,
    )
}

/// Only the style and the script that are part of the program; nothing is loaded, sent or made from text.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

#[cfg(test)]
mod tests;
