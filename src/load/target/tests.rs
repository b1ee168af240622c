//! Tests of finding and reading targets.

use super::*;
use crate::fuzz::fuzz;
use crate::model::untrusted::is_safe;

#[test]
fn large_file_with_many_variants_is_refused() {
    let read = |variants: usize, known: usize| {
        let mut text = "title = \"A\"\ncommand = [\"a\"]\n[claims]\nroles = [\"server\"]\n\
            transports = [\"http\"]\nrevisions = [\"2026-07-28\"]\n"
            .to_owned();
        text.extend((0..variants).map(|one| format!("[variants.v{one}]\n")));
        let known =
            (0..known).map(|one| format!("[[known]]\ntest = \"**\"\nrequirement = \"a/r{one}\"\nreason = \"x\"\n"));
        text.extend(known);
        parse(Utf8Path::new("targets/a/target.toml"), text).map(|targets| targets.len())
    };
    assert_eq!(read(10, 1000).expect("it is small"), 10);
    let error = read(1000, 1000).expect_err("a thousand times a thousand");
    assert!(error.report(false).as_str().contains("too large for 1000 variants"));
}

#[test]
fn variant_has_its_own_claims_and_known_failures() {
    let text = "title = \"A\"\ncommand = [\"a\"]\n[claims]\nroles = [\"server\", \"client\"]\n\
        transports = [\"http\", \"stdio\"]\nrevisions = [\"2025-11-25\", \"2026-07-28\"]\n\
        [variants.all]\n[variants.old]\nroles = \"server\"\nrevisions = [\"2025-11-25\"]\n\
        [variants.plain]\nlacks = [\"elicitation.form\"]\n";
    let entry = |test: &str, variant: &str| {
        format!("[[known]]\ntest = \"{test}\"\nrequirement = \"a/b\"\nreason = \"x\"\n{variant}")
    };
    let known =
        [entry("a/all", ""), entry("a/two", "variant = [\"all\", \"old\"]\n"), entry("a/one", "variant = \"old\"\n")];
    let read = |text: String| parse(Utf8Path::new("targets/a/target.toml"), text);
    let targets = read(text.to_owned() + &known.concat()).expect("no mistakes");
    let [all, old, plain] = targets.as_slice() else { panic!("three variants") };
    assert_eq!(all.claims, all.announced);
    assert_eq!((old.claims.roles.as_slice(), old.claims.transports.len()), ([Role::Server].as_slice(), 2));
    assert_eq!((old.claims.revisions.len(), old.announced.revisions.len()), (1, 2));
    assert_eq!((plain.claims.lacks.len(), plain.announced.lacks.len()), (1, 0));
    let known = |target: &Target| -> Vec<_> {
        target.known.iter().map(|known| (known.test.as_str().to_owned(), known.is_shared)).collect()
    };
    let of = |known: &[(&str, bool)]| -> Vec<_> { known.iter().map(|(test, it)| ((*test).to_owned(), *it)).collect() };
    assert_eq!(known(all), of(&[("a/all", false), ("a/two", false)]));
    assert_eq!(known(old), of(&[("a/all", true), ("a/two", true), ("a/one", false)]));
    assert_eq!(known(plain), of(&[("a/all", true)]));
    for (wrong, mistake) in [
        ("[variants.more]\nrevisions = [\"2025-06-18\"]\n", "a variant cannot claim `2025-06-18`, which `revisions`"),
        ("[variants.none]\nroles = []\n", "`roles` is an empty list"),
        ("[variants.odd]\ncommand = [\"b\"]\n", "unknown key `command` in a variant"),
        (&entry("a/b", "variant = [\"all\", \"odl\"]\n"), "`variant` cannot be `odl`"),
    ] {
        let error = read(format!("{text}{wrong}")).expect_err(mistake);
        assert!(error.report(false).as_str().contains(mistake), "{}", error.report(false).as_str());
    }
}

#[test]
fn known_failure_without_a_reason_is_refused() {
    let read = |reason: &str| {
        let text = format!(
            "title = \"A\"\ncommand = [\"a\"]\n[claims]\nroles = [\"server\"]\ntransports = [\"http\"]\n\
             revisions = [\"2026-07-28\"]\n[[known]]\ntest = \"**\"\nrequirement = \"a/b\"\nreason = \"{reason}\"\n"
        );
        parse(Utf8Path::new("targets/a/target.toml"), text).map(|targets| targets[0].known.len())
    };
    assert_eq!(read("does not validate").expect("it is complete"), 1);
    let error = read(" ").expect_err("the reason is empty");
    assert!(error.report(false).as_str().contains("the `reason` of a known failure is empty"));
}

#[test]
fn entry_left_to_the_author_needs_its_documentation() {
    let read = |list: &str, keys: &str| {
        let text = format!(
            "title = \"A\"\ncommand = [\"a\"]\n[claims]\nroles = [\"server\"]\ntransports = [\"http\"]\n\
             revisions = [\"2026-07-28\"]\n[[{list}]]\ntest = \"**\"\n{keys}\n"
        );
        parse(Utf8Path::new("targets/a/target.toml"), text).map(|mut targets| targets.remove(0))
    };
    let two = "requirement = [\"a/b\", \"a/c\"]";
    let quoted = "quote = \"Validate.\"\nrequirement = [\"a/b\", \"a/c\"]";
    let left = read("author", &format!("url = \"https://example.com/low\"\n{quoted}")).expect("it is complete").author;
    assert_eq!(left.iter().map(|one| one.requirement.as_str()).collect::<Vec<_>>(), ["a/b", "a/c"]);
    assert_eq!(left[0].reason, "\"Validate.\"");
    assert_eq!(read("known", &format!("reason = \"x\"\n{two}")).expect("it is complete").known.len(), 2);
    for (keys, mistake) in [
        (quoted, "an entry of `author` has no `url`"),
        (&format!("url = \"https://example.com\"\n{two}"), "an entry of `author` has no `quote`"),
        (
            &format!("url = \"https://example.com\"\nquote = \" \"\n{two}"),
            "the `quote` of an entry of `author` is empty",
        ),
        (&format!("url = \"http://example.com\"\n{quoted}"), "`url` is not an address that begins with https://"),
        ("url = \"https://example.com\"\nquote = \"x\"\nrequirement = []", "`requirement` is an empty list"),
    ] {
        let error = read("author", keys).expect_err(mistake);
        assert!(error.report(false).as_str().contains(mistake), "{}", error.report(false).as_str());
    }
}

#[test]
fn fuzzed_target_file_loads_or_its_mistakes_render() {
    let seeds = embedded::names().into_iter().filter_map(|name| embedded::text(name, "target.toml"));
    fuzz("target-files", seeds, |bytes| {
        let read = parse(Utf8Path::new("targets/a/target.toml"), String::from_utf8_lossy(bytes).into_owned());
        if let Err(error) = read {
            assert!(is_safe(error.report(false).as_str()));
        }
    });
}

#[test]
fn commands_of_another_release_are_those_of_its_own_place() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cache = Utf8Path::from_path(folder.path()).expect("UTF-8");
    let here = Here::new(cache);
    std::fs::create_dir_all(cache.join("releases")).expect("a folder");
    for name in embedded::names() {
        let Ok(lister) = lister(name, cache) else { continue };
        let version = lister.package.expect("a package").version;
        std::fs::write(release_list(name, cache), format!(r#"{{"{version}":"2026-01-01T00:00:00Z"}}"#))
            .expect("a file");
        for target in target(&format!("{name}@{version}"), &here, Some(cache)).expect(name) {
            assert!(target.folder.as_str().contains(&format!("versions/{name}@{version}/")), "{}", target.folder);
            let words = target.setup.commands.iter().flatten();
            let of_cache: Vec<_> = words.filter(|word| word.starts_with(cache.as_str())).collect();
            assert!(of_cache.iter().all(|word| word.starts_with(target.folder.as_str())), "{of_cache:?}");
            let is_filled = |word: &String| !["{version}", "{date}", "{shared}"].iter().any(|left| word.contains(left));
            assert!(target.setup.commands.iter().flatten().all(is_filled));
        }
    }
}
