//! What `lint` says of folders of cases, good and bad. Each folder of `tests/library/lint/` is one set of cases; those
//! without requirements of their own check the ones of `catalogue`.

use camino::{Utf8Path, Utf8PathBuf};
use casebook::load::{Diagnostic, Source, lint, load, render};
use casebook::report::explain;
use serde_json::{Map, Value, json};

fn folder(name: &str) -> Utf8PathBuf {
    Utf8Path::new("tests/library/lint").join(name)
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
    assert_eq!(render(&lint(&sources), false).as_str(), "");
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
    assert_eq!(render(&lint(&[Source::Embedded]), false).as_str(), "");
    assert!(load(&[Source::Embedded]).is_ok());
}

/// The embedded ones are taken for good by a run: the test above looked at them.
#[test]
fn a_bad_schema_of_somebody_s_own_keeps_a_run_from_starting() {
    let error = load(&[Source::Folder(folder("catalogue")), Source::Folder(folder("types"))]).expect_err("mistakes");
    assert!(error.report(false).as_str().contains("`matches` is no JSON Schema that stands alone"));
}

#[test]
fn warnings_keep_no_run_from_starting_and_errors_do() {
    for name in ["unused", "controls", "style"] {
        assert!(load(&[Source::Folder(folder(name))]).is_ok(), "{name}");
    }
    let error =
        load(&[Source::Folder(folder("catalogue")), Source::Folder(folder("ranges"))]).expect_err("it has mistakes");
    assert_eq!(error.to_string(), format!("{} mistakes in what was read", error.diagnostics.len()));
    assert!(error.report(false).as_str().contains("never-applies"));
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

/// A case file with this schema over the reply, and as the schema of its tool.
fn case_with(schema: &Value) -> String {
    let expected = json!({ "inputs-validated": { "outcome": "success", "reply": schema } });
    let mut tool = json!({ "type": "object" });
    tool.as_object_mut().unwrap().extend(schema.as_object().unwrap().clone());
    let tools = json!({ "t": { "description": "Echo.", "inputSchema": tool, "does": { "echo": true } } });
    let test =
        json!({ "title": "whatever comes is judged", "when": { "call": "t", "arguments": {} }, "then": expected });
    let case = json!({
        "$schema": "../schemas/case.json", "title": "Schemas can make much work", "role": "server",
        "given": { "tools": tools }, "tests": { "a": test }
    });
    serde_json::to_string_pretty(&case).expect("JSON")
}

#[test]
fn schema_that_makes_endless_work_is_refused_in_time() {
    let twice = |inner: Value| json!({ "allOf": [inner.clone(), inner] });
    let link = |index: usize| json!({ "$ref": format!("#/$defs/d{index}") });
    let mut defs: Map<_, _> = (0..60).map(|index| (format!("d{index}"), twice(link(index + 1)))).collect();
    defs.insert("d60".to_owned(), json!({ "type": "object" }));
    let doubling = json!({ "$defs": defs, "allOf": [link(0)] });
    let recursive = twice(json!({ "additionalProperties": { "$ref": "#" } }));
    let long = json!({ "enum": (0..6_000).collect::<Vec<_>>() });
    for schema in [doubling, recursive, long] {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(folder.path()).expect("UTF-8");
        std::fs::create_dir(root.join("catalogue")).expect("a folder");
        let requirements = std::fs::read("cases/tools/requirements.json").expect("the requirements of tools");
        std::fs::write(root.join("catalogue/requirements.json"), requirements).expect("written");
        std::fs::write(root.join("catalogue/c.json"), case_with(&schema)).expect("written");
        let found = lint(&[Source::Folder(root.to_owned())]);
        let lines: Vec<_> = found.iter().map(Diagnostic::line).collect();
        assert!(lines.iter().any(|line| line.contains("invalid-schema: `reply`")), "{lines:?}");
    }
}

#[test]
fn alternatives_beyond_the_limit_are_refused_in_time() {
    let alternatives: Vec<_> = (0..20_000).map(|index| json!({ "as": index.to_string(), "code": index })).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let root = Utf8Path::from_path(folder.path()).expect("UTF-8");
    std::fs::create_dir(root.join("tools")).expect("a folder");
    let requirements = std::fs::read("cases/tools/requirements.json").expect("the requirements of tools");
    std::fs::write(root.join("tools/requirements.json"), requirements).expect("written");
    let case = case_with(&json!({})).replace(
        r#"{
          "outcome": "success",
          "reply": {}
        }"#,
        &Value::from(alternatives).to_string(),
    );
    assert!(case.len() > 400_000);
    std::fs::write(root.join("tools/c.json"), case).expect("written");
    let lines: Vec<_> = lint(&[Source::Folder(root.to_owned())]).iter().map(Diagnostic::line).collect();
    assert!(lines.iter().any(|line| line.contains("at most 64")), "{lines:?}");
}

#[test]
fn rows_beyond_the_limit_are_refused_in_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Utf8Path::from_path(folder.path()).expect("UTF-8");
    std::fs::create_dir(root.join("tools")).expect("a folder");
    let requirements = std::fs::read("cases/tools/requirements.json").expect("the requirements of tools");
    std::fs::write(root.join("tools/requirements.json"), requirements).expect("written");
    let mut case: Value = serde_json::from_str(&case_with(&json!({ "type": "object" }))).expect("JSON");
    case["rows"] = (0..20_000).map(|index| (format!("r{index}"), json!({ "a": 1 }))).collect();
    std::fs::write(root.join("tools/c.json"), case.to_string()).expect("written");
    let lines: Vec<_> = lint(&[Source::Folder(root.to_owned())]).iter().map(Diagnostic::line).collect();
    assert!(lines.iter().any(|line| line.contains("more than 500")), "{lines:?}");
}
