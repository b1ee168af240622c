//! Steps, with the action in their `when`.
//!
//! Takes steps with the values of a row filled in, gives [`Step`]s. Must not know how a step is run.

use std::ops::RangeInclusive;

use super::expect::then;
use super::methods::method_of_request;
use super::scope::Scope;
use super::vacuous;
use crate::load::text::diagnostic::{Lint, did_you_mean};
use crate::load::text::expand::{literal_text, template};
use crate::load::text::node::{Kind, Member, Node};
use crate::load::text::read::{Object, Reader};
use crate::model::case::{Answer, CallAtOnce, HttpMethod, Misplacing, Retry, Step, Tampering, Then, When, With};
use crate::model::spec::{Lifecycle, Revision, Role};
use crate::model::template::Template;

/// The keys of a step. A test without `steps` has them too.
pub(super) const STEP: [&str; 4] = ["when", "then", "declares", "initialized"];

const VERBS: [(&str, &[&str]); 9] = [
    ("serve", &["serve"]),
    ("list", &["list"]),
    ("call-each", &["call-each", "with", "also"]),
    ("call", &["call", "arguments", "answer", "retry", "parallel"]),
    ("at-once", &["at-once"]),
    ("cancel", &["cancel", "arguments", "by"]),
    ("request", &["request", "headers"]),
    ("end", &["end"]),
    ("send", &["send", "headers"]),
];

/// Reads the step at this index of a test. A step without `then` is only observed.
pub(super) fn step(reader: &mut Reader, object: Object<'_>, scope: &Scope<'_>, place: usize) -> Option<Step> {
    let when = reader.need(object, "the step", "when").and_then(|node| when(reader, node, scope, place));
    let then = object.get("then").map_or(Some(Then::Observe), |node| then(reader, node, scope));
    if let (Some(node), Some(when), Some(then)) = (object.get("then"), &when, &then) {
        vacuous::step(reader, node, when, then, scope);
    }
    let declares = object.get("declares").map(|node| {
        if !matches!(node.kind, Kind::Object(_)) {
            reader.members(node, "`declares`");
        }
        template(reader, node)
    });
    let initialized = object.member("initialized").is_none_or(|member| initialized(reader, member, scope, place));
    Some(Step { when: when?, then: then?, declares, initialized })
}

/// Reads `initialized`: `false` leaves the end of the handshake out. That is possible only in the first step of a test
/// of a server, and only on revisions with a handshake.
fn initialized(reader: &mut Reader, member: &Member, scope: &Scope<'_>, place: usize) -> bool {
    let wrong = match scope.role {
        Some(Role::Client | Role::Pair) => {
            Some((Lint::RoleMismatch, "the client under test completes the handshake itself"))
        }
        _ if place > 0 => Some((Lint::ConflictingKeys, "only the first step has a handshake before it")),
        _ if Revision::all().any(|one| scope.revisions.contains(one) && !has_handshake(one)) => {
            Some((Lint::ConflictingKeys, "the test runs on a revision without a handshake"))
        }
        _ => None,
    };
    if let Some((lint, message)) = wrong {
        let help =
            "`initialized` is allowed in the first step of a server's test whose `until` excludes 2026-07-28 and later";
        reader.push(reader.mistake(lint, message).at(member.key_span, "not allowed here").help(help));
    }
    reader.flag(&member.value, "`initialized`").unwrap_or(true)
}

fn has_handshake(revision: Revision) -> bool {
    revision.facts().lifecycle == Lifecycle::Stateful
}

fn when(reader: &mut Reader, node: &Node, scope: &Scope<'_>, place: usize) -> Option<When> {
    let action = Object { node };
    let mut verbs = VERBS.iter().filter(|(verb, _)| action.get(verb).is_some());
    let Some((verb, keys)) = verbs.next() else {
        let mut keys: Vec<&str> = Vec::new();
        for key in VERBS.iter().flat_map(|(_, keys)| *keys) {
            if !keys.contains(key) {
                keys.push(key);
            }
        }
        let object = reader.object(node, "`when`", &keys)?;
        if VERBS.iter().any(|(verb, _)| reader.is_misspelt(object, verb)) {
            return None;
        }
        let missing = reader.mistake(Lint::MissingKey, "`when` has no action");
        let help =
            "add one of `\"serve\": true`, `\"list\": \"tools\"`, `\"call\": \"NAME\"`, `\"send\": {\"method\": …}`";
        reader.push(missing.at(object.node.span, "no action in it").help(help));
        return None;
    };
    let raw = ["call-each", "at-once", "cancel", "request", "end"].into_iter().find_map(|verb| action.member(verb));
    let of_pair = action.member("send").filter(|_| scope.role == Some(Role::Pair));
    if let Some(member) = raw.or(of_pair).filter(|_| scope.role.is_some_and(Role::has_client)) {
        let mismatch = reader.mistake(Lint::RoleMismatch, format!("a test of a client cannot `{}`", member.key));
        let mismatch = mismatch.at(member.key_span, "the client is under test here");
        let help = "make the client's user act with `list`, `call` or `send`; describe the server's replies in `given`";
        reader.push(mismatch.help(help));
    }
    if let Some((other, _)) = verbs.next() {
        let both = reader.mistake(Lint::ConflictingKeys, format!("a step cannot both `{verb}` and `{other}`"));
        reader.push(both.at(node.span, "two actions").help("write one action here, or two `steps`"));
        return None;
    }
    let object = reader.object(node, "`when`", keys)?;
    let value = object.get(verb)?;
    match *verb {
        "serve" => reader.yes(value, "`serve`").map(|()| When::Serve),
        "list" => reader.word(value, "`list`", &["tools"]).map(|_| When::List),
        "call" => call(reader, object, value, scope, place),
        "call-each" => call_each(reader, object, value, scope),
        "at-once" => at_once(reader, value, scope),
        "cancel" => {
            let tool = reader.text(value, "`cancel`")?;
            scope.tool(reader, tool, value.span, LITERAL);
            let by = object.get("by").and_then(|by| reader.word(by, "`by`", &["hang-up"]));
            let arguments = object.get("arguments").map(|node| template(reader, node));
            Some(When::Cancel { tool: tool.to_owned(), arguments, hangs_up: by.is_some() })
        }
        "request" => reader.word(value, "`request`", HttpMethod::ALL).map(|method| When::Bare {
            method,
            headers: object.get("headers").map(|node| headers(reader, node)).unwrap_or_default(),
        }),
        "end" => reader.word(value, "`end`", &["input"]).map(|_| When::EndInput),
        _ if scope.role == Some(Role::Client) => request_of_user(reader, object, value),
        _ => Some(When::Send {
            message: template(reader, value),
            headers: object.get("headers").map(|node| headers(reader, node)).unwrap_or_default(),
        }),
    }
}

/// Reads `send` in a test of a client: a request that the SDK's user makes, which the SDK completes.
fn request_of_user(reader: &mut Reader, object: Object<'_>, value: &Node) -> Option<When> {
    if let Some(member) = object.member("headers") {
        let mismatch = reader.mistake(Lint::RoleMismatch, "the client under test sends its own `headers`");
        reader.push(mismatch.at(member.key_span, "not allowed here").help("remove `headers`"));
    }
    let request = reader.object(value, "`send`", &["method", "params"])?;
    let method = reader.need(request, "`send`", "method")?;
    let name = reader.text(method, "`method`")?;
    method_of_request(reader, name, method.span);
    if name == "initialize" {
        let own = reader.mistake(Lint::ConflictingKeys, "`initialize` is a request of the SDK, not of its user");
        reader.push(own.at(method.span, "opens the connection").help("remove the step; the client sends it itself"));
    }
    if matches!(name, "tools/list" | "tools/call") {
        let own = reader.mistake(Lint::ConflictingKeys, format!("`{name}` is no request of the SDK's general method"));
        reader.push(own.at(method.span, "has its own method in each SDK").help("write `list` or `call`"));
    }
    if let Some(params) = request.get("params").filter(|params| !matches!(params.kind, Kind::Object(_))) {
        reader.members(params, "`params`");
    }
    Some(When::Send { message: template(reader, value), headers: Vec::new() })
}

/// Reads `call-each`, which derives its arguments from the lists of servers whose schemas casebook did not write.
fn call_each(reader: &mut Reader, object: Object<'_>, value: &Node, scope: &Scope<'_>) -> Option<When> {
    reader.word(value, "`call-each`", &["tools"])?;
    if scope.is_given && !scope.fixture.is_typed() {
        let message = "`call-each` is for servers with tools of their own, and this file has `given`";
        let both = reader.mistake(Lint::ConflictingKeys, message).at(value.span, "the fixture has the tools");
        reader
            .push(both.help("name the tool and its arguments with `call`, or move the test to a file without `given`"));
    }
    let with = reader.need(object, "`call-each`", "with")?;
    let also = object.get("also").and_then(|node| reader.items(node, "`also`")).unwrap_or_default();
    let also = also.iter().map(|node| template(reader, node)).collect();
    reader.word(with, "`with`", With::ALL).map(|with| When::CallEach { with, also })
}

/// The number of calls that run at once.
const AT_ONCE: RangeInclusive<usize> = 2..=8;

fn at_once(reader: &mut Reader, value: &Node, scope: &Scope<'_>) -> Option<When> {
    let items = reader.items(value, "`at-once`")?;
    if !AT_ONCE.contains(&items.len()) {
        let count = reader.mistake(Lint::WrongCount, format!("`at-once` has {} calls", items.len()));
        reader.push(count.at(value.span, "not 2 to 8 calls").help("write one call with `call`"));
    }
    let call = |node: &Node| {
        let object = reader.object(node, "the call", &["call", "arguments", "token"])?;
        let name = reader.need(object, "the call", "call")?;
        let tool = reader.text(name, "`call`")?.to_owned();
        scope.tool(reader, &tool, name.span, LITERAL);
        let arguments = object.get("arguments").map(|node| template(reader, node));
        let token = object.get("token").and_then(|node| reader.text(node, "`token`")).map(str::to_owned);
        Some(CallAtOnce { tool, arguments, token })
    };
    Some(When::AtOnce(items.iter().filter_map(call).collect()))
}

/// The beginning of the help for a call of an unknown tool.
const LITERAL: &str =
    "to call a tool that does not exist, write `{\"@literal\": \"NAME\"}`; the tools of the fixture are";

fn call(reader: &mut Reader, object: Object<'_>, name: &Node, scope: &Scope<'_>, place: usize) -> Option<When> {
    let tool = if let Some(name) = literal_text(name) {
        name.to_owned()
    } else {
        let written = reader.text(name, "`call`")?;
        scope.tool(reader, written, name.span, LITERAL);
        written.to_owned()
    };
    let arguments = object.get("arguments").map(|node| template(reader, node));
    let answers = object.get("answer").map(|node| reader.one_or_more(node, "`answer`")).unwrap_or_default();
    Some(When::Call {
        tool,
        arguments: arguments.filter(|arguments| *arguments != Template::Absent),
        answers: answers.iter().filter_map(|node| answer(reader, node, scope)).collect(),
        retry: object.member("retry").map(|member| retry(reader, member, scope)).unwrap_or_default(),
        parallel: object.member("parallel").is_some_and(|member| parallel(reader, member, scope, place)),
    })
}

/// Reads `parallel`, which needs a step before this one, in a test of a client.
fn parallel(reader: &mut Reader, member: &Member, scope: &Scope<'_>, place: usize) -> bool {
    if scope.role == Some(Role::Server) {
        let mismatch = reader.mistake(Lint::RoleMismatch, "`parallel` is allowed only in tests of a client");
        let mismatch = mismatch.at(member.key_span, "the server is under test here");
        reader.push(mismatch.help("remove `parallel`: casebook calls the tools of a server one after the other"));
    } else if place == 0 {
        let first = reader.mistake(Lint::ConflictingKeys, "there is no call before the one with `parallel`");
        let first = first.at(member.key_span, "this is the first step");
        reader.push(first.help("write `parallel` in the step of the second call"));
    }
    reader.yes(&member.value, "`parallel`").is_some()
}

/// The keys of a retry.
const RETRY: [&str; 6] = ["state", "answers", "arguments", "tool", "after", "fresh"];
/// The longest pause before a retry, in seconds.
const MAX_PAUSE: i64 = 5;

fn retry(reader: &mut Reader, member: &Member, scope: &Scope<'_>) -> Retry {
    if scope.role.is_some_and(Role::has_client) {
        let mismatch = reader.mistake(Lint::RoleMismatch, "a test of a client cannot change its `retry`");
        let mismatch = mismatch.at(member.key_span, "the client is under test here");
        reader.push(mismatch.help("remove `retry`: the client under test decides about its retries"));
    }
    let Some(object) = reader.object(&member.value, "`retry`", &RETRY) else {
        return Retry::default();
    };
    if member.value.members().is_empty() {
        let empty = reader.mistake(Lint::WrongCount, "`retry` is empty");
        reader.push(empty.at(member.value.span, "no change in it").help("add one of its keys, such as `arguments`"));
    }
    let tool = object.get("tool").and_then(|node| Some((node, reader.text(node, "`tool`")?.to_owned())));
    if let Some((node, tool)) = &tool {
        scope.tool(reader, tool, node.span, LITERAL);
    }
    let after = object.get("after").and_then(|node| reader.integer(node, "`after`", 1, MAX_PAUSE));
    Retry {
        state: object.get("state").and_then(|node| reader.word(node, "`state`", Tampering::ALL)),
        answers: object.get("answers").and_then(|node| reader.word(node, "`answers`", Misplacing::ALL)),
        arguments: object.get("arguments").map(|node| template(reader, node)),
        tool: tool.map(|(_, tool)| tool),
        after: after.and_then(|after| u8::try_from(after).ok()).unwrap_or_default(),
        fresh: object.get("fresh").is_some_and(|node| reader.yes(node, "`fresh`").is_some()),
    }
}

/// The help for an answer, with an example of each form that the user of this role's client can give.
fn forms_of_answer(role: Option<Role>) -> String {
    let all = [
        r#"`"accept"`"#,
        r#"`"decline"`"#,
        r#"`"cancel"`"#,
        r#"`{"accept": {"name": "Ada"}}`"#,
        r#"`{"accept": "as presented"}`"#,
        r#"`{"error": {"code": -1, "message": "closed"}}`"#,
        r#"`{"raw": {"action": "accept"}}`"#,
    ];
    let shown = if role.is_some_and(Role::has_client) { &all[..5] } else { &all };
    format!("an answer is one of {}", shown.join(", "))
}

fn answer(reader: &mut Reader, node: &Node, scope: &Scope<'_>) -> Option<Answer> {
    let forms = || forms_of_answer(scope.role);
    if let Kind::String(word) = &node.kind {
        return match &**word {
            "accept" => Some(Answer::AcceptAlone),
            "decline" => Some(Answer::Decline),
            "cancel" => Some(Answer::Cancel),
            _ => {
                let unknown = reader.mistake(Lint::UnknownValue, format!("`answer` cannot be `{word}`"));
                let question =
                    did_you_mean(word, &["accept", "decline", "cancel"]).map(|question| format!("{question} "));
                let help = question.unwrap_or_default() + &forms();
                reader.push(unknown.at(node.span, "unknown value").help(help));
                None
            }
        };
    }
    if !matches!(node.kind, Kind::Object(_) | Kind::Missing) {
        let message = format!("`answer` must be a string or an object, not {}", node.describe());
        reader.push(reader.mistake(Lint::WrongType, message).at(node.span, "not an answer").help(forms()));
        return None;
    }
    let object = reader.object(node, "`answer`", &["accept", "raw", "error"])?;
    let raw = ["raw", "error"].into_iter().find_map(|key| object.member(key));
    if let Some(member) = raw.filter(|_| scope.role.is_some_and(Role::has_client)) {
        let message = format!("the user of a client cannot answer with `{}`", member.key);
        let mismatch = reader.mistake(Lint::RoleMismatch, message);
        reader.push(mismatch.at(member.key_span, "the client is under test here").help(forms()));
    }
    match (object.get("accept"), object.get("raw"), object.get("error")) {
        (Some(content), None, None) => accept(reader, content, scope),
        (None, Some(value), None) => Some(Answer::Raw(template(reader, value))),
        (None, None, Some(node)) => {
            let error = reader.object(node, "`error`", &["code", "message"])?;
            let code = reader.need(error, "`error`", "code");
            let code = code.and_then(|node| reader.integer(node, "`code`", i64::MIN, i64::MAX));
            let message = reader.need(error, "`error`", "message").and_then(|node| reader.text(node, "`message`"));
            Some(Answer::Error { code: code?, message: message?.to_owned() })
        }
        _ => {
            let unclear = reader.mistake(Lint::ConflictingKeys, "`answer` must have exactly one of its keys");
            reader.push(unclear.at(node.span, "none or several of them").help(forms()));
            None
        }
    }
}

fn accept(reader: &mut Reader, content: &Node, scope: &Scope<'_>) -> Option<Answer> {
    match &content.kind {
        Kind::String(text) if &**text == "as presented" => Some(Answer::AcceptAsPresented),
        Kind::Object(_) => Some(Answer::Accept(template(reader, content))),
        Kind::Missing => None,
        _ => {
            let found = match &content.kind {
                Kind::String(text) => format!("`\"{text}\"`"),
                _ => content.describe().to_owned(),
            };
            let message = format!("`accept` must be an object or `\"as presented\"`, not {found}");
            let wrong = reader.mistake(Lint::WrongType, message).at(content.span, "not the content of a form");
            reader.push(wrong.help(forms_of_answer(scope.role)));
            None
        }
    }
}

fn headers(reader: &mut Reader, node: &Node) -> Vec<(String, Option<String>)> {
    let mut headers = Vec::new();
    for member in reader.members(node, "`headers`").unwrap_or_default() {
        let value = match member.value.kind {
            Kind::Null => Some(None),
            _ => reader.text(&member.value, &format!("the header `{}`", member.key)).map(|text| Some(text.to_owned())),
        };
        headers.extend(value.map(|value| ((*member.key).to_owned(), value)));
    }
    headers
}
