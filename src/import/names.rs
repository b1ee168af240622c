//! Test ids and titles, made from the names of the suite's files, groups and tests.
//!
//! The functions take any text, and return the same name for the same text. They must not know what is named.

use std::collections::BTreeSet;

use super::suite::Expected;

/// The maximum length of one component of a test id.
const LONGEST: usize = 60;
/// The maximum length of a title, in characters.
const TITLE: usize = 120;

/// Returns the id of a keyword's file, such as `additional-properties` for `additionalProperties`. It leaves room for
/// the suffix of a door.
pub(super) fn keyword(stem: &str) -> String {
    let mut spaced = String::new();
    for one in stem.chars() {
        if one.is_uppercase() {
            spaced.push('-');
        }
        spaced.push(one);
    }
    slug(&spaced, LONGEST - "-arguments".len())
}

/// Returns the words of a description, joined by `-`: `an integer is valid` becomes `an-integer-is-valid`.
pub(super) fn slug(text: &str, longest: usize) -> String {
    let mut slug = String::new();
    for part in text.split(|one: char| !one.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
        if slug.len() + part.len() >= longest {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug += &part.to_ascii_lowercase();
    }
    if slug.is_empty() { "unnamed".to_owned() } else { slug }
}

/// Returns the name, with a number appended if the name is already taken.
pub(super) fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2_u32..).map(|number| {
        let number = format!("-{number}");
        let room = name.len().min(LONGEST - number.len());
        name[..room].trim_end_matches('-').to_owned() + &number
    });
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let free = names.find(|name| !taken.contains(name)).expect("there are infinitely many numbers");
    taken.insert(free.clone());
    free
}

/// Returns the name of a group.
pub(super) fn row(description: &str, taken: &mut BTreeSet<String>) -> String {
    unique(&slug(description, LONGEST), taken)
}

/// Returns the name of an instance: the expected result, and the description.
pub(super) fn test(expected: Expected, description: &str, taken: &mut BTreeSet<String>) -> String {
    let verb = match expected {
        Expected::Accepted => "accepts-",
        Expected::Refused => "refuses-",
        Expected::Either => "either-",
    };
    unique(&(verb.to_owned() + &slug(description, LONGEST - verb.len())), taken)
}

/// Returns the title of a test: one line of limited length, without a full stop.
pub(super) fn title(expected: Expected, description: &str) -> String {
    let words: Vec<_> = description.split(|one: char| one.is_whitespace() || one.is_control()).collect();
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let verb = match expected {
        Expected::Accepted => "accepted",
        Expected::Refused => "refused",
        Expected::Either => "either way",
    };
    let title: String = format!("{verb}: {}", words.join(" ")).chars().take(TITLE).collect();
    title.trim_end_matches([' ', '.', ':']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case_for_any_input() {
        assert_eq!(keyword("additionalProperties"), "additional-properties");
        assert_eq!(keyword("boolean_schema"), "boolean-schema");
        assert_eq!(keyword("optional/format/date-time"), "optional-format-date-time");
        assert_eq!(slug("$ref to \u{2028}Ünïcode, and {so} on", LONGEST), "ref-to-n-code-and-so-on");
        assert_eq!(slug("…", LONGEST), "unnamed");
        assert_eq!(title(Expected::Refused, " a float.\nis no integer. "), "refused: a float. is no integer");
        let long = "word ".repeat(100);
        for name in [keyword(&long), slug(&long, LONGEST), test(Expected::Accepted, &long, &mut BTreeSet::new())] {
            assert!(crate::model::is_id(&name), "{name}");
        }
        assert!(title(Expected::Either, &long).chars().count() <= TITLE);
    }

    #[test]
    fn taken_name_gets_a_number_and_stays_valid() {
        let mut taken = BTreeSet::new();
        let long = "a".repeat(LONGEST);
        let names: Vec<_> = (0..12).map(|_| unique(&long, &mut taken)).collect();
        assert_eq!(taken.len(), 12);
        assert!(names.iter().all(|name| crate::model::is_id(name)), "{names:?}");
    }
}
