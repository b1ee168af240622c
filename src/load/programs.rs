//! `[needs]`: the programs without which a target can't be set up.
//!
//! Takes a table of programs and least versions, gives [`Program`]s. Must not run any of them.

use super::diagnostic::Lint;
use super::node::{Member, Node};
use super::read::Reader;
use crate::model::program::{Program, Version, version_argument};

/// In place of a version: any will do.
const ANY: &str = "any";

pub(super) fn programs(reader: &mut Reader, node: &Node) -> Vec<Program> {
    let members = reader.members(node, "`needs`").unwrap_or_default();
    members.iter().filter_map(|member| program(reader, member)).collect()
}

fn program(reader: &mut Reader, Member { key, key_span, value, .. }: &Member) -> Option<Program> {
    let text = reader.text(value, "a least version")?;
    let is_name = |one: char| one.is_ascii_alphanumeric() || "-_.+".contains(one);
    if key.is_empty() || key.starts_with('-') || !key.chars().all(is_name) {
        let mistake = reader.mistake(Lint::UnknownValue, format!("`{key}` is no name of a program on the PATH"));
        reader.push(mistake.at(*key_span, "it has letters, digits, `-`, `_`, `.` and `+`"));
        return None;
    }
    let least = if text == ANY { None } else { Some(version(reader, value, text)?) };
    if least.is_some() && version_argument(key).is_none() {
        let why = format!("casebook has no safe way to ask `{key}` for its version");
        let mistake = reader.mistake(Lint::UnknownValue, why);
        reader.push(mistake.at(value.span, format!("write `{key} = \"any\"`, and check the version in the set-up")));
        return None;
    }
    Some(Program { name: (**key).to_owned(), least })
}

fn version(reader: &mut Reader, node: &Node, text: &str) -> Option<Version> {
    let version = text.parse().ok();
    if version.is_none() {
        let mistake = reader.mistake(Lint::UnknownValue, format!("`{text}` is no version"));
        reader.push(mistake.at(node.span, "numbers with dots between, or `any`"));
    }
    version
}
