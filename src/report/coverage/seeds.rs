//! Coverage by the paragraphs of the documents from which cases were made.
//!
//! Takes seeds and a library, gives text, Markdown and JSON. Must not know targets, or how seeds are read.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Coverage, Entry};
use crate::jsonrpc::pointer::is_within;
use crate::model::RequirementId;
use crate::model::case::{Library, Test};
use crate::model::markdown::code;
use crate::model::seed::{Paragraph, Seed};
use crate::model::text::count;

const WRITING: &str = "writing to a string never fails";
/// The characters of a text that a page shows.
const SHOWN: usize = 600;

/// The coverage of seeds.
#[derive(Debug)]
pub struct SeedCoverage<'l>(Vec<(&'l Seed, Vec<Asked<'l>>)>);

/// A paragraph, and the number of tests that ask for it.
#[derive(Debug)]
struct Asked<'l> {
    paragraph: &'l Paragraph,
    tests: usize,
    /// The requirements, each with its state.
    requirements: Vec<String>,
}

impl Asked<'_> {
    fn state(&self) -> &'static str {
        match (self.tests, &self.paragraph.reason) {
            (0, Some(_)) => "not asked",
            (0, None) => "open",
            (_, Some(_)) => "partly",
            (_, None) => "asked",
        }
    }
}

impl<'l> SeedCoverage<'l> {
    /// Counts the tests of each paragraph: those that it names, or else those that check its requirements.
    pub fn of(seeds: &'l [Seed], library: &'l Library) -> Self {
        let coverage = Coverage::of(library);
        let all: Vec<&Test> = library.cases.iter().flat_map(|case| &case.tests).map(|test| &**test).collect();
        let asked = |paragraph: &'l Paragraph| {
            let is_named = |test: &Test| {
                let path = test.path();
                paragraph.tests.iter().any(|name| is_within(&path, name))
            };
            let checks = |test: &Test| test.checks().any(|check| paragraph.requirements.contains(&check.requirement));
            let counts = |test: &&&Test| if paragraph.tests.is_empty() { checks(test) } else { is_named(test) };
            let entry = |id: &RequirementId| coverage.entries().iter().find(|entry| entry.requirement.id == *id);
            let named = |entry: &Entry<'_>| {
                format!("{} ({}, {})", entry.requirement.id, entry.requirement.level, entry.state())
            };
            Asked {
                paragraph,
                tests: all.iter().filter(counts).count(),
                requirements: paragraph.requirements.iter().filter_map(entry).map(named).collect(),
            }
        };
        Self(seeds.iter().map(|seed| (seed, seed.paragraphs.iter().map(asked).collect())).collect())
    }

    /// Returns the coverage for a terminal.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (seed, paragraphs) in &self.0 {
            let gap = if out.is_empty() { "" } else { "\n" };
            writeln!(out, "{gap}{}: {} ({})", seed.id, seed.title, seed.source).expect(WRITING);
            for one in paragraphs {
                let tests = count(one.tests, "test");
                writeln!(out, "  {:<9}  {tests:>9}  {}: {}", one.state(), one.paragraph.id, one.paragraph.says)
                    .expect(WRITING);
                for requirement in &one.requirements {
                    writeln!(out, "{:>24}{requirement}", "").expect(WRITING);
                }
                if let Some(reason) = &one.paragraph.reason {
                    writeln!(out, "{:>24}reason: {reason}", "").expect(WRITING);
                }
            }
        }
        out
    }

    /// Returns the coverage as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        for (seed, paragraphs) in &self.0 {
            let gap = if out.is_empty() { "" } else { "\n" };
            write!(out, "{gap}## {}: {}\n\n", seed.id, seed.title).expect(WRITING);
            out.push_str("| paragraph | | tests | requirements | reason |\n| --- | --- | --- | --- | --- |\n");
            for one in paragraphs {
                let requirements: Vec<_> = one.requirements.iter().map(|one| code(one, SHOWN)).collect();
                let reason = one.paragraph.reason.as_deref().map(|reason| code(reason, SHOWN)).unwrap_or_default();
                let says = code(&format!("{}: {}", one.paragraph.id, one.paragraph.says), SHOWN);
                let (state, tests) = (one.state(), one.tests);
                writeln!(out, "| {says} | {state} | {tests} | {} | {reason} |", requirements.join(", "))
                    .expect(WRITING);
            }
        }
        out
    }

    /// Returns the coverage as JSON.
    pub fn json(&self) -> Value {
        let paragraph = |one: &Asked<'_>| {
            json!({
                "id": one.paragraph.id, "says": one.paragraph.says, "state": one.state(), "tests": one.tests,
                "requirements": one.paragraph.requirements.iter().map(RequirementId::as_str).collect::<Vec<_>>(),
                "reason": one.paragraph.reason,
            })
        };
        let seed = |(seed, paragraphs): &(&Seed, Vec<Asked<'_>>)| {
            let paragraphs: Vec<Value> = paragraphs.iter().map(paragraph).collect();
            json!({ "id": seed.id, "title": seed.title, "source": seed.source, "paragraphs": paragraphs })
        };
        json!({ "format": 1, "casebook": env!("CARGO_PKG_VERSION"), "seeds": self.0.iter().map(seed).collect::<Vec<_>>() })
    }
}
