//! The tests that a server excludes by its declarations, in a survey before the run or in its claims.
//!
//! Takes a target and a test. Must not know how the server was asked.

use crate::model::action::Asks;
use crate::model::case::{Need, Test};
use crate::model::reason::SkipReason;
use crate::model::spec::{Revision, Role};
use crate::model::target::Target;

/// Returns why a test is not run on a server that lacks tools or was surveyed, if so.
pub(super) fn skip_reason(target: &Target, test: &Test, revision: Revision) -> Option<SkipReason> {
    let mut asks = test.steps.iter().map(|step| step.when.asks(&test.given));
    let uses_tools = test.needs.contains(&Need::Tools)
        || !test.reach.listed().is_empty()
        || asks.any(|asks| !matches!(asks, Asks::Nothing | Asks::Other));
    if uses_tools && test.role != Role::Client && target.claims.lacks.contains(&Need::Tools) {
        return Some(SkipReason::Lacks(Need::Tools));
    }
    let declared = target.survey.as_ref()?.revisions.get(&revision)?;
    if uses_tools && !declared.has_tools() {
        return Some(SkipReason::NoTools);
    }
    let names = declared.tools.as_deref();
    // A list that could not be read may have any tool: the tests show what is wrong with it.
    if !test.reach.listed().iter().all(|tool| names.is_none_or(|names| tool.is_among(names))) {
        return Some(SkipReason::ToolsNotListed);
    }
    target.callable.forbidden(test, names).map(|_| SkipReason::NotCallable)
}
