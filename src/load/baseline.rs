//! Baselines: the files in which users of the official conformance suite list the failures that they expect.
//!
//! Takes the text of a file with the lists `server` and `client`, in the part of YAML that such files need, and the
//! scenarios that casebook has checks for. Gives a [`Baseline`], or mistakes with their places. Must not know which tests
//! run.

use std::collections::BTreeSet;
use std::sync::Arc;

use camino::Utf8Path;
use miette::SourceSpan;

use super::diagnostic::{Diagnostic, File, Lint};
use super::node::span;
use super::read::Reader;
use super::{LoadError, agreement, source};
use crate::model::baseline::{Agreement, Baseline, BaselineEntry};
use crate::model::spec::Role;

/// The longest name of an entry, in bytes.
const LONGEST: usize = 200;

/// Reads a baseline, and looks up its entries among the scenarios that casebook has checks for.
///
/// # Errors
/// [`LoadError`] with all errors of the file.
pub fn baseline(path: &Utf8Path) -> Result<Baseline, LoadError> {
    let failed = |diagnostic: Diagnostic| LoadError::new(vec![diagnostic]);
    let bytes = source::bytes(path).map_err(|error| failed(source::unreadable(path, &error)))?;
    if bytes.len() > source::MOST_BYTES {
        let large = source::refuse(path, Lint::TooLarge, "the file has more than 1 MiB");
        return Err(failed(large.help(EXPECTED)));
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        failed(source::refuse(path, Lint::Syntax, "the file is not UTF-8").help("save the file as UTF-8"))
    })?;
    let mut reader = Reader::new(Arc::new(File::new(path, text.clone())));
    let lines = entries(&mut reader, &text);
    let found = reader.into_found();
    if found.is_empty() { Ok(matched(path, &lines, &agreement::embedded())) } else { Err(LoadError::new(found)) }
}

/// The help for a file that is no baseline.
const EXPECTED: &str =
    "expected the lists `server:` and `client:`, with one `- scenario` or `- scenario:check-id` a line";

/// An entry as it is written.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry<'t> {
    role: Role,
    scenario: &'t str,
    check: Option<&'t str>,
}

/// Looks up the checks of casebook for each entry. Equal entries count once.
fn matched(path: &Utf8Path, lines: &[Entry<'_>], agreement: &Agreement) -> Baseline {
    let mut baseline = Baseline { file: path.to_string(), entries: Vec::new(), unmatched: Vec::new() };
    let mut seen = BTreeSet::new();
    for entry @ Entry { role, scenario, check } in lines {
        if !seen.insert(entry) {
            continue;
        }
        let name = check.map_or_else(|| (*scenario).to_owned(), |check| format!("{scenario}:{check}"));
        let known = agreement.scenario(*role, scenario).into_iter().flat_map(|scenario| &scenario.checks);
        let checks =
            known.filter(|(id, _)| check.is_none_or(|check| check == id)).flat_map(|(_, checks)| checks.clone());
        let checks: Vec<_> = checks.collect();
        if checks.is_empty() {
            baseline.unmatched.push(name);
        } else {
            baseline.entries.push(BaselineEntry { name, checks });
        }
    }
    baseline
}

/// A part of the file, and its offset.
#[derive(Clone, Copy)]
struct Part<'t> {
    at: usize,
    text: &'t str,
}

impl Part<'_> {
    fn span(self) -> SourceSpan {
        span(self.at, self.at + self.text.len())
    }

    /// Removes white space from both ends.
    fn trim(self) -> Self {
        let start = self.text.len() - self.text.trim_start_matches([' ', '\t']).len();
        Self { at: self.at + start, text: self.text.trim_matches([' ', '\t', '\r']) }
    }

    fn from(self, start: usize) -> Self {
        Self { at: self.at + start, text: &self.text[start..] }
    }

    fn to(self, end: usize) -> Self {
        Self { text: &self.text[..end], ..self }
    }

    /// Removes a comment: `#` at the beginning, or after white space, outside of quotes.
    fn without_comment(self) -> Self {
        let mut quote = None;
        let mut before = ' ';
        for (at, character) in self.text.char_indices() {
            match (quote, character) {
                (Some(open), _) if open == character => quote = None,
                (None, '\'' | '"') if matches!(before, ' ' | '\t' | '[' | ',') => quote = Some(character),
                (None, '#') if matches!(before, ' ' | '\t') => return self.to(at),
                _ => {}
            }
            before = character;
        }
        self
    }
}

/// The list that is being read.
struct List {
    role: Role,
    /// The indentation of its items, once there is one.
    indentation: Option<usize>,
    /// `true` for a list in brackets, which no further line can add to.
    is_closed: bool,
}

/// Reads the entries of both lists.
fn entries<'t>(reader: &mut Reader, text: &'t str) -> Vec<Entry<'t>> {
    let mut entries: Vec<(Entry<'t>, SourceSpan)> = Vec::new();
    let (mut lists, mut current): (BTreeSet<Role>, Option<List>) = (BTreeSet::new(), None);
    let (mut at, mut is_begun) = (0, false);
    for line in text.split_inclusive('\n') {
        let whole = Part { at, text: line.trim_end_matches(['\n', '\r']) };
        at += line.len();
        let whole = if whole.at == 0 {
            whole.from(whole.text.len() - whole.text.trim_start_matches('\u{feff}').len())
        } else {
            whole
        };
        let content = whole.without_comment().trim();
        if content.text.is_empty() || (content.text == "---" && !is_begun) {
            is_begun |= !content.text.is_empty();
            continue;
        }
        is_begun = true;
        let indentation = content.at - whole.at;
        if whole.text[..indentation].contains('\t') {
            refuse(reader, content, "a tab begins the line", "indent with spaces, as YAML requires");
        } else if let Some(item) =
            content.text.strip_prefix('-').filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
        {
            let item = content.from(content.text.len() - item.len()).trim();
            let Some(list) = current.as_mut().filter(|list| !list.is_closed) else {
                refuse(reader, content, "an item outside of the lists `server` and `client`", EXPECTED);
                continue;
            };
            if *list.indentation.get_or_insert(indentation) == indentation {
                entries.extend(entry(reader, item, list.role).map(|entry| (entry, item.span())));
            } else {
                refuse(reader, content, "the items of a list are indented differently", "indent all items alike");
            }
        } else if indentation > 0 {
            refuse(reader, content, "the line is no item of a list", EXPECTED);
        } else if let Some((role, rest)) = key(reader, content) {
            if !lists.insert(role) {
                refuse(reader, content, &format!("the file has `{role}` twice"), "write one list for each role");
            }
            let items = in_brackets(reader, rest);
            let is_closed = items.is_some();
            for item in items.unwrap_or_default() {
                entries.extend(entry(reader, item, role).map(|entry| (entry, item.span())));
            }
            current = Some(List { role, indentation: None, is_closed });
        }
    }
    refuse_redundant(reader, &entries);
    entries.into_iter().map(|(entry, _)| entry).collect()
}

/// Refuses an entry for a check of a scenario that is listed as a whole, as the official suite does.
fn refuse_redundant(reader: &mut Reader, entries: &[(Entry<'_>, SourceSpan)]) {
    let whole =
        entries.iter().filter(|(entry, _)| entry.check.is_none()).map(|(entry, _)| (entry.role, entry.scenario));
    let whole: BTreeSet<_> = whole.collect();
    for (Entry { role, scenario, check }, span) in entries {
        if check.is_some() && whole.contains(&(*role, scenario)) {
            let why = format!("the whole scenario `{scenario}` is listed too");
            let redundant = reader.mistake(Lint::ConflictingKeys, why);
            reader.push(redundant.at(*span, "a check of it").help("remove one of the two entries"));
        }
    }
}

/// Reads `server:` or `client:`, and gives the text after it.
fn key<'t>(reader: &mut Reader, line: Part<'t>) -> Option<(Role, Part<'t>)> {
    let split = line.text.split_once(':').filter(|(_, rest)| rest.is_empty() || rest.starts_with([' ', '\t']));
    let Some((name, _)) = split else {
        refuse(reader, line, "the line is neither a list nor an item", EXPECTED);
        return None;
    };
    let bare = unquoted(name.trim_end());
    let Some(role) = Role::SINGLE.iter().copied().find(|role| role.word() == bare) else {
        let unknown = reader.mistake(Lint::UnknownKey, "the file has a list that no baseline has");
        let unknown = unknown.at(line.to(name.len()).span(), "unknown key");
        reader.push(unknown.known(bare, "the lists are", Role::SINGLE.iter().map(|role| role.word())));
        return None;
    };
    Some((role, line.from(name.len() + 1).trim()))
}

/// Reads the items of a list in brackets. Gives `None` for an empty text, after which the items follow in lines of their
/// own.
fn in_brackets<'t>(reader: &mut Reader, rest: Part<'t>) -> Option<Vec<Part<'t>>> {
    if rest.text.is_empty() {
        return None;
    }
    if matches!(rest.text, "~" | "null") {
        return Some(Vec::new());
    }
    let Some(inner) = rest.text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) else {
        refuse(reader, rest, "the value is no list", EXPECTED);
        return Some(Vec::new());
    };
    let (mut items, mut at) = (Vec::new(), rest.at + 1);
    for item in inner.split(',') {
        items.push(Part { at, text: item }.trim());
        at += item.len() + 1;
    }
    // `[]` is empty, and a comma may end the list.
    if items.last().is_some_and(|last| last.text.is_empty()) {
        items.pop();
    }
    Some(items)
}

/// Reads `scenario` or `scenario:check-id`.
fn entry<'t>(reader: &mut Reader, item: Part<'t>, role: Role) -> Option<Entry<'t>> {
    let text = unquoted(item.text);
    let mut no = |why: &str, help: &str| {
        refuse(reader, item, why, help);
        None
    };
    if text.is_empty() {
        return no("the entry is empty", "write the name of a scenario, or remove the line");
    }
    if text.len() > LONGEST {
        return no(&format!("the entry has more than {LONGEST} bytes"), "no scenario has so long a name");
    }
    if text.contains(": ") || text.ends_with(':') {
        return no(
            "a check id is missing after the colon",
            "write `scenario:check-id`, without a space after the colon",
        );
    }
    let (scenario, check) = text.split_once(':').map_or((text, None), |(scenario, check)| (scenario, Some(check)));
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./$".contains(&byte))
    };
    if !is_name(scenario) || !check.is_none_or(is_name) {
        let help = "names have letters, digits and `-_./$`; YAML's aliases, tags, maps and long texts are not read";
        return no("the entry is not the name of a scenario or of its check", help);
    }
    Some(Entry { role, scenario, check })
}

/// Removes the quotes around a text.
fn unquoted(text: &str) -> &str {
    let quotes = ['\'', '"'];
    let inner = quotes.iter().find_map(|quote| text.strip_prefix(*quote).and_then(|text| text.strip_suffix(*quote)));
    inner.unwrap_or(text)
}

fn refuse(reader: &mut Reader, part: Part<'_>, why: &str, help: &str) {
    let mistake = reader.mistake(Lint::Syntax, why);
    reader.push(mistake.at(part.span(), "not read").help(help));
}

#[cfg(test)]
mod tests;
