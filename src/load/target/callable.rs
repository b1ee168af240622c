//! The tools of a fixed server that casebook may call: the key `calls` of `[claims]` in a `target.toml`.
//!
//! Takes the tree of a `target.toml`, gives a [`Callable`]. Must not know which tools a server lists.

use crate::load::text::diagnostic::Lint;
use crate::load::text::node::{Kind, Node};
use crate::load::text::read::{Object, Reader};
use crate::model::callable::{Callable, Permitted};
use crate::model::spec::Role;
use crate::model::target::TargetKind;

/// The key in `[claims]`.
pub(super) const CALLS: &str = "calls";

/// Reads `calls` of a fixed server, which is `"all"` or a list of names, and of tables with a name and arguments.
pub(super) fn callable(reader: &mut Reader, object: Object<'_>, drives: Option<&TargetKind>) -> Option<Callable> {
    let Some(member) = object.get("claims").and_then(|node| Object { node }.member(CALLS)) else {
        return Some(Callable::default());
    };
    if !matches!(drives?, TargetKind::Fixed(fixed) if fixed.speaks().0 == Role::Server) {
        let conflict = reader.mistake(Lint::ConflictingKeys, "only a fixed server can have `calls`");
        let help =
            "remove the key: casebook writes the tools of an adapter itself, and does not choose those of a client";
        reader.push(conflict.at(member.key_span, "only for fixed servers").help(help));
    }
    match &member.value.kind {
        Kind::String(_) => reader.word(&member.value, "`calls`", &["all"]).map(|_| Callable::all()),
        _ => named(reader, &member.value).map(|named| Callable { every: false, named }),
    }
}

fn named(reader: &mut Reader, node: &Node) -> Option<Vec<Permitted>> {
    let items = reader.items(node, "`calls`")?;
    Some(items.iter().filter_map(|item| permitted(reader, item)).collect())
}

/// Reads a name, or a table with the name of a tool and its arguments.
fn permitted(reader: &mut Reader, node: &Node) -> Option<Permitted> {
    let what = "a tool in `calls`";
    if !matches!(node.kind, Kind::Object(_)) {
        return reader.text(node, what).map(|tool| Permitted { tool: tool.to_owned(), arguments: None });
    }
    let object = reader.object(node, what, &["tool", "arguments"])?;
    let tool = reader.need(object, what, "tool").and_then(|node| reader.text(node, "`tool`")).map(str::to_owned);
    let arguments = reader.need(object, what, "arguments");
    let arguments = arguments.filter(|node| reader.members(node, "`arguments`").is_some()).map(Node::value);
    Some(Permitted { tool: tool?, arguments: Some(arguments?) })
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;
    use serde_json::{Value, json};

    use super::*;
    use crate::load::LoadError;
    use crate::load::target::parse;

    fn read(way: &str, calls: &str) -> Result<Callable, LoadError> {
        let sides = if way.starts_with("kind") { "" } else { "roles = [\"server\"]\ntransports = [\"stdio\"]\n" };
        let text = format!("title = \"A\"\n{way}\n[claims]\nrevisions = [\"2026-07-28\"]\n{sides}{calls}\n");
        parse(Utf8Path::new("targets/a/target.toml"), text).map(|mut targets| targets.remove(0).callable)
    }

    fn named(calls: &[(&str, Option<Value>)]) -> Callable {
        let call = |(tool, arguments): &(&str, Option<Value>)| Permitted {
            tool: (*tool).to_owned(),
            arguments: arguments.clone(),
        };
        Callable { every: false, named: calls.iter().map(call).collect() }
    }

    #[test]
    fn calls_of_a_fixed_server_are_read() {
        let server = "kind = \"fixed\"\ncommand = [\"a\"]";
        for (calls, expected) in [
            ("", Callable::default()),
            ("calls = \"all\"", Callable::all()),
            ("calls = [\"echo\", \"add\"]", named(&[("echo", None), ("add", None)])),
            (
                "calls = [\"echo\", { tool = \"add\", arguments = { a = 1 } }]",
                named(&[("echo", None), ("add", Some(json!({"a": 1})))]),
            ),
        ] {
            assert_eq!(read(server, calls).expect("no mistakes"), expected);
        }
        for (way, calls, mistake) in [
            (server, "calls = \"every\"", "`calls` cannot be `every`"),
            (server, "calls = true", "`calls` must be a list"),
            (server, "calls = [7]", "a tool in `calls` must be a string"),
            (server, "calls = [{ tool = \"add\" }]", "`arguments`"),
            (server, "calls = [{ tool = \"add\", arguments = [1] }]", "`arguments` must be an object"),
            (server, "calls = [{ name = \"add\", arguments = {} }]", "unknown key `name`"),
            ("command = [\"a\"]", "calls = \"all\"", "only a fixed server can have `calls`"),
            ("kind = \"fixed\"\nclient = [\"a\"]", "calls = \"all\"", "only a fixed server can have `calls`"),
        ] {
            let error = read(way, calls).expect_err(mistake);
            assert!(error.report(false).as_str().contains(mistake), "{}", error.report(false).as_str());
        }
    }
}
