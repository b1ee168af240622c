//! The text of a `target.toml` without the entries that are stale.
//!
//! Takes the text, the variants of the target and what is stale, gives the new text. Comments, order and reasons stay.

use std::collections::BTreeMap;

use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TomlError, Value, value};

use crate::model::reason::Stale;

/// The lists whose entries can be stale.
const LISTS: [&str; 2] = ["known", "author"];

/// Removes what is stale, and returns the number of entries of which something was removed. An entry that is stale on
/// some variants only is limited to the others; one that is stale for some of its requirements keeps the others.
///
/// # Errors
/// A text that says why the lists cannot be edited.
pub(super) fn without_stale(text: &str, variants: &[&str], stale: &[&Stale]) -> Result<(String, usize), String> {
    let mut document: DocumentMut = text.parse().map_err(|error: TomlError| error.to_string())?;
    let (mut changed, mut rest) = (0, String::new());
    for list in LISTS {
        let Some(item) = document.get_mut(list).filter(|_| !stale.is_empty()) else { continue };
        let Item::ArrayOfTables(tables) = item else {
            return Err(format!("`{list}` is written as one value: write each entry below a [[{list}]] of its own"));
        };
        let mut left = ArrayOfTables::new();
        // The comment of a removed entry that stands apart from it is about those behind it too.
        let mut heading = String::new();
        for mut table in std::mem::take(tables) {
            let groups = live(&table, variants, stale);
            let Some(groups) = groups else {
                put_before(&mut table, &std::mem::take(&mut heading));
                left.push(table);
                continue;
            };
            changed += 1;
            if groups.is_empty() {
                heading += before(&table).rsplit_once("\n\n").map_or("", |(apart, _)| apart);
            }
            for (variants, requirements) in groups {
                let mut table = table.clone();
                put_before(&mut table, &std::mem::take(&mut heading));
                table["requirement"] = words(&requirements);
                if !variants.iter().all(String::is_empty) {
                    table["variant"] = words(&variants);
                }
                left.push(table);
            }
        }
        rest += &heading;
        let is_empty = left.is_empty();
        *tables = left;
        if is_empty {
            document.remove(list);
        }
    }
    let mut text = document.to_string();
    if !rest.trim().is_empty() {
        text += &format!("{}\n", rest.trim_end());
    }
    Ok((text, changed))
}

/// The requirements of an entry that are not stale, by the variants on which they are not; `None` if nothing of it is stale.
fn live(table: &Table, all: &[&str], stale: &[&Stale]) -> Option<BTreeMap<Vec<String>, Vec<String>>> {
    let test = table.get("test").and_then(Item::as_str).unwrap_or_default();
    let named = texts(table.get("variant"));
    let own = if named.is_empty() { all.iter().map(|one| (*one).to_owned()).collect() } else { named };
    let requirements = texts(table.get("requirement"));
    let is_stale = |requirement: &str, variant: &str| {
        let of_entry = |one: &&&Stale| one.known.test == test && one.requirement.as_str() == requirement;
        stale.iter().filter(of_entry).any(|one| one.target.variant.as_deref().unwrap_or_default() == variant)
    };
    let mut groups: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    for requirement in &requirements {
        let live: Vec<_> = own.iter().filter(|variant| !is_stale(requirement, variant)).cloned().collect();
        groups.entry(live).or_default().push(requirement.clone());
    }
    if groups.keys().eq([&own]) {
        return None;
    }
    groups.remove(&Vec::new());
    Some(groups)
}

/// The texts of a value that is one text or a list.
fn texts(item: Option<&Item>) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match item.and_then(Item::as_value) {
        Some(Value::Array(items)) => items.iter().filter_map(text).collect(),
        Some(one) => text(one).into_iter().collect(),
        None => Vec::new(),
    }
}

fn words(texts: &[String]) -> Item {
    match texts {
        [one] => value(one),
        several => value(several.iter().collect::<Array>()),
    }
}

/// The comments and blank lines above a table.
fn before(table: &Table) -> &str {
    table.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default()
}

fn put_before(table: &mut Table, heading: &str) {
    if !heading.trim().is_empty() {
        let text = format!("{heading}\n{}", before(table));
        table.decor_mut().set_prefix(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RequirementId;
    use crate::report::tests::stale;

    const TEXT: &str = "\
# A target.
title = \"T\" # with a title

# Of both.

[[known]]
test = \"a\"
requirement = \"f/r\"
reason = \"first\"

# About two.
[[known]]
variant = [\"high\", \"low\"]
test = \"b\"
requirement = [\"f/r\", \"f/s\"]
reason = \"second\" # in words

[claims]
roles = []
";

    fn cut(stale_ones: &[(&str, &str, &str)]) -> String {
        let one = |(test, requirement, variant): &(&str, &str, &str)| {
            let mut one = stale();
            (one.known.test, one.requirement) = ((*test).to_owned(), RequirementId::within("", requirement));
            one.target.variant = Some((*variant).to_owned());
            one
        };
        let stale: Vec<_> = stale_ones.iter().map(one).collect();
        let (text, changed) = without_stale(TEXT, &["high", "low"], &stale.iter().collect::<Vec<_>>()).expect("tables");
        assert_eq!(changed > 0, text != TEXT);
        let kept = text.parse::<DocumentMut>().expect("TOML");
        assert_eq!(kept["claims"].as_table().map(Table::len), Some(1));
        text
    }

    #[test]
    fn text_without_stale_entries_stays_byte_for_byte() {
        assert_eq!(cut(&[]), TEXT);
        assert_eq!(cut(&[("a", "f/other", "high"), ("c", "f/r", "high")]), TEXT);
    }

    #[test]
    fn stale_entry_is_removed_and_the_heading_stays() {
        let text = cut(&[("a", "f/r", "high"), ("a", "f/r", "low")]);
        assert!(!text.contains("first") && text.contains("# Of both.") && text.contains("# About two.\n[[known]]"));
        assert!(text.contains("reason = \"second\" # in words"), "{text}");
    }

    #[test]
    fn comment_above_the_only_entry_stays() {
        let text = "[claims]\n\n# About the claims.\n\n# a\n[[known]]\ntest = \"a\"\nrequirement = \"f/r\"\n";
        let mut one = stale();
        (one.known.test, one.requirement) = ("a".to_owned(), RequirementId::within("", "f/r"));
        one.target.variant = None;
        let (text, changed) = without_stale(text, &[""], &[&one]).expect("tables");
        assert_eq!((text.as_str(), changed), ("[claims]\n\n# About the claims.\n", 1));
    }

    #[test]
    fn entry_is_limited_to_what_still_fails() {
        let text = cut(&[("a", "f/r", "high"), ("b", "f/r", "low")]);
        for part in ["reason = \"first\"\nvariant = \"low\"", "requirement = \"f/r\"", "requirement = \"f/s\""] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(text.matches("[[known]]").count(), 3);
        let rest = cut(&[("b", "f/s", "low"), ("b", "f/s", "high")]);
        assert!(rest.contains("requirement = \"f/r\"\nreason = \"second\""), "{rest}");
    }

    #[test]
    fn list_as_one_value_is_refused() {
        let one = stale();
        let error = without_stale("known = []\n", &[], &[&one]).expect_err("an inline list");
        assert!(error.contains("write each entry below a [[known]] of its own"));
    }
}
