//! Loading: case files and requirement catalogues become a [`Library`], or a list of mistakes.
//!
//! Takes folders or the embedded cases, gives typed and checked cases with the values of their rows filled in. Each
//! mistake has a file, a line, a cause and a remedy. Must not know targets, verdicts, or how a test is run.

mod case;
mod catalogue;
mod published;
pub(crate) mod source;
pub mod target;
pub(crate) mod text;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;

use camino::Utf8Path;

use crate::model::capability::CapabilityGroup;
use crate::model::case::{Case, Library};
use crate::model::mutant::Mutant;
use crate::model::{CaseId, Printable};
use case::{Reading, capabilities, lint as lints, mutants, vacuous};
pub use catalogue::sentences::{requirements, sentences};
use catalogue::{Catalogued, exclusions, quotes};
pub use published::{published_set, published_sets};
pub use source::{Source, is_embedded_folder, root, schemas};
pub use target::here::Here;
pub use target::places::clear;
pub use text::diagnostic::{Diagnostic, Lint, did_you_mean, nearest, render};
use text::json;
use text::node::Node;
use text::read::Reader;

/// The mistakes for which cases or a target cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{} error{} found", .diagnostics.len(), if .diagnostics.len() == 1 { "" } else { "s" })]
pub struct LoadError {
    /// The errors, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
}

impl LoadError {
    pub(crate) fn new(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics }
    }

    /// The errors as text for people, with the lines of the files.
    pub fn report(&self, colour: bool) -> Printable {
        render(&self.diagnostics, colour)
    }
}

/// Loads all cases of all sources.
///
/// # Errors
/// [`LoadError`] with all errors. Only [`lint`] looks for warnings.
pub fn load(sources: &[Source]) -> Result<Library, LoadError> {
    let (library, mut diagnostics) = read(sources, Purpose::Run);
    diagnostics.retain(Diagnostic::is_error);
    if diagnostics.is_empty() { Ok(library) } else { Err(LoadError { diagnostics }) }
}

/// Checks the cases: returns errors and warnings, in the order of the files.
///
/// The command `casebook lint` fails on warnings as well, because nobody reads a warning that need not be mended.
pub fn lint(sources: &[Source]) -> Vec<Diagnostic> {
    read(sources, Purpose::Lint).1
}

/// Reads each file of a kind; returns the mistakes in it.
fn read_each<'t>(
    texts: &'t [source::Text],
    is_read: impl Fn(&source::Kind) -> bool,
    mut read: impl FnMut(&mut Reader, &Node, &'t source::Kind),
) -> Vec<Diagnostic> {
    let of_file = |text: &'t source::Text| {
        let mut reader = text.reader();
        lints::width(&mut reader);
        if let Some(root) = json::parse(&mut reader) {
            read(&mut reader, &root, &text.kind);
        }
        reader.into_found()
    };
    texts.iter().filter(|text| is_read(&text.kind)).flat_map(of_file).collect()
}

/// Reads the capabilities.
fn read_capabilities(texts: &[source::Text], library: &Library) -> (Vec<CapabilityGroup>, Vec<Diagnostic>) {
    let mut groups = Vec::new();
    let is_read = |kind: &source::Kind| matches!(kind, source::Kind::Capabilities);
    let found = read_each(texts, is_read, |reader, root, _| groups.extend(capabilities::groups(reader, root, library)));
    (groups, found)
}

/// Reads the mutants.
fn read_mutants(texts: &[source::Text], catalogued: &Catalogued, cases: &[Case]) -> (Vec<Mutant>, Vec<Diagnostic>) {
    let (mut all, mut named, methods) = (Vec::new(), BTreeMap::new(), OnceCell::new());
    let is_read = |kind: &source::Kind| matches!(kind, source::Kind::Mutants(_));
    let found = read_each(texts, is_read, |reader, root, kind| {
        let source::Kind::Mutants(folder) = kind else { return };
        let methods = methods.get_or_init(|| mutants::methods(cases.iter()));
        for mutant in mutants::mutants(reader, folder, root, catalogued, methods) {
            if let Some(other) = named.insert(mutant.name.clone(), folder) {
                let twice = reader.mistake(Lint::DuplicateKey, format!("two mutants are named `{}`", mutant.name));
                reader.push(twice.help(format!("the other one is in {other}/mutants.json; rename one")));
            }
            all.push(mutant);
        }
    });
    (all, found)
}

/// Reports the mistakes in files of exclusions.
fn read_exclusions(texts: &[source::Text]) -> Vec<Diagnostic> {
    let is_read = |kind: &source::Kind| matches!(kind, source::Kind::Exclusions);
    read_each(texts, is_read, |reader, root, _| drop(exclusions::exclusions(reader, root)))
}

/// Compares the quotes of the requirement catalogue with a checkout of the specification's repository, and reports the
/// sentences of the pages in scope that no requirement quotes.
///
/// # Errors
/// The reason why the folder is no such checkout.
pub fn lint_quotes(sources: &[Source], checkout: &Utf8Path) -> Result<Vec<Diagnostic>, String> {
    if !checkout.join("docs").join("specification").is_dir() {
        return Err(format!("{checkout} has no folder docs/specification, as the specification's repository has"));
    }
    let texts = source::texts(sources, &mut Vec::new());
    Ok(quotes::compare(&texts, checkout).into_iter().flat_map(Reader::into_found).collect())
}

/// The purpose of reading cases.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To run or describe them. Warnings are not looked for, because they would not be shown.
    Run,
    /// To report errors and warnings.
    Lint,
}

fn read(sources: &[Source], purpose: Purpose) -> (Library, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let texts = source::texts(sources, &mut diagnostics);
    if purpose == Purpose::Lint && texts.is_empty() && diagnostics.is_empty() {
        let folders = sources.iter().filter_map(|source| match source {
            Source::Folder(folder) => Some(source::empty(folder)),
            Source::Embedded | Source::Texts(_) => None,
        });
        diagnostics.extend(folders);
    }
    let hash = source::hash(&texts);
    let mut catalogued = Catalogued::default();
    for (text, folder) in texts.iter().filter_map(|text| Some((text, text.kind.requirements()?))) {
        let mut reader = text.reader();
        let root = json::parse(&mut reader);
        catalogued.add(&mut reader, folder, root.as_ref());
        if purpose == Purpose::Lint {
            lints::width(&mut reader);
        }
        if !text.is_context {
            diagnostics.extend(reader.into_found());
        }
    }
    diagnostics.extend(catalogued.check_sides());
    let mut cases: BTreeMap<CaseId, Reading> = BTreeMap::new();
    let of_cases: Vec<_> = texts.iter().filter_map(|text| Some((text, text.kind.case()?))).collect();
    for (id, mut reader, reading) in read_cases(&of_cases, &catalogued, purpose) {
        if let Some(first) = cases.get(id) {
            let twice = reader.mistake(Lint::DuplicateCase, format!("two files define the case `{id}`"));
            reader.push(twice.help(format!("the other file is {}; rename one, or leave one out", first.case.path)));
        } else if let Some(reading) = reading {
            cases.insert(id.clone(), reading);
        }
        diagnostics.extend(reader.into_found());
    }
    let cases: Vec<_> = cases.into_values().map(|reading| reading.case).collect();
    let (mutants, found) = read_mutants(&texts, &catalogued, &cases);
    diagnostics.extend(found);
    let requirements = catalogued.requirements;
    let mut library = Library { cases, requirements, hash, mutants, ..Library::default() };
    let (capabilities, found) = read_capabilities(&texts, &library);
    library.capabilities = capabilities;
    if purpose == Purpose::Lint {
        diagnostics.extend(read_exclusions(&texts));
    }
    // Without its cases, a file of capabilities would seem to name tests that do not exist.
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(found);
    }
    diagnostics.sort_by(|one, other| one.order().cmp(&other.order()));
    (library, diagnostics)
}

/// The text of a case file as it was written; `None` where no source has the case.
pub fn case_text(sources: &[Source], id: &CaseId) -> Option<String> {
    let texts = source::texts(sources, &mut Vec::new());
    texts.iter().find(|text| text.kind.case() == Some(id)).map(|text| text.as_str().to_owned())
}

/// Reads case files on all cores, because every command begins with it. Gives them in their order.
fn read_cases<'t>(
    texts: &[(&'t source::Text, &'t CaseId)],
    catalogued: &Catalogued,
    purpose: Purpose,
) -> Vec<(&'t CaseId, Reader, Option<Reading>)> {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let read = |(text, id): &(&'t source::Text, &'t CaseId)| {
        let mut reader = text.reader();
        let reading = one_case(&mut reader, id, catalogued, purpose);
        (*id, reader, reading)
    };
    std::thread::scope(|scope| {
        let parts = texts.chunks(texts.len().div_ceil(cores).max(1));
        let all = |part: &[_]| part.iter().map(read).collect::<Vec<_>>();
        let begin = |part| (part, std::thread::Builder::new().spawn_scoped(scope, move || all(part)));
        let begun: Vec<_> = parts.map(begin).collect();
        let ended = begun.into_iter().flat_map(|(part, thread)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // The system has no thread left.
            Err(_) => all(part),
        });
        ended.collect()
    })
}

fn one_case(reader: &mut Reader, id: &CaseId, catalogued: &Catalogued, purpose: Purpose) -> Option<Reading> {
    if purpose == Purpose::Lint {
        lints::width(reader);
    }
    let root = json::parse(reader)?;
    let reading = case::case(reader, id.clone(), &root, catalogued)?;
    if !reader.failed() {
        lints::unseen(reader, &reading);
        for (test, place) in reading.case.tests.iter().zip(&reading.places.tests) {
            vacuous::test(reader, test, *place);
        }
        reader.report_doubts();
        if purpose == Purpose::Lint {
            lints::whole(reader, &reading);
        }
    }
    Some(reading)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::text::diagnostic;
    use super::*;
    use crate::fuzz::fuzz;
    use crate::model::untrusted::is_safe;

    /// Reads bytes as a file of cases, and renders what was found in them.
    fn read_and_render(bytes: &[u8], read: impl FnOnce(&mut Reader)) {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut reader = Reader::new(Arc::new(diagnostic::File::new("cases/a/b.json", text)));
        read(&mut reader);
        assert!(is_safe(render(&reader.into_found(), false).as_str()));
    }

    fn seeds(is_wanted: impl Fn(&source::Kind) -> bool) -> Vec<String> {
        let texts = source::texts(&[Source::Embedded], &mut Vec::new());
        let wanted = texts.iter().filter(|text| is_wanted(&text.kind));
        wanted.map(|text| text.reader().file().inner().clone()).collect()
    }

    #[test]
    fn fuzzed_case_file_loads_or_its_mistakes_render() {
        let (Library { requirements, .. }, _) = read(&[Source::Embedded], Purpose::Run);
        let mut catalogued = Catalogued::default();
        catalogued.requirements = requirements;
        fuzz("case-files", seeds(|kind| kind.case().is_some()), |bytes| {
            read_and_render(bytes, |reader| {
                _ = one_case(reader, &CaseId::new("a", "b"), &catalogued, Purpose::Lint);
            });
        });
    }

    /// Found by fuzzing: a file of 1 MiB with a mistake in each line kept the program busy for minutes.
    #[test]
    fn file_with_very_many_mistakes_reports_the_first_ones() {
        let members: Vec<_> = (0..20_000).map(|number| format!("\"unknown-{number}\": 1")).collect();
        let text = format!("{{{}}}", members.join(",\n"));
        let mut reader = Reader::new(Arc::new(diagnostic::File::new("cases/a/b.json", text)));
        assert!(
            one_case(&mut reader, &CaseId::new("a", "b"), &Catalogued::default(), Purpose::Lint).is_none()
                && reader.failed()
        );
        let shown = render(&reader.into_found(), false).to_string();
        assert!(shown.contains("unknown-7`") && shown.contains("more mistakes than are shown"));
        assert!(shown.len() < 200_000, "{} bytes", shown.len());
    }

    #[test]
    fn fuzzed_catalogue_loads_or_its_mistakes_render() {
        fuzz("catalogues", seeds(|kind| kind.requirements().is_some()), |bytes| {
            read_and_render(bytes, |reader| {
                let root = json::parse(reader);
                Catalogued::default().add(reader, "a", root.as_ref());
            });
        });
    }
}
