//! `seeds/FOLDER.json`: the documents from which the cases of a folder were made, paragraph by paragraph.

use std::collections::BTreeSet;
use std::fs;

use camino::Utf8Path;
use casebook::load::{Source, load};
use casebook::model::RequirementId;
use serde_json::{Map, Value};

fn texts<'v>(paragraph: &'v Value, key: &str) -> Vec<&'v str> {
    paragraph[key].as_array().into_iter().flatten().map(|one| one.as_str().expect("a text")).collect()
}

/// A paragraph names requirements or tests, or has the reason why nothing asks for it. Each of its requirements that can
/// be observed decides a question of readers.
#[test]
fn paragraph_of_a_seed_names_what_exists_and_is_answered() {
    let library = load(&[Source::Embedded]).expect("the cases are sound");
    let capabilities = library.capabilities.iter().flat_map(|group| &group.capabilities);
    let decided: BTreeSet<_> = capabilities.flat_map(|one| &one.decided_by).map(|one| &one.requirement).collect();
    let paths: Vec<_> = library.cases.iter().flat_map(|case| &case.tests).map(|test| test.path()).collect();
    let is_test = |name: &str| paths.iter().any(|path| *path == name || path.starts_with(&format!("{name}/")));
    let mut wrong = Vec::new();
    for entry in Utf8Path::new("tests/library/seeds").read_dir_utf8().expect("a folder") {
        let path = entry.expect("an entry").into_path();
        let seeds: Map<String, Value> =
            serde_json::from_str(&fs::read_to_string(&path).expect("a file")).expect("an object");
        for (name, paragraph) in seeds.values().flat_map(|seed| seed["paragraphs"].as_object().expect("an object")) {
            let (requirements, tests) = (texts(paragraph, "requirements"), texts(paragraph, "tests"));
            if requirements.is_empty() && tests.is_empty() && paragraph["reason"].is_null() {
                wrong.push(format!("{path}: nothing asks for {name}, without a reason"));
            }
            for id in requirements {
                let id = RequirementId::within(path.file_stem().expect("a name"), id);
                match library.requirements.get(&id) {
                    None => wrong.push(format!("{path}: {name}: no requirement {id}")),
                    Some(known) if known.unobservable.is_none() && !decided.contains(&id) => {
                        wrong.push(format!("{path}: {name}: {id} decides no capability"));
                    }
                    Some(_) => {}
                }
            }
            let unknown = tests.into_iter().filter(|name| !is_test(name));
            wrong.extend(unknown.map(|test| format!("{path}: {name}: no test {test}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
