//! What the suite calls its files, groups and tests → parts of test ids, and titles.
//!
//! Takes words of anybody, gives names that are the same each time. Must not know what is named.

use std::collections::BTreeSet;

use super::suite::Wanted;

/// As long as a part of a test's name may be.
const LONGEST: usize = 60;
/// As long as a title may be, in characters.
const TITLE: usize = 120;

/// A file's name: `additionalProperties` → `additional-properties`. There is room left for what a case adds.
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

/// The words of a description: `an integer is valid` → `an-integer-is-valid`.
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

/// The name, or where that is taken the name with a number behind it.
pub(super) fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2_u32..).map(|number| {
        let number = format!("-{number}");
        let room = name.len().min(LONGEST - number.len());
        name[..room].trim_end_matches('-').to_owned() + &number
    });
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let free = names.find(|name| !taken.contains(name)).expect("numbers don't end");
    taken.insert(free.clone());
    free
}

/// The name of a group.
pub(super) fn row(description: &str, taken: &mut BTreeSet<String>) -> String {
    unique(&slug(description, LONGEST), taken)
}

/// The name of an instance: what should become of it, and its description.
pub(super) fn test(wanted: Wanted, description: &str, taken: &mut BTreeSet<String>) -> String {
    let verb = match wanted {
        Wanted::Accepted => "accepts-",
        Wanted::Refused => "refuses-",
        Wanted::Either => "either-",
    };
    unique(&(verb.to_owned() + &slug(description, LONGEST - verb.len())), taken)
}

/// A title as cases have them: one line, no full stop, not too long.
pub(super) fn title(wanted: Wanted, description: &str) -> String {
    let words: Vec<_> = description.split(|one: char| one.is_whitespace() || one.is_control()).collect();
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let verb = match wanted {
        Wanted::Accepted => "accepted",
        Wanted::Refused => "refused",
        Wanted::Either => "either way",
    };
    let title: String = format!("{verb}: {}", words.join(" ")).chars().take(TITLE).collect();
    title.trim_end_matches([' ', '.', ':']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case_whatever_the_suite_says() {
        assert_eq!(keyword("additionalProperties"), "additional-properties");
        assert_eq!(keyword("boolean_schema"), "boolean-schema");
        assert_eq!(keyword("optional/format/date-time"), "optional-format-date-time");
        assert_eq!(slug("$ref to \u{2028}Ünïcode, and {so} on", LONGEST), "ref-to-n-code-and-so-on");
        assert_eq!(slug("…", LONGEST), "unnamed");
        assert_eq!(title(Wanted::Refused, " a float.\nis no integer. "), "refused: a float. is no integer");
        let long = "word ".repeat(100);
        for name in [keyword(&long), slug(&long, LONGEST), test(Wanted::Accepted, &long, &mut BTreeSet::new())] {
            assert!(crate::model::is_id(&name), "{name}");
        }
        assert!(title(Wanted::Either, &long).chars().count() <= TITLE);
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number_and_is_a_name_still() {
        let mut taken = BTreeSet::new();
        let long = "a".repeat(LONGEST);
        let names: Vec<_> = (0..12).map(|_| unique(&long, &mut taken)).collect();
        assert_eq!(taken.len(), 12);
        assert!(names.iter().all(|name| crate::model::is_id(name)), "{names:?}");
    }
}
