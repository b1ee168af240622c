//! A case in plain text: its steps, the expectations and their requirements.
//!
//! Takes a loaded case, gives text. Must not know results of runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use super::show::{compact, cut, pretty};
use crate::model::action::method;
use crate::model::applicability::{Applicability, Inside};
use crate::model::case::{
    Advertised, Answer, CallAtOnce, CanaryState, Case, Change, Check, Control, Deviation, Expectation, Fixture,
    Library, Matcher, Method, Outcome, Pages, Step, Test, TextState, Then, TimeClass, When, With,
};
use crate::model::spec::{Requirement, Role};
use crate::model::text::quotation;

/// The longest value that is shown in a sentence, and in a table.
const IN_A_SENTENCE: usize = 240;
const IN_A_TABLE: usize = 44;

/// The names of the mutants that violate a requirement, by requirement.
pub type Breakers = BTreeMap<String, Vec<String>>;

/// Describes a case file: its rows, each test with its steps and expectations, and the requirements that it checks,
/// each with the mutants that violate it.
pub fn explain(library: &Library, case: &Case, breakers: &Breakers) -> String {
    let mut out = format!("{}\n{}\n\nThe {} is under test.\n", case.id, case.title, case.role);
    for line in &case.note {
        put(&mut out, format_args!("{line}\n"));
    }
    if let Some(first) = case.tests.first() {
        out.push_str(&proposed(&first.given));
    }
    if !case.rows.is_empty() {
        out.push_str("\nRows\n");
        out.push_str(&rows(case));
    }
    for tests in case.tests.chunk_by(|one, other| one.id == other.id) {
        out.push('\n');
        out.push_str(&test(tests));
    }
    let checks = || case.tests.iter().flat_map(|test| test.checks());
    let allowing = checks().flat_map(|check| &check.alternatives).filter_map(|one| one.allowed_by.as_ref());
    let ids: BTreeSet<_> = checks().map(|check| &check.requirement).chain(allowing).collect();
    if !ids.is_empty() {
        out.push_str("\nRequirements\n");
    }
    for requirement in ids.into_iter().filter_map(|id| library.requirements.get(id)) {
        out.push_str(&sentence(requirement, breakers.get(requirement.id.as_str()).into_iter().flatten()));
    }
    out
}

/// What the server has of a proposal, as the first row has it.
fn proposed(fixture: &Fixture) -> String {
    let capabilities = fixture
        .capabilities
        .iter()
        .map(|(name, declared)| format!("  declares `{name}`: {}\n", cut(&compact(declared), IN_A_SENTENCE)));
    let replies = |method: &Method| {
        let replies: Vec<_> = method.replies.iter().map(|reply| cut(&compact(reply), IN_A_SENTENCE)).collect();
        format!("  answers `{}` by {}\n", method.name, replies.join(", then "))
    };
    let lines: String = capabilities.chain(fixture.methods.iter().map(replies)).collect();
    if lines.is_empty() { lines } else { format!("\nThe server\n{lines}") }
}

/// Describes a requirement: its sentence, the mutants of each role that violate it, and the tests that check it.
pub fn explain_requirement(library: &Library, requirement: &Requirement, breakers: &[Breakers]) -> String {
    let mutants = breakers.iter().filter_map(|breakers| breakers.get(requirement.id.as_str())).flatten();
    let mut out = sentence(requirement, mutants);
    out.push_str("\nTests that check it\n");
    let is_checked = |test: &&Arc<Test>| test.checks().any(|check| check.requirement == requirement.id);
    let tests = library.cases.iter().flat_map(|case| case.tests.iter().filter(is_checked));
    let tests: BTreeMap<_, _> = tests.map(|test| (format!("{}/{}", test.case, test.id), &test.title)).collect();
    for (test, title) in &tests {
        put(&mut out, format_args!("  {test}: {title}\n"));
    }
    if tests.is_empty() {
        let why = requirement.unobservable.as_deref().unwrap_or("there is none");
        put(&mut out, format_args!("  {why}\n"));
    }
    out
}

/// Returns the fixture as an adapter gets it, once for all rows that share it. Generated values keep their `@`.
pub fn expanded(case: &Case) -> String {
    let mut fixtures: Vec<(&Arc<_>, Vec<&str>)> = Vec::new();
    for test in &case.tests {
        let row = test.row.as_deref().unwrap_or("");
        match fixtures.iter_mut().find(|(given, _)| *given == &test.given) {
            Some((_, rows)) if rows.contains(&row) => {}
            Some((_, rows)) => rows.push(row),
            None => fixtures.push((&test.given, vec![row])),
        }
    }
    let mut out = String::new();
    for (given, rows) in fixtures {
        let rows: Vec<_> = rows.into_iter().filter(|row| !row.is_empty()).collect();
        let heading = if rows.is_empty() { String::new() } else { format!("# {}\n", rows.join(", ")) };
        put(&mut out, format_args!("{heading}{}\n", pretty(&given.template(), 0)));
    }
    out
}

/// The rows as a table: a column for each value.
fn rows(case: &Case) -> String {
    let mut keys: Vec<&str> = Vec::new();
    for (key, _) in case.rows.iter().flat_map(|row| &row.bindings) {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let mut table =
        vec![std::iter::once(String::new()).chain(keys.iter().map(|key| (*key).to_owned())).collect::<Vec<_>>()];
    for row in &case.rows {
        let value = |key: &str| row.bindings.iter().find(|(bound, _)| bound == key).map(|(_, value)| value.to_string());
        let values = keys.iter().map(|key| cut(&value(key).unwrap_or_default(), IN_A_TABLE));
        table.push(std::iter::once(row.id.clone()).chain(values).collect());
    }
    let width = |column: usize| table.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..=keys.len()).map(width).collect();
    let mut out = String::new();
    for line in &table {
        let cells: Vec<_> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        put(&mut out, format_args!("  {}\n", cells.join("  ").trim_end()));
    }
    for row in case.rows.iter().filter(|row| !row.note.is_empty()) {
        put(&mut out, format_args!("  {}: {}\n", row.id, row.note.join(" ")));
    }
    out
}

/// Describes one test; rows with the same description share it.
fn test(tests: &[Arc<Test>]) -> String {
    let first = &tests[0];
    let control = match &first.control {
        Some(Control::Row) => ", the control of its row".to_owned(),
        Some(Control::Tests(names)) => format!(", the control of {}", names.join(", ")),
        Some(Control::File) => ", the control of the file".to_owned(),
        None => String::new(),
    };
    let mut out = format!("{}{control}\n  {}\n", first.id, first.title);
    for line in &first.note {
        put(&mut out, format_args!("  {line}\n"));
    }
    let mut descriptions: Vec<(String, Vec<&str>)> = Vec::new();
    for test in tests {
        let what: String = test.steps.iter().map(|one| step(one, test.role)).collect();
        let what = format!("{}{}{what}", applies(test), served(&test.given));
        let row = test.row.as_deref();
        match descriptions.iter_mut().find(|(known, _)| *known == what) {
            Some((_, rows)) => rows.extend(row),
            None => descriptions.push((what, row.into_iter().collect())),
        }
    }
    for (what, rows) in descriptions {
        if !rows.is_empty() {
            put(&mut out, format_args!("  rows {}\n", rows.join(", ")));
        }
        out.push_str(&what);
    }
    out
}

fn applies(test: &Test) -> String {
    let mut limits = Vec::new();
    if test.revisions != crate::model::spec::Revisions::default() {
        limits.push(test.revisions.to_string());
    }
    limits.extend(test.transports.iter().map(|all| format!("over {}", list(all, " and "))));
    limits.extend(test.needs.iter().map(|need| format!("where the target has {need}")));
    limits.extend(match &test.reach {
        Applicability::AdapterOnly => None,
        Applicability::AlsoFixed(Inside::Tools(tools)) => {
            Some(format!("also on fixed servers with {}", list(tools, " and ")))
        }
        Applicability::AlsoFixed(Inside::Scenario(name)) => {
            Some(format!("also on fixed clients, as their scenario `{name}`"))
        }
        Applicability::FixedOnly(tools) if tools.is_empty() => Some("on fixed servers only".to_owned()),
        Applicability::FixedOnly(tools) => Some(format!("only on fixed servers with a {}", list(tools, " and a "))),
    });
    limits.extend(test.heavy.then(|| "only with --heavy".to_owned()));
    limits.extend(test.step_limit.map(|seconds| format!("with a limit of {seconds} s for each step")));
    limits.extend(test.request_timeout.map(|limit| format!("with a limit of {limit} ms for each request of the SDK")));
    if limits.is_empty() { String::new() } else { format!("    runs   {}\n", limits.join(", ")) }
}

/// Describes the mock server, apart from its tools.
fn served(given: &Fixture) -> String {
    let mut out = String::new();
    if let Some(Pages { size, cursors }) = &given.pages {
        let cursors: Vec<_> = cursors.iter().map(|cursor| format!(", then `{cursor}`")).collect();
        put(&mut out, format_args!("    given  pages of {size}{}\n", cursors.concat()));
    }
    if let Some(revision) = given.revision {
        put(&mut out, format_args!("    given  a server of {revision}, which the client has to find out\n"));
    }
    for Deviation { method, times, change } in &given.deviations {
        let change = match change {
            Change::Set { at, value } => format!("`{at}` is {}", cut(&compact(value), IN_A_SENTENCE)),
            Change::Remove { at } => format!("`{at}` is missing"),
            Change::Http { status, headers, cut_after } => {
                let status = status.iter().map(|status| format!("the HTTP status is {status}"));
                let headers = headers.iter().map(|(name, value)| format!("the header {name} is `{value}`"));
                let cut = cut_after.iter().map(|bytes| format!("the connection ends after {bytes} bytes of the body"));
                status.chain(headers).chain(cut).collect::<Vec<_>>().join(", ")
            }
            Change::Before { message } => {
                format!("this message comes before it: {}", cut(&compact(message), IN_A_SENTENCE))
            }
            Change::Written(written) => written.description().to_owned(),
            Change::Unanswered => "there is none".to_owned(),
        };
        let first = times.map(|times| format!("first {times} ")).unwrap_or_default();
        put(&mut out, format_args!("    given  a deliberate deviation in the {first}result of {method}: {change}\n"));
    }
    out
}

fn step(step: &Step, role: Role) -> String {
    let mut out = format!("    step   {}\n", step_in_words(&step.when, role));
    if let Some(declares) = &step.declares {
        put(&mut out, format_args!("           the client declares {}\n", compact(declares)));
    }
    if !step.initialized {
        out.push_str("           the client never sends `notifications/initialized`\n");
    }
    match &step.then {
        Then::Observe => out.push_str("    pass   always: nothing is judged, and the snapshot keeps the observation\n"),
        Then::Checks(checks) => checks.iter().for_each(|check| out.push_str(&self::check(check, role))),
    }
    out
}

/// Describes a step, as an instruction to the user of a client or a server.
pub fn step_in_words(when: &When, role: Role) -> String {
    match when {
        When::Serve if role == Role::Client => "the client connects, and does nothing else".to_owned(),
        When::Serve => "the server is built; nothing is sent".to_owned(),
        When::List => "list the tools".to_owned(),
        When::CallEach { with, also } => {
            let how = match with {
                With::Refused => "refuses",
                With::Accepted => "accepts, if the target permits calls",
            };
            let mut text = format!("list the tools, and call each of them with arguments that its schema {how}");
            for one in also {
                put(&mut text, format_args!(", also {}", cut(&compact(one), IN_A_SENTENCE)));
            }
            text
        }
        When::Call { tool, arguments, answers, retry, parallel } => {
            let mut text = format!("call `{tool}` ");
            if *parallel {
                text.push_str("at the same time as the call of the step before, ");
            }
            match arguments {
                Some(arguments) => put(&mut text, format_args!("with {}", cut(&compact(arguments), IN_A_SENTENCE))),
                None => text.push_str("without arguments"),
            }
            for one in answers {
                put(&mut text, format_args!("; {}", answer(one)));
            }
            if let Some(state) = retry.state {
                put(&mut text, format_args!("; the state of the retry: {state}"));
            }
            for (is_so, what) in [
                (retry.fresh, "the retry uses a new connection".to_owned()),
                (retry.after > 0, format!("the retry is sent after {} s", retry.after)),
                (retry.tool.is_some(), format!("the retry calls `{}`", retry.tool.as_deref().unwrap_or_default())),
            ] {
                if is_so {
                    put(&mut text, format_args!("; {what}"));
                }
            }
            if let Some(arguments) = &retry.arguments {
                put(
                    &mut text,
                    format_args!("; the arguments of the retry: {}", cut(&compact(arguments), IN_A_SENTENCE)),
                );
            }
            text
        }
        When::AtOnce(calls) => {
            let call = |call: &CallAtOnce| match &call.arguments {
                Some(arguments) => format!("`{}` with {}", call.tool, cut(&compact(arguments), IN_A_SENTENCE)),
                None => format!("`{}` without arguments", call.tool),
            };
            format!("call at once: {}", calls.iter().map(call).collect::<Vec<_>>().join(", "))
        }
        When::Cancel { tool, hangs_up, .. } => {
            let how = if *hangs_up { "close the connection of the call" } else { "cancel the call" };
            format!("call `{tool}`, and {how} while its code runs")
        }
        When::Bare { method, .. } => format!("send an HTTP {method} request"),
        When::EndInput => "close the standard input of the server".to_owned(),
        When::Send { message, .. } if role == Role::Client => {
            let params = message.get("params").map(|params| format!(" with {}", cut(&compact(params), IN_A_SENTENCE)));
            format!("the user requests `{}`{}", method(message).unwrap_or_default(), params.unwrap_or_default())
        }
        When::Send { message, headers } => {
            // A message without `jsonrpc` is completed as a client would.
            let how = if message.get("jsonrpc").is_some() || method(message).is_none() { " unchanged" } else { "" };
            let mut text = format!("send this message{how}: {}", cut(&compact(message), IN_A_SENTENCE));
            for (name, value) in headers {
                match value {
                    Some(value) => put(&mut text, format_args!("; with the header {name}: `{value}`")),
                    None => put(&mut text, format_args!("; without the header {name}")),
                }
            }
            text
        }
    }
}

fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Accept(content) => {
            format!("when asked, the user accepts with {}", cut(&compact(content), IN_A_SENTENCE))
        }
        Answer::AcceptAlone => "when asked, the user accepts without content".to_owned(),
        Answer::AcceptAsPresented => "when asked, the user accepts the form as it is presented".to_owned(),
        Answer::Decline => "when asked, the user declines".to_owned(),
        Answer::Cancel => "when asked, the user cancels".to_owned(),
        Answer::Raw(value) => format!("when asked, the client answers {}", cut(&compact(value), IN_A_SENTENCE)),
        Answer::Error { code, message } => format!("when asked, the client answers with the error {code} ({message})"),
    }
}

fn check(check: &Check, role: Role) -> String {
    let id = &check.requirement;
    let mut out = match check.alternatives.as_slice() {
        [only] => format!("    pass   {}  [{id}]\n", conditions(only, role)),
        several => {
            let mut out = format!("    pass   one of these  [{id}]\n");
            for one in several {
                let name = one.name.as_deref().unwrap_or_default();
                let allowed = one.allowed_by.as_ref().map(|id| format!("  (allowed by {id})")).unwrap_or_default();
                let idle = if one.not_asked { "  (then not asked)" } else { "" };
                put(&mut out, format_args!("           - {name}: {}{allowed}{idle}\n", conditions(one, role)));
            }
            out
        }
    };
    let outcomes: BTreeSet<Outcome> = check.alternatives.iter().flat_map(|one| one.outcome.iter().copied()).collect();
    let open = check.alternatives.iter().any(|one| one.outcome.is_empty());
    if !open && outcomes.iter().eq(&[Outcome::Success]) {
        out.push_str("    fail   the request fails with any error\n");
    } else if !open && !outcomes.contains(&Outcome::Success) {
        out.push_str("    fail   the request succeeds\n");
    }
    out
}

/// Describes all conditions of an expectation in one sentence.
fn conditions(one: &Expectation, role: Role) -> String {
    let outcomes: Vec<_> = one.outcome.iter().map(|outcome| outcome_in_words(*outcome, role)).collect();
    let mut parts: Vec<String> = Vec::new();
    let outcomes = outcomes.join(" or ").replace(" error or the request fails as ", " error or as ");
    parts.extend((!outcomes.is_empty()).then_some(outcomes));
    parts.extend(one.code.map(|code| format!("the error code is {code}")));
    parts.extend((!one.status.is_empty()).then(|| format!("the HTTP status is {}", list(&one.status, " or "))));
    parts.extend(one.canary.map(|state| match state {
        CanaryState::Untouched => "the target fetches nothing".to_owned(),
        CanaryState::Touched => "the target fetches the address".to_owned(),
        CanaryState::Disclosed => "the target fetches the address and passes its content on".to_owned(),
    }));
    parts.extend(advertised(&one.advertised));
    let without: Vec<_> = one.without.iter().collect();
    let flaws: Vec<_> = one.calls.iter().map(|flaw| flaw.sentence()).collect();
    parts.extend((!flaws.is_empty()).then(|| format!("there are calls, and no tool {}", list(&flaws, " or "))));
    parts.extend((!without.is_empty()).then(|| format!("tools are listed, and none has {}", list(&without, " or "))));
    parts.extend(one.saw.as_ref().map(|it| matcher("the tool receives", "the tool is not called", it)));
    parts.extend(
        one.structured.as_ref().map(|it| matcher("the structured content is", "there is no structured content", it)),
    );
    parts.extend(one.text.map(|text| match text {
        TextState::Mirrors => "a text block is the JSON of the structured content".to_owned(),
        TextState::Absent => "there is no text block".to_owned(),
    }));
    parts.extend(one.asked.as_ref().map(|it| matcher("the user is asked", "the user is not asked", it)));
    parts.extend(one.answered.as_ref().map(|answered| {
        let content = answered.content.as_ref().map(|it| matcher(" with the content", " without content", it));
        format!("the client answers `{}`{}", answered.action, content.unwrap_or_default())
    }));
    parts.extend(one.took.map(|class| match class {
        TimeClass::Instant => "the step takes less than 0.1 s".to_owned(),
        TimeClass::Quick => "the step takes less than 1 s".to_owned(),
        TimeClass::Slow => "the step takes less than 10 s".to_owned(),
        TimeClass::Endless => "the step may take any time".to_owned(),
    }));
    let schemas = [("each reply", &one.reply), ("each message sent", &one.sent), ("the observation", &one.matches)];
    for (what, schema) in schemas {
        parts.extend(
            schema
                .as_ref()
                .map(|it| format!("{what} matches the schema {}", cut(&it.value().to_string(), IN_A_SENTENCE))),
        );
    }
    parts.join("; and ")
}

fn outcome_in_words(outcome: Outcome, role: Role) -> &'static str {
    match outcome {
        Outcome::Refused if role == Role::Client => "the client raises an error of its own",
        Outcome::Hidden if role == Role::Client => "the client does not offer the tool to its user",
        Outcome::Success => "the request succeeds",
        Outcome::ToolError => "the request fails as a tool error",
        Outcome::ProtocolError => "the request fails as a JSON-RPC error",
        Outcome::InputRequired => "the server asks for more input than the case answers",
        Outcome::Refused => "the SDK refuses to build the server",
        Outcome::Hidden => "the tool is not listed",
        Outcome::InvalidMessage => "the reply is not a valid message",
        Outcome::HttpError => "the reply is an HTTP error without a JSON-RPC message",
        Outcome::EmptyReply => "the reply ends without a response",
        Outcome::Oversized => "the reply is longer than casebook reads",
        Outcome::Timeout => "no response comes within the time limit",
        Outcome::Crash => "the process ends",
        Outcome::Accepted => "the message is accepted without a response",
    }
}

fn advertised(by_tool: &BTreeMap<String, Advertised>) -> impl Iterator<Item = String> {
    by_tool.iter().map(|(tool, advertised)| match advertised {
        Advertised::AsGiven => format!("the schemas of `{tool}` are listed unchanged"),
        Advertised::Kept => format!("the schemas of `{tool}` are listed, and nothing of them is lost or changed"),
        Advertised::Keeps(pointers) => format!("`{tool}` is listed with {} unchanged", pointers.join(", ")),
    })
}

fn matcher(begin: &str, absent: &str, matcher: &Matcher) -> String {
    match matcher {
        Matcher::Equals(value) => format!("{begin} {}", cut(&compact(value), IN_A_SENTENCE)),
        Matcher::Contains(value) => format!("{begin} at least {}", cut(&compact(value), IN_A_SENTENCE)),
        Matcher::Absent => absent.to_owned(),
    }
}

/// Describes a requirement: its level, quote, source, reason and harm.
/// Describes the sentence of a requirement, with the mutants that violate it.
fn sentence<'m>(requirement: &Requirement, mutants: impl Iterator<Item = &'m String>) -> String {
    let Requirement { id, level, revisions, quote, why, fix, harm, also, .. } = requirement;
    let quote = quotation(quote);
    let mut out = format!("  {id}: {level}, {revisions}\n    {quote}\n    {}\n", requirement.link());
    for one in also {
        let when = one.when.as_ref().map(|when| format!(", {when}")).unwrap_or_default();
        put(&mut out, format_args!("    also {}{when}: \"{}\" ({})\n", one.level, one.quote, one.source));
    }
    put(&mut out, format_args!("    {why} Harm: {harm}.\n"));
    if let Some(fix) = fix {
        put(&mut out, format_args!("    Fix: {fix}\n"));
    }
    let mutants: Vec<_> = mutants.collect();
    if !mutants.is_empty() {
        put(&mut out, format_args!("    Mutants that violate it: {}.\n", list(&mutants, ", ")));
    }
    out
}

fn list<T: std::fmt::Display>(items: &[T], between: &str) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string never fails");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::{fuzz, samples};
    use crate::load::{Source, load};

    #[test]
    fn fuzzed_case_that_loads_is_explained() {
        let catalogue = include_str!("../../cases/sep-1034/requirements.json");
        fuzz("explained", samples::cases(), |bytes| {
            let case = String::from_utf8_lossy(bytes).into_owned();
            let files = [("a/requirements.json", catalogue.to_owned()), ("a/b.json", case)];
            let files = files.map(|(path, text)| (path.into(), text)).to_vec();
            if let Ok(library) = load(&[Source::Texts(files)]) {
                for case in &library.cases {
                    assert!(explain(&library, case, &Breakers::new()).starts_with("a/b"));
                    expanded(case);
                }
            }
        });
    }
}
