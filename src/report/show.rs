//! Templates as readable JSON, in which placeholders keep their `@`.
//!
//! Takes a template, gives text. Must not know what the template is for.

use serde_json::Value;

use crate::model::template::{Canary, Template};

/// Columns that a value may take before it is broken into lines.
const COLUMNS: usize = 110;

/// Formats a template on one line.
pub(super) fn compact(template: &Template) -> String {
    match template {
        Template::Null => "null".to_owned(),
        Template::Bool(value) => value.to_string(),
        Template::Number(number) => number.to_string(),
        Template::String(text) => Value::from(text.as_str()).to_string(),
        Template::Array(items) => {
            format!("[{}]", items.iter().map(compact).collect::<Vec<_>>().join(", "))
        }
        Template::Object(members) if present(members).next().is_none() => "{}".to_owned(),
        Template::Object(members) => {
            let members: Vec<_> =
                present(members).map(|(key, value)| format!("{}: {}", quoted(key), compact(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Template::Canary(canary) => self::canary(canary),
        Template::Unique(prefix) => format!("@unique {prefix}…"),
        Template::Revision => "@revision".to_owned(),
        Template::Generated(generator) => generator.to_string(),
        Template::Absent => "@absent".to_owned(),
    }
}

/// Formats a template on as many lines as it needs; all but the first are indented.
pub(super) fn pretty(template: &Template, indent: usize) -> String {
    let short = compact(template);
    if indent + short.chars().count() <= COLUMNS {
        return short;
    }
    let (open, close, lines) = match template {
        Template::Array(items) => ('[', ']', items.iter().map(|item| pretty(item, indent + 2)).collect::<Vec<_>>()),
        Template::Object(members) => {
            let line = |(key, value)| format!("{}: {}", quoted(key), pretty(value, indent + 2));
            ('{', '}', present(members).map(line).collect())
        }
        _ => return short,
    };
    let (inner, outer) = (" ".repeat(indent + 2), " ".repeat(indent));
    format!("{open}\n{inner}{}\n{outer}{close}", lines.join(&format!(",\n{inner}")))
}

/// Cuts a text that is longer than `most` characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

fn present(members: &[(String, Template)]) -> impl Iterator<Item = (&str, &Template)> {
    members.iter().filter(|(_, value)| *value != Template::Absent).map(|(key, value)| (key.as_str(), value))
}

fn quoted(key: &str) -> String {
    Value::from(key).to_string()
}

fn canary(canary: &Canary) -> String {
    let mut text = format!("@canary {}", canary.kind);
    if let Some(path) = &canary.path {
        text.push('/');
        text.push_str(path.trim_start_matches('/'));
    }
    if let Some(fragment) = &canary.fragment {
        text.push('#');
        text.push_str(fragment);
    }
    if canary.redirects {
        text.push_str(" that redirects");
    }
    if canary.delay_ms > 0 {
        text.extend([" that waits ", &canary.delay_ms.to_string(), " ms"]);
    }
    text
}
