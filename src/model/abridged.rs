//! JSON values as text of limited length: short values in full, long values without their middle parts.
//!
//! Equal values give equal text, on each machine and in each version. This module must not know where the text is
//! shown.

use serde_json::{Map, Value};

use super::hash;

/// The number of characters up to which a value is shown in full, and the intended length for longer values.
pub const SHOWN: usize = 400;

/// The limits for the kept parts of a value: characters of a string, members of an array or object, and levels.
type Limits = (usize, usize, usize);

/// The limits to try, from generous to strict. The last is used even if the text is still too long.
const LIMITS: [Limits; 10] = [
    (160, 12, 16),
    (80, 8, 12),
    (80, 6, 8),
    (60, 6, 6),
    (60, 4, 6),
    (60, 4, 5),
    (40, 4, 4),
    (40, 3, 4),
    (24, 3, 3),
    (12, 2, 2),
];

/// Returns a value as canonical JSON. If that has more than [`SHOWN`] characters, the middle parts of strings, arrays
/// and objects are replaced by the number of what is missing, and the length and hash of the whole are appended:
/// `{"p":"aaaaaa…99988 more…aaaaaa"} (100008 bytes, sha256 0123456789abcdef)`.
pub fn abridged(value: &Value) -> String {
    let mut sorted = value.clone();
    sorted.sort_all_objects();
    let text = sorted.to_string();
    if text.chars().nth(SHOWN).is_none() {
        return text;
    }
    let is_short = |limits: &Limits| short(&sorted, *limits).chars().nth(SHOWN).is_none();
    let limits = LIMITS.into_iter().find(is_short).unwrap_or(LIMITS[LIMITS.len() - 1]);
    format!("{} ({} bytes, sha256 {})", short(&sorted, limits), text.len(), hash(value))
}

fn short(value: &Value, limits: Limits) -> String {
    let (_, most, levels) = limits;
    let inner = (limits.0, most, levels.saturating_sub(1));
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().collect();
            list(&items, if levels == 0 { 0 } else { most }, ['[', ']'], |item| short(item, inner))
        }
        Value::Object(members) => object(members, limits.0, if levels == 0 { 0 } else { most }, inner),
        Value::String(text) => string(text, limits.0),
        scalar => scalar.to_string(),
    }
}

fn object(members: &Map<String, Value>, key: usize, most: usize, inner: Limits) -> String {
    let members: Vec<_> = members.iter().collect();
    list(&members, most, ['{', '}'], |(name, value)| format!("{}:{}", string(name, key), short(value, inner)))
}

/// Writes the first and the last items, and between them the number of omitted ones.
fn list<T>(items: &[T], most: usize, [open, close]: [char; 2], text: impl Fn(&T) -> String) -> String {
    let (first, last) = ends(items.len(), most);
    let missing = items.len() - first - last;
    let mut parts: Vec<_> = items[..first].iter().map(&text).collect();
    parts.extend((missing > 0).then(|| format!("…{missing} more…")));
    parts.extend(items[items.len() - last..].iter().map(&text));
    format!("{open}{}{close}", parts.join(","))
}

fn string(text: &str, most: usize) -> String {
    let length = text.chars().count();
    let (first, last) = ends(length, most);
    if first + last == length {
        return Value::from(text).to_string();
    }
    let start: String = text.chars().take(first).collect();
    let end: String = text.chars().skip(length - last).collect();
    Value::from(format!("{start}…{} more…{end}", length - first - last)).to_string()
}

/// Returns the numbers of items to keep at the beginning and at the end of `length` items, together at most `most`.
fn ends(length: usize, most: usize) -> (usize, usize) {
    if length <= most { (length, 0) } else { (most.div_ceil(2), most / 2) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn short_value_is_shown_in_full_with_sorted_members() {
        assert_eq!(abridged(&json!({"b": [1, "ü"], "a": null})), r#"{"a":null,"b":[1,"ü"]}"#);
        let longest = json!("x".repeat(SHOWN - 2));
        assert_eq!(abridged(&longest), longest.to_string());
    }

    #[test]
    fn long_value_keeps_its_structure_and_counts_omissions() {
        let value = json!({"type": "object", "p": "x".repeat(1000), "list": (0..100).collect::<Vec<_>>()});
        let text = abridged(&value);
        let (shown, rest) = text.split_once(" (").expect("a hash");
        assert!(shown.starts_with(r#"{"list":[0,1,2,3,4,5,…88 more…,94,95,96,97,98,99],"p":"xxx"#), "{text}");
        assert!(shown.contains("x…840 more…x") && shown.ends_with(r#"","type":"object"}"#), "{text}");
        assert_eq!(rest, format!("1323 bytes, sha256 {})", hash(&value)));
    }

    #[test]
    fn change_of_a_long_value_changes_its_hash() {
        let with = |middle: char| json!({"p": format!("{0}{middle}{0}", "x".repeat(50_000))});
        let [one, other] = ['a', 'b'].map(|middle| abridged(&with(middle)));
        assert_ne!(one, other);
        assert_eq!(one.split_once(" (").map(|parts| parts.0), other.split_once(" (").map(|parts| parts.0));
    }

    #[test]
    fn text_of_wide_and_deep_values_is_limited() {
        let deep = (0..400).fold(json!("x".repeat(100)), |inner, _| json!([inner, null, {"k": 1}]));
        let wide =
            json!((0..1000).map(|one| (format!("{one}-{}", "k".repeat(90)), json!([deep]))).collect::<Map<_, _>>());
        for value in [deep, wide] {
            let text = abridged(&value);
            assert!(text.chars().count() < 2 * SHOWN, "{}: {text}", text.chars().count());
        }
    }
}
