//! The coverage of a small library with two folders.

use super::*;
use crate::load::{Source, load};

fn library() -> Library {
    load(&[Source::Folder("tests/cli/coverage".into())]).expect("the cases of the tests load")
}

fn entry<'c>(coverage: &'c Coverage<'c>, id: &str) -> &'c Entry<'c> {
    coverage.entries().iter().find(|entry| entry.requirement.id.as_str() == id).expect(id)
}

#[test]
fn positive_and_negative_checks_are_counted_for_each_row() {
    let library = library();
    let coverage = Coverage::of(&library);
    let checked = entry(&coverage, "sep-7/arguments-checked");
    assert_eq!((checked.positive, checked.negative, checked.state()), (2, 4, State::Verified));
}

#[test]
fn requirement_checked_for_one_of_two_roles_is_partly_verified() {
    let library = library();
    let coverage = Coverage::of(&library);
    let partly = entry(&coverage, "sep-7/nothing-fetched");
    assert_eq!((partly.state(), partly.unchecked().collect::<Vec<_>>()), (State::Partly, vec![Role::Client]));
    assert_eq!((partly.positive, partly.negative), (0, 2));
}

#[test]
fn unchecked_requirement_is_open_unless_it_has_a_reason() {
    let library = library();
    let coverage = Coverage::of(&library);
    assert_eq!(entry(&coverage, "sep-7/answers-checked").state(), State::Open);
    assert_eq!(entry(&coverage, "sep-7/documented").state(), State::Unobservable);
}

#[test]
fn sep_has_its_folder_and_requirements_that_quote_it() {
    let library = library();
    let coverage = Coverage::of(&library).of_sep(7);
    assert!(coverage.entries().iter().any(|entry| entry.requirement.id.as_str() == "tools/named"));
    assert!(!coverage.entries().iter().any(|entry| entry.requirement.id.as_str() == "tools/unnamed"));
    assert!(Coverage::of(&library).of_sep(8).entries().is_empty());
}

#[test]
fn sums_count_each_requirement_once_and_again_in_the_total() {
    let library = library();
    let coverage = Coverage::of(&library);
    let rows = sums(&coverage);
    let of = |is_total: bool| -> usize {
        rows.iter().filter(|(folder, ..)| (folder == "total") == is_total).map(|(.., sum)| sum.requirements()).sum()
    };
    assert_eq!((of(false), of(true)), (library.requirements.len(), library.requirements.len()));
}
