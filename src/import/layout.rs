//! The layout of JSON in case files: a value that fits on one line is written on one line.
//!
//! The module takes a value and returns its text. It must not know its meaning.

use serde_json::Value;

/// The maximum width of a line. A longer string gets a line of its own.
const COLUMNS: usize = 136;

/// Returns the text of a file.
pub(super) fn text(value: &Value) -> String {
    let mut out = String::new();
    write(value, 0, 0, &mut out, true);
    out.push('\n');
    out
}

/// Appends a value that starts after `before` columns of its line. With `is_root`, it is always broken into lines.
fn write(value: &Value, indent: usize, before: usize, out: &mut String, is_root: bool) {
    // One column is reserved for a comma.
    if !is_root && let Some(line) = line(value, COLUMNS.saturating_sub(indent + before + 1)) {
        *out += &line;
        return;
    }
    let pad = |out: &mut String, indent: usize| out.extend(std::iter::repeat_n(' ', indent));
    match value {
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                *out += if at == 0 { "\n" } else { ",\n" };
                pad(out, indent + 2);
                write(item, indent + 2, 0, out, false);
            }
            out.push('\n');
            pad(out, indent);
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (at, (key, value)) in members.iter().enumerate() {
                *out += if at == 0 { "\n" } else { ",\n" };
                pad(out, indent + 2);
                let key = Value::from(key.as_str()).to_string() + ": ";
                *out += &key;
                write(value, indent + 2, key.chars().count(), out, false);
            }
            out.push('\n');
            pad(out, indent);
            out.push('}');
        }
        scalar => *out += &scalar.to_string(),
    }
}

/// Returns the value on one line, or `None` if there is not enough room.
fn line(value: &Value, room: usize) -> Option<String> {
    let mut out = String::new();
    match value {
        Value::Array(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                out += if at == 0 { "[" } else { ", " };
                out += &line(item, room.checked_sub(out.len())?)?;
            }
            out.push(']');
        }
        Value::Object(members) if !members.is_empty() => {
            for (at, (key, value)) in members.iter().enumerate() {
                out += if at == 0 { "{ " } else { ", " };
                out += &Value::from(key.as_str()).to_string();
                out += ": ";
                out += &line(value, room.checked_sub(out.len())?)?;
            }
            out += " }";
        }
        other => out = other.to_string(),
    }
    (out.chars().count() <= room).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_values_are_on_one_line_and_text_round_trips() {
        let long: Vec<_> = (0..60).collect();
        let value = serde_json::json!({ "a": { "b": [1, 2.0, 1e300, null, "ü\n"] }, "long": { "list": long }, "none": [{}, []] });
        let text = text(&value);
        assert!(
            text.starts_with("{\n  \"a\": { \"b\": [1, 2.0, 1e+300, null, \"ü\\n\"] },\n  \"long\": {\n"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }
}
