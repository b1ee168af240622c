//! The lists of one server, compared with each other.
//!
//! Takes the steps of a test, marks the lists that differ from the list before them. Must not know which difference is
//! right.

use crate::judge::messages::{self, Wire};
use crate::model::action::Asks;
use crate::model::case::{Outcome, Test};
use crate::model::observation::{ListChange, StepObservation};
use crate::model::transcript::Transcript;

/// Marks the lists that differ from the list before them.
pub(super) fn compare(test: &Test, transcript: &Transcript, wires: &[Wire<'_>], steps: &mut [StepObservation]) {
    let (mut before, mut has_failed): (Option<Vec<Option<String>>>, bool) = (None, false);
    let sorted = |list: &Option<Vec<_>>| {
        let mut list = list.clone().unwrap_or_default();
        list.sort();
        list
    };
    let begun = test.steps.iter().zip(&transcript.steps).zip(wires);
    for (((step, seen), wire), observed) in begun.zip(steps) {
        if seen.handed.is_some() || !matches!(step.when.asks(&test.given), Asks::List) {
            continue;
        }
        if observed.outcome != Outcome::Success || observed.unread.is_some() {
            has_failed = true;
            continue;
        }
        let names = messages::listed(wire).map(|tools| tools.into_iter().map(|(name, _)| name).collect());
        observed.varies = match &before {
            None => has_failed.then_some(ListChange::NothingBefore),
            Some(_) if names == before => None,
            Some(_) if sorted(&names) == sorted(&before) => Some(ListChange::Order),
            Some(_) => Some(ListChange::Tools),
        };
        before = names;
    }
}
