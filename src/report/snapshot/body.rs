//! The text of a snapshot without its front matter: rendered, parsed, and divided by variant, test, revision and transport.
//!
//! Takes the observation of each run as text; gives one text for all variants of a target, in which equal observations
//! share a block, and reads such a text again. Must not know how an observation becomes text, nor where files are.
//!
//! ```text
//! unless noted: 2025-11-25..2026-07-28 stdio http of high low; 2026-07-28 http of stateless; …
//!
//! accepts/any-of
//! accepts/not
//!   success; saw {"a":1}
//!
//! rejects/any-of
//!   2025-11-25 stdio http, 2026-07-28 http: tool-error
//!   2026-07-28 stdio of high: crash
//!   2026-07-28 stdio of low: success
//!
//! rejects/not
//!   of high stateless: tool-error
//!   of low: success
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

/// A way, and the variant that is run on it; the name of a target without variants is empty.
type VariantWay<'t> = (Way, &'t str);

/// Begins the first line; behind it are the ways of all variants.
const HEAD: &str = "unless noted: ";
/// Ends the first line: what observations don't repeat.
pub(super) const USUAL: &str = "; structured content is as the tool saw it, and text mirrors it";
/// Stands before the names of variants.
const OF: &str = "of ";
/// The indent of an observation.
const OBSERVATION: &str = "  ";
/// The indent of the further lines of an observation.
const FURTHER: &str = "    ";
/// The number of characters of a malformed line that are shown.
const SHOWN: usize = 60;

/// Observations of one target, or of one variant of it, by test and way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body(BTreeMap<String, BTreeMap<Way, String>>);

/// The bodies of the variants of a target, by name; the name of a target without variants is empty.
pub type Snapshot = BTreeMap<String, Body>;

/// The first line that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Malformed {
    /// The number of the line, from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

/// The lines that were read so far.
struct Parser<'t> {
    /// The ways of the first line. All others are some of these.
    usual: BTreeSet<VariantWay<'t>>,
    snapshot: Snapshot,
    /// All tests that were named.
    named: BTreeSet<&'t str>,
    /// The tests of the block that is being read.
    tests: Vec<&'t str>,
    seen: BTreeMap<VariantWay<'t>, String>,
    /// The ways of the observation that is being read.
    ways: BTreeSet<VariantWay<'t>>,
}

impl<'t> Parser<'t> {
    fn line(&mut self, text: &'t str) -> Result<(), String> {
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
            for way in &ways {
                if self.seen.insert(*way, text.to_owned()).is_some() {
                    let ((revision, transport), variant) = way;
                    return Err(format!(
                        "a second observation on {revision} over {transport}{}",
                        of_variants([*variant])
                    ));
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
            if !self.named.insert(text) {
                return Err(format!("the test `{shown}` for the second time"));
            }
            self.tests.push(text);
        }
        Ok(())
    }

    /// The ways of an observation, and its text. That begins neither with a digit nor with [`OF`].
    fn observed(&self, observed: &'t str) -> Result<(BTreeSet<VariantWay<'t>>, &'t str), String> {
        if !observed.starts_with(|first: char| first.is_ascii_digit()) && !observed.starts_with(OF) {
            return Ok((self.usual.clone(), observed));
        }
        let parts = observed.split_once(": ").and_then(|(label, text)| Some((self.labelled(label)?, text)));
        parts.ok_or_else(|| {
            let shown = Untrusted(observed).line(SHOWN);
            format!("`{shown}` does not begin with revisions and transports, or variants, of the first line")
        })
    }

    /// Parses what [`label`] gives.
    fn labelled(&self, label: &str) -> Option<BTreeSet<VariantWay<'t>>> {
        let mut all = BTreeSet::new();
        for group in label.split("; ") {
            let (ways, variants) = parse_group(group)?;
            let is_meant = |(way, variant): &&VariantWay<'_>| {
                (ways.is_empty() || ways.contains(way)) && (variants.is_empty() || variants.contains(variant))
            };
            let meant: BTreeSet<_> = self.usual.iter().filter(is_meant).copied().collect();
            let has = |variant: &&str| meant.iter().any(|(_, other)| other == variant);
            if meant.is_empty() || !variants.iter().all(has) {
                return None;
            }
            all.extend(meant);
        }
        Some(all)
    }

    /// Ends a block.
    fn close(&mut self) {
        let seen = std::mem::take(&mut self.seen);
        self.ways.clear();
        for test in std::mem::take(&mut self.tests) {
            for ((way, variant), text) in &seen {
                let body = self.snapshot.entry((*variant).to_owned()).or_default();
                body.insert(test.to_owned(), *way, text.clone());
            }
        }
    }
}

/// Parses what [`render`] gives; white space at the ends of lines has no meaning.
///
/// # Errors
/// The first line that no rendered text has, or that says again what another line says.
pub(super) fn parse(text: &str) -> Result<Snapshot, Malformed> {
    let mut lines = text.trim_end().lines().map(str::trim_end).zip(1..);
    let Some((first, _)) = lines.next() else { return Ok(Snapshot::default()) };
    let Some(usual) = usual(first) else {
        let reason = format!("the first line does not begin with `{HEAD}`; another version of casebook wrote it");
        return Err(Malformed { line: 1, reason });
    };
    let (snapshot, named, tests, seen, ways) = Default::default();
    let mut parser = Parser { usual, snapshot, named, tests, seen, ways };
    for (text, line) in lines {
        parser.line(text).map_err(|reason| Malformed { line, reason })?;
    }
    parser.close();
    Ok(parser.snapshot)
}

/// Renders a block for all tests with equal observations, in which ways with equal observations share a line.
pub fn render(snapshot: &Snapshot) -> String {
    let mut tests: BTreeMap<&str, Seen<'_>> = BTreeMap::new();
    for (variant, body) in snapshot {
        for (path, seen) in &body.0 {
            tests.entry(path).or_default().extend(with_variant(seen, variant));
        }
    }
    let usual = tests.values().flat_map(BTreeMap::keys).copied().collect();
    let mut blocks: Vec<(Vec<&str>, Seen<'_>)> = Vec::new();
    for (path, seen) in tests {
        match blocks.iter_mut().find(|(_, other)| *other == seen) {
            Some((tests, _)) => tests.push(path),
            None => blocks.push((vec![path], seen)),
        }
    }
    render_blocks(&blocks, &usual)
}

impl Body {
    /// Adds an observation; text from [`super::observation`].
    pub(super) fn insert(&mut self, path: String, way: Way, text: String) {
        self.0.entry(path).or_default().insert(way, text);
    }

    /// Renders two bodies in a way in which their lines can be compared: a block for each test, and the same line at
    /// the beginning of both.
    pub fn texts(&self, other: &Self) -> [String; 2] {
        let tests = self.0.values().chain(other.0.values());
        let usual = tests.flat_map(BTreeMap::keys).map(|way| (*way, "")).collect();
        [self, other].map(|body| {
            let blocks = body.0.iter().map(|(path, seen)| (vec![path.as_str()], with_variant(seen, "").collect()));
            render_blocks(&blocks.collect::<Vec<_>>(), &usual)
        })
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

/// Observations of one test, in all variants.
type Seen<'t> = BTreeMap<VariantWay<'t>, &'t str>;

fn with_variant<'t>(
    seen: &'t BTreeMap<Way, String>,
    variant: &'t str,
) -> impl Iterator<Item = (VariantWay<'t>, &'t str)> {
    seen.iter().map(move |(way, text)| ((*way, variant), text.as_str()))
}

fn render_blocks(blocks: &[(Vec<&str>, Seen<'_>)], usual: &BTreeSet<VariantWay<'_>>) -> String {
    let mut text = String::new();
    if !blocks.is_empty() {
        let head = groups(usual, |_, _| false);
        writeln!(text, "{HEAD}{head}{USUAL}").expect("writing to memory never fails");
    }
    for (tests, seen) in blocks {
        writeln!(text, "\n{}", tests.join("\n")).expect("writing to memory never fails");
        for (observed, ways) in alike(seen.iter().map(|(way, text)| (*way, text))) {
            let label = label(&ways, usual);
            writeln!(text, "{OBSERVATION}{label}{observed}").expect("writing to memory never fails");
        }
    }
    text
}

/// The keys of each value, in the order of the first of them.
pub(super) fn alike<K: Ord, T: PartialEq>(seen: impl IntoIterator<Item = (K, T)>) -> Vec<(T, BTreeSet<K>)> {
    let mut alike: Vec<(T, BTreeSet<K>)> = Vec::new();
    for (key, one) in seen {
        match alike.iter_mut().find(|(other, _)| *other == one) {
            Some((_, keys)) => _ = keys.insert(key),
            None => alike.push((one, [key].into())),
        }
    }
    alike
}

/// The ways before an observation, such as `2026-07-28 stdio of high; of low: `; nothing if they are the usual ones.
///
/// Without variants, all variants are meant that have these ways. Without ways, all ways of the variants are meant.
fn label(ways: &BTreeSet<VariantWay<'_>>, usual: &BTreeSet<VariantWay<'_>>) -> String {
    let of_any: BTreeSet<Way> = ways.iter().map(|(way, _)| *way).collect();
    if ways == usual {
        String::new()
    } else if usual.iter().filter(|(way, _)| of_any.contains(way)).eq(ways) {
        spans(&of_any) + ": "
    } else {
        let all = by_variant(usual);
        groups(ways, |variant, ways| all.get(variant) == Some(ways)) + ": "
    }
}

/// Variants with equal ways, as `2026-07-28 stdio of high low; 2026-07-28 http of stateless`. Ways are left out of groups
/// of variants for which `is_whole` returns true.
fn groups(ways: &BTreeSet<VariantWay<'_>>, is_whole: impl Fn(&str, &BTreeSet<Way>) -> bool) -> String {
    let ways = by_variant(ways).into_iter();
    let spans =
        ways.map(|(variant, ways)| (variant, if is_whole(variant, &ways) { String::new() } else { spans(&ways) }));
    let groups = alike(spans).into_iter().map(|(spans, variants)| spans + &of_variants(variants));
    groups.map(|group| group.trim_start().to_owned()).collect::<Vec<_>>().join("; ")
}

fn by_variant<'t>(ways: &BTreeSet<VariantWay<'t>>) -> BTreeMap<&'t str, BTreeSet<Way>> {
    let mut variants: BTreeMap<_, BTreeSet<Way>> = BTreeMap::new();
    for (way, variant) in ways {
        variants.entry(*variant).or_default().insert(*way);
    }
    variants
}

/// ` of high low`; nothing for a target without variants.
fn of_variants<'t>(variants: impl IntoIterator<Item = &'t str>) -> String {
    let names = variants.into_iter().collect::<Vec<_>>().join(" ");
    if names.is_empty() { names } else { format!(" {OF}{names}") }
}

/// Parses one of [`groups`]; the part that it lacks is empty.
fn parse_group(text: &str) -> Option<(Vec<Way>, Vec<&str>)> {
    let Some((ways, variants)) = text.split_once(OF) else { return Some((parse_ways(text)?, Vec::new())) };
    let ways = if ways.is_empty() { Vec::new() } else { parse_ways(ways.strip_suffix(' ')?)? };
    Some((ways, variants.split(' ').collect()))
}

/// Parses the first line of a text: the ways of all variants.
fn usual(line: &str) -> Option<BTreeSet<VariantWay<'_>>> {
    let mut usual = BTreeSet::new();
    for group in line.strip_prefix(HEAD)?.strip_suffix(USUAL)?.split("; ") {
        let (ways, variants) = parse_group(group)?;
        let variants = if variants.is_empty() { vec![""] } else { variants };
        usual.extend(ways.iter().flat_map(|way| variants.iter().map(|variant| (*way, *variant))));
    }
    let is_nameless = usual.iter().all(|(_, variant)| variant.is_empty());
    let is_named = usual.iter().all(|(_, variant)| is_id(variant));
    (!usual.is_empty() && (is_nameless || is_named)).then_some(usual)
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
