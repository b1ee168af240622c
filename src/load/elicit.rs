//! `does.elicit`: what a tool asks its user, and, where the harness is the server, in which manner.
//!
//! Takes a filled-in `elicit`, notes what is wrong with it. Must not know tests, or what is answered.

use super::diagnostic::Lint;
use super::node::{Kind, Member, Node};
use super::read::{Object, Reader};
use crate::model::spec::Role;

/// What a server's author says.
const ASKED: [&str; 2] = ["message", "requestedSchema"];
/// Manners that only the harness, as the server, has.
const MANNERS: [&str; 4] = ["requests", "rounds", "state", "stateOnly"];
/// More rounds would only be more of the same.
const MAX_ROUNDS: i64 = 100;

/// Reads `elicit`. What the harness asks may have any parameters; a server's author has two of them to give.
pub(super) fn elicit(reader: &mut Reader, node: &Node, role: Option<Role>) -> Option<()> {
    let object = Object { node };
    if role == Some(Role::Server) {
        for member in node.members().iter().filter(|member| MANNERS.contains(&&*member.key)) {
            let message = format!("`{}` says how the harness asks, where it is the server", member.key);
            let mismatch = reader.mistake(Lint::RoleMismatch, message);
            reader.push(mismatch.at(member.key_span, "the server is under test here"));
        }
        let known: Vec<&str> = ASKED.into_iter().chain(MANNERS).collect();
        reader.object(node, "`elicit`", &known)?;
    } else {
        reader.members(node, "`elicit`")?;
        manners(reader, object);
    }
    let elsewhere = object.get("requests").is_some() || object.get("stateOnly").is_some();
    if !elsewhere && is_form(node) {
        whole(reader, object, "`elicit`");
    }
    Some(())
}

fn manners(reader: &mut Reader, object: Object<'_>) {
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
        let both = reader.mistake(Lint::ConflictingKeys, "`stateOnly` asks nothing, and `requests` does");
        reader.push(both.at(only.key_span, "one of them"));
    }
}

fn requests(reader: &mut Reader, member: &Member) {
    let requests = reader.members(&member.value, "`requests`").unwrap_or_default();
    if matches!(&member.value.kind, Kind::Object(members) if members.is_empty()) {
        let empty = reader.mistake(Lint::WrongCount, "`requests` asks nothing");
        reader.push(empty.at(member.value.span, "no request in it").help("a state alone is `\"stateOnly\": true`"));
    }
    for request in requests {
        let what = format!("the request `{}`", request.key);
        if reader.members(&request.value, &what).is_some() && is_form(&request.value) {
            whole(reader, Object { node: &request.value }, &what);
        }
    }
}

/// Notes what a form can't do without.
fn whole(reader: &mut Reader, object: Object<'_>, what: &str) {
    for key in ASKED {
        reader.need(object, what, key);
    }
}

/// Whether the mode is that of a form: without a word it is.
fn is_form(node: &Node) -> bool {
    match (Object { node }).get("mode").map(|mode| &mode.kind) {
        None => true,
        Some(Kind::String(mode)) => &**mode == "form",
        Some(_) => false,
    }
}
