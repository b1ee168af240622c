//! Evidence of published accusations: each known failure that violates a MUST, or that does harm, can be checked by others.

use std::collections::BTreeSet;

use camino::Utf8Path;
use casebook::load::{Here, Source, load, target};
use casebook::model::spec::{Level, Requirement};
use casebook::model::target::{Known, Target};

/// All variants of the targets of this repository.
fn targets() -> Vec<Target> {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    let here = Here::new(root);
    let entries = root.join("targets").read_dir_utf8().expect("a folder").map(|entry| entry.expect("an entry"));
    let named = entries.filter(|entry| entry.path().join("target.toml").exists());
    named.flat_map(|entry| target::target(entry.file_name(), &here, None).expect("a target")).collect()
}

/// Returns whether a failure needs evidence.
fn is_grave(requirement: &Requirement) -> bool {
    let is_must = matches!(requirement.level, Level::Must | Level::MustNot);
    is_must || requirement.harm.is_grave()
}

#[test]
fn grave_known_failure_has_an_issue_or_a_repro() {
    let library = load(&[Source::Embedded]).expect("the cases are sound");
    let has_evidence = |known: &Known| known.issue.is_some() || known.repro.is_some();
    let mut lacking = BTreeSet::new();
    for target in targets() {
        for known in target.known.iter().filter(|known| !has_evidence(known)) {
            if library.requirements.get(&known.requirement).is_some_and(is_grave) {
                lacking.insert(format!("{}: {} in {}", target.id.name, known.requirement, known.test.as_str()));
            }
        }
    }
    let lacking: Vec<_> = lacking.into_iter().collect();
    assert!(
        lacking.is_empty(),
        "{} known failures lack an `issue` or a `repro`:\n{}",
        lacking.len(),
        lacking.join("\n")
    );
}

#[test]
fn repro_is_a_file_that_a_known_failure_names() {
    for target in targets() {
        let folder = target.folder.join("repro");
        let named: BTreeSet<_> = target.known.iter().filter_map(|known| known.repro.as_deref()).collect();
        for path in &named {
            assert!(folder.join(path).exists(), "{}: there is no repro/{path}", target.id);
            assert!(!target.repro.is_empty(), "{}: target.toml has no `[repro] command`", target.id);
        }
    }
}
