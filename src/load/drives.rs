//! `kind`: whether a target has an adapter, or is fixed, with its tools or its script inside.
//!
//! Takes a `target.toml`'s tree, gives [`TargetKind`] and the claims that fit it. Must not know what is run.

use camino::Utf8Path;

use super::diagnostic::Lint;
use super::node::Node;
use super::read::{Object, Reader};
use super::target::command;
use crate::model::case::Need;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::{Claims, Fixed, Kind, TargetKind};

/// The ways to say what a fixed target is.
const WAYS: [&str; 3] = ["command", "url", "client"];
const ONE_WAY: &str = "one of: `command = […]`, a server over stdio; `url = \"http://…\"`, a server that runs already; \
`client = […]`, a client that takes a server's address as its last argument";

/// What the file is of; an adapter where it doesn't say.
pub(super) fn kind(reader: &mut Reader, object: Object<'_>) -> Option<Kind> {
    object.get("kind").map_or(Some(Kind::Adapter), |node| reader.word(node, "`kind`", Kind::ALL))
}

/// What is under test.
pub(super) fn drives(reader: &mut Reader, object: Object<'_>, kind: Kind, folder: &Utf8Path) -> Option<TargetKind> {
    match kind {
        Kind::Adapter => {
            for member in ["url", "client"].iter().filter_map(|key| object.member(key)) {
                let conflict = reader.mistake(Lint::ConflictingKeys, format!("an adapter has no `{}`", member.key));
                let help = "a server or client without an adapter says `kind = \"fixed\"`";
                reader.push(conflict.at(member.key_span, "of fixed targets").help(help));
            }
            let node = reader.need(object, "a target", "command")?;
            command(reader, node, folder).map(TargetKind::Adapter)
        }
        Kind::Fixed => fixed(reader, object, folder).map(TargetKind::Fixed),
    }
}

fn fixed(reader: &mut Reader, object: Object<'_>, folder: &Utf8Path) -> Option<Fixed> {
    if let Some(member) = object.member("variants") {
        let conflict = reader.mistake(Lint::ConflictingKeys, "a fixed target has no variants");
        let help = "nobody could tell it which to be: make a target of each";
        reader.push(conflict.at(member.key_span, "of adapters").help(help));
    }
    let ways: Vec<_> = WAYS.iter().filter_map(|way| object.member(way)).collect();
    match ways.as_slice() {
        [] => {
            let missing = reader.mistake(Lint::MissingKey, "a fixed target says nothing of what it is");
            let start = miette::SourceSpan::new(object.node.span.offset().into(), 1);
            reader.push(missing.at(start, "no server and no client in here").help(ONE_WAY));
            None
        }
        [one] => match &*one.key {
            "command" => command(reader, &one.value, folder).map(Fixed::Server),
            "client" => command(reader, &one.value, folder).map(Fixed::Client),
            _ => address(reader, &one.value).map(Fixed::Running),
        },
        [first, second, ..] => {
            let message = format!("a fixed target can't be `{}` and `{}`", first.key, second.key);
            let both = reader.mistake(Lint::ConflictingKeys, message);
            reader.push(both.at(second.key_span, "one of them").help(ONE_WAY));
            None
        }
    }
}

/// The address of a server. It may be anywhere: who writes it down means it.
fn address(reader: &mut Reader, node: &Node) -> Option<String> {
    let text = reader.text(node, "`url`")?;
    let rest = text.strip_prefix("http://").filter(|rest| !rest.starts_with('/') && !rest.is_empty());
    if rest.is_none() || text.contains(|one: char| one.is_whitespace() || one.is_control()) {
        let wrong = reader.mistake(Lint::UnknownValue, format!("`{text}` is no address of a server"));
        let help = "as in `http://127.0.0.1:3000/mcp`; for https, put a proxy that speaks TLS between";
        reader.push(wrong.at(node.span, "no `http://HOST`").help(help));
        return None;
    }
    Some(text.to_owned())
}

/// What the target says it can do. Sides and transports of a fixed one follow from what it is.
pub(super) fn claims(reader: &mut Reader, node: &Node, drives: Option<&TargetKind>, kind: Kind) -> Option<Claims> {
    let what = "`claims`";
    let object = reader.object(node, what, &["roles", "transports", "revisions", "lacks"])?;
    let all: Vec<Revision> = Revision::all().collect();
    let sides = match kind {
        Kind::Adapter => {
            let roles = reader.need(object, what, "roles").map(|node| reader.words(node, "`roles`", Role::ALL));
            let transports = reader.need(object, what, "transports");
            let transports = transports.map(|node| reader.words(node, "`transports`", Transport::ALL));
            roles.zip(transports)
        }
        Kind::Fixed => {
            for member in ["roles", "transports"].iter().filter_map(|key| object.member(key)) {
                let message = format!("`{}` of a fixed target follow from what it is", member.key);
                let told = reader.mistake(Lint::ConflictingKeys, message);
                reader.push(told.at(member.key_span, "known already").help("take it away"));
            }
            drives
                .and_then(|drives| match drives {
                    TargetKind::Fixed(fixed) => Some(fixed.speaks()),
                    TargetKind::Adapter(_) => None,
                })
                .map(|(role, transport)| (vec![role], vec![transport]))
        }
    };
    let revisions = reader.need(object, what, "revisions").map(|node| reader.words(node, "`revisions`", &all));
    let lacks = object.get("lacks").map_or_else(Vec::new, |node| reader.words(node, "`lacks`", Need::ALL));
    let (roles, transports) = sides?;
    Some(Claims { roles, transports, revisions: revisions?, lacks })
}
