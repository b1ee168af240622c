//! The pages of several targets: the index, and one for each capability, requirement and case.
//!
//! Takes the editions of all targets. Must not know records.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use askama::Template;

use super::super::evidence::Evidence;
use super::super::explain::{Breakers, explain};
use super::super::{Answer, CapabilityRow, CapabilityRows, Rate, Report, Sentence, Upgrade, UpgradeCause, filters};
use super::address::{self, Place};
use super::edition::{Edition, EvidenceCause};
use super::page::{Frame, LineHead, Mark, TableView, number};
use super::target::{Share, in_words, shares, title_of};
use super::{PAIRS, Put, Run, Summary};
use crate::model::case::{Case, Library};
use crate::model::spec::Role;
use crate::model::{CaseId, RequirementId};

/// The number of causes of an upgrade, in each direction.
const CAUSES: usize = 30;

/// Everything that pages of several targets need.
pub(super) struct Overview<'s> {
    pub(super) library: &'s Library,
    /// The newest version of each target, without tests.
    pub(super) report: &'s Report,
    pub(super) editions: &'s [Edition],
    pub(super) sentences: &'s BTreeMap<RequirementId, Sentence>,
    pub(super) caveats: &'s [String],
    pub(super) upgrades: &'s [UpgradeView],
    pub(super) pairs: Option<Rate>,
    pub(super) run: Option<&'s Run>,
    pub(super) evidence: &'s Evidence,
}

/// The upgrade of an SDK to its next line of releases.
pub(super) struct UpgradeView {
    from: String,
    to: String,
    compared: usize,
    /// What gets worse, and what gets better.
    ways: [(String, Vec<UpgradeLine>); 2],
}

/// A cause of what gets worse or better, with the address of a test.
struct UpgradeLine {
    role: Role,
    words: String,
    tests: usize,
    page: String,
}

impl UpgradeView {
    pub(super) fn new(upgrade: Upgrade, places: &[Place]) -> Self {
        let causes = |causes: Vec<UpgradeCause>| -> Vec<_> {
            let cause = |UpgradeCause { role, words, tests, example: (test, column) }| UpgradeLine {
                role,
                words,
                tests,
                page: places[column].result(&test),
            };
            causes.into_iter().take(CAUSES).map(cause).collect()
        };
        let Upgrade { from, to, compared, worse, better, .. } = upgrade;
        let mended = format!("Mended. What {from} did");
        let ways = [(format!("Worse. With {to}"), causes(worse)), (mended, causes(better))];
        Self { from, to, compared, ways }
    }
}

#[derive(Template)]
#[template(path = "index.html", config = "src/report/site/askama.toml")]
struct IndexPage<'s> {
    frame: Frame,
    run: Option<&'s Run>,
    agreement: Rate,
    caveats: &'s [String],
    upgrades: &'s [UpgradeView],
    /// The address of the page about pairs, and the checks that hold.
    pairs: Option<(&'static str, Rate)>,
    tables: Vec<TableView<'s>>,
    targets: Vec<(String, String, String, Vec<Share>)>,
    folders: Vec<(&'s str, Vec<(&'s Sentence, String)>)>,
}

#[derive(Template)]
#[template(path = "embed.html", config = "src/report/site/askama.toml")]
struct EmbedPage<'s> {
    frame: Frame,
    agreement: Rate,
    tables: Vec<TableView<'s>>,
}

#[derive(Template)]
#[template(path = "capability.html", config = "src/report/site/askama.toml")]
struct CapabilityPage<'s> {
    frame: Frame,
    group: &'s CapabilityRows,
    row: &'s CapabilityRow,
    requirements: Vec<(&'s RequirementId, String, Option<&'s Sentence>)>,
    answers: Vec<AnswerLine<'s>>,
    /// The targets that were not asked: their anchors and names.
    unasked: Vec<(String, String)>,
}

/// The answer of one target.
struct AnswerLine<'s> {
    id: String,
    head: LineHead,
    mark: Mark,
    causes: &'s [EvidenceCause],
    /// Set if a cause has a test, and the messages of the first one.
    has_test: bool,
    wrong: &'s [(&'static str, String)],
    /// A test that shows what holds, with its page and its messages.
    example: Option<(String, String)>,
    messages: &'s [(&'static str, String)],
}

#[derive(Template)]
#[template(path = "requirement.html", config = "src/report/site/askama.toml")]
struct RequirementPage<'s> {
    frame: Frame,
    sentence: &'s Sentence,
    capabilities: Vec<(&'s str, String)>,
    cases: Vec<(&'s CaseId, String, &'s str)>,
    results: Vec<(LineHead, Mark)>,
}

#[derive(Template)]
#[template(path = "case.html", config = "src/report/site/askama.toml")]
struct CasePage {
    frame: Frame,
    title: String,
    text: String,
    results: Vec<(LineHead, String, String)>,
}

fn head(edition: &Edition) -> LineHead {
    let column = &edition.column;
    LineHead { name: column.id.to_string(), detail: number(column), page: edition.place.page() }
}

impl<'s> Overview<'s> {
    /// Writes all pages.
    pub(super) fn write(&self, put: &mut Put<'_>) -> io::Result<()> {
        self.index(put)?;
        let rows =
            self.report.capabilities.iter().flat_map(|group| group.capabilities.iter().map(move |row| (group, row)));
        for (at, (group, row)) in rows.enumerate() {
            put(&address::capability(&row.id), &self.capability(at, group, row))?;
        }
        // The pages of requirements and cases have nothing about a run that is not in the others.
        if self.run.is_some() {
            return Ok(());
        }
        let cases = self.cases_by_requirement();
        for sentence in self.sentences.values() {
            let path = address::requirement(&sentence.id);
            put(&path, &self.requirement(sentence, &path, cases.get(&sentence.id).map_or(&[][..], Vec::as_slice)))?;
        }
        let known: BTreeMap<&CaseId, &Case> = self.library.cases.iter().map(|case| (&case.id, case)).collect();
        let ids: BTreeSet<&CaseId> =
            known.keys().copied().chain(self.editions.iter().flat_map(|edition| edition.cases.keys())).collect();
        for id in ids {
            let path = address::case(id);
            put(&path, &self.case(id, known.get(id).copied(), &path))?;
        }
        Ok(())
    }

    /// The newest versions.
    fn newest(&self) -> impl Iterator<Item = &'s Edition> {
        self.editions.iter().filter(|edition| edition.is_newest)
    }

    fn tables(&self) -> Vec<TableView<'s>> {
        TableView::all(self.report, &self.newest().collect::<Vec<_>>())
    }

    /// The numbers of the index, for the terminal.
    pub(super) fn summary(&self) -> Summary {
        Summary { targets: self.newest().count(), versions: self.editions.len(), agreement: self.report.agreement() }
    }

    fn index(&self, put: &mut Put<'_>) -> io::Result<()> {
        let target = |edition: &'s Edition| {
            (edition.column.id.to_string(), edition.place.history(), number(&edition.column), shares(edition))
        };
        let mut folders: Vec<(&str, Vec<(&Sentence, String)>)> = Vec::new();
        for sentence in self.sentences.values() {
            let one = (sentence, address::requirement(&sentence.id));
            match folders.last_mut().filter(|(folder, _)| *folder == sentence.folder) {
                Some((_, all)) => all.push(one),
                None => folders.push((&sentence.folder, vec![one])),
            }
        }
        let path = "index.html";
        let page = IndexPage {
            frame: Frame::new(path, "MCP compatibility", Vec::new()),
            run: self.run,
            agreement: self.report.agreement(),
            caveats: self.run.map_or(self.caveats, |run| &run.caveats),
            upgrades: self.upgrades,
            pairs: self.pairs.map(|rate| (PAIRS, rate)),
            tables: self.tables(),
            targets: self.newest().map(target).collect(),
            folders,
        };
        put(path, &page.render().expect("a template renders to memory"))?;
        let path = "embed/matrix.html";
        let frame = Frame::new(path, "MCP compatibility", Vec::new());
        let page = EmbedPage { frame, agreement: self.report.agreement(), tables: self.tables() };
        put(path, &page.render().expect("a template renders to memory"))
    }

    fn capability(&self, at: usize, group: &CapabilityRows, row: &CapabilityRow) -> String {
        let path = address::capability(&row.id);
        let of_role = self.newest().filter(|edition| edition.column.sentences.contains_key(&group.role));
        let (asked, unasked): (Vec<_>, Vec<_>) =
            of_role.partition(|edition| edition.answers[at].answer != Answer::NotTested);
        let first = |edition: &'s Edition| edition.evidence[at].iter().find_map(|cause| cause.tests.first());
        let line = |edition: &'s Edition| AnswerLine {
            id: edition.place.target(),
            head: head(edition),
            mark: Mark::answer(&edition.answers[at], format!("{}#{}", edition.place.page(), row.id)),
            causes: &edition.evidence[at],
            has_test: first(edition).is_some(),
            wrong: first(edition).map_or(&[][..], |(test, ..)| self.evidence.messages(&edition.column, test)),
            example: edition.examples[at].as_ref().map(|test| (test.to_string(), edition.place.result(test))),
            messages: edition.examples[at]
                .as_ref()
                .map_or(&[][..], |test| self.evidence.messages(&edition.column, test)),
        };
        let requirements: BTreeSet<&RequirementId> = row.requirements.iter().collect();
        let requirement = |id| (id, address::requirement(id), self.sentences.get(id));
        let page = CapabilityPage {
            frame: Frame::new(&path, row.question.clone(), Vec::new()),
            group,
            row,
            requirements: requirements.into_iter().map(requirement).collect(),
            answers: asked.into_iter().map(line).collect(),
            unasked: unasked.iter().map(|one| (one.place.target(), one.column.id.to_string())).collect(),
        };
        page.render().expect("a template renders to memory")
    }

    fn requirement(&self, sentence: &Sentence, path: &str, cases: &[&'s Case]) -> String {
        let result = |edition: &'s Edition| {
            let tally = edition.requirements.get(&sentence.id)?;
            let anchor = if tally.broken > 0 { format!("#broken-{}", sentence.id) } else { String::new() };
            Some((head(edition), Mark::requirement(*tally, format!("{}{anchor}", edition.place.page()))))
        };
        let rows = self.report.capabilities.iter().flat_map(|group| &group.capabilities);
        let decided = rows.filter(|row| row.requirements.contains(&sentence.id));
        let page = RequirementPage {
            frame: Frame::new(path, sentence.id.to_string(), Vec::new()),
            sentence,
            capabilities: decided.map(|row| (row.question.as_str(), address::capability(&row.id))).collect(),
            cases: cases.iter().map(|case| (&case.id, address::case(&case.id), case.title.as_str())).collect(),
            results: self.newest().filter_map(result).collect(),
        };
        page.render().expect("a template renders to memory")
    }

    fn case(&self, id: &CaseId, case: Option<&Case>, path: &str) -> String {
        let result = |edition: &Edition| {
            let counts = edition.cases.get(id)?;
            Some((head(edition), edition.place.results(id), in_words(counts)))
        };
        let page = CasePage {
            frame: Frame::new(path, id.to_string(), Vec::new()),
            title: title_of(self.library, id).unwrap_or_else(|| id.to_string()),
            text: case.map(|case| explain(self.library, case, &Breakers::new())).unwrap_or_default(),
            results: self.newest().filter_map(result).collect(),
        };
        page.render().expect("a template renders to memory")
    }

    fn cases_by_requirement(&self) -> BTreeMap<RequirementId, Vec<&'s Case>> {
        let mut found: BTreeMap<RequirementId, Vec<&Case>> = BTreeMap::new();
        for case in &self.library.cases {
            let checks = case.tests.iter().flat_map(|test| test.checks());
            let requirements: BTreeSet<&RequirementId> = checks.map(|check| &check.requirement).collect();
            for id in requirements {
                found.entry(id.clone()).or_default().push(case);
            }
        }
        found
    }
}
