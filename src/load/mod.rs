//! Files into the model: case files and catalogues go in, a [`Library`] comes out, or everything that is wrong with
//! them, each with file, line, and what to do about it.
//!
//! Takes folders (or the cases inside of the binary), gives typed, checked cases with their rows filled in.
//! Must not know targets, verdicts, or how anything is run.

mod case;
mod catalogue;
pub(crate) mod diagnostic;
mod drives;
mod elicit;
mod embedded;
mod expand;
mod expect;
mod fixture;
mod here;
mod implied;
pub(crate) mod json;
mod lint;
mod masked;
mod needs;
pub(crate) mod node;
mod premise;
mod programs;
pub(crate) mod read;
pub(crate) mod source;
mod step;
pub mod target;
mod toml;

use std::collections::BTreeMap;

use crate::model::case::Library;
use crate::model::{CaseId, Printable};
use case::Reading;
use catalogue::Catalogued;
pub use diagnostic::{Diagnostic, Lint, did_you_mean, nearest, render};
pub use here::{Here, Skipped, Trust};
use read::Reader;
pub use source::Source;

/// Cases that can't be run.
#[derive(Debug, thiserror::Error)]
#[error("{} mistake{} in what was read", .diagnostics.len(), if .diagnostics.len() == 1 { "" } else { "s" })]
pub struct LoadError {
    /// Everything that keeps a run from starting.
    pub diagnostics: Vec<Diagnostic>,
}

impl LoadError {
    pub(crate) fn new(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics }
    }

    /// All of it as people read it, with the lines of the files.
    pub fn report(&self, colour: bool) -> Printable {
        render(&self.diagnostics, colour)
    }
}

/// Loads all cases of all sources.
///
/// # Errors
/// [`LoadError`] with all that is wrong; what is only worth a warning is left to [`lint`].
pub fn load(sources: &[Source]) -> Result<Library, LoadError> {
    let (library, mut diagnostics) = read(sources, Purpose::Run);
    diagnostics.retain(Diagnostic::is_error);
    if diagnostics.is_empty() { Ok(library) } else { Err(LoadError { diagnostics }) }
}

/// Everything that can be said against the cases, errors and warnings, in the order of the files. The command of this
/// name fails on any of it, with the exit code of a bad case file: a warning that nobody must mend is read by nobody.
pub fn lint(sources: &[Source]) -> Vec<Diagnostic> {
    read(sources, Purpose::Lint).1
}

/// What cases are read for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To run them, or tell of them. What is only worth a warning isn't looked for: nobody would see it.
    Run,
    /// To hear everything that can be said against them.
    Lint,
}

fn read(sources: &[Source], purpose: Purpose) -> (Library, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let texts = source::texts(sources, &mut diagnostics);
    let hash = source::hash(&texts);
    let mut catalogued = Catalogued::default();
    for (text, folder) in texts.iter().filter_map(|text| Some((text, text.kind.requirements()?))) {
        let mut reader = text.reader();
        if let Some(root) = json::parse(&mut reader) {
            catalogued.add(&mut reader, folder, &root);
        }
        if purpose == Purpose::Lint {
            lint::width(&mut reader);
        }
        diagnostics.extend(reader.into_found());
    }
    let mut cases: BTreeMap<CaseId, Reading> = BTreeMap::new();
    for (text, id) in texts.iter().filter_map(|text| Some((text, text.kind.case()?))) {
        let mut reader = text.reader();
        let reading = one_case(&mut reader, id, &catalogued, purpose);
        if let Some(first) = cases.get(id) {
            let twice = reader.mistake(Lint::DuplicateCase, format!("the case `{id}` is there twice"));
            reader.push(twice.help(format!("the other one is {}", first.case.path)));
        } else if let Some(reading) = reading {
            cases.insert(id.clone(), reading);
        }
        diagnostics.extend(reader.into_found());
    }
    let cases: Vec<_> = cases.into_values().map(|reading| reading.case).collect();
    diagnostics.sort_by(|one, other| one.order().cmp(&other.order()));
    (Library { cases, requirements: catalogued.requirements, hash }, diagnostics)
}

fn one_case(reader: &mut Reader, id: &CaseId, catalogued: &Catalogued, purpose: Purpose) -> Option<Reading> {
    if purpose == Purpose::Lint {
        lint::width(reader);
    }
    let root = json::parse(reader)?;
    let reading = case::case(reader, id.clone(), &root, &catalogued.requirements)?;
    if !reader.failed() {
        lint::unseen(reader, &reading);
        if purpose == Purpose::Lint {
            lint::whole(reader, &reading);
        }
    }
    Some(reading)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::fuzz::fuzz;
    use crate::model::untrusted::is_safe;

    /// What is read of a file of cases as whatever its place says that it is, and then told of it.
    fn told(bytes: &[u8], read: impl FnOnce(&mut Reader)) {
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
    fn any_case_file_is_loaded_or_its_mistakes_are_shown() {
        let (Library { requirements, .. }, _) = read(&[Source::Embedded], Purpose::Run);
        let catalogued = Catalogued { requirements, ..Catalogued::default() };
        fuzz("case-files", seeds(|kind| kind.case().is_some()), |bytes| {
            told(bytes, |reader| {
                _ = one_case(reader, &CaseId::new("a", "b"), &catalogued, Purpose::Lint);
            });
        });
    }

    /// Found by fuzzing: a file of 1 MiB with a mistake a line kept the program busy for minutes.
    #[test]
    fn of_very_many_mistakes_in_a_file_some_are_told_and_that_there_are_more() {
        let members: Vec<_> = (0..20_000).map(|number| format!("\"unknown-{number}\": 1")).collect();
        let text = format!("{{{}}}", members.join(",\n"));
        let mut reader = Reader::new(Arc::new(diagnostic::File::new("cases/a/b.json", text)));
        assert!(
            one_case(&mut reader, &CaseId::new("a", "b"), &Catalogued::default(), Purpose::Lint).is_none()
                && reader.failed()
        );
        let told = render(&reader.into_found(), false).to_string();
        assert!(told.contains("unknown-7`") && told.contains("more mistakes than are told"));
        assert!(told.len() < 200_000, "{} bytes", told.len());
    }

    #[test]
    fn any_catalogue_is_read_or_its_mistakes_are_shown() {
        fuzz("catalogues", seeds(|kind| kind.requirements().is_some()), |bytes| {
            told(bytes, |reader| {
                if let Some(root) = json::parse(reader) {
                    Catalogued::default().add(reader, "a", &root);
                }
            });
        });
    }
}
