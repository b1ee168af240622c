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
use crate::load::source::{MOST_BYTES, bytes, refuse};
use crate::load::text::diagnostic::{Diagnostic, File, Lint};
use crate::load::text::read::Reader;
use crate::model::suite::{Door, Draft, Imported, REMOTE};

/// The largest number of files that are read.
const MOST_FILES: usize = 512;
const MOST_IN_ALL: usize = 16 * MOST_BYTES;

/// A JSON-Schema-Test-Suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suite {
    /// The folder with the tests of a draft. Its name is `draft` and the draft, and it is in `tests`, which has `remotes`
    /// beside it.
    pub folder: Utf8PathBuf,
    /// `true` to also convert the optional tests: formats, and behaviour that a validator may choose.
    pub is_whole: bool,
}

/// Converts a suite to the files of a folder of cases, by path.
///
/// # Errors
/// [`LoadError`] with all errors in the suite.
pub fn files(suite: &Suite) -> Result<Vec<(Utf8PathBuf, String)>, LoadError> {
    let mut found = Vec::new();
    let read = place(&suite.folder).and_then(|(root, draft)| Ok((keywords(suite, draft, &mut found)?, root, draft)));
    let (keywords, root, draft) = read.map_err(|diagnostic| LoadError::new(vec![*diagnostic]))?;
    if !found.is_empty() {
        return Err(LoadError::new(found));
    }
    let folder = Utf8PathBuf::from(Imported::folder(draft));
    let mut remotes = Remotes::new(root);
    let mut files = vec![(folder.join("requirements.json"), layout::text(&requirements(draft)))];
    for door in Door::ALL.iter().copied() {
        let path = |keyword: &str| {
            let imported = Imported { draft, keyword: keyword.to_owned(), door };
            Utf8PathBuf::from(format!("{}.json", imported.case()))
        };
        for Keyword { origin, groups } in &keywords {
            files.extend(cases::keyword(door, origin, groups).map(|case| (path(&origin.id), layout::text(&case))));
        }
        files.extend(cases::remote(door, &keywords, &mut remotes).map(|case| (path(REMOTE), layout::text(&case))));
    }
    Ok(files)
}

/// Returns the folder of the suite, and the draft that the folder of its tests names.
fn place(folder: &Utf8Path) -> Result<(Utf8PathBuf, Draft), Box<Diagnostic>> {
    let whole = folder.read_dir_utf8().and_then(|_| camino::absolute_utf8(folder));
    let whole = whole.map_err(|error| Box::new(unreadable(folder, &error)))?;
    let root = whole.parent().and_then(Utf8Path::parent);
    let named = |draft: &&Draft| root.is_some_and(|root| whole == root.join(tests_of(**draft)));
    if let (Some(root), Some(draft)) = (root, Draft::ALL.iter().find(named))
        && has_folder(root, &tests_of(*draft))
    {
        return Ok((root.to_owned(), *draft));
    }
    let known: Vec<_> = Draft::ALL.iter().map(|draft| format!("`{}`", tests_of(*draft))).collect();
    let why = format!("this is not the folder {} of a JSON-Schema-Test-Suite", known.join(" or "));
    // The user may have named the suite, or a folder around it.
    let below = |inner: &'static str| Draft::ALL.iter().map(move |draft| format!("{inner}{}", tests_of(*draft)));
    let near = below("").chain(below("json/")).filter(|path| has_folder(folder, path));
    let near: Vec<_> = near.map(|path| folder.join(path).to_string()).collect();
    let help = match near.as_slice() {
        [] => "clone the suite, or look for it in the sources of a validator, which often have it as `json`".to_owned(),
        near => format!("choose a draft: {}", near.join(" or ")),
    };
    Err(Box::new(mistake(folder, Lint::Unreadable, &why).help(help)))
}

/// Returns the path of a draft's tests in the suite.
fn tests_of(draft: Draft) -> String {
    format!("tests/draft{draft}")
}

/// Returns whether there is a folder at this path below another, without following links.
fn has_folder(folder: &Utf8Path, path: &str) -> bool {
    below(folder, Utf8Path::new(path)).is_some_and(|inner| inner.is_dir())
}

/// Reads the files of the draft, each with its groups.
fn keywords(suite: &Suite, draft: Draft, found: &mut Vec<Diagnostic>) -> Result<Vec<Keyword>, Box<Diagnostic>> {
    let tests = &suite.folder;
    let parts: &[&str] = if suite.is_whole { &["", "optional", "optional/format"] } else { &[""] };
    let (mut keywords, mut budget) = (Vec::new(), MOST_IN_ALL);
    for part in parts.iter().filter(|part| part.is_empty() || has_folder(tests, part)) {
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
            let file = format!("{}/{stem}.json", tests_of(draft));
            let origin = Origin { id: names::keyword(stem.as_str()), file, draft };
            keywords.push(Keyword { origin, groups });
        }
    }
    if keywords.is_empty() && found.is_empty() {
        let none = mistake(tests, Lint::WrongCount, "the suite has no test files");
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
        .help("`json-schema-test-suite=DIR` needs the folder `tests/draft2020-12` of the JSON-Schema-Test-Suite")
}

fn mistake(path: &Utf8Path, lint: Lint, why: &str) -> Diagnostic {
    refuse(path, lint, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Source, lint};

    #[test]
    fn converted_suite_passes_lint() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/suite/tests/draft2020-12").into();
        let files = files(&Suite { folder, is_whole: true }).expect("a suite");
        assert!(files.len() > 6, "{} files", files.len());
        assert!(lint(&[Source::Texts(files)]).is_empty());
    }
}
