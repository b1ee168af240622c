//! JSON text that is read and changed one level at a time, so that its depth does not matter.
//!
//! The functions take and return text. They must not know its meaning.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::pointer::tokens;

/// The members of an object in order, including duplicate keys.
#[derive(Debug, Default)]
pub(crate) struct Members<'a>(pub(crate) Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Reads the members, or returns `None` if the text is not an object.
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Returns the text of a member's value.
    pub(crate) fn get(&self, key: &str) -> Option<&'a str> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.get())
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// Returns the string that the text encodes, or `None` if it is not a string.
pub(crate) fn string(text: &str) -> Option<String> {
    serde_json::from_str(text).ok()
}

/// Returns whether a JSON text is an object.
pub(crate) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Replaces line ends with spaces. JSON allows line ends only between tokens.
pub(crate) fn on_one_line(text: String) -> String {
    if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text }
}

/// Appends a string as JSON.
pub(crate) fn quote(text: &str, out: &mut String) {
    // Most strings need no escape.
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        out.extend(["\"", text, "\""]);
    } else {
        out.push_str(&serde_json::to_string(text).expect("a string is always JSON"));
    }
}

/// Returns a string as JSON.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    quote(text, &mut out);
    out
}

/// Builds an object from members whose values are JSON text.
pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut out = String::from("{");
    for (key, value) in members {
        if out.len() > 1 {
            out.push(',');
        }
        quote(key, &mut out);
        out.push(':');
        out.push_str(&value);
    }
    out.push('}');
    out
}

/// Sets the value at a JSON Pointer, or removes it if `value` is `None`.
///
/// Returns `None` if the place has no parent: a missing member or item is added, but nothing above it.
pub(crate) fn edit(text: &str, pointer: &str, value: Option<&str>) -> Option<String> {
    let keys: Vec<_> = tokens(pointer).collect();
    edit_below(text, &keys, value)
}

fn edit_below(text: &str, keys: &[String], value: Option<&str>) -> Option<String> {
    let Some((key, rest)) = keys.split_first() else { return value.map(str::to_owned) };
    if is_object(text) {
        let members = Members::of(text)?.0;
        let mut members: Vec<_> = members.into_iter().map(|(key, value)| (key, value.get().to_owned())).collect();
        let place = members.iter().position(|(name, _)| name == key);
        match (place, edited(place.map(|place| members[place].1.as_str()), rest, value)?) {
            (Some(place), Some(new)) => members[place].1 = new,
            (Some(place), None) => drop(members.remove(place)),
            (None, Some(new)) => members.push((key.clone(), new)),
            (None, None) => {}
        }
        let members: Vec<_> = members.iter().map(|(key, value)| format!("{}:{value}", quoted(key))).collect();
        return Some(format!("{{{}}}", members.join(",")));
    }
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    let mut items: Vec<_> = items.into_iter().map(|item| item.get().to_owned()).collect();
    let place = if key == "-" { items.len() } else { key.parse().ok()? };
    match edited(items.get(place).map(String::as_str), rest, value)? {
        Some(new) if place < items.len() => items[place] = new,
        Some(new) => items.push(new),
        None if place < items.len() => drop(items.remove(place)),
        None => {}
    }
    Some(format!("[{}]", items.join(",")))
}

/// Returns the new text of one member or item. The inner `None` removes it; the outer `None` means that its place has
/// no parent.
#[expect(clippy::option_option, reason = "a missing parent and a removed value are different results")]
fn edited(old: Option<&str>, rest: &[String], value: Option<&str>) -> Option<Option<String>> {
    if rest.is_empty() { Some(value.map(str::to_owned)) } else { edit_below(old?, rest, value).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_changes_only_the_given_place() {
        let text = r#"{"a":[1.0,{"b/c":1e400}],"ü":"\u00fc"}"#;
        let set = |pointer, value| edit(text, pointer, Some(value));
        assert_eq!(set("/a/1/b~1c", "[]").unwrap(), r#"{"a":[1.0,{"b/c":[]}],"ü":"\u00fc"}"#);
        assert_eq!(set("/a/-", "2").unwrap(), r#"{"a":[1.0,{"b/c":1e400},2],"ü":"\u00fc"}"#);
        assert_eq!(set("/new", "null").unwrap(), r#"{"a":[1.0,{"b/c":1e400}],"ü":"\u00fc","new":null}"#);
        assert_eq!(set("", "7").unwrap(), "7");
        assert_eq!(edit(text, "/a/0", None).unwrap(), r#"{"a":[{"b/c":1e400}],"ü":"\u00fc"}"#);
        assert_eq!(edit(text, "/ü", None).unwrap(), r#"{"a":[1.0,{"b/c":1e400}]}"#);
    }

    #[test]
    fn edit_without_a_parent_returns_none() {
        for pointer in ["/x/y", "/a/x", "/ü/x", "/a/9/x"] {
            assert_eq!(edit(r#"{"a":[1],"ü":""}"#, pointer, Some("1")), None, "{pointer}");
        }
    }

    #[test]
    fn edit_works_at_any_depth() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let text = format!(r#"{{"result":{{"deep":{deep}}}}}"#);
        let expected = format!(r#"{{"result":{{"deep":{deep},"ttlMs":-1}}}}"#);
        assert_eq!(edit(&text, "/result/ttlMs", Some("-1")), Some(expected));
    }
}
