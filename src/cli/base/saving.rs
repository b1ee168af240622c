//! The run log of a run, and what of the run could not be saved.
//!
//! Takes a path from the command line or a folder of the cache, gives the log. Must not know the content of records.

use camino::Utf8PathBuf;

use super::caches;
use super::exit::Exit;
use super::logs::CachedLog;
use super::problem::Problem;
use crate::model::record::{Footer, Header};
use crate::report::Untrusted;
use crate::report::terminal::eprint_line;
use crate::run::{Log, LogError, Unfinished};

/// The most characters of a line.
const LINE: usize = 1000;

/// The place of the run log of a run, and the reasons why something was not saved.
#[derive(Debug, Default)]
pub(in crate::cli) struct Saving {
    place: Option<Place>,
    unsaved: Vec<String>,
}

#[derive(Debug)]
enum Place {
    /// A path from the command line.
    Named(Utf8PathBuf),
    /// A folder in the cache.
    Cached(CachedLog),
}

impl Place {
    fn path(&self) -> Utf8PathBuf {
        match self {
            Self::Named(path) => path.clone(),
            Self::Cached(log) => log.path(),
        }
    }
}

impl Saving {
    /// Creates the run log. If it cannot be written, the user is told, and the run goes on without a run log.
    ///
    /// # Errors
    /// A problem if another run writes to the same file.
    pub(in crate::cli) fn begin(named: Option<&Utf8PathBuf>, header: &Header) -> Result<(Option<Log>, Self), Problem> {
        let place = match (named, caches::folder()) {
            (Some(path), _) => Place::Named(path.clone()),
            (None, Ok(cache)) => match CachedLog::begin(cache.clone()) {
                Ok(log) => Place::Cached(log),
                Err(error) => {
                    let text = format!(
                        "cannot write a run log to {cache}: {error}; to write it elsewhere, add --run-log FILE"
                    );
                    return Ok(Self::failed(text));
                }
            },
            (None, Err(why)) => return Ok(Self::unwanted(&why.0)),
        };
        match Log::create(&place.path(), header.clone()) {
            Ok(log) => Ok((Some(log), Self { place: Some(place), unsaved: Vec::new() })),
            Err(error @ LogError::InUse { .. }) => Err(error.into()),
            Err(error) => Ok(Self::failed(error.to_string())),
        }
    }

    fn unwanted(why: &str) -> (Option<Log>, Self) {
        let text = format!("no run log is written: {why}; to write one, add --run-log FILE");
        eprint_line(&Untrusted(&text).line(LINE));
        (None, Self::default())
    }

    fn failed(why: String) -> (Option<Log>, Self) {
        let saving = Self { place: None, unsaved: vec![why] };
        saving.print();
        (None, saving)
    }

    /// The path of the run log, if there is one.
    pub(in crate::cli) fn path(&self) -> Option<Utf8PathBuf> {
        self.place.as_ref().map(Place::path)
    }

    /// Ends the run log, and makes it the last one if it is in the cache.
    pub(in crate::cli) fn end(&mut self, log: Unfinished, footer: Footer) {
        if let Some(error) = log.finish(footer) {
            self.unsaved.push(format!("the run log ends before the run does: {error}"));
        } else if let Some(Place::Cached(log)) = &self.place {
            let error = log.publish().err();
            self.unsaved.extend(error.map(|error| format!("cannot make this run the last one: {error}")));
        }
    }

    /// Returns the effect on the result of the run.
    pub(in crate::cli) fn exit(&self) -> Exit {
        if self.unsaved.is_empty() { Exit::Fine } else { Exit::Unsaved }
    }

    /// Prints what was not saved.
    pub(in crate::cli) fn print(&self) {
        for text in &self.unsaved {
            eprint_line(&format!("casebook: {}", Untrusted(text).line(LINE)));
        }
    }
}
