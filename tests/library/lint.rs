//! The diagnostics of `casebook lint` for valid and invalid cases. Each folder of `tests/library/lint/` is one set of cases.
//! A set without requirements checks those of `catalogue`.

use camino::{Utf8Path, Utf8PathBuf};
use casebook::load::{Diagnostic, Source, lint, load, render};
use casebook::report::explain;
use serde_json::{Map, Value, json};

fn folder(name: &str) -> Utf8PathBuf {
    Utf8Path::new("tests/library/lint").join(name)
}

/// All diagnostics, first in one line each, then with the lines of the files.
fn report(folders: &[&str]) -> String {
    let sources: Vec<_> = folders.iter().map(|name| Source::Folder(folder(name))).collect();
    let found = lint(&sources);
    let lines: Vec<_> = found.iter().map(Diagnostic::line).collect();
    format!("{}\n\n{}", lines.join("\n"), render(&found, false)).replace('\\', "/")
}

/// One snapshot for each last folder, beside the folders.
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
            settings.bind(|| insta::assert_snapshot!(name, report(folders)));
        })+
    };
}

lints! {
    invalid_json_is_reported_at_its_character: ["catalogue", "syntax"];
    duplicate_is_reported_at_both_places: ["catalogue", "duplicates"];
    unknown_word_gets_the_nearest_known_one: ["catalogue", "unknown-words"];
    unknown_name_gets_the_known_names: ["catalogue", "unknown-names"];
    unknown_placeholder_is_an_error: ["catalogue", "places"];
    wrong_types_are_all_reported: ["catalogue", "types"];
    role_mismatch_is_an_error: ["catalogue", "roles"];
    empty_range_is_an_error: ["catalogue", "ranges"];
    mistakes_in_requirements_are_reported: ["catalogue", "requirements"];
    duplicate_requirement_is_reported_with_the_other: ["catalogue", "twice"];
    case_in_two_sources_is_an_error: ["worked", "again"];
    bad_requirement_is_reported_without_consequences: ["causes"];
    folder_without_requirements_is_reported_once: ["homeless"];
    missing_folder_is_an_error: ["missing"];
    check_that_is_never_asked_is_an_error: ["catalogue", "idle"];
    unused_value_is_a_warning: ["unused"];
    test_that_a_dead_server_passes_is_a_warning: ["controls"];
    style_and_size_are_warnings: ["style"];
    mistake_is_answered_with_its_remedy: ["hints"];
    condition_that_cannot_fail_is_an_error: ["catalogue", "vacuous"];
}

#[test]
fn worked_cases_have_no_mistakes() {
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
fn embedded_cases_have_no_mistakes() {
    assert_eq!(render(&lint(&[Source::Embedded]), false).as_str(), "");
    assert!(load(&[Source::Embedded]).is_ok());
}

/// A run does not check the schemas of the embedded cases again; the test above did.
#[test]
fn invalid_schema_in_a_folder_prevents_a_run() {
    let error = load(&[Source::Folder(folder("catalogue")), Source::Folder(folder("types"))]).expect_err("mistakes");
    assert!(error.report(false).as_str().contains("`matches` is not a JSON Schema that can be used"));
}

#[test]
fn errors_prevent_a_run_and_warnings_do_not() {
    for name in ["unused", "controls", "style"] {
        assert!(load(&[Source::Folder(folder(name))]).is_ok(), "{name}");
    }
    let error =
        load(&[Source::Folder(folder("catalogue")), Source::Folder(folder("ranges"))]).expect_err("it has mistakes");
    assert_eq!(error.to_string(), format!("{} errors found", error.diagnostics.len()));
    assert!(error.report(false).as_str().contains("never-applies"));
}

#[test]
fn case_is_explained_in_words() {
    let library = load(&[Source::Folder(folder("worked"))]).expect("they load");
    let case = library.cases.iter().find(|case| case.id.as_str() == "sep-2106/external-ref").expect("it is there");
    let breakers = [("sep-2106/no-network-deref", ["fetches", "fetches-behind-id"])];
    let owned = |names: [&str; 2]| names.map(ToOwned::to_owned).to_vec();
    let breakers = breakers.map(|(id, names)| (id.to_owned(), owned(names))).into();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("lint");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("explained", explain(&library, case, &breakers)));
}

#[test]
fn quotes_are_compared_with_a_checkout() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Utf8Path::from_path(folder.path()).expect("UTF-8");
    let pages = root.join("docs/specification/2026-07-28");
    std::fs::create_dir_all(&pages).expect("a folder");
    let page = "---\ntitle: A\n---\n## B\n\nIf it is late, a server **MUST** [wait](/b)\nuntil noon, unless it rains. It MUST sleep.\n\n\
        It MUST eat (e.g. fish). It MUST drink (if it can).\n\nAn old server SHOULD do this:\n\n- answer with `404`\n";
    std::fs::write(pages.join("a.mdx"), page).expect("written");
    let requirement = |level: &str, source: &str, quote: &str| json!({ "level": level, "roles": ["server"], "source": source, "quote": quote, "harm": "none", "why": "W." });
    let of_page = |level, quote| requirement(level, "specification/2026-07-28/a#b", quote);
    let whole = "If it is late, a server MUST wait until noon, unless it rains";
    let catalogue = json!({
        "whole": of_page("MUST", whole), "next": of_page("MUST", "It MUST sleep."),
        "joined": of_page("SHOULD", "An old server SHOULD do this: … answer with `404`"),
        "derived": of_page("DERIVED", "a server MUST wait"), "drifted": of_page("MUST", "It MUST dance"),
        "no-end": of_page("MUST", "If it is late, a server MUST wait until noon"),
        "no-beginning": of_page("MUST", "a server MUST wait until noon, unless it rains"),
        "no-parenthesis": of_page("MUST", "It MUST eat"), "no-rest": of_page("MUST", "It MUST drink"),
        "no-list": of_page("SHOULD", "answer with `404`"), "no-page": requirement("MUST", "specification/2026-07-28/c", whole),
        "no-heading": requirement("MUST", "specification/2026-07-28/a#c", whole)
    });
    let text = serde_json::to_string_pretty(&catalogue).expect("JSON");
    let sources = [Source::Texts(vec![("sep-1/requirements.json".into(), text)])];
    let found = casebook::load::lint_quotes(&sources, root).expect("a checkout");
    let lines: Vec<_> = found.iter().map(|one| one.line().split_once(": ").expect("a place").1.to_owned()).collect();
    let wanted = [
        "quote-not-found: the page `specification/2026-07-28/a#b` does not have the quoted words",
        "quote-cut: the quoted sentence begins with \"If it is late,\"",
        "quote-cut: the quoted sentence goes on: \", unless it rains.\"",
        "quote-cut: the quoted sentence goes on: \"(if it can).\"",
        "quote-cut: the list of the quoted item is introduced by \"An old server SHOULD do this:\"",
        "quote-not-found: the page has no heading `#c`",
        "quote-not-found: the specification's checkout has no page `specification/2026-07-28/c`",
    ];
    let (mut lines, mut wanted) = (lines, wanted.map(str::to_owned).to_vec());
    lines.sort();
    wanted.sort();
    assert_eq!(lines, wanted);
    assert!(casebook::load::lint_quotes(&sources, Utf8Path::new("src")).is_err());
}

#[test]
fn sentences_in_scope_are_quoted_or_excluded() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Utf8Path::from_path(folder.path()).expect("UTF-8");
    for revision in ["2025-11-25", "2026-07-28"] {
        std::fs::create_dir_all(root.join("docs/specification").join(revision)).expect("a folder");
    }
    let page = "## Day\n\nIt MUST sleep. It MAY dream. It SHOULD rest, and MUST NOT talk.\n\nServers MUST:\n\n- sit\n- stand\n";
    std::fs::write(root.join("docs/specification/2025-11-25/a.mdx"), page).expect("written");
    let newer = "It MUST sleep.\n\n## Night\n\nIt SHOULD hide.\n\n```\nIt MUST run.\n```\n";
    std::fs::write(root.join("docs/specification/2026-07-28/a.mdx"), newer).expect("written");
    let requirement = |level: &str, until: &str, quote: &str| {
        let source = "specification/2025-11-25/a";
        json!({ "level": level, "roles": ["server"], "until": until, "source": source, "quote": quote, "harm": "none", "why": "W." })
    };
    let catalogue = json!({
        "sleeps": requirement("MUST", "2025-11-25", "It MUST sleep"),
        "rests": requirement("SHOULD", "2025-11-25", "It SHOULD rest … talk"),
        "sits": requirement("MUST", "2025-11-25", "Servers MUST: … sit"),
        "stands": requirement("DERIVED", "2025-11-25", "Servers MUST: … stand")
    });
    let exclusion = |pages: &[&str], sentence: &str| json!({ "why": "No.", "pages": pages, "sentences": [sentence] });
    let exclusions = json!({
        "pages": { "2025-11-25": ["a"], "2026-07-28": ["a", "b"] }, "permissions": "They permit.",
        "exclusions": [exclusion(&["a"], "It SHOULD"), exclusion(&["a", "b"], "It SHOULD hide"), exclusion(&["a"], "It MUST run")]
    });
    let found = |exclusions: &Value| {
        let file = |path: &str, value: &Value| (path.into(), serde_json::to_string_pretty(value).expect("JSON"));
        let sources =
            [Source::Texts(vec![file("sep-1/requirements.json", &catalogue), file("exclusions.json", exclusions)])];
        let found = casebook::load::lint_quotes(&sources, root).expect("a checkout");
        found.iter().map(|one| one.line().split_once(": ").expect("a place").1.to_owned()).collect::<Vec<_>>()
    };
    let says = |place: &str, level: &str, text: &str| {
        format!("sentence-not-quoted: specification/{place} has a {level} that no requirement quotes: \"{text}\"")
    };
    let stand = says("2025-11-25/a#day", "MUST", "Servers MUST: … stand");
    let wanted = [
        stand.clone(),
        says("2026-07-28/a", "MUST", "It MUST sleep."),
        "exclusion-not-found: the specification's checkout has no page `b` of 2026-07-28".to_owned(),
        "exclusion-not-found: none of these sentences is on the page `b`".to_owned(),
        "exclusion-not-found: no page of this exclusion has a sentence that begins with \"It MUST run\"".to_owned(),
        "exclusion-not-found: none of these sentences is on the page `a`".to_owned(),
    ];
    let (mut lines, mut wanted) = (found(&exclusions), wanted.to_vec());
    lines.sort();
    wanted.sort();
    assert_eq!(lines, wanted);
    let bare = json!({ "pages": { "2025-11-25": ["a"] }, "exclusions": [] });
    let rest = says("2025-11-25/a#day", "MUST NOT and SHOULD", "It SHOULD rest, and MUST NOT talk.");
    assert_eq!(found(&bare), [says("2025-11-25/a#day", "MAY", "It MAY dream."), rest, stand]);
}

/// A case file with this schema for the reply and for its tool.
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
fn schema_with_endless_work_is_refused_in_time() {
    let twice = |inner: Value| json!({ "allOf": [inner.clone(), inner] });
    let link = |index: usize| json!({ "$ref": format!("#/$defs/d{index}") });
    let mut defs: Map<_, _> = (0..60).map(|index| (format!("d{index}"), twice(link(index + 1)))).collect();
    defs.insert("d60".to_owned(), json!({ "type": "object" }));
    let doubling = json!({ "$defs": defs, "allOf": [link(0)] });
    let recursive = json!({ "allOf": vec![json!({ "additionalProperties": { "$ref": "#" } }); 4] });
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

/// The lines for these paths below `tests/library/lint`.
fn lines(paths: &[&str]) -> Vec<String> {
    let sources: Vec<_> = paths.iter().map(|path| Source::Folder(folder(path))).collect();
    lint(&sources).iter().map(|found| found.line().replace('\\', "/")).collect()
}

#[test]
fn part_of_a_folder_is_checked_with_the_requirements_of_all() {
    for path in ["worked", "worked/sep-2106", "worked/sep-2106/bounds.json", "worked/sep-2106/requirements.json"] {
        assert_eq!(lines(&[path]), Vec::<String>::new(), "{path}");
        assert!(load(&[Source::Folder(folder(path))]).is_ok(), "{path}");
    }
    let library = load(&[Source::Folder(folder("worked/sep-2106/bounds.json"))]).expect("it loads");
    let cases: Vec<_> = library.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(cases, ["sep-2106/bounds"]);
    assert_eq!(lines(&["requirements/sep-1"]).len(), lines(&["requirements/sep-1/requirements.json"]).len() + 1);
}

#[test]
fn file_beside_its_folder_is_read_once() {
    let file = "worked/sep-2106/bounds.json";
    for paths in [[file, "worked"], ["worked", file], ["worked/sep-2106", "worked"], [file, file]] {
        assert_eq!(lines(&paths), Vec::<String>::new(), "{paths:?}");
    }
}

#[test]
fn path_without_cases_is_an_error() {
    let empty = tempfile::tempdir().expect("a folder");
    let empty = Utf8Path::from_path(empty.path()).expect("UTF-8");
    let text = empty.join("notes.txt");
    let only = |path: &Utf8Path| {
        let found = lint(&[Source::Folder(path.to_owned())]);
        render(&found, false).to_string()
    };
    assert!(only(empty).contains("there is no case file in this folder"), "{}", only(empty));
    std::fs::write(&text, "x").expect("written");
    assert!(only(&text).contains("its name does not end in `.json`"), "{}", only(&text));
    assert!(only(&empty.join("nowhere")).contains("no such file or folder"));
    assert!(only(empty).contains("help: expected a folder that holds folders of cases"));
}

#[test]
fn file_in_another_encoding_is_named_as_such() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Utf8Path::from_path(folder.path()).expect("UTF-8");
    std::fs::create_dir(root.join("sep-1")).expect("a folder");
    let message = |bytes: &[u8]| {
        std::fs::write(root.join("sep-1/case.json"), bytes).expect("written");
        lint(&[Source::Folder(root.to_owned())]).iter().map(Diagnostic::line).collect::<String>()
    };
    assert!(message("\u{feff}{}".as_bytes()).ends_with("syntax: the file begins with a byte-order mark"));
    let wide: Vec<u8> = "\u{feff}{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(message(&wide).ends_with("the file is not UTF-8: it looks like UTF-16"));
    assert!(message(b"{\"a\": \"\xfc\"}").ends_with("the file is not UTF-8"));
    assert!(message(b" \n").ends_with("the file is empty"));
}
