//! [`View`]: the question that a report answers.

use std::collections::BTreeSet;

use super::Column;
use super::build::REFERENCE;
use crate::model::spec::words;

words! {
    /// The question that a report answers.
    View {
        /// Does the target conform to the specification? Known failures are failures.
        Conformance = "conformance",
        /// Was anything other than it was expected? Known failures are expected.
        Expectation = "expectation",
    }
}

impl View {
    /// Returns the usual view of some columns: expectation for one target, conformance for several.
    pub(super) fn of(columns: &[Column]) -> Self {
        let names: BTreeSet<&str> = columns.iter().map(|column| column.id.name.as_str()).collect();
        let real = names.iter().filter(|name| **name != REFERENCE).count();
        if real > 1 { Self::Conformance } else { Self::Expectation }
    }

    /// The question in words, for the first line of reports.
    pub fn question(self) -> &'static str {
        match self {
            Self::Conformance => "what the specification says of each target; known failures are failures",
            Self::Expectation => "whether the results are as expected; known failures are expected",
        }
    }
}
