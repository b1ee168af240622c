//! The published frozen sets, against the embedded cases.

use casebook::load::{Source, load, published_set, published_sets};
use casebook::model::set::{Set, SetName};
use casebook::model::spec::Revision;
use casebook::set;

#[test]
fn each_revision_has_a_published_set_of_checks_that_exist() {
    let names: Vec<_> = published_sets().collect();
    let revisions: Vec<_> = Revision::all().map(|one| one.to_string()).collect();
    assert_eq!(names, revisions);
    for name in names {
        let set: Set = serde_json::from_str(published_set(name).expect("it is embedded")).expect("it was written");
        assert_eq!(set.revision.map(|one| one.to_string()).as_deref(), Some(name));
        let mut library = load(&[Source::Embedded]).expect("the cases are sound");
        let drift = set::narrow(&mut library, name.parse::<SetName>().expect("a name"), &set);
        // Until the first release: `casebook freeze new --revision NAME && mv sets/new.json sets/NAME.json`.
        assert_eq!(drift.gone, Vec::<String>::new(), "sets/{name}.json has checks that no case has");
    }
}
