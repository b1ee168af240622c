//! Tests.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn matcher(value: &str, in_part: bool) -> Matcher {
    let wanted = Wanted { value: value.to_owned(), name: "[TOKEN]".to_owned(), in_part };
    Matcher::new(&[wanted]).expect("a value")
}

/// A text in quotes, as a writer has it that puts `special` characters and all others that `is_plain` isn't true of as
/// code units.
fn written(text: &str, is_plain: impl Fn(char) -> bool, upper: bool) -> String {
    let mut out = String::new();
    for one in text.chars() {
        match one {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            one if is_plain(one) && !one.is_control() => out.push(one),
            one => {
                for unit in one.encode_utf16(&mut [0; 2]) {
                    let digits = if upper { format!("{unit:04X}") } else { format!("{unit:04x}") };
                    out.extend(["\\u", digits.as_str()]);
                }
            }
        }
    }
    out
}

/// The string as common writers of JSON put it into quotes.
fn by_writers(text: &str) -> Vec<(&'static str, String)> {
    let plain = Value::from(text).to_string();
    let plain = plain[1..plain.len() - 1].to_owned();
    vec![
        ("serde", plain.clone()),
        ("go", written(text, |one| !"&<>\u{2028}\u{2029}".contains(one), false)),
        ("dotnet", written(text, |one| one.is_ascii() && !"&<>+'`\"".contains(one), true)),
        ("gson", written(text, |one| !"=<>&'\u{2028}\u{2029}".contains(one), false)),
        ("php", written(text, |one| one.is_ascii(), false).replace('/', "\\/")),
        ("ascii only", written(text, |one| one.is_ascii(), false)),
        ("rails", written(text, |one| !"&<>\u{2028}\u{2029}".contains(one), false).replace('/', "\\/")),
        ("jackson", written(text, |one| one.is_ascii(), true)),
        ("all", written(text, |_| false, false)),
    ]
}

fn percent(text: &str, upper: bool) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        byte if upper => format!("%{byte:02X}"),
        byte => format!("%{byte:02x}"),
    };
    text.bytes().map(one).collect()
}

fn entities(text: &str) -> String {
    let one = |one: char| match one {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => "&#x27;".to_owned(),
        one if one.is_ascii_alphanumeric() => one.to_string(),
        one => format!("&#{};", u32::from(one)),
    };
    text.chars().map(one).collect()
}

/// The text in every encoding that is looked for, behind zero to two other bytes.
fn encoded(text: &str) -> Vec<String> {
    let mut all: Vec<String> = (0..3)
        .flat_map(|lead| {
            let bytes = [&b"xy"[..lead], text.as_bytes(), b"zz"].concat();
            [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)]
        })
        .collect();
    let hex = String::from_utf8(in_hex(text.as_bytes())).expect("digits");
    all.extend([hex.to_uppercase(), hex, percent(text, true), percent(text, false), entities(text)]);
    all
}

/// Returns whether eight characters in a row of the value are in the text.
fn survives(value: &str, text: &str) -> bool {
    let value: Vec<char> = value.chars().collect();
    value.windows(PIECE).any(|piece| text.contains(&piece.iter().collect::<String>()))
}

const VALUES: &str = "[A-Za-z0-9+/=&<>%;#'\"\\\\`é🔑\u{2028} ]{8,24}";

proptest! {
    #[test]
    fn values_are_found_in_the_json_of_all_writers(value in prop_oneof![VALUES, "\\PC{8,16}"], in_part: bool, more in "[a-z ]{0,5}") {
        let matcher = matcher(&value, in_part);
        for (writer, once) in by_writers(&value) {
            for (outer, twice) in std::iter::once(("none", once.clone())).chain(by_writers(&once)) {
                let text = format!("{more}{twice}{more}");
                prop_assert_eq!(matcher.replaced(&text), format!("{more}[TOKEN]{more}"), "{} in {}: {}", writer, outer, text);
            }
        }
    }

    #[test]
    fn values_are_found_in_all_encodings(value in VALUES, in_part: bool) {
        let matcher = matcher(&value, in_part);
        for text in encoded(&value) {
            let hidden = matcher.replaced(&text);
            prop_assert!(hidden.contains("[TOKEN]"), "{} of {}", hidden, text);
            prop_assert!(hidden.len() <= "[TOKEN]".len() + 9, "{} of {}", hidden, text);
            let inside = json!({ "a": text }).to_string();
            prop_assert!(matcher.replaced(&inside).contains("[TOKEN]"), "{}", inside);
        }
    }

    #[test]
    fn cut_values_leave_no_eight_characters(value in "[A-Za-z0-9_+/=]{16,60}", more in "[ .]{0,9}") {
        let matcher = matcher(&value, true);
        for cut in 0..=value.len() {
            for part in [&value[..cut], &value[cut..]] {
                let text = format!("{more}{part}{more}");
                prop_assert!(!survives(&value, &matcher.replaced(&text)), "{} of {}", matcher.replaced(&text), text);
            }
            let text = format!("{more}{value}{more}");
            let first = matcher.replaced_within(&text, more.len() + cut);
            prop_assert!(!survives(&value, &first), "{first}");
        }
    }

    #[test]
    fn cutting_hides_a_value_that_is_only_known_whole(value in VALUES, more in "[a-y]{0,9}") {
        let matcher = matcher(&value, false);
        let text = format!("{more}{value}{more}");
        for cut in (more.len() + 1..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let first = matcher.replaced_within(&text, cut);
            prop_assert!(first.starts_with(&format!("{more}[TOKEN]")), "{first}");
        }
    }

    #[test]
    fn any_text_is_read_and_what_is_outside_of_hits_is_kept(text in "\\PC{0,60}[\\\\u0-9a-f%&;#{}]{0,30}\\PC{0,9}") {
        prop_assert_eq!(matcher("\u{1}no such value", true).replaced(&text), text.as_str());
    }
}

#[test]
fn letter_case_does_not_matter() {
    assert_eq!(matcher("X-Secret-Header", false).replaced("x-secret-header: 1"), "[TOKEN]: 1");
}

#[test]
fn half_an_escape_or_a_character_is_not_left() {
    let text = r"a ß🔑\u00df\ud83d\udd11 b";
    assert_eq!(matcher("ß🔑ß🔑", true).replaced(text), "a [TOKEN] b");
}

#[test]
fn a_long_text_takes_no_longer_than_its_length() {
    let matcher = matcher(&"a".repeat(200), true);
    let text = "\\\\u0061a".repeat(1 << 16);
    assert!(matcher.replaced(&text).len() < 40);
}
