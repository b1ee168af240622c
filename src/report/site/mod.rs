//! A static site from any number of run logs: the matrix of answers, pages with permanent addresses, data and badges.
//!
//! Takes run logs, those of one target after those of another, so that only a part of them is in memory at a time; gives
//! the text of each file by its path. Must not know where run logs come from and where files go.

mod address;
mod api;
mod badges;
mod broken;
mod edition;
mod overview;
mod page;
mod single;
mod target;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use super::evidence::Evidence;
use super::keywords::Table;
use super::{CapabilityRow, CapabilityRows, Counts, Rate, Report, ReportContext, Sentence, Source, Untrusted, Upgrade};
use crate::model::case::Library;
use crate::model::record::{Header, Record};
use crate::model::spec::Revision;
use crate::model::text::{count, grouped, plural};
use crate::model::version;
use crate::model::{RequirementId, TargetId, TestId};
use address::Places;
use edition::{Edition, editions};
use overview::{Overview, UpgradeView};
use target::Group;

/// Stores a file of the site: its path, with `/` between the parts, and its text.
pub type Put<'p> = dyn FnMut(&str, &str) -> io::Result<()> + 'p;

const STYLE: &str = include_str!("style.css");

/// The page about pairs of clients and servers.
pub const PAIRS: &str = "pairs/index.html";

/// The number of limits that are kept.
const LIMITS: usize = 100;

/// A site that is being made.
pub struct Site<'s> {
    library: &'s Library,
    context: ReportContext,
    places: Places,
    /// The hash of the cases that count for each target in each version: those of the last run log.
    cases: HashMap<(TargetId, Option<String>), Option<String>>,
    editions: Vec<Edition>,
    sentences: BTreeMap<RequirementId, Sentence>,
    capabilities: Option<Vec<CapabilityRows>>,
    limits: Vec<String>,
    upgrades: Vec<UpgradeView>,
    /// The messages that the pages of questions show.
    evidence: Evidence,
    /// The checks of pairs that hold, if there is a page about pairs.
    pairs: Option<Rate>,
    /// The run, if the site is its page.
    run: Option<Run>,
}

/// The numbers of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The number of targets and variants.
    pub targets: usize,
    /// The number of their versions.
    pub versions: usize,
    /// The capabilities on which all targets do the same and right.
    pub agreement: Rate,
}

impl Edition {
    fn is_reference(&self) -> bool {
        self.column.is_reference()
    }
}

/// Returns the results of some run logs as one page that needs no second file.
///
/// # Panics
/// Never: writing to memory doesn't fail.
pub fn page(sources: &[Source], library: &Library, report: &Report, evidence: &Evidence) -> String {
    let headers: Vec<_> = sources.iter().map(|source| source.header.clone()).collect();
    let mut pages: Vec<(String, String)> = Vec::new();
    let mut put = |path: &str, text: &str| {
        if path.ends_with("/index.html") || path == "index.html" {
            pages.push((path.to_owned(), text.to_owned()));
        }
        Ok(())
    };
    let run = Run::of(report);
    let title = run.title.clone();
    let mut site = Site { run: Some(run), ..Site::new(library, &headers) };
    let (of_run, records) = Report::with_records(sources, &site.context);
    site.add_all(&of_run, &records, evidence, &mut put).expect("memory takes all pages");
    site.finish_with(evidence, &mut put).expect("memory takes all pages");
    let rank = |path: &str| ["index.html", "targets/", "capabilities/"].iter().position(|part| path.starts_with(part));
    pages.sort_by_cached_key(|(path, _)| (rank(path).unwrap_or(3), path.clone()));
    single::document(title, format!("{}: {}.", report.view.word(), report.view.question()), &pages)
}

/// The result of a run, for the page that shows nothing else.
pub(super) struct Run {
    title: String,
    pub(super) lead: String,
    pub(super) caveats: Vec<String>,
    /// The tests of an imported suite, by JSON Schema keyword.
    pub(super) keywords: Option<Table>,
}

impl Run {
    fn of(report: &Report) -> Self {
        let mut tests = Counts::default();
        for counts in report.counts() {
            tests.extend(counts.iter());
        }
        let number = |number, noun| format!("{} {}", grouped(number), plural(number, noun));
        let mut found: Vec<_> = tests.iter().map(|(status, tests)| format!("{} {status}", grouped(tests))).collect();
        found.reverse();
        let (rows, tests) = (number(report.requirements.len(), "requirement"), number(report.tests.len(), "test"));
        let title = match report.targets.as_slice() {
            [one] => one.title.clone(),
            many => count(many.len(), "target"),
        };
        Self {
            title: format!("{title} and the Model Context Protocol"),
            lead: format!("{rows}, {tests}: {}.", found.join(", ")),
            caveats: report.partial.iter().map(|caveat| caveat.text.clone()).collect(),
            keywords: Table::of(report),
        }
    }
}

/// Returns the targets of a run log with their versions; of several entries of one target, the first counts.
fn versions(header: &Header) -> HashMap<&TargetId, Option<&str>> {
    let mut versions: HashMap<_, _> = header.targets.iter().map(|target| (target, None)).collect();
    versions.extend(header.about.iter().rev().map(|about| (&about.target, about.version.as_deref())));
    versions
}

/// Divides run logs into groups without a common target, as indices in their order.
pub fn groups(headers: &[Header]) -> Vec<Vec<usize>> {
    // Each run log belongs to the group of the first run log with one of its targets.
    let mut group: Vec<usize> = (0..headers.len()).collect();
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (at, header) in headers.iter().enumerate() {
        for target in &header.targets {
            let other = *by_name.entry(target.name.as_str()).or_insert(at);
            let (from, to) = (root(&group, at), root(&group, other));
            group[from.max(to)] = from.min(to);
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..headers.len() {
        groups.entry(root(&group, at)).or_default().push(at);
    }
    groups.into_values().collect()
}

fn root(group: &[usize], mut at: usize) -> usize {
    while group[at] != at {
        at = group[at];
    }
    at
}

impl<'s> Site<'s> {
    /// A site about the targets of these run logs, of which each has its address now.
    pub fn new(library: &'s Library, headers: &[Header]) -> Self {
        let mut site = Self {
            library,
            context: ReportContext::of(library),
            places: Places::default(),
            cases: HashMap::new(),
            editions: Vec::new(),
            sentences: BTreeMap::new(),
            capabilities: None,
            limits: Vec::new(),
            upgrades: Vec::new(),
            evidence: Evidence::default(),
            pairs: None,
            run: None,
        };
        for header in headers {
            let versions = versions(header);
            for target in &header.targets {
                site.places.of(target, versions[target]);
                site.cases.insert((target.clone(), versions[target].map(str::to_owned)), header.cases.clone());
            }
        }
        site
    }

    /// Links the page about pairs, of whose checks this part holds.
    #[must_use]
    pub fn with_pairs(self, pairs: Option<Rate>) -> Self {
        Self { pairs, ..self }
    }

    /// Adds all run logs of some targets, and writes the pages of these targets. `evidence` reads the messages beside them.
    ///
    /// # Errors
    /// Errors of `put`.
    pub fn add(
        &mut self,
        mut sources: Vec<Source>,
        evidence: impl Fn(&Report, &[Source]) -> Evidence,
        put: &mut Put<'_>,
    ) -> io::Result<()> {
        for source in &mut sources {
            self.keep_last_cases(source);
        }
        let (report, records) = Report::with_records(&sources, &self.context);
        let evidence = evidence(&report, &sources);
        self.add_all(&report, &records, &evidence, put)?;
        self.evidence.add_shown(evidence);
        Ok(())
    }

    fn add_all(
        &mut self,
        report: &Report,
        records: &[BTreeMap<TestId, &Record>],
        evidence: &Evidence,
        put: &mut Put<'_>,
    ) -> io::Result<()> {
        self.limits.extend(report.partial.iter().map(|caveat| caveat.text.clone()));
        let places: Vec<_> =
            report.targets.iter().map(|column| self.places.of(&column.id, column.version.as_deref())).collect();
        let tests = report.tests_by_target();
        let editions = editions(report, &places, &tests, &self.context.roles);
        let group = Group {
            report,
            library: self.library,
            editions: &editions,
            tests: &tests,
            records,
            evidence,
            is_run: self.run.is_some(),
        };
        group.write(put)?;
        let upgrades = Upgrade::all(report, records, &self.context);
        self.upgrades.extend(upgrades.into_iter().map(|upgrade| UpgradeView::new(upgrade, &places)));
        for sentence in &report.requirements {
            if !self.sentences.contains_key(&sentence.id) {
                self.sentences.insert(sentence.id.clone(), sentence.clone());
            }
        }
        self.editions.extend(editions);
        if self.capabilities.is_none() {
            self.capabilities = Some(report.capabilities.clone());
        }
        Ok(())
    }

    /// Removes targets of which a later run log has the same version with other cases.
    fn keep_last_cases(&mut self, source: &mut Source) {
        let versions = versions(&source.header);
        let is_last = |target: &TargetId| {
            let last = self.cases.get(&(target.clone(), versions[target].map(str::to_owned)));
            last.is_none_or(|cases| *cases == source.header.cases)
        };
        let (kept, removed): (Vec<_>, Vec<_>) = source.header.targets.iter().cloned().partition(is_last);
        let removed: HashSet<TargetId> = removed.into_iter().collect();
        if removed.is_empty() {
            return;
        }
        let name = Untrusted(&source.name).line(200);
        self.limits.push(format!(
            "{name}: {} left out, because a later run log has the same version with other cases",
            count(removed.len(), "target")
        ));
        source.records.retain(|record| !removed.contains(&record.target));
        source.header.targets = kept;
    }

    /// Writes the pages of all targets together, the data, the badges and the style.
    ///
    /// # Errors
    /// Errors of `put`.
    pub fn finish(mut self, put: &mut Put<'_>) -> io::Result<Summary> {
        let evidence = std::mem::take(&mut self.evidence);
        self.finish_with(&evidence, put)
    }

    fn finish_with(mut self, evidence: &Evidence, put: &mut Put<'_>) -> io::Result<Summary> {
        self.editions.sort_by_cached_key(|edition| {
            let version = version::order(edition.column.version.as_deref().unwrap_or_default());
            let (package, number, text) = version;
            (edition.column.id.clone(), package.to_owned(), number, text.to_owned())
        });
        for requirement in self.library.requirements.values() {
            if !self.sentences.contains_key(&requirement.id) {
                let sentence = Sentence::of(&requirement.id, requirement.level, Some(requirement), Revision::newest());
                self.sentences.insert(requirement.id.clone(), sentence);
            }
        }
        let report = self.overview();
        self.limits.sort();
        self.limits.dedup();
        self.limits.truncate(LIMITS);
        let overview = Overview {
            library: self.library,
            report: &report,
            editions: &self.editions,
            sentences: &self.sentences,
            caveats: &self.limits,
            upgrades: &self.upgrades,
            pairs: self.pairs,
            run: self.run.as_ref(),
            evidence,
        };
        overview.write(put)?;
        // The page of a run has its style in it, and no data beside it.
        if self.run.is_none() {
            api::write(&report, &self.editions, &self.sentences, put)?;
            badges::write(&report, &self.editions, put)?;
            put("style.css", STYLE)?;
        }
        Ok(overview.summary())
    }

    /// A report of the newest version of each target, without tests.
    fn overview(&self) -> Report {
        let newest: Vec<&Edition> = self.editions.iter().filter(|edition| edition.is_newest).collect();
        let mut report = Report::new(&[], &self.context);
        report.targets = newest.iter().map(|edition| edition.column.clone()).collect();
        report.view = super::View::Conformance;
        let mut at = 0;
        let mut row = |row: &CapabilityRow| {
            at += 1;
            CapabilityRow {
                answers: newest.iter().map(|edition| edition.answers[at - 1].clone()).collect(),
                ..row.clone()
            }
        };
        let groups = self.capabilities.as_deref().unwrap_or_default();
        let group = |group: &CapabilityRows| CapabilityRows {
            capabilities: group.capabilities.iter().map(&mut row).collect(),
            ..group.clone()
        };
        report.capabilities = groups.iter().map(group).collect();
        report
    }
}
