//! The files of the suite: finding, reading and converting them.
//!
//! The folder comes from someone else, so the numbers of files, bytes and levels are limited, and links are not
//! followed.

use std::sync::Arc;

use camino::{Utf8DirEntry, Utf8Path, Utf8PathBuf};

use super::cases::requirements;
use super::remotes::{Remotes, below};
use super::suite::{Keyword, Origin};
use super::{cases, layout, names, suite};
use crate::load::LoadError;
use crate::load::diagnostic::{Diagnostic, File, Lint};
use crate::load::read::Reader;
use crate::load::source::{MOST_BYTES, bytes, refuse};
use crate::model::suite::{Door, Draft, Imported, REMOTE};

/// The largest number of files that are read.
const MOST_FILES: usize = 512;
const MOST_IN_ALL: usize = 16 * MOST_BYTES;

/// A JSON-Schema-Test-Suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suite {
    /// The folder that contains `tests` and `remotes`, or a folder `json` with both.
    pub folder: Utf8PathBuf,
    /// The draft whose tests are converted.
    pub draft: Draft,
    /// `true` to also convert the optional tests: formats, and behaviour that a validator may choose.
    pub is_whole: bool,
}

/// Converts a suite to the files of a folder of cases, by path.
///
/// # Errors
/// [`LoadError`] with all errors in the suite.
pub fn files(suite: &Suite) -> Result<Vec<(Utf8PathBuf, String)>, LoadError> {
    let mut found = Vec::new();
    let read = root(suite).and_then(|root| Ok((keywords(suite, &root, &mut found)?, root)));
    let (keywords, root) = read.map_err(|diagnostic| LoadError::new(vec![*diagnostic]))?;
    if !found.is_empty() {
        return Err(LoadError::new(found));
    }
    let folder = Utf8PathBuf::from(Imported::folder(suite.draft));
    let mut remotes = Remotes::new(root.clone());
    let mut files = vec![(folder.join("requirements.json"), layout::text(&requirements(suite.draft)))];
    for door in Door::ALL.iter().copied() {
        let path = |keyword: &str| {
            let imported = Imported { draft: suite.draft, keyword: keyword.to_owned(), door };
            Utf8PathBuf::from(format!("{}.json", imported.case()))
        };
        for Keyword { origin, groups } in &keywords {
            files.extend(cases::keyword(door, origin, groups).map(|case| (path(&origin.id), layout::text(&case))));
        }
        files.extend(cases::remote(door, &keywords, &mut remotes).map(|case| (path(REMOTE), layout::text(&case))));
    }
    Ok(files)
}

/// Returns the folder that contains `tests`.
fn root(suite: &Suite) -> Result<Utf8PathBuf, Box<Diagnostic>> {
    let Suite { folder, draft, .. } = suite;
    let drafts: Vec<_> = [Some(folder.clone()), below(folder, Utf8Path::new("json"))].into_iter().flatten().collect();
    if let Some(root) = drafts.iter().find(|root| has_folder(root, &format!("tests/draft{draft}"))) {
        return Ok(root.clone());
    }
    folder.read_dir_utf8().map_err(|error| Box::new(unreadable(folder, &error)))?;
    if let Some(root) = drafts.iter().find(|root| has_folder(root, "tests")) {
        let none = mistake(&root.join("tests"), Lint::Unreadable, &format!("the suite has no tests of draft {draft}"));
        return Err(Box::new(
            none.help(format!("there is no folder `draft{draft}`; use a newer version of the suite")),
        ));
    }
    let none = mistake(folder, Lint::Unreadable, "there is no JSON-Schema-Test-Suite in this folder");
    Err(Box::new(none.help(format!(
        "expected a folder with `tests/draft{draft}` and `remotes`; validators often have it as `json` in their sources"
    ))))
}

/// Returns whether there is a folder at this path below another, without following links.
fn has_folder(folder: &Utf8Path, path: &str) -> bool {
    below(folder, Utf8Path::new(path)).is_some_and(|inner| inner.is_dir())
}

/// Reads the files of the draft, each with its groups.
fn keywords(suite: &Suite, root: &Utf8Path, found: &mut Vec<Diagnostic>) -> Result<Vec<Keyword>, Box<Diagnostic>> {
    let tests = root.join(format!("tests/draft{}", suite.draft));
    let parts: &[&str] = if suite.is_whole { &["", "optional", "optional/format"] } else { &[""] };
    let (mut keywords, mut budget) = (Vec::new(), MOST_IN_ALL);
    for part in parts.iter().filter(|part| part.is_empty() || has_folder(&tests, part)) {
        for name in names_in(&tests.join(part))? {
            let path = tests.join(part).join(&name);
            let bytes = bytes(&path).map_err(|error| Box::new(unreadable(&path, &error)))?;
            budget = budget.saturating_sub(bytes.len());
            if bytes.len() > MOST_BYTES || budget == 0 || keywords.len() == MOST_FILES {
                let large = mistake(&path, Lint::TooLarge, "the suite is too large");
                let help = "the limits are 1 MiB per file, 512 files and 16 MiB in total; remove files of other origin";
                return Err(Box::new(large.help(help)));
            }
            let Ok(text) = String::from_utf8(bytes) else {
                found.push(mistake(&path, Lint::Syntax, "the file is not UTF-8"));
                continue;
            };
            let mut reader = Reader::new(Arc::new(File::new(path.as_str(), text)));
            let groups = suite::groups(&mut reader);
            found.extend(reader.into_found());
            let stem = Utf8Path::new(part).join(name.trim_end_matches(".json"));
            let file = format!("tests/draft{}/{stem}.json", suite.draft);
            let origin = Origin { id: names::keyword(stem.as_str()), file, draft: suite.draft };
            keywords.push(Keyword { origin, groups });
        }
    }
    if keywords.is_empty() && found.is_empty() {
        let none = mistake(&tests, Lint::WrongCount, "the suite has no test files");
        return Err(Box::new(none.help("expected one file for each keyword, such as `type.json`")));
    }
    Ok(keywords)
}

/// Returns the sorted names of the JSON files in a folder.
fn names_in(folder: &Utf8Path) -> Result<Vec<String>, Box<Diagnostic>> {
    let is_tests = |entry: &Utf8DirEntry| {
        entry.path().extension() == Some("json") && entry.file_type().is_ok_and(|kind| kind.is_file())
    };
    let entries = folder.read_dir_utf8().map_err(|error| Box::new(unreadable(folder, &error)))?;
    let entries: Result<Vec<_>, _> = entries.take(4 * MOST_FILES).collect();
    let entries = entries.map_err(|error| Box::new(unreadable(folder, &error)))?;
    let mut names: Vec<_> =
        entries.iter().filter(|entry| is_tests(entry)).map(|one| one.file_name().to_owned()).collect();
    names.sort();
    Ok(names)
}

fn unreadable(path: &Utf8Path, error: &std::io::Error) -> Diagnostic {
    mistake(path, Lint::Unreadable, &format!("cannot be read: {}", error.kind()))
        .caused_by(error)
        .help("`json-schema-test-suite=DIR` needs a folder that contains the JSON-Schema-Test-Suite")
}

fn mistake(path: &Utf8Path, lint: Lint, why: &str) -> Diagnostic {
    refuse(path, lint, why)
}
