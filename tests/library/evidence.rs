//! Evidence of known failures: programs that show them without an adapter.

use std::collections::BTreeSet;

use camino::Utf8Path;
use casebook::load::{Here, Trust, target};
use casebook::model::target::Target;

/// All variants of the targets of this repository.
fn targets() -> Vec<Target> {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    let here = Here::new(root, Trust::All);
    let entries = root.join("targets").read_dir_utf8().expect("a folder").map(|entry| entry.expect("an entry"));
    let named = entries.filter(|entry| entry.path().join("target.toml").exists());
    named.flat_map(|entry| target::target(entry.file_name(), &here, None).expect("a target")).collect()
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
