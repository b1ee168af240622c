//! The parts of the adapter protocol that its first version did not have, and the tests that need them.
//!
//! Takes a test, gives the parts. Must not know adapters.

use super::case::{Answer, Does, Test, Tool, When};
use super::spec::{Role, words};
use super::template::Template;

words! {
    /// A part of the adapter protocol. An adapter that ignored it would make its SDK fail, so that each adapter names those
    /// that it knows.
    Feature {
        /// A question in URL mode.
        ElicitUrl = "elicit-url",
        /// A question with a state.
        State = "state",
        /// A tool that waits for its cancellation.
        Wait = "wait",
        /// A tool that logs.
        Log = "log",
        /// A tool that reports progress.
        Progress = "progress",
        /// Calls that begin before another one has ended.
        CallTools = "callTools",
        /// A time limit for requests.
        RequestTimeout = "requestTimeout",
        /// A form that is accepted as presented.
        AsPresented = "as-presented",
        /// Methods that no revision knows, of a server.
        Methods = "methods",
        /// Capabilities that no revision knows, of a server.
        Capabilities = "capabilities",
        /// A request of a client for any method.
        Request = "request",
    }
}

/// Returns the features that a target in a role needs for a test.
pub fn features(test: &Test, role: Role) -> Vec<Feature> {
    match role {
        Role::Server => {
            let methods = (!test.given.methods.is_empty()).then_some(Feature::Methods);
            let capabilities = (!test.given.capabilities.is_empty()).then_some(Feature::Capabilities);
            test.given.tools.iter().flat_map(of_tool).chain(methods).chain(capabilities).collect()
        }
        Role::Client => of_script(test),
        Role::Pair => features(test, Role::Server).into_iter().chain(of_script(test)).collect(),
    }
}

fn of_tool(tool: &Tool) -> Vec<Feature> {
    match tool.does {
        _ if tool.is_typed() => Vec::new(),
        Does::Echo | Does::Return | Does::Raise => Vec::new(),
        Does::Wait => vec![Feature::Wait],
        Does::Log => vec![Feature::Log],
        Does::Progress => vec![Feature::Progress],
        Does::Elicit => {
            let question = tool.definition.get("does").and_then(|does| does.get(Does::Elicit.word()));
            let has = |key: &str| question.and_then(|question| question.get(key));
            let is_url = matches!(has("mode"), Some(Template::String(mode)) if mode == "url");
            let state = has("state").map(|_| Feature::State);
            is_url.then_some(Feature::ElicitUrl).into_iter().chain(state).collect()
        }
    }
}

fn of_script(test: &Test) -> Vec<Feature> {
    let mut found: Vec<_> = test.request_timeout.map(|_| Feature::RequestTimeout).into_iter().collect();
    for step in &test.steps {
        if let When::Call { answers, parallel, .. } = &step.when {
            found.extend(parallel.then_some(Feature::CallTools));
            let is_as_presented = answers.iter().any(|answer| matches!(answer, Answer::AcceptAsPresented));
            found.extend(is_as_presented.then_some(Feature::AsPresented));
        }
        found.extend(matches!(step.when, When::Send { .. }).then_some(Feature::Request));
    }
    found
}
