//! Detection of JSON that two readers can understand differently: duplicate keys, lone surrogates, and numbers that an
//! `f64` cannot represent.
//!
//! The functions take JSON text and return a description of the first such place. They must not know messages or
//! schemas.

use std::borrow::Cow;
use std::collections::HashSet;

use super::nesting;

/// A set of the keys of one object.
#[derive(Debug, Default)]
pub(crate) struct Keys<'a> {
    /// The first keys, which are compared one by one.
    few: Vec<Cow<'a, str>>,
    many: HashSet<Cow<'a, str>>,
}

impl<'a> Keys<'a> {
    const FEW: usize = 16;

    /// Adds a key. Returns `true` if it is new.
    pub(crate) fn insert(&mut self, key: impl Into<Cow<'a, str>>) -> bool {
        let key = key.into();
        if self.few.contains(&key) {
            return false;
        }
        if self.few.len() < Self::FEW {
            self.few.push(key);
            return true;
        }
        self.many.insert(key)
    }
}

/// Finds duplicate keys in one object, in the outermost [`nesting::LIMIT`] levels, and lone surrogates at any level.
pub(crate) fn of_strings(text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    let mut open: Vec<Option<Keys<'_>>> = Vec::new();
    let (mut at, mut key_is_next, mut below) = (0, false, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' if open.len() == nesting::LIMIT => below += 1,
            b'}' | b']' if below > 0 => below -= 1,
            b'{' => open.push(Some(Keys::default())),
            b'[' => open.push(None),
            b'}' | b']' => drop(open.pop()),
            b'"' => {
                let length = length_of_string(&bytes[at..]);
                let Some(string) = unescaped(&text[at..at + length]) else {
                    return Some("a lone surrogate in a string");
                };
                at += length - 1;
                if key_is_next
                    && let Some(Some(keys)) = open.last_mut()
                    && !keys.insert(string)
                {
                    return Some("an object with two equal keys");
                }
            }
            _ => {}
        }
        key_is_next = match bytes[at] {
            b'{' | b',' => below == 0 && matches!(open.last(), Some(Some(_))),
            b' ' | b'\t' | b'\r' | b'\n' => key_is_next,
            _ => false,
        };
        at += 1;
    }
    None
}

/// Finds a number whose kind changes in conversion to `f64`: to zero, or from a fraction to a whole number.
pub(crate) fn of_numbers(text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let length = match bytes[at] {
            b'"' => length_of_string(&bytes[at..]),
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &&u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                let length = bytes[at..].iter().take_while(is_part).count();
                if is_inexact(&text[at..at + length]) {
                    return Some("a number that a 64-bit float cannot represent");
                }
                length
            }
            _ => 1,
        };
        at += length;
    }
    None
}

fn is_inexact(number: &str) -> bool {
    if !number.contains(['.', 'e', 'E']) {
        return false;
    }
    let Ok(float) = number.parse::<f64>() else { return true };
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches('-'));
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return false;
    }
    if float == 0.0 {
        return true;
    }
    // The position of the last digit that is not 0, counted from the decimal point.
    let places = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
    let behind = places(fraction.len()) - places(digits.len() - significant.len());
    let is_whole = exponent.parse::<i64>().is_ok_and(|exponent| behind <= exponent);
    float.fract() == 0.0 && !is_whole
}

/// Returns the length in bytes of the string at the start of `rest`, with both quotes.
fn length_of_string(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(next) = rest.get(at..).and_then(|rest| rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))) {
        at += next;
        if rest[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    rest.len()
}

/// Returns the content of a quoted string, or `None` if it has a lone surrogate.
fn unescaped(string: &str) -> Option<Cow<'_, str>> {
    if string.contains('\\') {
        serde_json::from_str::<String>(string).ok().map(Cow::Owned)
    } else {
        let content = string.strip_prefix('"').unwrap_or(string);
        Some(content.strip_suffix('"').unwrap_or(content).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_are_found_in_one_object_only() {
        let fine = r#"{"a":["a","a"],"b":{"a":"a"},"\"":"\\","\\":"\ud83d\ude00"}"#;
        assert_eq!(of_strings(fine), None);
        for text in [r#"[{"b":{},"c":[1],"b":2}]"#, r#"{"b":1, "\u0062":2}"#] {
            assert_eq!(of_strings(text), Some("an object with two equal keys"), "{text}");
        }
        assert_eq!(of_strings(r#"["\ud800"]"#), Some("a lone surrogate in a string"));
    }

    #[test]
    fn equal_keys_are_found_in_an_object_with_many_members() {
        let many: Vec<_> = (0..100).map(|key| format!(r#""{key}":0"#)).collect();
        assert_eq!(of_strings(&format!("{{{}}}", many.join(","))), None);
        for key in [0, Keys::FEW - 1, Keys::FEW, 99] {
            let text = format!(r#"{{{},"{key}":1}}"#, many.join(","));
            assert_eq!(of_strings(&text), Some("an object with two equal keys"), "{key}");
        }
    }

    #[test]
    fn equal_keys_are_found_next_to_deep_values() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(of_strings(&format!(r#"{{"a":1,"deep":{deep},"a":2}}"#)), Some("an object with two equal keys"));
        assert_eq!(of_strings(&format!(r#"{{"a":1,"deep":{deep},"b":2}}"#)), None);
    }

    #[test]
    fn number_that_changes_its_kind_is_found() {
        let exact =
            ["0", "-0", "0.0", "-0.0e9", "1.0", "1e2", "1.50e1", "0.1", "1e23", "123456789012345678901234", "10e-1"];
        for number in exact {
            assert_eq!(of_numbers(number), None, "{number}");
        }
        for number in ["1e-400", "-1e-400", "1.00000000000000000001", "1e-99999999999999999999", "-9007199254740993.5"]
        {
            assert!(of_numbers(&format!(r#"{{"\"a1e-400":[{number}]}}"#)).is_some(), "{number}");
        }
        assert_eq!(of_numbers(r#"["1e-400\"1e-400"]"#), None);
    }
}
