//! Checks the numbers that the README gives.

use std::collections::BTreeSet;

use casebook::load::{Source, load};
use casebook::model::spec::Level;
use casebook::proof;

/// A number from 1,000 on, with a comma.
pub(crate) fn thousands(number: usize) -> String {
    format!("{},{:03}", number / 1000, number % 1000)
}

#[test]
fn readme_gives_the_numbers_of_the_embedded_cases() {
    let library = load(&[Source::Embedded]).expect("the cases are sound");
    let tests: Vec<_> = library.cases.iter().flat_map(|case| &case.tests).collect();
    let checked: BTreeSet<_> = tests.iter().flat_map(|test| test.checks()).map(|check| &check.requirement).collect();
    let is_derived = |id: &&&_| library.requirements.get(id).is_none_or(|one| one.level == Level::Derived);
    let derived = checked.iter().filter(is_derived).count();
    let readme = include_str!("../../README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let words = [
        format!("**{} requirements with checks.**", checked.len()),
        format!("{} of these requirements rest on", checked.len() - derived),
        format!("The other {derived} follow"),
        format!("**{} tests in {} case files.**", thousands(tests.len()), library.cases.len()),
        format!("{} [mutants](docs/proof.md)", proof::contained().count()),
    ];
    let missing: Vec<_> = words.iter().filter(|words| !readme.contains(*words)).collect();
    assert!(missing.is_empty(), "the README does not say {missing:?}");
}
