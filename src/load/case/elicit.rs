//! The elicitations of a tool: the `does.elicit` of a fixture.
//!
//! Takes an `elicit` with the values of a row filled in, reports its mistakes. Must not know tests or answers.

use crate::load::text::diagnostic::Lint;
use crate::load::text::node::{Kind, Member, Node};
use crate::load::text::read::{Object, Reader};
use crate::model::spec::Role;

/// The parameters that the author of a server gives.
const ASKED: [&str; 2] = ["message", "requestedSchema"];
/// The keys that only casebook's own server understands.
const SERVER_KEYS: [&str; 3] = ["requests", "rounds", "stateOnly"];
/// The parameters that the author of a server gives instead of a form.
const BY_URL: [&str; 3] = ["mode", "url", "elicitationId"];
/// The number of rounds. More of them would test nothing new.
const MAX_ROUNDS: i64 = 100;
/// The lifetime of a state, in seconds.
const MAX_SECONDS: i64 = 3600;

/// Reads `elicit`. A server under test gets the parameters of a form or of a URL, and a state; an elicitation of
/// casebook's own server may have any parameters.
pub(super) fn elicit(reader: &mut Reader, node: &Node, role: Option<Role>) -> Option<()> {
    let object = Object { node };
    if role.is_some_and(Role::has_server) {
        for member in node.members().iter().filter(|member| SERVER_KEYS.contains(&&*member.key)) {
            let message = format!("`{}` is allowed only in tests of a client, which casebook serves", member.key);
            let mismatch = reader.mistake(Lint::RoleMismatch, message);
            let mismatch = mismatch.at(member.key_span, "the server is under test here");
            reader.push(mismatch.help(format!("remove `{}`, or write `\"role\": \"client\"`", member.key)));
        }
        let known: Vec<&str> = ASKED.into_iter().chain(BY_URL).chain(["state"]).chain(SERVER_KEYS).collect();
        reader.object(node, "`elicit`", &known)?;
        if let Some(state) = object.get("state") {
            let state = reader.object(state, "`state`", &["value", "seconds"])?;
            _ = reader.need(state, "`state`", "value").and_then(|value| reader.text(value, "`value`"));
            _ = state.get("seconds").and_then(|node| reader.integer(node, "`seconds`", 1, MAX_SECONDS));
        }
        if !is_form(node) {
            for key in ["message", "url"] {
                reader.need(object, "`elicit`", key);
            }
        }
    } else {
        reader.members(node, "`elicit`")?;
        server_keys(reader, object);
    }
    let elsewhere = object.get("requests").is_some() || object.get("stateOnly").is_some();
    if !elsewhere && is_form(node) {
        require_form(reader, object, "`elicit`");
    }
    Some(())
}

fn server_keys(reader: &mut Reader, object: Object<'_>) {
    if let Some(member) = object.member("requests") {
        requests(reader, member);
    }
    _ = object.get("rounds").and_then(|node| reader.integer(node, "`rounds`", 1, MAX_ROUNDS));
    if let Some(state) = object.get("state") {
        let states = reader.one_or_more(state, "`state`");
        for state in states.iter().filter(|state| !matches!(state.kind, Kind::Null)) {
            reader.text(state, "`state`");
        }
    }
    _ = object.get("stateOnly").and_then(|node| reader.yes(node, "`stateOnly`"));
    if let (Some(only), Some(_)) = (object.member("stateOnly"), object.get("requests")) {
        let both = reader.mistake(Lint::ConflictingKeys, "`elicit` cannot have both `stateOnly` and `requests`");
        reader.push(both.at(only.key_span, "conflicts with `requests`").help("remove one of them"));
    }
}

fn requests(reader: &mut Reader, member: &Member) {
    let requests = reader.members(&member.value, "`requests`").unwrap_or_default();
    if matches!(&member.value.kind, Kind::Object(members) if members.is_empty()) {
        let empty = reader.mistake(Lint::WrongCount, "`requests` is empty");
        let help = "add a request; for a state without a request, write `\"stateOnly\": true`";
        reader.push(empty.at(member.value.span, "no request in it").help(help));
    }
    for request in requests {
        let what = format!("the request `{}`", request.key);
        if reader.members(&request.value, &what).is_some() && is_form(&request.value) {
            require_form(reader, Object { node: &request.value }, &what);
        }
    }
}

/// Reports the required parameters that a form does not have.
fn require_form(reader: &mut Reader, object: Object<'_>, what: &str) {
    for key in ASKED {
        reader.need(object, what, key);
    }
}

/// Returns whether the mode is that of a form, which is the default.
fn is_form(node: &Node) -> bool {
    match (Object { node }).get("mode").map(|mode| &mode.kind) {
        None => true,
        Some(Kind::String(mode)) => &**mode == "form",
        Some(_) => false,
    }
}
