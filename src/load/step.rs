//! `when`: what is done in a step.
//!
//! Takes filled-in steps, gives [`Step`]s. Must not know how anything is run.

use miette::SourceSpan;

use super::diagnostic::Lint;
use super::expand::{literal_text, template};
use super::expect::then;
use super::needs::Needs;
use super::node::{Kind, Member, Node};
use super::read::{Object, Reader};
use crate::model::CaseId;
use crate::model::case::{Answer, Fixture, Retry, Step, Tampering, Then, When};
use crate::model::spec::{Catalogue, Lifecycle, Revision, Revisions, Role};
use crate::model::template::Template;

/// What a step is part of.
pub(super) struct Scope<'a> {
    pub(super) case: &'a CaseId,
    pub(super) test: &'a str,
    pub(super) role: Option<Role>,
    pub(super) revisions: Revisions,
    pub(super) fixture: &'a Fixture,
    pub(super) needs: &'a Needs,
    pub(super) requirements: &'a Catalogue,
}

impl Scope<'_> {
    /// Notes a name that no tool of the fixture has.
    pub(super) fn tool(&self, reader: &mut Reader, name: &str, span: SourceSpan) {
        if self.fixture.tool(name).is_some() || self.needs.named().any(|needed| needed == name) {
            return;
        }
        let what = format!("the test `{}` names the tool `{name}`, which the fixture lacks", self.test);
        let unknown = reader.mistake(Lint::UnknownTool, what).at(span, "no such tool");
        let place = "a tool that is meant not to be there: `{\"@literal\": NAME}`; the fixture has";
        reader.push(unknown.known(name, place, self.fixture.tools.iter().map(|tool| tool.name.as_str())));
    }
}

/// The keys of a step; a test without `steps` has them too.
pub(super) const STEP: [&str; 4] = ["when", "then", "declares", "initialized"];

const VERBS: [(&str, &[&str]); 4] = [
    ("serve", &["serve"]),
    ("list", &["list"]),
    ("call", &["call", "arguments", "answer", "retry"]),
    ("send", &["send", "headers"]),
];

/// Reads the step at this place of a test; without `then` it is only observed.
pub(super) fn step(reader: &mut Reader, object: Object<'_>, scope: &Scope<'_>, place: usize) -> Option<Step> {
    let when = reader.need(object, "a step", "when").and_then(|node| when(reader, node, scope));
    let then = object.get("then").map_or(Some(Then::Observe), |node| then(reader, node, scope));
    let declares = object.get("declares").map(|node| {
        if !matches!(node.kind, Kind::Object(_)) {
            reader.members(node, "`declares`");
        }
        template(reader, node)
    });
    let initialized = object.member("initialized").is_none_or(|member| initialized(reader, member, scope, place));
    Some(Step { when: when?, then: then?, declares, initialized })
}

/// Whether the handshake comes to its end: only where there is one, and it is ours, can a step leave that out.
fn initialized(reader: &mut Reader, member: &Member, scope: &Scope<'_>, place: usize) -> bool {
    let wrong = match scope.role {
        Some(Role::Client) => Some((Lint::RoleMismatch, "the client under test ends its handshake itself")),
        _ if place > 0 => Some((Lint::ConflictingKeys, "the handshake is before the first step")),
        _ if Revision::all().any(|one| scope.revisions.contains(one) && !has_handshake(one)) => {
            Some((Lint::ConflictingKeys, "a stateless revision has no handshake"))
        }
        _ => None,
    };
    if let Some((lint, message)) = wrong {
        let help = "beside the `when` of a server's first step, with an `until` that leaves out what is stateless";
        reader.push(reader.mistake(lint, message).at(member.key_span, "not here").help(help));
    }
    reader.flag(&member.value, "`initialized`").unwrap_or(true)
}

fn has_handshake(revision: Revision) -> bool {
    revision.facts().lifecycle == Lifecycle::Stateful
}

fn when(reader: &mut Reader, node: &Node, scope: &Scope<'_>) -> Option<When> {
    let said = Object { node };
    let mut verbs = VERBS.iter().filter(|(verb, _)| said.get(verb).is_some());
    let Some((verb, keys)) = verbs.next() else {
        let object = reader.object(
            node,
            "`when`",
            &["serve", "list", "call", "arguments", "answer", "retry", "send", "headers"],
        )?;
        let missing = reader.mistake(Lint::MissingKey, "`when` does nothing");
        reader.push(missing.at(object.node.span, "no verb in it").help("one of: serve, list, call, send"));
        return None;
    };
    if let Some(member) = said.member("send").filter(|_| scope.role == Some(Role::Client)) {
        let mismatch = reader.mistake(Lint::RoleMismatch, "a client under test sends what it likes");
        let mismatch = mismatch.at(member.key_span, "the client is under test here");
        reader.push(mismatch.help("what its user does is `list` and `call`; what the server says is `given`"));
    }
    if let Some((other, _)) = verbs.next() {
        let both = reader.mistake(Lint::ConflictingKeys, format!("a step can't `{verb}` and `{other}`"));
        reader.push(both.at(node.span, "one of them").help("two things one after another are two `steps`"));
        return None;
    }
    let object = reader.object(node, "`when`", keys)?;
    let value = object.get(verb)?;
    match *verb {
        "serve" => reader.yes(value, "`serve`").map(|()| When::Serve),
        "list" => reader.word(value, "`list`", &["tools"]).map(|_| When::List),
        "call" => call(reader, object, value, scope),
        _ => Some(When::Send {
            message: template(reader, value),
            headers: object.get("headers").map(|node| headers(reader, node)).unwrap_or_default(),
        }),
    }
}

fn call(reader: &mut Reader, object: Object<'_>, name: &Node, scope: &Scope<'_>) -> Option<When> {
    let tool = if let Some(name) = literal_text(name) {
        name.to_owned()
    } else {
        let written = reader.text(name, "`call`")?;
        scope.tool(reader, written, name.span);
        written.to_owned()
    };
    let arguments = object.get("arguments").map(|node| template(reader, node));
    let answers = object.get("answer").map(|node| reader.one_or_more(node, "`answer`")).unwrap_or_default();
    Some(When::Call {
        tool,
        arguments: arguments.filter(|arguments| *arguments != Template::Absent),
        answers: answers.iter().filter_map(|node| answer(reader, node, scope)).collect(),
        retry: object.member("retry").map(|member| retry(reader, member, scope)).unwrap_or_default(),
    })
}

fn retry(reader: &mut Reader, member: &Member, scope: &Scope<'_>) -> Retry {
    if scope.role == Some(Role::Client) {
        let mismatch = reader.mistake(Lint::RoleMismatch, "a client under test retries as it likes");
        reader.push(mismatch.at(member.key_span, "the client is under test here"));
    }
    let Some(object) = reader.object(&member.value, "`retry`", &["state", "arguments"]) else {
        return Retry::default();
    };
    if member.value.members().is_empty() {
        let empty = reader.mistake(Lint::WrongCount, "`retry` changes nothing");
        reader.push(empty.at(member.value.span, "nothing in it").help("`state`, `arguments`, or both"));
    }
    Retry {
        state: object.get("state").and_then(|node| reader.word(node, "`state`", Tampering::ALL)),
        arguments: object.get("arguments").map(|node| template(reader, node)),
    }
}

fn answer(reader: &mut Reader, node: &Node, scope: &Scope<'_>) -> Option<Answer> {
    if matches!(node.kind, Kind::String(_)) {
        return match reader.word(node, "`answer`", &["decline", "cancel"])? {
            "decline" => Some(Answer::Decline),
            _ => Some(Answer::Cancel),
        };
    }
    let object = reader.object(node, "`answer`", &["accept", "raw", "error"])?;
    let raw = ["raw", "error"].into_iter().find_map(|key| object.member(key));
    if let Some(member) = raw.filter(|_| scope.role == Some(Role::Client)) {
        let message = format!("the user of a client can't answer with `{}`", member.key);
        let mismatch = reader.mistake(Lint::RoleMismatch, message);
        let mismatch = mismatch.at(member.key_span, "the client is under test here");
        reader.push(mismatch.help("one of `\"decline\"`, `\"cancel\"`, `{\"accept\": …}`"));
    }
    match (object.get("accept"), object.get("raw"), object.get("error")) {
        (Some(content), None, None) => accept(reader, content),
        (None, Some(value), None) => Some(Answer::Raw(template(reader, value))),
        (None, None, Some(node)) => {
            let error = reader.object(node, "`error`", &["code", "message"])?;
            let code = reader.need(error, "`error`", "code");
            let code = code.and_then(|node| reader.integer(node, "`code`", i64::MIN, i64::MAX));
            let message = reader.need(error, "`error`", "message").and_then(|node| reader.text(node, "`message`"));
            Some(Answer::Error { code: code?, message: message?.to_owned() })
        }
        _ => {
            let unclear = reader.mistake(Lint::ConflictingKeys, "an answer is one thing");
            let help = "one of `\"decline\"`, `\"cancel\"`, `{\"accept\": …}`, `{\"raw\": …}`, `{\"error\": …}`";
            reader.push(unclear.at(node.span, "not one").help(help));
            None
        }
    }
}

fn accept(reader: &mut Reader, content: &Node) -> Option<Answer> {
    match &content.kind {
        Kind::String(_) => reader.word(content, "`accept`", &["as presented"]).map(|_| Answer::AcceptAsPresented),
        Kind::Object(_) => Some(Answer::Accept(template(reader, content))),
        _ => reader.members(content, "`accept`").and(None),
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
