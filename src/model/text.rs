//! Text cut to a length, and numbers with their nouns.
//!
//! This module must not know the meaning of a text, nor its escaping.

use std::borrow::Cow;

/// Returns the longest beginning of a text that has at most `most` bytes.
pub fn beginning(text: &str, most: usize) -> &str {
    &text[..(0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0)]
}

/// Returns a text of at most `most` bytes unchanged, and of a longer one the beginning and the length of the whole.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match beginning(text, most) {
        whole if whole.len() == text.len() => Cow::Borrowed(text),
        part => Cow::Owned(format!("{part}… ({} bytes)", text.len())),
    }
}

/// Formats a number with its digits in groups of three.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// Returns a noun in singular or plural: `test`, `tests`.
pub fn plural(number: usize, noun: &str) -> String {
    format!("{noun}{}", if number == 1 { "" } else { "s" })
}

/// Formats a number with its noun: `1 test`, `2 tests`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {}", plural(number, noun))
}

/// Returns a word in single quotes for a POSIX shell.
pub fn quoted_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns a word for a POSIX shell, in quotes if it needs them.
pub fn shell_word(word: &str) -> String {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "-_./:=@%+,".contains(one);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { quoted_word(word) }
}

/// Returns a command as a line for a POSIX shell.
pub fn shell_line(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

/// Returns a quotation in quotation marks, or as code if it begins with such a mark itself.
pub fn quotation(text: &str) -> String {
    if text.starts_with(['"', '“']) { format!("`{text}`") } else { format!("\"{text}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters_and_shows_its_length() {
        assert_eq!((beginning("aé", 2), beginning("aé", 9)), ("a", "aé"));
        assert_eq!((shortened("éé", 3), shortened("éé", 4)), ("é… (4 bytes)".into(), "éé".into()));
    }

    #[test]
    fn number_has_digit_groups_and_a_plural_noun() {
        assert_eq!((grouped(7), grouped(1_234_567)), ("7".to_owned(), "1,234,567".to_owned()));
        assert_eq!((count(1, "test"), count(2, "test")), ("1 test".to_owned(), "2 tests".to_owned()));
    }

    #[test]
    fn quotation_marks_are_not_doubled() {
        assert_eq!(quotation("it MUST"), "\"it MUST\"");
        assert_eq!(quotation("\"code\": -32602"), "`\"code\": -32602`");
    }
}
