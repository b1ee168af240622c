//! Hints for patterns and requirements that match nothing: the likely mistake, or similar names.
//!
//! Takes a pattern and the library, gives words. Pure, and must not decide what matches.

use crate::model::Pattern;
use crate::model::case::Library;
use crate::model::spec::{Revision, Transport};

/// Returns the likely mistake in a pattern that matches no test, or the tests with similar names.
pub(super) fn hint(pattern: &Pattern, library: &Library) -> Option<String> {
    let how = pattern.as_str().split_once('@').map(|(_, how)| how);
    if let Some(mistake) = how.and_then(mistake_after_at) {
        return Some(mistake);
    }
    let mut tests = library.cases.iter().flat_map(|case| &case.tests);
    match how {
        Some(how) if tests.any(|test| pattern.matches_path(&test.path())) => {
            Some(format!("`{}` matches tests, but none on {how}", path_of(pattern)))
        }
        _ => the_nearest(&similar(pattern, library)),
    }
}

pub(super) fn the_nearest(names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| format!("the nearest: {}", names.join(", ")))
}

/// Returns the mistake in the part of a pattern after its `@`, if a word there is no revision or no transport. Words with
/// wildcards are not checked.
fn mistake_after_at(how: &str) -> Option<String> {
    let is_word = |word: &str| !word.contains(['*', '?', '[', '{', '\\']);
    let (revision, transport) = how.split_once('+').map_or((how, None), |(revision, word)| (revision, Some(word)));
    let transports: Vec<_> = Transport::ALL.iter().map(ToString::to_string).collect();
    let revisions: Vec<_> = Revision::all().map(|one| one.to_string()).collect();
    if is_word(revision) && !revisions.iter().any(|one| one == revision) {
        let expected = if transports.iter().any(|one| one == revision) {
            format!("write `@*+{revision}` for every revision")
        } else {
            format!("expected one of {}", revisions.join(", "))
        };
        return Some(format!("`{revision}` is not a revision: {expected}"));
    }
    let wrong = transport.filter(|word| is_word(word) && !transports.iter().any(|one| one == word));
    wrong.map(|word| format!("`{word}` is not a transport: expected {}", transports.join(" or ")))
}

/// Returns the part of a pattern before its `@`.
fn path_of(pattern: &Pattern) -> &str {
    pattern.as_str().split('@').next().unwrap_or_default()
}

/// Returns the names most similar to a pattern, among those with the same number of components.
fn similar(pattern: &Pattern, library: &Library) -> Vec<String> {
    let written = path_of(pattern);
    let parts = written.split('/').count();
    let paths = library.cases.iter().flat_map(|case| &case.tests).map(|test| test.path());
    let mut names: Vec<_> = paths.map(|path| path.split('/').take(parts).collect::<Vec<_>>().join("/")).collect();
    names.sort();
    names.dedup();
    nearest(written, names.into_iter())
}

/// Returns the few names with the most similar spelling, the nearest first.
pub(super) fn nearest(written: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    const NAMES: usize = 3;
    const LIKENESS: f64 = 0.7;
    let mut names: Vec<_> =
        names.map(|name| (strsim::jaro_winkler(written, &name), name)).filter(|(like, _)| *like > LIKENESS).collect();
    names.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    names.into_iter().map(|(_, name)| name).take(NAMES).collect()
}
