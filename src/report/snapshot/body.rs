//! The text of a snapshot without its front matter: rendered, parsed, and divided by test, revision and transport.
//!
//! Takes the observation of each run as text; gives a body in which equal observations share a block, and reads such a
//! body again. Must not know how an observation becomes text, nor where files are.
//!
//! ```text
//! unless noted: 2025-11-25..2026-07-28 stdio http; …
//!
//! accepts/any-of
//! accepts/not
//!   success; saw {"a":1}
//!
//! rejects/any-of
//!   2025-11-25 stdio http, 2026-07-28 http: tool-error
//!   2026-07-28 stdio: crash
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::super::Untrusted;
use crate::model::is_id;
use crate::model::spec::{Revision, Transport};

/// One way in which a test is run.
pub type Way = (Revision, Transport);

/// Ways by the path of a test: the part of its id behind the case file.
pub type Ways = BTreeMap<String, BTreeSet<Way>>;

/// Begins the first line of a body; behind it are the ways of observations without any.
const HEAD: &str = "unless noted: ";
/// Ends the first line of a body: what observations don't repeat.
pub(super) const USUAL: &str = "; structured content is as the tool saw it, and text mirrors it";
/// The indent of an observation.
const OBSERVATION: &str = "  ";
/// The indent of the further lines of an observation.
const FURTHER: &str = "    ";
/// The number of characters of a malformed line that are shown.
const SHOWN: usize = 60;

/// Observations of one test by way.
type Seen = BTreeMap<Way, String>;

/// Observations by test and way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body(BTreeMap<String, Seen>);

/// The first line of a body that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Malformed {
    /// The number of the line, from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

/// The lines of a body that were read so far.
struct Parser {
    /// The ways of observations without any.
    usual: Vec<Way>,
    body: Body,
    /// The tests of the block that is being read.
    tests: Vec<String>,
    seen: Seen,
    /// The ways of the observation that is being read.
    ways: Vec<Way>,
}

impl Parser {
    fn line(&mut self, text: &str) -> Result<(), String> {
        if text.is_empty() {
            self.close();
        } else if text.starts_with(FURTHER) {
            if self.ways.is_empty() {
                return Err("a line of an observation without its first line above it".to_owned());
            }
            let Self { seen, ways, .. } = self;
            let alike = seen.iter_mut().filter(|(way, _)| ways.contains(*way));
            alike.for_each(|(_, seen)| seen.extend(["\n", text]));
        } else if let Some(observed) = text.strip_prefix(OBSERVATION) {
            if self.tests.is_empty() {
                return Err("an observation without a test above it".to_owned());
            }
            let (ways, text) = self.observed(observed)?;
            for (revision, transport) in &ways {
                if self.seen.insert((*revision, *transport), text.to_owned()).is_some() {
                    return Err(format!("a second observation on {revision} over {transport}"));
                }
            }
            self.ways = ways;
        } else {
            if !self.seen.is_empty() {
                self.close();
            }
            let shown = Untrusted(text).line(SHOWN);
            let parts: Vec<_> = text.split('/').collect();
            if parts.len() > 2 || !parts.into_iter().all(is_id) {
                return Err(format!("`{shown}` is not the name of a test"));
            }
            if self.body.0.contains_key(text) || self.tests.iter().any(|test| test == text) {
                return Err(format!("the test `{shown}` for the second time"));
            }
            self.tests.push(text.to_owned());
        }
        Ok(())
    }

    /// The ways of an observation, and its text. That never begins with a digit.
    fn observed<'t>(&self, observed: &'t str) -> Result<(Vec<Way>, &'t str), String> {
        if !observed.starts_with(|first: char| first.is_ascii_digit()) {
            return Ok((self.usual.clone(), observed));
        }
        let parts = observed.split_once(": ").and_then(|(ways, text)| Some((parse_ways(ways)?, text)));
        parts.ok_or_else(|| {
            let shown = Untrusted(observed).line(SHOWN);
            format!("`{shown}` does not begin with revisions and transports")
        })
    }

    /// Ends a block.
    fn close(&mut self) {
        let seen = std::mem::take(&mut self.seen);
        self.ways.clear();
        for test in std::mem::take(&mut self.tests) {
            if !seen.is_empty() {
                self.body.0.insert(test, seen.clone());
            }
        }
    }
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
        let mut lines = text.trim_end().lines().map(str::trim_end).zip(1..);
        let Some((head, _)) = lines.next() else { return Ok(Self::default()) };
        let usual = head.strip_prefix(HEAD).and_then(|head| parse_ways(head.strip_suffix(USUAL)?));
        let Some(usual) = usual else {
            let reason = format!("the first line does not begin with `{HEAD}`; another version of casebook wrote it");
            return Err(Malformed { line: 1, reason });
        };
        let (body, tests, seen, ways) = Default::default();
        let mut parser = Parser { usual, body, tests, seen, ways };
        for (text, line) in lines {
            parser.line(text).map_err(|reason| Malformed { line, reason })?;
        }
        parser.close();
        Ok(parser.body)
    }

    /// Renders a block for all tests with equal observations, in which ways with equal observations share a line.
    pub fn text(&self) -> String {
        let mut blocks: Vec<(Vec<&str>, &Seen)> = Vec::new();
        for (path, seen) in &self.0 {
            match blocks.iter_mut().find(|(_, other)| *other == seen) {
                Some((tests, _)) => tests.push(path),
                None => blocks.push((vec![path], seen)),
            }
        }
        render(&blocks, &self.all_ways())
    }

    /// Renders two bodies in a way in which their lines can be compared: a block for each test, and the same line at
    /// the beginning of both.
    pub fn texts(&self, other: &Self) -> [String; 2] {
        let usual = &self.all_ways() | &other.all_ways();
        [self, other].map(|body| {
            let blocks: Vec<_> = body.0.iter().map(|(path, seen)| (vec![path.as_str()], seen)).collect();
            render(&blocks, &usual)
        })
    }

    fn all_ways(&self) -> BTreeSet<Way> {
        self.0.values().flat_map(BTreeMap::keys).copied().collect()
    }

    /// All observations of a test.
    pub(super) fn get(&self, path: &str) -> Option<&BTreeMap<Way, String>> {
        self.0.get(path)
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

fn render(blocks: &[(Vec<&str>, &Seen)], usual: &BTreeSet<Way>) -> String {
    let mut text = String::new();
    if !blocks.is_empty() {
        writeln!(text, "{HEAD}{}{USUAL}", spans(usual)).expect("writing to memory never fails");
    }
    for (tests, seen) in blocks {
        writeln!(text, "\n{}", tests.join("\n")).expect("writing to memory never fails");
        for (observed, ways) in alike(seen.iter().map(|(way, text)| (*way, text))) {
            let ways = if ways == *usual { String::new() } else { spans(&ways) + ": " };
            writeln!(text, "{OBSERVATION}{ways}{observed}").expect("writing to memory never fails");
        }
    }
    text
}

/// The ways of each observation, in the order of the first of them.
pub(super) fn alike<T: PartialEq>(seen: impl IntoIterator<Item = (Way, T)>) -> Vec<(T, BTreeSet<Way>)> {
    let mut alike: Vec<(T, BTreeSet<Way>)> = Vec::new();
    for (way, one) in seen {
        match alike.iter_mut().find(|(other, _)| *other == one) {
            Some((_, ways)) => _ = ways.insert(way),
            None => alike.push((one, [way].into())),
        }
    }
    alike
}

/// `2025-06-18..2025-11-25 stdio http, 2026-07-28 http`.
pub(super) fn spans(ways: &BTreeSet<Way>) -> String {
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
    let texts = spans.iter().map(|(first, last, transports)| {
        let transports: Vec<_> = transports.iter().map(|transport| transport.word()).collect();
        let revisions = if first == last { first.to_string() } else { format!("{first}..{last}") };
        format!("{revisions} {}", transports.join(" "))
    });
    texts.collect::<Vec<_>>().join(", ")
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
