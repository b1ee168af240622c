//! The programs that the set-up of a target needs: the table `needs` of a `target.toml`.
//!
//! Takes a table of programs and minimum versions, gives [`Program`]s. Must not run any of them.

use crate::load::text::diagnostic::Lint;
use crate::load::text::node::{Member, Node};
use crate::load::text::read::Reader;
use crate::model::program::{Program, Version, version_argument};

/// The word in place of a version where any version is enough.
const ANY: &str = "any";

pub(super) fn programs(reader: &mut Reader, node: &Node) -> Vec<Program> {
    let members = reader.members(node, "`needs`").unwrap_or_default();
    members.iter().filter_map(|member| program(reader, member)).collect()
}

fn program(reader: &mut Reader, Member { key, key_span, value, .. }: &Member) -> Option<Program> {
    let text = reader.text(value, "a minimum version")?;
    let is_name = |one: char| one.is_ascii_alphanumeric() || "-_.+".contains(one);
    if key.is_empty() || key.starts_with('-') || !key.chars().all(is_name) {
        let mistake = reader.mistake(Lint::UnknownValue, format!("`{key}` is not the name of a program on the PATH"));
        let help = "write a name of letters, digits, `-`, `_`, `.` and `+`, which does not begin with `-`";
        reader.push(mistake.at(*key_span, "not a name").help(help));
        return None;
    }
    let least = if text == ANY { None } else { Some(version(reader, value, text)?) };
    if least.is_some() && version_argument(key).is_none() {
        let why = format!("casebook does not know how to read the version of `{key}`");
        let mistake = reader.mistake(Lint::UnknownValue, why).at(value.span, "a minimum version");
        reader.push(mistake.help(format!("write `{key} = \"any\"`, and check the version in the set-up")));
        return None;
    }
    Some(Program { name: (**key).to_owned(), least })
}

fn version(reader: &mut Reader, node: &Node, text: &str) -> Option<Version> {
    let version = text.parse().ok();
    if version.is_none() {
        let mistake = reader.mistake(Lint::UnknownValue, format!("`{text}` is not a version"));
        reader.push(
            mistake.at(node.span, "not a version").help("write numbers with dots between them, as in `1.24`, or `any`"),
        );
    }
    version
}
