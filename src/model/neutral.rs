//! Decides whether the question of a case depends on the transport.
//!
//! Takes a case as its author wrote it. Must not know targets or results.

use super::case::{Case, Change, Deviation, Does, Expectation, Retry, Test, When};
use super::schema::SharedSchema;
use super::spec::Role;

/// The members of an observation that messages, streams or connections can change.
const OF_TRANSPORT: [&str; 5] = ["\"status\"", "\"events\"", "\"replies\"", "\"sent\"", "\"get-stream\""];

impl Case {
    /// Returns whether the question of this case is the same over each transport: it is about schemas, arguments and
    /// results, and no test names a transport, a header, a stream, an envelope or a question to the user.
    pub fn is_transport_neutral(&self) -> bool {
        self.role != Role::Pair && self.tests.iter().all(|test| is_neutral(test))
    }
}

fn is_neutral(test: &Test) -> bool {
    let is_plain = test.transports.is_none() && test.request_timeout.is_none();
    let is_default_session = test.given.revision.is_none()
        && test.steps.iter().all(|step| step.declares.is_none() && step.initialized && is_request(&step.when));
    let returns = |does: &Does| matches!(does, Does::Echo | Does::Return | Does::Raise);
    is_plain
        && is_default_session
        && test.given.methods.is_empty()
        && test.given.tools.iter().all(|tool| returns(&tool.does))
        && test.given.deviations.iter().all(is_in_result)
        && test.checks().flat_map(|check| &check.alternatives).all(expects_content)
}

/// Returns whether an action is an ordinary request for tools.
fn is_request(when: &When) -> bool {
    match when {
        When::Serve | When::List | When::CallEach { .. } => true,
        When::Call { answers, retry, parallel, .. } => answers.is_empty() && *retry == Retry::default() && !parallel,
        When::AtOnce(_) | When::Cancel { .. } | When::Bare { .. } | When::EndInput | When::Send { .. } => false,
    }
}

/// Returns whether a deviation changes only the content of a result.
fn is_in_result(deviation: &Deviation) -> bool {
    match &deviation.change {
        Change::Set { at, .. } | Change::Remove { at } => at.starts_with("/result/"),
        Change::Http { .. } | Change::Before { .. } | Change::Written(_) | Change::Unanswered => false,
    }
}

/// Returns whether an expectation reads no message as it was sent.
fn expects_content(one: &Expectation) -> bool {
    let names_messages = |schema: &SharedSchema| OF_TRANSPORT.iter().any(|member| schema.mentions(member));
    one.status.is_empty()
        && one.reply.is_none()
        && one.sent.is_none()
        && one.asked.is_none()
        && one.answered.is_none()
        && !one.matches.as_ref().is_some_and(names_messages)
}
