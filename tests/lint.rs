//! What `lint` says of folders of cases, good and bad. Each folder of `tests/lint/` is one set of cases; those
//! without requirements of their own check the ones of `catalogue`.

use camino::{Utf8Path, Utf8PathBuf};
use casebook::load::{Diagnostic, Source, explain, lint, load, render};

fn folder(name: &str) -> Utf8PathBuf {
    Utf8Path::new("tests/lint").join(name)
}

/// All that is said, in one line each, and then with the lines of the files.
fn said(folders: &[&str]) -> String {
    let sources: Vec<_> = folders.iter().map(|name| Source::Folder(folder(name))).collect();
    let found = lint(&sources);
    let lines: Vec<_> = found.iter().map(Diagnostic::line).collect();
    // A message of the system differs between systems; all others are ours.
    format!("{}\n\n{}", lines.join("\n"), render(&found, false)).replace('\\', "/")
}

/// A snapshot a folder, beside the folders.
macro_rules! lints {
    ($($test:ident: $folders:expr;)+) => {
        $(#[test]
        fn $test() {
            let folders: &[&str] = &$folders;
            let mut settings = insta::Settings::clone_current();
            settings.set_snapshot_path("lint");
            settings.set_prepend_module_to_snapshot(false);
            settings.set_omit_expression(true);
            let name = folders[folders.len() - 1];
            settings.bind(|| insta::assert_snapshot!(name, said(folders)));
        })+
    };
}

lints! {
    what_is_no_strict_json_is_shown_at_its_character: ["catalogue", "syntax"];
    what_is_there_twice_is_shown_at_both_places: ["catalogue", "duplicates"];
    unknown_words_come_with_the_nearest_known_one: ["catalogue", "unknown-words"];
    unknown_rows_tools_values_and_requirements_come_with_what_there_is: ["catalogue", "unknown-names"];
    places_that_nobody_fills_in_are_errors: ["catalogue", "places"];
    wrong_types_and_shapes_are_all_listed: ["catalogue", "types"];
    what_cannot_be_seen_of_the_role_under_test_is_an_error: ["catalogue", "roles"];
    ranges_that_leave_nothing_are_errors: ["catalogue", "ranges"];
    mistakes_in_the_catalogue_are_listed: ["catalogue", "requirements"];
    a_requirement_that_is_there_twice_is_shown_at_both_places: ["catalogue", "twice"];
    a_case_in_two_sources_is_an_error: ["worked", "worked"];
    a_folder_that_is_not_there_is_an_error: ["missing"];
    what_nobody_looks_at_is_a_warning: ["unused"];
    what_a_dead_server_would_pass_is_a_warning: ["controls"];
    style_and_size_are_warnings: ["style"];
}

#[test]
fn the_worked_cases_of_the_format_are_without_fault() {
    let sources = [Source::Folder(folder("worked"))];
    assert_eq!(render(&lint(&sources), false), "");
    let library = load(&sources).expect("they load");
    let tests: Vec<_> = library.cases.iter().map(|case| (case.id.as_str(), case.tests.len())).collect();
    let wanted = [
        ("sep-1034/client-defaults", 36),
        ("sep-2106/bounds", 7),
        ("sep-2106/composition", 21),
        ("sep-2106/external-ref", 18),
    ];
    assert_eq!(tests, wanted);
}

#[test]
fn the_cases_of_this_program_are_without_fault() {
    assert_eq!(render(&lint(&[Source::Embedded]), false), "");
    assert!(load(&[Source::Embedded]).is_ok());
}

/// The embedded ones are taken for good by a run: the test above looked at them.
#[test]
fn a_bad_schema_of_somebody_s_own_keeps_a_run_from_starting() {
    let error = load(&[Source::Folder(folder("catalogue")), Source::Folder(folder("types"))]).expect_err("mistakes");
    assert!(error.report(false).contains("`matches` is no JSON Schema that stands alone"));
}

#[test]
fn warnings_keep_no_run_from_starting_and_errors_do() {
    for name in ["unused", "controls", "style"] {
        assert!(load(&[Source::Folder(folder(name))]).is_ok(), "{name}");
    }
    let error =
        load(&[Source::Folder(folder("catalogue")), Source::Folder(folder("ranges"))]).expect_err("it has mistakes");
    assert_eq!(error.to_string(), format!("{} mistakes in what was read", error.diagnostics.len()));
    assert!(error.report(false).contains("never-applies"));
}

#[test]
fn a_case_is_explained_in_words() {
    let library = load(&[Source::Folder(folder("worked"))]).expect("they load");
    let case = library.cases.iter().find(|case| case.id.as_str() == "sep-2106/external-ref").expect("it is there");
    let breakers = [("sep-2106/no-network-deref", vec!["fetches", "fetches-behind-id"])].into();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("lint");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("explained", explain(&library, case, &breakers)));
}
