//! The text of a snapshot without its front matter: rendered, parsed, and divided by test, revision and transport.
//!
//! Takes the observation of each run as text; gives a body in which runs with equal observations share a line, and
//! reads such a body again. Must not know how an observation becomes text, nor where files are.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::super::Untrusted;
use crate::model::is_id;
use crate::model::spec::{Revision, Transport};

/// One way in which a test is run.
pub type Way = (Revision, Transport);

/// Ways by the path of a test: the part of its id behind the case file.
pub type Ways = BTreeMap<String, BTreeSet<Way>>;

/// The indent of the ways of a test.
const WAYS: &str = "  ";
/// The indent of each step of an observation with several.
const STEP: &str = "    ";
/// The number of characters of a malformed line that are shown.
const SHOWN: usize = 60;

/// Observations by test and way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body(BTreeMap<String, BTreeMap<Way, String>>);

/// The first line of a body that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Malformed {
    /// The number of the line, from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

impl Body {
    /// Adds an observation; text from [`super::observation`].
    pub(super) fn insert(&mut self, path: String, way: Way, text: String) {
        self.0.entry(path).or_default().insert(way, text);
    }

    /// Parses what [`Body::text`] gives; white space at the ends of lines has no meaning.
    ///
    /// # Errors
    /// The first line that no rendered body has, or that says again what another line says.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let mut body: Vec<(String, BTreeMap<Way, String>)> = Vec::new();
        let (mut names, mut ways) = (BTreeSet::new(), Vec::<Way>::new());
        for (index, text) in text.trim_end().lines().map(str::trim_end).enumerate() {
            let malformed = |reason: String| Malformed { line: index + 1, reason };
            if let Some(step) = text.strip_prefix(STEP) {
                let Some((_, seen)) = body.last_mut().filter(|_| !ways.is_empty()) else {
                    return Err(malformed("a step without a revision and transport above it".to_owned()));
                };
                seen.iter_mut()
                    .filter(|(way, _)| ways.contains(*way))
                    .for_each(|(_, text)| text.extend(["\n", STEP, step]));
            } else if let Some(observed) = text.strip_prefix(WAYS) {
                let Some((_, seen)) = body.last_mut() else {
                    return Err(malformed("an observation without a test above it".to_owned()));
                };
                let parts = observed.split_once(':').and_then(|(told, text)| Some((parse_ways(told)?, text)));
                let (alike, text) = parts.ok_or_else(|| {
                    let told = Untrusted(observed).line(SHOWN);
                    malformed(format!("`{told}` does not begin with revisions and transports"))
                })?;
                for (revision, transport) in &alike {
                    if seen.insert((*revision, *transport), text.to_owned()).is_some() {
                        return Err(malformed(format!("a second observation on {revision} over {transport}")));
                    }
                }
                ways = alike;
            } else {
                let told = Untrusted(text).line(SHOWN);
                let parts: Vec<_> = text.split('/').collect();
                if parts.len() > 2 || !parts.into_iter().all(is_id) {
                    return Err(malformed(format!("`{told}` is not the name of a test")));
                }
                if !names.insert(text) {
                    return Err(malformed(format!("the test `{told}` for the second time")));
                }
                body.push((text.to_owned(), BTreeMap::new()));
                ways = Vec::new();
            }
        }
        Ok(Self(body.into_iter().filter(|(_, seen)| !seen.is_empty()).collect()))
    }

    /// Renders a block for each test, in which ways with equal observations share a line.
    pub fn text(&self) -> String {
        let mut body = String::new();
        for (path, seen) in &self.0 {
            writeln!(body, "{path}").expect("writing to memory never fails");
            let mut alike: Vec<(&String, BTreeSet<Way>)> = Vec::new();
            for (way, text) in seen {
                match alike.iter_mut().find(|(other, _)| *other == text) {
                    Some((_, ways)) => _ = ways.insert(*way),
                    None => alike.push((text, [*way].into())),
                }
            }
            for (text, ways) in alike {
                writeln!(body, "{WAYS}{}:{text}", spans(&ways)).expect("writing to memory never fails");
            }
        }
        body
    }

    /// All tests with their ways.
    pub fn ways(&self) -> Ways {
        self.0.iter().map(|(path, seen)| (path.clone(), seen.keys().copied().collect())).collect()
    }

    /// Returns whether there is an observation of a test on this way.
    pub fn has(&self, path: &str, way: Way) -> bool {
        self.0.get(path).is_some_and(|seen| seen.contains_key(&way))
    }

    /// Returns whether there is no observation.
    pub fn is_empty(&self) -> bool {
        self.0.values().all(BTreeMap::is_empty)
    }

    /// Divides a body: the observations for which `is_meant` returns true, and the others.
    pub fn divide(self, is_meant: impl Fn(&str, Way) -> bool) -> (Self, Self) {
        let (mut meant, mut others) = (Self::default(), Self::default());
        for (path, seen) in self.0 {
            let (of_meant, of_others) =
                seen.into_iter().partition::<BTreeMap<_, _>, _>(|(way, _)| is_meant(&path, *way));
            if !of_meant.is_empty() {
                meant.0.insert(path.clone(), of_meant);
            }
            if !of_others.is_empty() {
                others.0.insert(path, of_others);
            }
        }
        (meant, others)
    }

    /// Adds all observations of another body; they replace those of the same test and way.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        for (path, seen) in other.0 {
            self.0.entry(path).or_default().extend(seen);
        }
        self
    }
}

/// `2025-06-18..2025-11-25 stdio http, 2026-07-28 http`.
fn spans(ways: &BTreeSet<Way>) -> String {
    let mut spans: Vec<(Revision, Revision, Vec<Transport>)> = Vec::new();
    let mut before = None;
    for revision in Revision::all() {
        let of_it = ways.iter().filter(|(one, _)| *one == revision);
        let transports: Vec<_> = of_it.map(|(_, transport)| *transport).collect();
        if !transports.is_empty() {
            match spans.last_mut() {
                Some((_, last, same)) if Some(*last) == before && *same == transports => *last = revision,
                _ => spans.push((revision, revision, transports)),
            }
        }
        before = Some(revision);
    }
    let told = spans.iter().map(|(first, last, transports)| {
        let transports: Vec<_> = transports.iter().map(|transport| transport.word()).collect();
        let revisions = if first == last { first.to_string() } else { format!("{first}..{last}") };
        format!("{revisions} {}", transports.join(" "))
    });
    told.collect::<Vec<_>>().join(", ")
}

/// Parses what [`spans`] gives.
fn parse_ways(text: &str) -> Option<Vec<Way>> {
    let mut ways = Vec::new();
    for span in text.split(", ") {
        let (revisions, transports) = span.split_once(' ')?;
        let (first, last) = revisions.split_once("..").unwrap_or((revisions, revisions));
        let (first, last): (Revision, Revision) = (first.parse().ok()?, last.parse().ok()?);
        for transport in transports.split(' ') {
            let transport: Transport = transport.parse().ok()?;
            let between = Revision::all().filter(|one| (first..=last).contains(one));
            ways.extend(between.map(|revision| (revision, transport)));
        }
    }
    (!ways.is_empty()).then_some(ways)
}

#[cfg(test)]
mod tests;
