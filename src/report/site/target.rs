//! The pages of one target: one for each version, one with its history, and one for each case and version.
//!
//! Takes the report of the run logs of some targets. Must not know pages of several targets.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use askama::Template;

use super::super::evidence::Evidence;
use super::super::history::{HistoryRun, runs};
use super::super::{
    Answer, CapabilityCell, CapabilityRow, CapabilityRows, Counts, Rate, Report, SentenceRates, Status, TestEntry,
    filters,
};
use super::address;
use super::broken::{Broken, BrokenTest, broken, broken_test};
use super::edition::{ChangedRequirement, Edition, EvidenceCause, changes};
use super::page::{Frame, Mark, number};
use super::{Put, api};
use crate::model::case::Library;
use crate::model::record::Record;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::UNTRIAGED;
use crate::model::text::count;
use crate::model::{CaseId, RequirementId, TestId};

/// The number of tests of a case of which the details are shown.
const DETAILED: usize = 200;
/// The number of versions, and of other variants, that a page links to.
const OTHERS: usize = 50;
/// The number of changed requirements that are listed.
const CHANGED: usize = 200;

/// The parts of the pages of some targets that all of their pages need.
pub(super) struct Group<'r> {
    pub(super) report: &'r Report,
    pub(super) library: &'r Library,
    pub(super) editions: &'r [Edition],
    /// The tests of each column.
    pub(super) tests: &'r [Vec<&'r TestEntry>],
    /// The records of each column.
    pub(super) records: &'r [BTreeMap<TestId, &'r Record>],
    pub(super) evidence: &'r Evidence,
    /// Set for the page of a run, which has only what fails.
    pub(super) is_run: bool,
}

/// The sentences that hold, in words.
pub(super) struct Share {
    pub(super) role: Role,
    pub(super) texts: Vec<String>,
    /// The share of MUSTs, by revision.
    pub(super) revisions: Vec<(Revision, String)>,
}

/// The shares of an edition, by role.
pub(super) fn shares(edition: &Edition) -> Vec<Share> {
    let share = |(role, rates): (&Role, &SentenceRates)| {
        let of = |rate: Rate, level: &str| match rate.asked {
            0 => None,
            _ => Some(format!("{} of {} {level} sentences hold", rate.held, rate.asked)),
        };
        let left = (rates.author > 0).then(|| format!("{} left to the author", rates.author));
        let revisions = edition.revisions.iter().filter(|((one, _), rates)| one == role && rates.must.asked > 0);
        Share {
            role: *role,
            texts: match edition.column.score(*role) {
                Some(score) => vec![score],
                None => [of(rates.must, "MUST"), of(rates.should, "SHOULD"), left].into_iter().flatten().collect(),
            },
            revisions: revisions
                .map(|((_, revision), rates)| (*revision, format!("{} of {}", rates.must.held, rates.must.asked)))
                .collect(),
        }
    };
    edition.column.sentences.iter().map(share).collect()
}

/// A capability on the page of a target.
struct Ability<'r> {
    row: &'r CapabilityRow,
    mark: Mark,
    page: String,
    causes: &'r [EvidenceCause],
}

#[derive(Template)]
#[template(path = "target.html", config = "src/report/site/askama.toml")]
struct VersionPage<'r> {
    frame: Frame,
    edition: &'r Edition,
    shares: Vec<Share>,
    /// Facts that make the results partial.
    limits: Vec<String>,
    versions: Vec<(String, String, bool)>,
    variants: Vec<(String, String)>,
    abilities: Vec<(&'r str, Vec<Ability<'r>>)>,
    broken: Vec<Broken<'r>>,
    left: Vec<(String, String)>,
    changes: Option<ChangesView<'r>>,
    cases: Vec<(String, String, String)>,
    badges: Vec<String>,
    data: String,
}

struct ChangesView<'r> {
    before: String,
    page: String,
    capabilities: Vec<(&'r CapabilityRow, Mark, Mark)>,
    requirements: Vec<(ChangedRequirement, String, String)>,
    numbers: String,
}

#[derive(Template)]
#[template(path = "history.html", config = "src/report/site/askama.toml")]
struct HistoryPage<'r> {
    frame: Frame,
    newest: (String, String),
    versions: Vec<(String, String, Vec<Share>)>,
    since: Vec<(&'r CapabilityRow, String, Vec<HistoryRun>)>,
}

#[derive(Template)]
#[template(path = "results.html", config = "src/report/site/askama.toml")]
struct ResultsPage<'r> {
    frame: Frame,
    title: String,
    edition: &'r Edition,
    case_page: String,
    hows: Vec<String>,
    rows: Vec<(String, Vec<Option<TestMark>>)>,
    details: Vec<BrokenTest<'r>>,
    more: usize,
    summary: String,
}

impl VersionPage<'_> {
    #[expect(clippy::unused_self, reason = "templates call methods of the page")]
    fn requirement(&self, id: &RequirementId) -> String {
        address::requirement(id)
    }
}

impl ResultsPage<'_> {
    #[expect(clippy::unused_self, reason = "templates call methods of the page")]
    fn requirement(&self, id: &RequirementId) -> String {
        address::requirement(id)
    }
}

/// A result of a test as a sign.
struct TestMark {
    anchor: String,
    class: &'static str,
    sign: &'static str,
    word: &'static str,
    has_details: bool,
}

impl Group<'_> {
    /// Writes all pages of the targets.
    pub(super) fn write(&self, put: &mut Put<'_>) -> io::Result<()> {
        for chunk in ranges(self.editions) {
            for at in chunk.clone() {
                self.version(at, &self.editions[chunk.start..=at], &self.editions[chunk.clone()], put)?;
                self.results(at, put)?;
                let results = api::results(&self.editions[at], &self.tests[at], self.report);
                put(&format!("api/v1/results/{}.json", self.editions[at].place.path()), &results)?;
            }
            self.history(&self.editions[chunk], put)?;
        }
        Ok(())
    }

    fn trail(edition: &Edition) -> Vec<(String, String)> {
        vec![(edition.column.id.to_string(), edition.place.history())]
    }

    /// The page of one version. `until` has the versions up to it, `all` has all of them.
    fn version(&self, at: usize, until: &[Edition], all: &[Edition], put: &mut Put<'_>) -> io::Result<()> {
        let edition = &self.editions[at];
        let column = &edition.column;
        let title = format!("{} {}", column.id, number(column));
        let variants = self.editions.iter().filter(|one| one.is_newest && one.column.id.name == column.id.name);
        let page = VersionPage {
            frame: Frame::new(&edition.place.page(), title, Self::trail(edition)),
            shares: shares(edition),
            limits: limits(edition),
            versions: all
                .iter()
                .rev()
                .take(OTHERS)
                .rev()
                .map(|one| (number(&one.column), one.place.page(), one.place == edition.place))
                .collect(),
            variants: variants
                .filter(|one| one.column.id != column.id)
                .take(OTHERS)
                .map(|one| (one.column.id.to_string(), one.place.page()))
                .collect(),
            abilities: self.report.capabilities.iter().map(|group| self.abilities(group, edition)).collect(),
            broken: broken(self.report, &self.tests[at], &self.records[at], until),
            left: edition
                .requirements
                .iter()
                .filter(|(_, tally)| tally.answer() == Answer::Author)
                .map(|(id, _)| (id.to_string(), address::requirement(id)))
                .collect(),
            changes: (until.len() > 1).then(|| self.changes(at, &until[until.len() - 2])),
            cases: edition
                .cases
                .iter()
                .map(|(case, counts)| (case.to_string(), edition.place.results(case), in_words(counts)))
                .collect(),
            badges: column.sentences.keys().map(|role| format!("{}/{role}.json", edition.place.badges())).collect(),
            data: format!("api/v1/results/{}.json", edition.place.path()),
            edition,
        };
        put(&edition.place.page(), &page.render().expect("a template renders to memory"))
    }

    fn abilities<'s>(&'s self, group: &'s CapabilityRows, edition: &'s Edition) -> (&'s str, Vec<Ability<'s>>) {
        let first = flat_index(&self.report.capabilities, group);
        let ability = |(index, row): (usize, &'s CapabilityRow)| {
            let cell = &edition.answers[first + index];
            let (mark, page) = (mark(cell), address::capability(&row.id));
            Ability { row, mark, page, causes: &edition.evidence[first + index] }
        };
        (group.title.as_str(), group.capabilities.iter().enumerate().map(ability).collect())
    }

    fn changes<'s>(&'s self, at: usize, before: &'s Edition) -> ChangesView<'s> {
        let edition = &self.editions[at];
        let found = changes(before, edition, &self.records[at - 1], &self.records[at]);
        let rows: Vec<&CapabilityRow> = self.report.capabilities.iter().flat_map(|group| &group.capabilities).collect();
        let capability =
            |(index, old, new): &(usize, CapabilityCell, CapabilityCell)| (rows[*index], mark(old), mark(new));
        let numbers = [
            Some(format!("{} with the same result", count(found.same, "test"))),
            (found.rewritten > 0).then(|| format!("{} rewritten since, and not compared", found.rewritten)),
            (found.only_old > 0).then(|| format!("{} only in the version before", found.only_old)),
            (found.only_new > 0).then(|| format!("{} only in this version", found.only_new)),
        ];
        let requirement = |one: ChangedRequirement| {
            let (page, test) = (address::requirement(&one.id), edition.place.result(&one.test));
            (one, page, test)
        };
        ChangesView {
            before: number(&before.column),
            page: before.place.page(),
            capabilities: found.capabilities.iter().map(capability).collect(),
            requirements: found.requirements.into_iter().take(CHANGED).map(requirement).collect(),
            numbers: numbers.into_iter().flatten().collect::<Vec<_>>().join("; "),
        }
    }

    /// The page with the versions of a target, and since which of them each answer holds.
    fn history(&self, all: &[Edition], put: &mut Put<'_>) -> io::Result<()> {
        let Some(newest) = all.last() else { return Ok(()) };
        let rows = self.report.capabilities.iter().flat_map(|group| &group.capabilities).enumerate();
        let since = rows.filter_map(|(index, row)| {
            let runs = runs(all.iter().map(|edition| (&edition.column, &edition.answers[index])));
            (runs.len() > 1).then(|| (row, address::capability(&row.id), runs))
        });
        let page = HistoryPage {
            frame: Frame::new(&newest.place.history(), newest.column.id.to_string(), Vec::new()),
            newest: (number(&newest.column), newest.place.page()),
            versions: all.iter().rev().map(|one| (number(&one.column), one.place.page(), shares(one))).collect(),
            since: since.collect(),
        };
        put(&newest.place.history(), &page.render().expect("a template renders to memory"))
    }

    /// The pages with the results of each case.
    fn results(&self, at: usize, put: &mut Put<'_>) -> io::Result<()> {
        let edition = &self.editions[at];
        for tests in self.tests[at].chunk_by(|one, other| one.test.case == other.test.case) {
            let is_quiet = |test: &&TestEntry| matches!(test.status, Status::Passed | Status::NotAsked);
            if self.is_run && tests.iter().all(is_quiet) {
                continue;
            }
            let case = &tests[0].test.case;
            let path = edition.place.results(case);
            put(&path, &self.case_results(at, case, tests, &path))?;
        }
        Ok(())
    }

    fn case_results(&self, at: usize, case: &CaseId, tests: &[&TestEntry], path: &str) -> String {
        let edition = &self.editions[at];
        let hows: BTreeSet<(Revision, Transport)> =
            tests.iter().map(|test| (test.test.revision, test.test.transport)).collect();
        let hows: Vec<_> = hows.into_iter().collect();
        let mut rows: BTreeMap<String, Vec<Option<TestMark>>> = BTreeMap::new();
        let mut details = Vec::new();
        let mut more = 0;
        for test in tests {
            let (class, sign) = sign(test.status);
            let is_detailed = !matches!(test.status, Status::Passed | Status::NotAsked | Status::Observed);
            let has_details = is_detailed && details.len() < DETAILED;
            let row = rows.entry(row_name(&test.test)).or_insert_with(|| hows.iter().map(|_| None).collect());
            let column = hows.iter().position(|how| *how == (test.test.revision, test.test.transport));
            let mark = TestMark {
                anchor: address::anchor(&test.test),
                class,
                sign,
                word: conformance(test.status),
                has_details,
            };
            row[column.expect("each is among them")] = Some(mark);
            if has_details {
                let record = self.records[at].get(&test.test).copied();
                let mut broken = broken_test(self.report, edition, test, record, None);
                broken.messages = self.evidence.messages(&edition.column, &test.test);
                details.push(broken);
            } else if is_detailed {
                more += 1;
            }
        }
        let title = title_of(self.library, case).unwrap_or_else(|| case.to_string());
        let mut trail = Self::trail(edition);
        trail.push((number(&edition.column), edition.place.page()));
        let page = ResultsPage {
            frame: Frame::new(path, format!("{case}: {} {}", edition.column.id, number(&edition.column)), trail),
            title,
            case_page: address::case(case),
            hows: hows.iter().map(|(revision, transport)| format!("{revision} {transport}")).collect(),
            rows: rows.into_iter().collect(),
            details,
            more,
            summary: edition.cases.get(case).map(in_words).unwrap_or_default(),
            edition,
        };
        page.render().expect("a template renders to memory")
    }
}

/// The title of a case, if the loaded cases have it.
pub(super) fn title_of(library: &Library, case: &CaseId) -> Option<String> {
    let at = library.cases.binary_search_by(|one| one.id.cmp(case)).ok();
    let found = at.map(|at| &library.cases[at]).or_else(|| library.cases.iter().find(|one| one.id == *case));
    found.map(|case| case.title.clone())
}

/// The ranges of editions that are versions of one target.
fn ranges(editions: &[Edition]) -> Vec<std::ops::Range<usize>> {
    let mut start = 0;
    let chunks = editions.chunk_by(|one, other| one.column.id == other.column.id);
    let range = chunks.map(|chunk| {
        start += chunk.len();
        start - chunk.len()..start
    });
    range.collect()
}

fn flat_index(groups: &[CapabilityRows], group: &CapabilityRows) -> usize {
    groups.iter().take_while(|one| one.id != group.id).map(|one| one.capabilities.len()).sum()
}

fn mark(cell: &CapabilityCell) -> Mark {
    Mark::answer(cell, String::new())
}

fn row_name(test: &TestId) -> String {
    test.row.as_ref().map_or_else(|| test.test.clone(), |row| format!("{}/{row}", test.test))
}

/// The status of a test in words that have no regard to expectations.
fn conformance(status: Status) -> &'static str {
    match status {
        Status::Known => "failed as known",
        other => other.word(),
    }
}

/// The numbers of tests by status, in such words.
pub(super) fn in_words(counts: &Counts) -> String {
    let words = counts.iter().map(|(status, tests)| format!("{tests} {}", conformance(status)));
    words.collect::<Vec<_>>().join(", ")
}

/// The class and the sign of a status.
fn sign(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Passed => ("right", Answer::Right.mark()),
        Status::Failed | Status::Known | Status::Flaky => ("wrong", Answer::Wrong.mark()),
        Status::Warned | Status::Noted => ("partly", "!"),
        Status::Author => ("author", Answer::Author.mark()),
        Status::Cannot => ("absent", Answer::Absent.mark()),
        Status::Inconclusive | Status::Error => ("partly", "?"),
        Status::NotAsked | Status::NotAdopted | Status::Observed => ("none", Answer::NotTested.mark()),
    }
}

/// Facts that make the results of an edition partial.
fn limits(edition: &Edition) -> Vec<String> {
    let column = &edition.column;
    let mut limits: Vec<String> = Vec::new();
    limits.extend(column.unverified.as_ref().map(|reason| format!("Nobody has run it yet: {reason}")));
    limits.extend((column.missing > 0).then(|| format!("{} not run", count(column.missing, "planned test"))));
    limits.extend(column.skipped.iter().map(|one| format!("{} skipped: {}", count(one.tests, "test"), one.text)));
    limits.extend(column.stale.iter().map(|stale| format!("stale: {stale}")));
    limits.extend(column.snapshots.iter().map(|problem| format!("snapshot: {problem}")));
    limits.extend(column.untriaged().map(|text| format!("{UNTRIAGED}: {text}")));
    let cannot = column.count(Status::Cannot);
    limits.extend(
        (cannot > 0).then(|| format!("{} cannot be expressed with the SDK's public interface", count(cannot, "test"))),
    );
    limits
}
