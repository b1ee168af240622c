//! Checks that the tests that SECURITY.md names exist.

use std::fs;
use std::path::{Path, PathBuf};

/// The file of a module. The first part of the path names an integration test or a module of the library.
fn file_of(modules: &[&str]) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = if matches!(modules.first(), Some(&("cli" | "conformance" | "library"))) { "tests" } else { "src" };
    let path = root.join(folder).join(modules.join("/"));
    let candidates = [path.with_extension("rs"), path.join("mod.rs")];
    candidates.into_iter().find(|path| path.is_file())
}

/// Returns whether a test with this path exists. A final `*` stands for the rest of any name.
fn exists(path: &str) -> bool {
    let (modules, name) = path.rsplit_once("::").expect("a path of a module and a test");
    let modules: Vec<_> = modules.split("::").collect();
    // A module `tests` can be inside the file of its parent, and names of conformance trials have additional parts.
    let parent = &modules[..modules.len() - 1];
    let Some(file) = file_of(&modules).or_else(|| file_of(parent)) else { return false };
    let text = fs::read_to_string(file).expect("a source file is UTF-8");
    match name.strip_suffix('*') {
        Some("") => true,
        Some(start) => text.contains(&format!("fn {start}")),
        None => text.contains(&format!("fn {name}(")),
    }
}

#[test]
fn security_page_names_tests_that_exist() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("SECURITY.md")).expect("SECURITY.md");
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.ends_with(" |"));
    let tests: Vec<_> = rows
        .filter_map(|row| row.trim_end_matches(" |").rsplit_once(" | "))
        .flat_map(|(_, tests)| tests.split('`').skip(1).step_by(2))
        .filter(|name| name.contains("::"))
        .collect();
    assert!(tests.len() > 30, "cannot find the names of tests: {tests:?}");
    let missing: Vec<_> = tests.into_iter().filter(|path| !exists(path)).collect();
    assert!(missing.is_empty(), "SECURITY.md names tests that do not exist: {missing:?}");
}
