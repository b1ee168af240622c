//! Expectations that cannot fail, or cannot hold, for the fixture and the step that they stand beside.
//!
//! Takes a step that was read, with its nodes and its fixture, and reports conditions on something that no observation of
//! the step has. Whoever mistypes a pointer or a member would otherwise get a check that every target passes. Must not
//! know how a target is observed.

use super::scope::Scope;
use super::vocabulary::{self, Shape};
use crate::jsonrpc::pointer::{is_within, tokens};
use crate::load::text::diagnostic::Lint;
use crate::load::text::node::{Kind, Member, Node};
use crate::load::text::read::{Object, Reader};
use crate::model::action::Asks;
use crate::model::case::{
    Action, CallMark, CanaryState, Change, Deviation, Does, Expectation, Fixture, Flaw, Outcome, Test, TextState, Then,
    TimeClass, Tool, When,
};
use crate::model::observation::{GetStreamMessage, HandshakePhase, ListChange, Params, SizeClass, StateEcho};
use crate::model::pair::RequestState;
use crate::model::spec::{Role, Transport};
use crate::model::template::Template;

/// The request of a step, as far as it decides what can be observed.
fn asks<'a>(when: &When, fixture: &'a Fixture) -> Asks<'a> {
    match when {
        When::Cancel { .. } | When::Bare { .. } | When::EndInput => Asks::Other,
        when => when.asks(fixture),
    }
}

/// Reports the conditions of a step's `then` that cannot fail, or cannot hold.
pub(super) fn step(reader: &mut Reader, then: &Node, when: &When, read: &Then, scope: &Scope<'_>) {
    let Some(role) = scope.role else { return };
    let asks = asks(when, scope.fixture);
    for check in then.members() {
        let alternatives = match &check.value.kind {
            Kind::Array(items) => &**items,
            _ => std::slice::from_ref(&check.value),
        };
        for alternative in alternatives {
            for member in alternative.members() {
                condition(reader, member, role, &asks, read, scope);
            }
        }
    }
    for (member, check) in then.members().iter().zip(read.checks()) {
        let is_bare = |node: &Node| {
            node.members().iter().all(|key| matches!(&*key.key, "as" | "allowed-by" | "not-asked" | "outcome"))
        };
        let all = match &member.value.kind {
            Kind::Array(items) => items.iter().all(is_bare),
            _ => is_bare(&member.value),
        };
        let allowed = |outcome: &Outcome| check.alternatives.iter().any(|one| one.outcome.contains(outcome));
        let possible = Outcome::ALL.iter().filter(|outcome| is_possible(**outcome, role, &asks));
        if all && !check.alternatives.is_empty() && possible.clone().all(allowed) {
            let message = format!("`{}` allows every outcome of the step, so that it always holds", member.key);
            let always = reader.mistake(Lint::Vacuous, message).at(member.key_span, "cannot fail");
            let help = "leave out the outcomes that violate the requirement, or write `\"then\": \"observe\"`";
            reader.push(always.help(help));
        }
    }
}

fn is_possible(outcome: Outcome, role: Role, asks: &Asks<'_>) -> bool {
    match outcome {
        Outcome::Accepted => role == Role::Server && matches!(asks, Asks::Other),
        Outcome::HttpError | Outcome::EmptyReply | Outcome::Oversized => role == Role::Server,
        Outcome::Hidden => matches!(asks, Asks::Call(Some(_))),
        Outcome::ToolError | Outcome::InputRequired => matches!(asks, Asks::Call(_)),
        Outcome::Refused => !matches!(asks, Asks::CallEach),
        _ => true,
    }
}

/// Reports one key of an expectation.
fn condition(reader: &mut Reader, member: &Member, role: Role, asks: &Asks<'_>, then: &Then, scope: &Scope<'_>) {
    let key = &*member.key;
    let never = match (key, asks) {
        ("calls", Asks::Nothing | Asks::List | Asks::Call(_) | Asks::Other) => {
            Some(("is about calls of the listed tools", "`call-each`"))
        }
        ("advertised" | "tools", Asks::Nothing | Asks::Call(_) | Asks::CallEach) => {
            Some(("is about a list of tools", "`list`"))
        }
        ("structured" | "text" | "saw", Asks::Nothing | Asks::List | Asks::CallEach) => {
            Some(("is about the result of a call", "`call`"))
        }
        ("asked" | "answered", Asks::Nothing | Asks::List) => Some(("is about the elicitations of a call", "`call`")),
        ("reply", Asks::Nothing) => Some(("is about replies, and a handshake is none", "`list`, `call` or `send`")),
        _ => None,
    };
    if let Some((about, wanted)) = never {
        let message = format!("`{key}` {about}, which this step does not have");
        let mistake = reader.mistake(Lint::Vacuous, message).at(member.key_span, "nothing to observe");
        reader.push(mistake.help(format!("put it into a step with {wanted}")));
        return;
    }
    if let (Asks::Call(Some(tool)), "asked" | "answered" | "saw") = (asks, key) {
        of_tool(reader, member, tool, scope);
    }
    match key {
        "advertised" => {
            for tool in member.value.members() {
                let list = Object { node: &tool.value }.get("keeps");
                if let (Some(Kind::Array(pointers)), Some(given)) =
                    (list.map(|list| &list.kind), scope.fixture.tool(&tool.key))
                {
                    pointers.iter().for_each(|pointer| kept(reader, pointer, given, scope.fixture));
                }
            }
        }
        "matches" if !matches!(asks, Asks::Other) => {
            is_narrow(reader, member);
            vocabulary::check(reader, key, &member.value, &observation(role, asks, then, scope));
        }
        "reply" | "sent" => {
            is_narrow(reader, member);
            vocabulary::check(reader, key, &member.value, &parts(key, role, asks));
        }
        _ => {}
    }
}

/// Reports `saw`, `asked` and `answered` beside a tool whose code neither shows its arguments nor asks.
fn of_tool(reader: &mut Reader, member: &Member, tool: &Tool, scope: &Scope<'_>) {
    let is_changed = scope.fixture.deviations.iter().any(|one| one.method == "tools/call");
    let why = match (&*member.key, tool.does) {
        ("saw", Does::Return | Does::Raise) => "does not show the arguments that it received",
        ("asked" | "answered", Does::Echo | Does::Return | Does::Raise) if !is_changed => "asks nothing",
        _ => return reader.doubt(member.key_span, None),
    };
    let message = format!("`{}` is about the tool `{}`, which {why}", member.key, tool.name);
    let mistake = reader.mistake(Lint::Vacuous, message).at(member.key_span, "nothing to observe");
    let wanted = if &*member.key == "saw" { "`echo` or `elicit`" } else { "`elicit`" };
    reader.doubt(member.key_span, Some(mistake.help(format!("call a tool that does {wanted}"))));
}

/// Reports a schema that holds for every value.
fn is_narrow(reader: &mut Reader, member: &Member) {
    let idle = |member: &Member| matches!(&*member.key, "title" | "description" | "$comment" | "$schema" | "$defs");
    let is_idle = match &member.value.kind {
        Kind::Bool(value) => *value,
        Kind::Object(members) => members.iter().all(idle),
        _ => false,
    };
    // `reply` and `sent` also demand that there is a message.
    if is_idle && &*member.key == "matches" {
        let always = reader.mistake(Lint::Vacuous, "`matches` has no keyword, so that it always holds");
        reader
            .push(always.at(member.value.span, "cannot fail").help("add a keyword, or write `\"then\": \"observe\"`"));
    }
}

/// Reports a pointer of `keeps` that leads to nothing in the fixture.
fn kept(reader: &mut Reader, pointer: &Node, tool: &Tool, fixture: &Fixture) {
    let Kind::String(text) = &pointer.kind else { return };
    let is_there =
        exists(&tool.definition, text) || fixture.deviations.iter().any(|one| reaches(one, text, tool, fixture));
    let doubt = (!is_there).then(|| {
        let message = format!("`keeps` names `{text}`, which the tool `{}` of the fixture does not have", tool.name);
        let mistake = reader.mistake(Lint::Vacuous, message);
        let mistake = mistake.at(pointer.span, "leads to nothing, so that it always holds");
        let (at, missing, known) = first_missing(&tool.definition, text);
        mistake.known(&missing, &format!("{at} has"), known)
    });
    reader.doubt(pointer.span, doubt);
}

/// Returns whether a pointer leads to something. A placeholder may have any members.
fn exists(template: &Template, pointer: &str) -> bool {
    let mut at = template;
    for token in tokens(pointer) {
        let next = match at {
            Template::Object(_) => at.get(&token),
            Template::Array(items) => token.parse().ok().and_then(|index: usize| items.get(index)),
            Template::Generated(_) | Template::Canary(_) | Template::Unique(_) | Template::Revision => return true,
            _ => None,
        };
        match next {
            Some(next) if *next != Template::Absent => at = next,
            _ => return false,
        }
    }
    true
}

/// The longest part of a pointer that exists, the token after it, and the members that are there.
fn first_missing<'t>(template: &'t Template, pointer: &str) -> (String, String, Vec<&'t str>) {
    let (mut at, mut place, mut missing) = (template, String::new(), String::new());
    for token in tokens(pointer) {
        let Some(next) = at.get(&token).filter(|next| **next != Template::Absent) else {
            missing = token;
            break;
        };
        (at, place) = (next, format!("{place}/{token}"));
    }
    let known = match at {
        Template::Object(members) => members.iter().map(|(key, _)| key.as_str()).collect(),
        _ => Vec::new(),
    };
    (if place.is_empty() { "the tool".to_owned() } else { format!("`{place}`") }, missing, known)
}

/// Returns whether a deviation changes the listed tool at a pointer, above or below it.
fn reaches(deviation: &Deviation, pointer: &str, tool: &Tool, fixture: &Fixture) -> bool {
    let (Change::Set { at, .. } | Change::Remove { at }) = &deviation.change else { return false };
    let place = fixture.tools.iter().position(|one| std::ptr::eq(one, tool)).unwrap_or_default();
    let whole = format!("/result/tools/{place}{pointer}");
    deviation.method == "tools/list" && (is_within(&whole, at) || is_within(at, &whole))
}

/// Reports a deviation that changes no message of its method.
pub(super) fn deviation(reader: &mut Reader, node: &Node, one: &Deviation, earlier: &[Deviation], tools: &[Tool]) {
    let (Change::Set { at, .. } | Change::Remove { at }) = &one.change else { return };
    let mut path: Vec<String> = tokens(at).collect();
    let is_removal = matches!(one.change, Change::Remove { .. });
    if !is_removal {
        path.pop();
    }
    let is_set = |above: &Deviation| match &above.change {
        Change::Set { at: other, .. } => above.method == one.method && at != other && is_within(at, other),
        _ => false,
    };
    if path.is_empty() || earlier.iter().any(is_set) || is_there(&one.method, &path, tools) {
        return;
    }
    let message = format!("the deviation changes nothing: no message of `{}` has `/{}`", one.method, path.join("/"));
    let place = Object { node }.get("at").map_or(node.span, |at| at.span);
    let never = reader.mistake(Lint::Vacuous, message).at(place, "never there");
    let help = "a pointer begins at the message, as in `/result/tools/0/inputSchema`; `set` adds a member only if its \
                parent exists";
    reader.push(never.help(help));
}

/// Returns whether a message of a method can have a place. Methods that are not known here can have any.
fn is_there(method: &str, path: &[String], tools: &[Tool]) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let members: &[&str] = match (method, path[0]) {
        (_, "jsonrpc" | "id" | "error") | ("elicitation/create", "method" | "params") => return true,
        ("tools/list", "result") => &["tools", "nextCursor", "resultType", "_meta", "ttlMs", "cacheScope"],
        ("tools/call", "result") => {
            &["content", "structuredContent", "isError", "resultType", "_meta", "inputRequests", "requestState"]
        }
        ("initialize", "result") => &["protocolVersion", "capabilities", "serverInfo", "instructions"],
        ("tools/list" | "tools/call" | "initialize" | "elicitation/create", _) => return false,
        _ => return true,
    };
    match path[1..] {
        [] => true,
        ["tools", index, ref rest @ ..] if method == "tools/list" => {
            let pointer = rest.iter().fold(String::new(), |pointer, token| pointer + "/" + token);
            index
                .parse()
                .ok()
                .and_then(|index: usize| tools.get(index))
                .is_some_and(|tool| exists(&tool.definition, &pointer))
        }
        [member, ..] => members.contains(&member),
    }
}

/// Reports what only a whole test shows: an untouched canary that nobody has, and a status that stdio does not have.
pub(in crate::load) fn test(reader: &mut Reader, test: &Test, place: miette::SourceSpan) {
    let all = || test.checks().flat_map(|check| &check.alternatives);
    if all().any(|one| one.canary.is_some()) {
        let has_canary = test.templates().into_iter().any(|template| !template.canaries().is_empty());
        let doubt = (!has_canary).then(|| {
            let message = format!("the test `{}` has `canary`, and no value with a canary", test.id);
            let mistake = reader.mistake(Lint::Vacuous, message).at(place, "always untouched");
            mistake
                .help("put a canary into the fixture, as in `{\"$ref\": {\"@canary\": \"http\"}}`, or remove `canary`")
        });
        reader.doubt(place, doubt);
    }
    let is_stdio = test.transports.as_deref() == Some(&[Transport::Stdio]);
    if is_stdio && all().any(|one| !one.status.is_empty()) {
        let message = format!("the test `{}` has `status`, which stdio does not have", test.id);
        let mistake = reader.mistake(Lint::Vacuous, message).at(place, "ignored");
        reader.push(mistake.help("remove `status`, or add `http` to `transports`"));
    }
}

/// Returns whether a later alternative can never be the one that is reported: whenever it holds, the earlier one does.
pub(super) fn implies(later: &Expectation, earlier: &Expectation) -> bool {
    fn within<T: PartialEq>(earlier: Option<&T>, later: Option<&T>) -> bool {
        earlier.is_none() || earlier == later
    }
    let all_in = |earlier: &[Outcome], later: &[Outcome]| {
        earlier.is_empty() || (!later.is_empty() && later.iter().all(|one| earlier.contains(one)))
    };
    all_in(&earlier.outcome, &later.outcome)
        && within(earlier.code.as_ref(), later.code.as_ref())
        && (earlier.status.is_empty() || earlier.status == later.status)
        && within(earlier.canary.as_ref(), later.canary.as_ref())
        && earlier.advertised.iter().all(|(tool, wanted)| later.advertised.get(tool) == Some(wanted))
        && earlier.without.is_subset(&later.without)
        && earlier.calls.is_subset(&later.calls)
        && within(earlier.saw.as_ref(), later.saw.as_ref())
        && within(earlier.structured.as_ref(), later.structured.as_ref())
        && within(earlier.text.as_ref(), later.text.as_ref())
        && within(earlier.asked.as_ref(), later.asked.as_ref())
        && within(earlier.answered.as_ref(), later.answered.as_ref())
        && within(earlier.took.as_ref(), later.took.as_ref())
        && within(earlier.reply.as_ref(), later.reply.as_ref())
        && within(earlier.sent.as_ref(), later.sent.as_ref())
        && within(earlier.matches.as_ref(), later.matches.as_ref())
}

fn words<T: Copy>(all: &[T], word: impl Fn(T) -> &'static str) -> Shape {
    Shape::Words(all.iter().map(|one| word(*one)).collect())
}

fn list(shape: Shape) -> Shape {
    Shape::List(Box::new(shape))
}

fn closed(of: &'static str, members: Vec<(&str, Shape)>) -> Shape {
    Shape::Closed(of, members.into_iter().map(|(name, shape)| (name.to_owned(), shape)).collect())
}

/// The observation of a step, as `matches` sees it.
fn observation(role: Role, asks: &Asks<'_>, then: &Then, scope: &Scope<'_>) -> Shape {
    let mut members = vec![
        ("outcome", words(Outcome::ALL, Outcome::word)),
        ("code", Shape::Integer),
        ("canary", words(CanaryState::ALL, CanaryState::word)),
        ("took", words(TimeClass::ALL, TimeClass::word)),
        ("fetches", Shape::Integer),
        ("repeated-id", Shape::Flag),
        ("split", Shape::Flag),
        ("endless", Shape::Integer),
        ("mistyped", Shape::Text),
        ("size", words(SizeClass::ALL, SizeClass::word)),
    ];
    let is_server = role == Role::Server;
    if is_server {
        members.push(("status", Shape::Integer));
        members.push(("events", list(Shape::Any)));
        members.push(("get-stream", list(words(GetStreamMessage::ALL, GetStreamMessage::word))));
    } else {
        members.push(("cancelled-unknown", Shape::Text));
    }
    if matches!(asks, Asks::List) {
        let pointers = || list(Shape::Text);
        let tool =
            closed("a listed tool", vec![("removed", pointers()), ("added", pointers()), ("changed", pointers())]);
        let names = scope.fixture.tools.iter().map(|one| (one.name.clone(), tool.clone()));
        members.push(("advertised", Shape::Closed("a list of the fixture", names.collect())));
        members.push(("varies", words(ListChange::ALL, ListChange::word)));
        if scope.fixture.is_typed() {
            members.push(("listed", Shape::Map(Box::new(Shape::Any))));
        }
        if !scope.is_given || scope.fixture.is_typed() {
            members.push(("tools", Shape::Map(Box::new(list(words(Flaw::ALL, Flaw::word))))));
        }
    }
    if matches!(asks, Asks::CallEach) {
        let marks = list(words(CallMark::ALL, CallMark::word));
        members.extend([("calls", Shape::Map(Box::new(marks))), ("asked", list(Shape::Any))]);
    }
    if matches!(asks, Asks::Call(_)) {
        members.extend([
            ("structured", Shape::Any),
            ("text", words(TextState::ALL, TextState::word)),
            ("asked", list(Shape::Any)),
        ]);
        if is_server {
            members.push(("saw", Shape::Any));
        } else {
            let answer =
                vec![("action", words(Action::ALL, Action::word)), ("content", Shape::Any), ("code", Shape::Integer)];
            members.push(("answered", list(closed("an answer", answer))));
            let round = vec![
                ("state", words(StateEcho::ALL, StateEcho::word)),
                ("fresh-id", Shape::Flag),
                ("params", words(Params::ALL, Params::word)),
            ];
            members.push(("rounds", list(closed("a round", round))));
        }
    }
    if role == Role::Pair {
        members.push(("request", words(RequestState::ALL, RequestState::word)));
        members.push(("server-outcome", words(Outcome::ALL, Outcome::word)));
    }
    if then.looks_into_messages() {
        members.push(("replies", list(parts("reply", role, asks))));
        if !is_server {
            members.push(("sent", list(parts("sent", role, asks))));
        }
    }
    closed(
        if is_server { "the observation of this step of a server" } else { "the observation of this step of a client" },
        members,
    )
}

/// A message, as `reply` and `sent` see it.
fn parts(key: &str, role: Role, asks: &Asks<'_>) -> Shape {
    let any = |names: &[&'static str]| Shape::Open(names.iter().map(|name| (*name, Shape::Any)).collect());
    let error = Shape::Open(vec![("code", Shape::Integer), ("message", Shape::Text), ("data", Shape::Any)]);
    let result = match asks {
        Asks::List => any(&["tools", "nextCursor", "_meta", "resultType", "ttlMs", "cacheScope"]),
        Asks::Call(_) => {
            any(&["content", "structuredContent", "isError", "_meta", "resultType", "inputRequests", "requestState"])
        }
        Asks::Nothing | Asks::CallEach | Asks::Other => Shape::Any,
    };
    let params = any(&[
        "name",
        "arguments",
        "_meta",
        "inputResponses",
        "requestState",
        "cursor",
        "protocolVersion",
        "capabilities",
        "clientInfo",
        "requestId",
        "reason",
    ]);
    let message = |result: Shape| {
        Shape::Open(vec![
            ("jsonrpc", Shape::Text),
            ("id", Shape::Any),
            ("method", Shape::Text),
            ("params", params.clone()),
            ("result", result),
            ("error", error.clone()),
        ])
    };
    if key == "reply" && role.has_client() {
        // A value that a client hands to its user has the names of the adapter protocol.
        return closed("a reply", vec![("message", Shape::Any), ("text", Shape::Text)]);
    }
    if key == "reply" {
        let members = vec![
            ("message", message(result)),
            ("text", Shape::Text),
            ("status", Shape::Integer),
            ("headers", Shape::Headers),
        ];
        return closed("a reply", members);
    }
    let answer = any(&["action", "content", "_meta"]);
    let members = vec![
        ("message", message(answer)),
        ("text", Shape::Text),
        ("method", Shape::Text),
        ("early", Shape::Text),
        ("late", Shape::Text),
        ("other-session", Shape::Text),
        ("handshake", words(HandshakePhase::ALL, HandshakePhase::word)),
        ("headers", Shape::Headers),
    ];
    closed("a message of the client", members)
}
