//! `[needs]`: the programs without which a target can't be set up.
//!
//! Takes a table of programs and least versions, gives [`Program`]s. Must not run any of them.

use super::diagnostic::Lint;
use super::node::{Member, Node};
use super::read::Reader;
use crate::model::program::Program;

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
    let least = match text {
        ANY => None,
        text => match text.parse() {
            Ok(version) => Some(version),
            Err(()) => {
                let mistake = reader.mistake(Lint::UnknownValue, format!("`{text}` is no version"));
                reader.push(mistake.at(value.span, "numbers with dots between, or `any`"));
                return None;
            }
        },
    };
    Some(Program { name: key.clone(), least })
}
