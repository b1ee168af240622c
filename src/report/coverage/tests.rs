//! What a small library of two folders covers.

use super::*;
use crate::load::{Source, load};

fn library() -> Library {
    load(&[Source::Folder("tests/cli/coverage".into())]).expect("the cases of the tests load")
}

fn entry<'c>(coverage: &'c Coverage<'c>, id: &str) -> &'c Entry<'c> {
    coverage.entries().iter().find(|entry| entry.requirement.id.as_str() == id).expect(id)
}

#[test]
fn acceptance_and_refusal_are_counted_apart_once_a_row() {
    let library = library();
    let coverage = Coverage::of(&library);
    let checked = entry(&coverage, "sep-7/arguments-checked");
    assert_eq!((checked.positive, checked.negative, checked.state()), (2, 4, State::Verified));
}

#[test]
fn what_binds_two_sides_and_is_checked_of_one_is_verified_partly() {
    let library = library();
    let coverage = Coverage::of(&library);
    let partly = entry(&coverage, "sep-7/nothing-fetched");
    assert_eq!((partly.state(), partly.unchecked().collect::<Vec<_>>()), (State::Partly, vec![Role::Client]));
    assert_eq!((partly.positive, partly.negative), (0, 2));
}

#[test]
fn what_nobody_checks_is_open_unless_the_catalogue_says_why() {
    let library = library();
    let coverage = Coverage::of(&library);
    assert_eq!(entry(&coverage, "sep-7/answers-checked").state(), State::Open);
    assert_eq!(entry(&coverage, "sep-7/documented").state(), State::Unobservable);
}

#[test]
fn a_proposal_has_its_own_folder_and_what_is_quoted_from_it_elsewhere() {
    let library = library();
    let coverage = Coverage::of(&library).of_sep(7);
    assert!(coverage.entries().iter().any(|entry| entry.requirement.id.as_str() == "tools/named"));
    assert!(!coverage.entries().iter().any(|entry| entry.requirement.id.as_str() == "tools/unnamed"));
    assert!(Coverage::of(&library).of_sep(8).entries().is_empty());
}

#[test]
fn the_sums_have_every_requirement_once_and_again_in_the_total() {
    let library = library();
    let coverage = Coverage::of(&library);
    let rows = sums(&coverage);
    let of = |is_total: bool| -> usize {
        rows.iter().filter(|(folder, ..)| (folder == "total") == is_total).map(|(.., sum)| sum.requirements()).sum()
    };
    assert_eq!((of(false), of(true)), (library.requirements.len(), library.requirements.len()));
}
