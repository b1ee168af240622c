//! The tests that any server can be asked, because they need nothing of their fixture.
//!
//! Takes the tests of a case file, and extends those that neither name a tool of the fixture nor look at what only a
//! fixture decides to fixed servers. Must not know targets.

use crate::model::action::called;
use crate::model::applicability::{Applicability, Inside};
use crate::model::case::{Check, Control, Expectation, Fixture, Test, Tool, When};
use crate::model::spec::Role;
use crate::model::template::Template;

/// Begins the names of tools that no server has.
const UNKNOWN: &str = "casebook-";
/// The members of a tool that only serves to have one.
const PLAIN: [&str; 4] = ["name", "description", "inputSchema", "does"];

/// Extends the tests of a file that any server can be asked.
///
/// A test is asked together with its controls or not at all. Where the fixture depends on the row, the file asks about
/// the fixture.
pub(super) fn extend(tests: &mut [Test]) {
    let needs_none: Vec<bool> = tests.iter().map(needs_no_fixture).collect();
    if !needs_none.contains(&true) || tests.windows(2).any(|pair| pair[0].given != pair[1].given) {
        return;
    }
    // The controls of a file are asked all or not at all.
    let is_above = |control: &Test, test: &Test| control.control == Some(Control::File) || control.governs(test);
    let has_controls =
        |test: &Test| tests.iter().zip(&needs_none).all(|(control, is_asked)| *is_asked || !is_above(control, test));
    let asked: Vec<bool> = tests.iter().zip(&needs_none).map(|(test, is)| *is && has_controls(test)).collect();
    for (test, _) in tests.iter_mut().zip(asked).filter(|(_, is_asked)| *is_asked) {
        test.reach = Applicability::AlsoFixed(Inside::Tools(Vec::new()));
    }
}

fn needs_no_fixture(test: &Test) -> bool {
    let Fixture { tools, capabilities, methods, deviations, pages, revision } = &*test.given;
    let is_released = capabilities.is_empty() && methods.is_empty();
    let is_plain = !tools.is_empty() && is_released && deviations.is_empty() && pages.is_none() && revision.is_none();
    test.role == Role::Server
        && test.reach == Applicability::AdapterOnly
        && is_plain
        && tools.iter().all(is_plain_tool)
        && test.steps.iter().all(|step| has_own_effect(&step.when))
        && test.checks().flat_map(|check: &Check| &check.alternatives).all(|one| shows_no_fixture(one, tools))
}

/// Returns whether a tool has nothing that a server could treat in its own way.
fn is_plain_tool(tool: &Tool) -> bool {
    let Template::Object(members) = &tool.definition else { return false };
    members.iter().all(|(key, _)| PLAIN.contains(&key.as_str()))
}

/// Returns whether a step neither builds a fixture alone nor calls a tool that a server could have.
fn has_own_effect(when: &When) -> bool {
    match when {
        When::List | When::EndInput | When::Bare { .. } => true,
        When::Send { message: Template::String(text), .. } => !text.contains("tools/call"),
        When::Send { message, .. } => {
            let mut is_known = false;
            message.visit(&mut |one| is_known |= called(one).is_some_and(|name| !name.starts_with(UNKNOWN)));
            !is_known
        }
        When::Serve | When::Call { .. } | When::CallEach { .. } | When::AtOnce(_) | When::Cancel { .. } => false,
    }
}

/// Returns whether an expectation is about nothing that the fixture decides.
fn shows_no_fixture(one: &Expectation, tools: &[Tool]) -> bool {
    let of_fixture = one.saw.is_some()
        || one.structured.is_some()
        || one.text.is_some()
        || one.asked.is_some()
        || one.answered.is_some()
        || one.canary.is_some()
        || !one.advertised.is_empty();
    let schemas = [&one.reply, &one.matches, &one.sent];
    let names = |part: &str| schemas.iter().any(|schema| schema.as_ref().is_some_and(|one| one.mentions(part)));
    // What a tool asks. Where none is called, messages that nobody asked for are the server's own.
    let words = ["\"asked\"", "\"answered\"", "\"advertised\""];
    !of_fixture && !words.into_iter().any(names) && !tools.iter().any(|tool| names(&format!("\"{}\"", tool.name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Source, load};

    #[test]
    fn any_server_is_asked_what_needs_no_fixture() {
        let library = load(&[Source::Embedded]).expect("the cases are sound");
        let is_asked = |path: &str| {
            let mut tests = library.cases.iter().flat_map(|case| &case.tests);
            let test = tests.find(|test| test.path() == path).unwrap_or_else(|| panic!("there is no {path}"));
            test.reach == Applicability::AlsoFixed(Inside::Tools(Vec::new()))
        };
        for path in [
            "messages/server-ids/result/text",
            "messages/server-errors/shape/tool",
            "lifecycle/server-initialize/unknown/past",
            "http/server-sessions/missing/sound",
            "stdio/server-exit/exits",
        ] {
            assert!(is_asked(path), "{path}");
        }
        for (path, why) in [
            ("messages/server-errors/shape/arguments", "it calls a tool of the fixture"),
            ("tools/requests/unknown-tool/unknown-tool-2025", "its control calls a tool of the fixture"),
            ("sep-2322/server-questions/list", "its control asks a question"),
            ("http/server-sessions/answered/sound", "it answers a question"),
            ("tools/list-empty/listed", "the fixture has no tool"),
            ("tools/header-marks/listed/empty", "the fixture depends on the row"),
        ] {
            assert!(!is_asked(path), "{path}: {why}");
        }
    }
}
