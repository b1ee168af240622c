//! The kind of a target: it has an adapter, or it is fixed, with tools or a script of its own.
//!
//! Takes the tree of a `target.toml`, gives a [`TargetKind`] and the claims that fit it. Must not know how a target is
//! run.

use camino::Utf8Path;

use super::ad_hoc;
use super::callable::CALLS;
use super::command;
use crate::load::text::diagnostic::Lint;
use crate::load::text::node::Node;
use crate::load::text::read::{Object, Reader};
use crate::model::case::Need;
use crate::model::endpoint::{Endpoint, Header, why_no_header};
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::{Claims, Fixed, Kind, TargetKind};

/// The keys of which a fixed target has one.
const WAYS: [&str; 3] = ["command", "url", "client"];
const ONE_WAY: &str = "write one of `command = […]` for a server over stdio, `url = \"https://…\"` for a server that is running, \
`client = […]` for a client that takes a server's URL as its last argument";

/// Reads `kind`, by default that of an adapter.
pub(super) fn kind(reader: &mut Reader, object: Object<'_>) -> Option<Kind> {
    object.get("kind").map_or(Some(Kind::Adapter), |node| reader.word(node, "`kind`", Kind::ALL))
}

/// Reads the commands or the address by which the target is reached.
pub(super) fn drives(reader: &mut Reader, object: Object<'_>, kind: Kind, folder: &Utf8Path) -> Option<TargetKind> {
    match kind {
        Kind::Adapter => {
            of_url(reader, object);
            for member in ["url", "client"].iter().filter_map(|key| object.member(key)) {
                let conflict = reader
                    .mistake(Lint::ConflictingKeys, format!("a target with an adapter cannot have `{}`", member.key));
                let help = "for a server or client without an adapter, write `kind = \"fixed\"`";
                reader.push(conflict.at(member.key_span, "only for fixed targets").help(help));
            }
            let node = reader.need(object, "a target", "command")?;
            command(reader, node, folder).map(TargetKind::Adapter)
        }
        Kind::Fixed => fixed(reader, object, folder).map(TargetKind::Fixed),
    }
}

fn fixed(reader: &mut Reader, object: Object<'_>, folder: &Utf8Path) -> Option<Fixed> {
    if let Some(member) = object.member("variants") {
        let conflict = reader.mistake(Lint::ConflictingKeys, "a fixed target cannot have variants");
        let help = "write a target of its own for each variant";
        reader.push(conflict.at(member.key_span, "only for adapters").help(help));
    }
    if object.get("url").is_none() {
        of_url(reader, object);
    }
    let ways: Vec<_> = WAYS.iter().filter_map(|way| object.member(way)).collect();
    match ways.as_slice() {
        [] => {
            let missing = reader.mistake(Lint::MissingKey, "the fixed target has no command and no address");
            let start = miette::SourceSpan::new(object.node.span.offset().into(), 1);
            reader.push(missing.at(start, "no `command`, `url` or `client` in this file").help(ONE_WAY));
            None
        }
        [one] => match &*one.key {
            "command" => command(reader, &one.value, folder).map(Fixed::Server),
            "client" => command(reader, &one.value, folder).map(Fixed::Client),
            _ => endpoint(reader, object, &one.value, folder).map(Fixed::Running),
        },
        [first, second, ..] => {
            let message = format!("a fixed target cannot have both `{}` and `{}`", first.key, second.key);
            let both = reader.mistake(Lint::ConflictingKeys, message);
            reader.push(both.at(second.key_span, "the second of them").help(ONE_WAY));
            None
        }
    }
}

/// Reports the keys that only a target with a `url` can have.
fn of_url(reader: &mut Reader, object: Object<'_>) {
    for member in ["header-env", "cacert"].iter().filter_map(|key| object.member(key)) {
        let conflict = reader.mistake(Lint::ConflictingKeys, format!("`{}` needs a `url`", member.key));
        reader.push(conflict.at(member.key_span, "only for a server with a `url`").help("remove the key"));
    }
}

/// Reads the address of a server. Any host is allowed, because the author of the file chose it.
fn endpoint(reader: &mut Reader, object: Object<'_>, node: &Node, folder: &Utf8Path) -> Option<Endpoint> {
    let text = reader.text(node, "`url`")?;
    let url = match ad_hoc::url(text) {
        Ok(url) => url,
        Err(why) => {
            let wrong = reader.mistake(Lint::UnknownValue, format!("`{text}` is not the address of a server"));
            let help = "write an address such as `https://example.com/mcp` or `http://127.0.0.1:3000/mcp`";
            reader.push(wrong.at(node.span, why).help(help));
            return None;
        }
    };
    let headers = object.get("header-env").map_or_else(Vec::new, |node| headers(reader, node));
    let roots = object.get("cacert").and_then(|node| reader.text(node, "`cacert`")).map(|path| folder.join(path));
    Some(Endpoint { url, headers, roots })
}

/// Reads the headers whose values are in environment variables.
fn headers(reader: &mut Reader, node: &Node) -> Vec<Header> {
    let mut headers = Vec::new();
    for member in reader.members(node, "`header-env`").unwrap_or_default() {
        let name = (*member.key).to_owned();
        if let Some(why) = why_no_header(&name) {
            let wrong = reader.mistake(Lint::UnknownValue, format!("`{name}` cannot be the name of a header"));
            reader.push(wrong.at(member.key_span, why).help("write `header-env = { Authorization = \"VARIABLE\" }`"));
        } else if let Some(variable) = reader.text(&member.value, "the name of a variable") {
            headers.push(Header { name, variable: variable.to_owned() });
        }
    }
    headers
}

/// Reads `claims`. The roles and transports of a fixed target follow from its command or address.
pub(super) fn claims(reader: &mut Reader, node: &Node, drives: Option<&TargetKind>, kind: Kind) -> Option<Claims> {
    let what = "`claims`";
    let object = reader.object(node, what, &["roles", "transports", "revisions", "lacks", "implements", CALLS])?;
    let all: Vec<Revision> = Revision::all().collect();
    let sides = match kind {
        Kind::Adapter => {
            let roles = reader.need(object, what, "roles").map(|node| reader.words(node, "`roles`", &Role::SINGLE));
            let transports = reader.need(object, what, "transports");
            let transports = transports.map(|node| reader.words(node, "`transports`", Transport::ALL));
            roles.zip(transports)
        }
        Kind::Fixed => {
            for member in ["roles", "transports"].iter().filter_map(|key| object.member(key)) {
                let message = format!("a fixed target cannot claim `{}`", member.key);
                let implied = reader.mistake(Lint::ConflictingKeys, message);
                let help = "remove the key: the value follows from `command`, `url` or `client`";
                reader.push(implied.at(member.key_span, "known already").help(help));
            }
            drives
                .and_then(|drives| match drives {
                    TargetKind::Fixed(fixed) => Some(fixed.speaks()),
                    TargetKind::Adapter(_) | TargetKind::Pair(_) => None,
                })
                .map(|(role, transport)| (vec![role], vec![transport]))
        }
    };
    let revisions = reader.need(object, what, "revisions").map(|node| reader.words(node, "`revisions`", &all));
    let lacks = object.get("lacks").map_or_else(Vec::new, |node| reader.words(node, "`lacks`", Need::ALL));
    let implements = object.get("implements");
    let implements = implements.map_or_else(Vec::new, |node| folders(reader, node));
    let (roles, transports) = sides?;
    Some(Claims { roles, transports, revisions: revisions?, lacks, implements })
}

/// Reads the folders whose requirements a target implements before a release that it speaks has them.
fn folders(reader: &mut Reader, node: &Node) -> Vec<String> {
    let mut folders = Vec::new();
    for item in reader.one_or_more(node, "`implements`") {
        let Some(name) = reader.text(item, "`implements`") else { continue };
        reader.id(name, item.span, "a folder in `implements`");
        folders.push(name.to_owned());
    }
    folders
}
