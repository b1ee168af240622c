//! The actions of a test, as far as they can be told without running it: what a step requests, and which values it sends.
//!
//! Takes steps and fixtures. Must not know expectations.

use super::case::{Answer, Change, Fixture, Step, Test, Tool, When, With};
use super::spec::{Lifecycle, Revision, Transport};
use super::template::Template;

/// The request of a step, as an action or as a raw message.
#[derive(Clone, Copy, Debug)]
pub enum Asks<'a> {
    /// None, or one without a message.
    Nothing,
    /// The list of tools.
    List,
    /// A call, of a tool of the fixture where there is one with this name.
    Call(Option<&'a Tool>),
    /// The list of tools, and calls of them.
    CallEach,
    /// Another request.
    Other,
}

impl When {
    /// Returns the name of the tool that this action calls, if it calls one.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::Call { tool, .. } | Self::Cancel { tool, .. } => Some(tool),
            Self::Send { message, .. } => called(message),
            _ => None,
        }
    }

    /// Returns the method of the one request that this action sends or, of a client, makes its user send.
    pub fn method(&self) -> Option<&str> {
        match self {
            Self::List => Some("tools/list"),
            Self::Call { .. } => Some("tools/call"),
            Self::Send { message, .. } => method(message),
            Self::Serve
            | Self::CallEach { .. }
            | Self::AtOnce(_)
            | Self::Cancel { .. }
            | Self::Bare { .. }
            | Self::EndInput => None,
        }
    }

    /// Returns the request of this action.
    pub fn asks<'a>(&self, fixture: &'a Fixture) -> Asks<'a> {
        match self {
            Self::Serve | Self::Bare { .. } | Self::EndInput => Asks::Nothing,
            Self::List => Asks::List,
            Self::CallEach { .. } => Asks::CallEach,
            Self::AtOnce(_) => Asks::Other,
            Self::Call { tool, .. } | Self::Cancel { tool, .. } => Asks::Call(fixture.tool(tool)),
            Self::Send { message, .. } => match method(message) {
                Some("tools/list") => Asks::List,
                Some("tools/call") => Asks::Call(called(message).and_then(|name| fixture.tool(name))),
                _ => Asks::Other,
            },
        }
    }

    /// Returns whether the step sends something that is no message of the protocol.
    pub fn is_malformed(&self) -> bool {
        let Self::Send { message, .. } = self else { return false };
        method(message).is_none() || message.get("params").is_some_and(|params| !matches!(params, Template::Object(_)))
    }

    /// Returns whether the step sends the first message of a client itself, so that no handshake comes before it: the
    /// handshake of any revision, or the probe of a client that knows later revisions than this one.
    pub fn opens(&self, revision: Revision) -> bool {
        let Self::Send { message, .. } = self else { return false };
        let is_probe = revision.facts().lifecycle == Lifecycle::Stateful;
        method(message).is_some_and(|method| method == "initialize" || method == "server/discover" && is_probe)
    }
}

/// Returns the method of a message, if it has one.
pub fn method(message: &Template) -> Option<&str> {
    match message.get("method") {
        Some(Template::String(method)) => Some(method),
        _ => None,
    }
}

/// Returns the name of the tool that a message calls, if it calls one.
pub fn called(message: &Template) -> Option<&str> {
    let is_call = method(message) == Some("tools/call");
    match message.get("params").and_then(|params| params.get("name")).filter(|_| is_call) {
        Some(Template::String(name)) => Some(name),
        _ => None,
    }
}

impl Test {
    /// Returns for about how many seconds the test waits for time to pass: a call is cancelled, never answered, or retried
    /// after a time, or a server may have nothing to respond.
    pub fn wait(&self, transport: Transport) -> u32 {
        let wait = |step: &Step| match &step.when {
            When::Cancel { hangs_up: true, .. } => 3,
            When::Cancel { .. } => 1,
            When::Call { retry, .. } if retry.after > 0 => retry.after.into(),
            When::Call { .. } => u32::from(!step.initialized),
            // Over HTTP, each message gets a reply.
            When::Send { .. } => u32::from(transport == Transport::Stdio),
            _ => 0,
        };
        let is_unanswered = self.given.deviations.iter().any(|one| matches!(one.change, Change::Unanswered));
        u32::from(self.request_timeout.is_some() || is_unanswered) + self.steps.iter().map(wait).sum::<u32>()
    }

    /// Returns whether the test calls tools in a way that only a person can permit: those of another author, with arguments
    /// that they accept.
    pub fn needs_permission(&self) -> bool {
        let calls = |step: &Step| matches!(step.when, When::CallEach { with: With::Accepted, .. });
        !self.given.is_typed() && self.steps.iter().any(calls)
    }

    /// Returns whether the test sends the first message of its connection itself.
    pub fn opens(&self, revision: Revision) -> bool {
        self.steps.first().is_some_and(|step| step.when.opens(revision))
    }

    /// Returns whether the test waits for so long that others should not wait for it.
    pub fn waits_long(&self, transport: Transport) -> bool {
        self.wait(transport) >= 3
    }

    /// Returns the templates of the fixture and of the actions.
    pub fn templates(&self) -> Vec<&Template> {
        let tools = self.given.tools.iter().map(|tool| &tool.definition);
        let changes = self.given.deviations.iter().filter_map(|deviation| match &deviation.change {
            Change::Set { value, .. } => Some(value),
            Change::Before { message } => Some(message),
            Change::Remove { .. } | Change::Http { .. } | Change::Written(_) | Change::Unanswered => None,
        });
        let declared = self.given.capabilities.iter().map(|(_, declared)| declared);
        let replies = self.given.methods.iter().flat_map(|method| &method.replies);
        tools.chain(declared).chain(replies).chain(changes).chain(self.steps.iter().flat_map(of_step)).collect()
    }
}

fn of_step(step: &Step) -> Vec<&Template> {
    let mut found: Vec<&Template> = step.declares.iter().collect();
    match &step.when {
        When::Serve | When::List | When::Bare { .. } | When::EndInput => {}
        When::CallEach { also, .. } => found.extend(also),
        When::Cancel { arguments, .. } => found.extend(arguments),
        When::AtOnce(calls) => found.extend(calls.iter().filter_map(|call| call.arguments.as_ref())),
        When::Call { arguments, answers, retry, .. } => {
            found.extend(arguments.iter().chain(&retry.arguments));
            found.extend(answers.iter().filter_map(|answer| match answer {
                Answer::Accept(content) | Answer::Raw(content) => Some(content),
                Answer::AcceptAlone
                | Answer::AcceptAsPresented
                | Answer::Decline
                | Answer::Cancel
                | Answer::Error { .. } => None,
            }));
        }
        When::Send { message, .. } => found.push(message),
    }
    found
}
