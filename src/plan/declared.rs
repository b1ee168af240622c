//! The tests that a server excludes by its declarations, if it was asked for them before the run.
//!
//! Takes a target with a survey, and a test. Must not know how the server was asked.

use crate::model::action::Asks;
use crate::model::case::Test;
use crate::model::reason::SkipReason;
use crate::model::spec::Revision;
use crate::model::target::Target;

/// Returns why a test is not run on a server that was surveyed, if so.
pub(super) fn skip_reason(target: &Target, test: &Test, revision: Revision) -> Option<SkipReason> {
    let declared = target.survey.as_ref()?.revisions.get(&revision)?;
    let asks = || test.steps.iter().map(|step| step.when.asks(&test.given));
    let needs_tools = !test.reach.listed().is_empty();
    if !declared.has_tools() && (needs_tools || asks().any(|asks| !matches!(asks, Asks::Nothing | Asks::Other))) {
        return Some(SkipReason::NoTools);
    }
    let names = declared.tools.as_deref();
    if !test.reach.listed().iter().all(|tool| names.is_some_and(|names| tool.is_among(names))) {
        return Some(SkipReason::ToolsNotListed);
    }
    // Without a list that can be read, a tool of any name may exist.
    let may_exist = |name: &str| names.is_none_or(|names| names.iter().any(|listed| listed == name));
    let mut called = test.steps.iter().filter_map(|step| step.when.tool());
    called.any(|name| may_exist(name) && !target.callable.allows(name)).then_some(SkipReason::NotCallable)
}
