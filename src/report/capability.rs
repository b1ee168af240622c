//! Records and capabilities → the answer to each question for each target, in words.
//!
//! Takes the merged records of each column; gives an [`Answer`] with at most forty characters for each capability and
//! column. The words are data: those of a known failure, else those of the requirement. Pure. It must not know how answers
//! are shown.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use serde_json::Value;

use super::merge::MergedTarget;
use super::{Column, Rate, Report, ReportContext};
use crate::model::capability::{Capability, CapabilityGroup, Decider, Shown};
use crate::model::case::Need;
use crate::model::reason::{Finding, SkipReason};
use crate::model::record::{KnownAs, Record, Verdict};
use crate::model::spec::{Harm, Level, Requirement, Revision, Role, words};
use crate::model::text::shortened;
use crate::model::verdict::{Meaning, VerdictKind};
use crate::model::{RequirementId, TestId};

words! {
    /// The answer to a question about a target.
    #[derive(Default)]
    Answer {
        /// As the specification says: every check holds.
        Right = "right",
        /// It works, and something is missing: most checks hold, or another variant of the SDK answers.
        Partly = "partly",
        /// It does not work: less than half of the checks hold.
        Wrong = "wrong",
        /// The SDK's documentation leaves it to the author of a server or client.
        Author = "left to the author",
        /// The SDK has no such thing, or not in this revision.
        Absent = "absent",
        /// Nothing was decided.
        #[default]
        NotTested = "not tested",
    }
}

/// A group of capabilities, with its answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CapabilityRows {
    /// The id.
    pub id: String,
    /// The subject.
    pub title: String,
    /// The role that is asked.
    pub role: Role,
    /// The capabilities.
    pub capabilities: Vec<CapabilityRow>,
}

/// A capability, with the answer for each target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CapabilityRow {
    /// The id.
    pub id: String,
    /// The question.
    pub question: String,
    /// Set for a question that people ask often.
    pub first: bool,
    /// The answer of an implementation that does what is expected of it: `yes` or `no`.
    pub right: &'static str,
    /// The gravest keyword of the sentences that decide it; `None` if none has one.
    pub keyword: Option<&'static str>,
    /// The requirements that decide it.
    pub requirements: Vec<RequirementId>,
    /// The checks that decide it: those of these requirements in these tests.
    pub decided_by: Vec<DeciderEntry>,
    /// The answers, by column of the report.
    pub answers: Vec<CapabilityCell>,
}

/// Checks that decide a capability, in tests of its role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeciderEntry {
    /// The requirement.
    pub requirement: RequirementId,
    /// The tests, as prefixes of their paths; if empty, all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
}

/// The answer to a question about one target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CapabilityCell {
    /// The answer.
    pub answer: Answer,
    /// The answer in at most forty characters.
    pub words: String,
    /// The reasons of what does not hold, the gravest first. The number of them is limited.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// The API of the variant that answers, if it is not the column's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The number of checks that hold.
    pub held: usize,
    /// The number of checks that were decided.
    pub decided: usize,
    /// The number of checks that are left to the author.
    pub author: usize,
    /// The number of checks that the adapter cannot express.
    pub cannot: usize,
    /// The worst tests: those with a check that does not hold, as indices into the report's tests. The number of them is
    /// limited.
    pub tests: Vec<usize>,
    /// A test that shows a check that holds, as an index into the report's tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<usize>,
    /// The number of verdicts of any kind.
    #[serde(skip)]
    pub(super) seen: usize,
}

/// What happens instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The reason in at most forty characters.
    pub short: String,
    /// The reason in a sentence, where the target's file or the adapter has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The address of the report, or of the documentation that leaves it to the author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The harm to users.
    pub harm: Harm,
    /// The number of checks.
    pub checks: usize,
    /// The gravity of the kind of verdict; 0 is a violated MUST.
    #[serde(skip)]
    rank: u8,
}

/// The most characters of the words of an answer.
pub(super) const WORDS: usize = 40;
/// The bytes of a sentence or an address that are kept.
const TEXT: usize = 400;
/// The number of reasons of a cell, and of those of one rank.
const REASONS: usize = 24;
const OF_RANK: usize = 6;
/// The ranks of reasons that are no failures: an option, the author's duty, an API that cannot express it, and a control that
/// fails.
const OPTION: u8 = 4;
const AUTHOR: u8 = 5;
const CANNOT: u8 = 6;
const CONTROL: u8 = 7;

/// A check of a test.
#[derive(Clone, Copy)]
struct Check<'r> {
    verdict: &'r Verdict,
    requirement: Option<&'r Requirement>,
    record: &'r Record,
    controls: &'r Broken<'r>,
}

/// The first check that fails of each test of a column, by the path of the test.
type Broken<'r> = HashMap<String, (&'r Verdict, Option<&'r Requirement>)>;
/// The number of tests that are named as evidence of a cell.
const EVIDENCE: usize = 20;

impl Answer {
    /// A sign that is different for each answer also without colour.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Right => "✓",
            Self::Partly => "!",
            Self::Wrong => "✗",
            Self::Author => "✎",
            Self::Absent => "—",
            Self::NotTested => "?",
        }
    }

    /// The meaning of the sign, for legends.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Right => "as the specification says",
            Self::Partly => "works, and what is missing",
            Self::Wrong => "does not work, and what happens instead",
            Self::Author => "you write it yourself",
            Self::Absent => "the SDK has no such thing, or not in this revision",
            Self::NotTested => "not tested",
        }
    }

    /// Returns whether checks decided it.
    pub fn is_decided(self) -> bool {
        matches!(self, Self::Right | Self::Partly | Self::Wrong)
    }
}

impl Report {
    /// Returns the agreement: the number of capabilities for which all real targets give the right answer, of all that were
    /// decided on at least two of them.
    pub fn agreement(&self) -> Rate {
        let is_real = |column: &Column| column.is_main && !column.is_reference();
        let mut rate = Rate::default();
        for row in self.capabilities.iter().flat_map(|group| &group.capabilities) {
            let cells = self.targets.iter().zip(&row.answers).filter(|(column, _)| is_real(column));
            let decided: Vec<_> = cells.map(|(_, cell)| cell.answer).filter(|answer| answer.is_decided()).collect();
            rate.asked += usize::from(decided.len() > 1);
            rate.held += usize::from(decided.len() > 1 && decided.iter().all(|answer| *answer == Answer::Right));
        }
        rate
    }
}

impl CapabilityCell {
    /// Counts a check of a test, which is the one with this index.
    fn add(&mut self, check: Check<'_>, test: usize) {
        let Check { verdict, requirement, record, controls } = check;
        self.seen += 1;
        let kind = verdict.kind;
        let holds = match kind.meaning() {
            Meaning::Holds => true,
            Meaning::Option => matches!(kind, VerdictKind::Taken | VerdictKind::Adopted),
            Meaning::Broken => false,
            Meaning::Undecided | Meaning::Aside => {
                self.author += usize::from(kind == VerdictKind::Author);
                self.cannot += usize::from(kind == VerdictKind::Cannot);
                match kind {
                    VerdictKind::Author => self.reason(AUTHOR, verdict, None, None),
                    VerdictKind::Cannot => self.reason(CANNOT, verdict, None, record.observation.cannot.as_deref()),
                    VerdictKind::NotAsked => {
                        let control = verdict.detail.iter().find_map(|detail| match &detail.finding {
                            Finding::ControlFailed { control } => controls.get(control.as_str()),
                            _ => None,
                        });
                        if let Some((verdict, requirement)) = control {
                            self.reason(CONTROL, verdict, *requirement, None);
                        }
                    }
                    _ => {}
                }
                return;
            }
        };
        self.decided += 1;
        self.held += usize::from(holds);
        if holds {
            self.example.get_or_insert(test);
        } else {
            let rank = match verdict.level {
                _ if kind.meaning() == Meaning::Option => OPTION,
                Level::Must | Level::MustNot => 0,
                Level::Should | Level::ShouldNot => 1,
                Level::Derived => 2,
                Level::May => 3,
            };
            self.reason(rank, verdict, requirement, None);
            if self.tests.len() < EVIDENCE && self.tests.last() != Some(&test) {
                self.tests.push(test);
            }
        }
    }

    fn reason(&mut self, rank: u8, verdict: &Verdict, requirement: Option<&Requirement>, text: Option<&str>) {
        let known: Option<&KnownAs> = verdict.known.as_ref().filter(|_| verdict.excuses.is_some());
        let short = known.and_then(|known| known.short.as_deref());
        let short = short.or_else(|| requirement.and_then(|requirement| requirement.short.as_deref()));
        let short = shortened(short.unwrap_or_default(), WORDS).into_owned();
        let text = known.map(|known| known.reason.as_str()).or(text).map(|text| shortened(text, TEXT).into_owned());
        if let Some(same) = self.reasons.iter_mut().find(|reason| (&reason.short, &reason.text) == (&short, &text)) {
            same.checks += 1;
            same.rank = same.rank.min(rank);
            return;
        }
        let of_rank = self.reasons.iter().filter(|reason| reason.rank == rank).count();
        if self.reasons.len() < REASONS && of_rank < OF_RANK {
            let url = known.and_then(|known| known.issue.clone().or_else(|| known.url.clone()));
            let url = url.filter(|url| url.len() < TEXT);
            let harm = requirement.map_or(Harm::None, |requirement| requirement.harm);
            self.reasons.push(Reason { short, text, url, harm, checks: 1, rank });
        }
    }

    /// Decides by the numbers of checks.
    fn decide(&mut self, capability: &Capability, column: &Column) {
        let has_control = self.reasons.iter().any(|reason| reason.rank == CONTROL && !reason.short.is_empty());
        self.answer = match self.decided {
            0 if self.author > 0 => Answer::Author,
            0 if self.cannot > 0 || has_control => Answer::Absent,
            0 => Answer::NotTested,
            // The smaller part of the checks is no answer to the whole question.
            decided if self.held == decided && self.cannot > decided => Answer::Absent,
            decided if self.held == decided && self.author > decided => Answer::Author,
            decided if self.held == decided => Answer::Right,
            _ if self.held == 0 && self.reasons.iter().all(|reason| reason.rank > 2) => Answer::Absent,
            decided if self.held * 2 < decided => Answer::Wrong,
            _ => Answer::Partly,
        };
        // The reasons of this answer come first.
        let is_apart = match self.answer {
            Answer::Author => |rank| rank != AUTHOR,
            Answer::Absent if self.held == self.decided => |rank| rank < CANNOT,
            _ => |_| false,
        };
        // What this SDK does tells more than what the requirement is about.
        self.reasons
            .sort_by_key(|reason| (is_apart(reason.rank), reason.rank, reason.text.is_none(), Reverse(reason.checks)));
        let short = self.reasons.first().map(|reason| reason.short.as_str()).filter(|short| !short.is_empty());
        let (right, other) = if capability.right_is_yes { ("yes", "no") } else { ("no", "yes") };
        let api = column.api.as_deref().unwrap_or("this API");
        self.words = match self.answer {
            Answer::Right => right.to_owned(),
            Answer::Partly => short.unwrap_or("in part").to_owned(),
            Answer::Wrong => short.unwrap_or(other).to_owned(),
            Answer::Author => short.unwrap_or("you write it").to_owned(),
            Answer::Absent => {
                let absent = short.or(capability.absent.as_deref()).map(str::to_owned);
                absent.unwrap_or_else(|| shortened(&format!("not with {api}"), WORDS).into_owned())
            }
            Answer::NotTested => "not decided".to_owned(),
        };
    }

    /// Says why nothing was decided, where the column tells it.
    fn excuse(&mut self, column: &Column, role: Role, asked: &Asked) {
        if self.answer != Answer::NotTested {
            return;
        }
        if !column.sentences.contains_key(&role) {
            (self.answer, self.words) = (Answer::Absent, format!("no {role}s"));
            return;
        }
        // Tests that were run and decided nothing have no reason that the column tells.
        if self.seen > 0 {
            return;
        }
        let is_spoken = asked.revisions.iter().any(|revision| column.revisions.contains(revision));
        let lacks = column.skipped.iter().find_map(|skipped| match skipped.reason {
            SkipReason::Lacks(need) if asked.needs.contains(&need) => Some(need),
            _ => None,
        });
        (self.answer, self.words) = match (asked.revisions.last(), lacks) {
            (Some(newest), _) if !is_spoken => (Answer::Absent, format!("no {newest}")),
            (_, Some(Need::Typed)) => (Answer::Author, "JSON Schema by hand".to_owned()),
            (_, Some(need)) => (Answer::Absent, format!("no {need}")),
            (_, None) => (Answer::NotTested, "not tested".to_owned()),
        };
    }

    /// Shows the value that callers get, if it is not the one that readers expect.
    fn show(&mut self, value: &Value) {
        let text = value.to_string();
        self.answer = if self.answer == Answer::Right { Answer::Partly } else { self.answer };
        if self.answer.is_decided() {
            self.words = shortened(&text, WORDS).into_owned();
        }
    }

    fn is_grave(&self) -> bool {
        let is_grave = |reason: &Reason| reason.rank <= 3 && reason.harm.is_grave();
        self.answer.is_decided() && self.reasons.iter().any(is_grave)
    }
}

/// Computes the answers. Tests are counted in the order in which the report lists them.
pub(super) fn answers(context: &ReportContext, merged: &[MergedTarget<'_>]) -> Vec<CapabilityRows> {
    let groups = &context.capabilities;
    let mut rows: Vec<CapabilityRows> = groups.iter().map(|group| empty(group, context, merged.len())).collect();
    let mut asked_of: HashMap<(usize, usize), Asked> = HashMap::new();
    // The deciders of each requirement, with their places.
    let mut deciders: HashMap<&RequirementId, Vec<_>> = HashMap::new();
    for (at, group) in groups.iter().enumerate() {
        for (place, capability) in group.capabilities.iter().enumerate() {
            for decider in &capability.decided_by {
                deciders.entry(&decider.requirement).or_default().push((at, place, group.role, decider));
            }
        }
    }
    let mut test = 0;
    for (column, MergedTarget { records, .. }) in merged.iter().enumerate() {
        let controls = broken(records.values().copied(), context);
        for record in records.values() {
            let role = context.roles.get(&record.test.case);
            for verdict in &record.verdicts {
                let mut last = None;
                for &(at, place, asked, decider) in deciders.get(&verdict.requirement).into_iter().flatten() {
                    // A requirement that decides one capability twice counts once.
                    if last == Some((at, place)) || role != Some(&asked) || !decider.has(&record.test) {
                        continue;
                    }
                    last = Some((at, place));
                    let requirement = context.catalogue.get(&verdict.requirement);
                    let check = Check { verdict, requirement, record, controls: &controls };
                    rows[at].capabilities[place].answers[column].add(check, test);
                    let asked = asked_of.entry((at, place)).or_default();
                    asked.revisions.insert(record.test.revision);
                    asked.needs.extend(context.needs.get(&record.test.case).into_iter().flatten());
                }
            }
            test += 1;
        }
    }
    let columns: Vec<&Column> = merged.iter().map(|merged| &merged.column).collect();
    for (at, group) in rows.iter_mut().enumerate() {
        for (place, row) in group.capabilities.iter_mut().enumerate() {
            let asked = asked_of.remove(&(at, place)).unwrap_or_default();
            let capability = &groups[at].capabilities[place];
            for ((cell, column), merged) in row.answers.iter_mut().zip(&columns).zip(merged) {
                cell.decide(capability, column);
                cell.excuse(column, group.role, &asked);
                if let Some(value) = capability.shows.as_ref().and_then(|shows| value(shows, &merged.records)) {
                    cell.show(value);
                }
            }
            let answers = (0..columns.len()).filter_map(|at| variant(row, &columns, at).map(|cell| (at, cell)));
            for (at, cell) in answers.collect::<Vec<_>>() {
                row.answers[at] = cell;
            }
        }
    }
    rows
}

/// The revisions of the tests that decide a question, and the features that they need.
#[derive(Default)]
struct Asked {
    revisions: BTreeSet<Revision>,
    needs: BTreeSet<Need>,
}

fn broken<'r>(records: impl Iterator<Item = &'r Record>, context: &'r ReportContext) -> Broken<'r> {
    let first = |record: &'r Record| {
        let verdict = record.verdicts.iter().find(|verdict| verdict.kind.is_broken())?;
        Some((record.test.path(), (verdict, context.catalogue.get(&verdict.requirement))))
    };
    records.filter_map(first).collect()
}

/// The value that callers get, if it is not the one that readers expect.
fn value<'r>(shows: &Shown, records: &BTreeMap<TestId, &'r Record>) -> Option<&'r Value> {
    let record = records.iter().find(|(test, _)| shows.is_of(test)).map(|(_, record)| *record)?;
    let structured = record.observation.steps.last()?.structured.as_ref()?;
    structured.value().filter(|value| **value != shows.value)
}

/// The answer of another variant of the same SDK, where the first cannot answer, or where another one is dangerous.
fn variant(row: &CapabilityRow, columns: &[&Column], at: usize) -> Option<CapabilityCell> {
    let (column, own) = (columns[at], &row.answers[at]);
    let is_variant = |other: &Column| {
        column.is_main
            && !other.is_main
            && !other.is_reference()
            && (&other.id.name, &other.version) == (&column.id.name, &column.version)
    };
    let others = || columns.iter().zip(&row.answers).filter(|(other, _)| is_variant(other));
    let named = |other: &Column| {
        let variant = other.id.variant.clone().unwrap_or_else(|| other.name.clone());
        other.api.clone().unwrap_or(variant)
    };
    let words = |words: &str, api: &str| shortened(&format!("{words} {api}"), WORDS).into_owned();
    if !own.is_grave()
        && matches!(own.answer, Answer::Right | Answer::Absent | Answer::NotTested)
        && let Some((other, cell)) = others().find(|(_, cell)| cell.is_grave())
    {
        let api = named(other);
        let only = if row.right == "yes" { "not with" } else { "only with" };
        let words = words(only, &api);
        return Some(CapabilityCell { answer: Answer::Partly, words, by: Some(api), ..cell.clone() });
    }
    if !matches!(own.answer, Answer::Absent | Answer::NotTested) {
        return None;
    }
    let (other, cell) = others()
        .filter(|(_, cell)| !matches!(cell.answer, Answer::Absent | Answer::NotTested))
        .min_by_key(|(_, cell)| cell.answer)?;
    let api = named(other);
    if cell.answer == Answer::Right {
        let only = if row.right == "yes" { "only with" } else { "not with" };
        let (words, reasons) = (words(only, &api), own.reasons.clone());
        return Some(CapabilityCell { answer: Answer::Partly, words, by: Some(api), reasons, ..cell.clone() });
    }
    let mut cell = cell.clone();
    let text = Some(format!("measured with {api}, because {} cannot say it", named(column)));
    let short = cell.words.clone();
    cell.reasons.insert(0, Reason { short, text, url: None, harm: Harm::None, checks: 0, rank: 0 });
    Some(CapabilityCell { by: Some(api), ..cell })
}

fn empty(group: &CapabilityGroup, context: &ReportContext, columns: usize) -> CapabilityRows {
    let decider = |one: &Decider| DeciderEntry { requirement: one.requirement.clone(), tests: one.tests.clone() };
    let row = |capability: &Capability| {
        let levels = capability.decided_by.iter().filter_map(|decider| context.catalogue.get(&decider.requirement));
        let keywords = levels.filter_map(|requirement| match requirement.level {
            Level::Must | Level::MustNot => Some("MUST"),
            Level::Should | Level::ShouldNot => Some("SHOULD"),
            Level::May | Level::Derived => None,
        });
        CapabilityRow {
            id: capability.id.clone(),
            question: capability.question.clone(),
            first: capability.is_first,
            right: if capability.right_is_yes { "yes" } else { "no" },
            keyword: keywords.min(),
            requirements: capability.decided_by.iter().map(|decider| decider.requirement.clone()).collect(),
            decided_by: capability.decided_by.iter().map(decider).collect(),
            answers: vec![CapabilityCell::default(); columns],
        }
    };
    CapabilityRows {
        id: group.id.clone(),
        title: group.title.clone(),
        role: group.role,
        capabilities: group.capabilities.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests;
