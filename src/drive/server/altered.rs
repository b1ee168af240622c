//! A state with another meaning, as somebody would write it who wants to deceive the server.
//!
//! Takes the state that a server gave, gives one that names something else in the same form: a readable value within it is
//! changed, also behind Base64 or hexadecimal digits. A state that nobody can read gets another character in its middle.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::Value;

use crate::jsonrpc::nesting;

/// Returns the altered state.
pub(super) fn state(text: &str) -> String {
    if let Some(new) = renamed(text) {
        return new;
    }
    let mut parts: Vec<String> = text.split('.').map(str::to_owned).collect();
    for part in &mut parts {
        if let Some(new) = recoded(part) {
            *part = new;
            return parts.join(".");
        }
    }
    unreadable(text)
}

/// A part that has a readable value in Base64 or as hexadecimal digits.
fn recoded(part: &str) -> Option<String> {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok();
    for engine in [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD] {
        if let Some(new) = engine.decode(part).ok().and_then(text).and_then(|decoded| renamed(&decoded)) {
            return Some(engine.encode(new));
        }
    }
    let digits = part.as_bytes().chunks(2).map(|two| u8::from_str_radix(str::from_utf8(two).ok()?, 16).ok());
    let new = text(digits.collect::<Option<_>>()?).and_then(|decoded| renamed(&decoded))?;
    Some(new.bytes().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}")))
}

/// A JSON text in which the first name of something, a text with letters and digits, is another one.
fn renamed(json: &str) -> Option<String> {
    fn rename(value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let is_name = text.len() <= 40 && text.contains(|one: char| one.is_ascii_alphabetic());
                let digit = text.rfind(|one: char| one.is_ascii_digit()).filter(|_| is_name);
                if let Some(at) = digit {
                    text.replace_range(at..=at, if text[at..].starts_with('1') { "2" } else { "1" });
                }
                digit.is_some()
            }
            Value::Array(items) => items.iter_mut().any(rename),
            Value::Object(members) => members.values_mut().any(rename),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
    let mut value: Value = nesting::read(json.as_bytes()).ok()?;
    rename(&mut value).then(|| value.to_string())
}

/// The last character of a text in Base64 may have bits without a meaning, and a capital letter has none in hexadecimal.
fn unreadable(text: &str) -> String {
    let Some((place, old)) = text.char_indices().nth(text.chars().count() / 2) else { return "A".to_owned() };
    let new = if old.eq_ignore_ascii_case(&'a') { "B" } else { "A" };
    let mut text = text.to_owned();
    text.replace_range(place..place + old.len_utf8(), new);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readable_value_is_changed_in_its_form() {
        let json = r#"{"tool":"pay","v":"cart-17"}"#;
        let changed = r#"{"tool":"pay","v":"cart-11"}"#;
        assert_eq!(state(json), changed);
        let signed = |json: &str| format!("v1.{}.c2lnbg", URL_SAFE_NO_PAD.encode(json));
        assert_eq!(state(&signed(json)), signed(changed));
        let hex = |text: &str| text.bytes().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"));
        assert_eq!(state(&hex(json)), hex(changed));
        assert_eq!(state(&STANDARD.encode(json)), STANDARD.encode(changed));
    }

    #[test]
    fn unreadable_state_is_another_one_all_the_same() {
        for text in ["", "cart-17", "849ec982ad37313e", "AAAA", "äöü", "a.b.c", "{\"a\":1}"] {
            let new = state(text);
            assert!(!new.eq_ignore_ascii_case(text), "{text}: {new}");
        }
    }
}
