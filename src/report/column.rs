//! [`Column`]: the results of one target in numbers, counted test by test.
//!
//! The terminal's summary and every report read the same columns, so that nothing is counted twice.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;

use super::score::score;
use super::{Counts, Keywords, Rates, SentenceRates, Status};
use crate::model::reason::{Finding, SkipReason, Stale};
use crate::model::record::{About, Record, SnapshotProblem};
use crate::model::set::ScoredSet;
use crate::model::spec::{Revision, Role};
use crate::model::target::UNTRIAGED;
use crate::model::text::count;
use crate::model::{RequirementId, TargetId};

/// The name of the reference, which is no real target.
pub(super) const REFERENCE: &str = "reference";

/// One target in one version.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// The target; several columns have the same one where they are versions of it.
    pub id: TargetId,
    /// Its name among the columns: the target, with its version where another column is the same target.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// The programming language of its users.
    pub language: Option<String>,
    /// The name of the API that the variant uses.
    pub api: Option<String>,
    /// The questions about parts that the adapter writes itself, because the SDK leaves them to its users, with the words.
    #[serde(skip)]
    pub by_hand: BTreeMap<String, String>,
    /// The revisions in which it was tested.
    pub revisions: BTreeSet<Revision>,
    /// The package and its version, where the `target.toml` names them.
    pub version: Option<String>,
    /// The day on which the version was published, where the run asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The versions of packages that the tested one depends on and that decide what is observed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dependencies: BTreeMap<String, String>,
    /// The reason why nobody has run it yet.
    pub unverified: Option<String>,
    /// A hash of the cases that were run; older run logs have none.
    pub cases: Option<String>,
    /// The frozen set, if only its checks were run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<ScoredSet>,
    /// The number of planned tests.
    pub planned: usize,
    /// The number of planned tests that have no record.
    pub missing: usize,
    /// The number of tests by status.
    pub statuses: Counts,
    /// The same by folder of cases.
    pub folders: BTreeMap<String, Counts>,
    /// The number of requirements of which at least one check was decided.
    pub verified: usize,
    /// Tests that do not apply to it.
    pub skipped: Vec<SkippedTests>,
    /// The share of its checks that hold.
    pub rates: Rates,
    /// The number of requirements that hold, by role.
    pub sentences: BTreeMap<Role, SentenceRates>,
    /// `true` for the variant that stands for the target where its variants are not shown: the first of its run.
    pub is_main: bool,
    /// Known failures that no longer fail.
    #[serde(serialize_with = "with_texts")]
    pub stale: Vec<Stale>,
    /// Snapshots that its observations do not match.
    #[serde(serialize_with = "with_texts")]
    pub snapshots: Vec<SnapshotProblem>,
    /// The time that its tests took together.
    pub seconds: f64,
    /// The requirements of its verdicts, and whether a check of each was decided.
    #[serde(skip)]
    pub requirements: BTreeMap<RequirementId, bool>,
    /// The MUSTs that were not asked because a control failed, each with that control.
    #[serde(skip)]
    withheld: BTreeMap<RequirementId, BTreeSet<String>>,
    /// The tests that failed by no more than a SHOULD or a note, which alone fail no run.
    #[serde(skip)]
    softly: BTreeSet<String>,
    /// The share of correct imported tests, by keyword.
    #[serde(skip)]
    pub keywords: Keywords,
    /// The requirements that a known failure excuses for which nobody has given a reason yet.
    #[serde(skip)]
    pub untriaged: BTreeSet<RequirementId>,
    /// Set if anything was observed.
    #[serde(skip)]
    pub is_seen: bool,
    #[serde(skip)]
    micros: u64,
}

/// Tests that do not apply to a target, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedTests {
    /// The reason.
    pub reason: SkipReason,
    /// The reason in words.
    pub text: String,
    /// The number of tests.
    pub tests: usize,
}

impl SkippedTests {
    /// So many tests that were skipped for this reason.
    pub fn new(reason: SkipReason, tests: usize) -> Self {
        Self { reason, text: reason.to_string(), tests }
    }
}

fn with_texts<T: Serialize + ToString, S: serde::Serializer>(all: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Entry<'s, T> {
        text: String,
        #[serde(flatten)]
        one: &'s T,
    }
    serializer.collect_seq(all.iter().map(|one| Entry { text: one.to_string(), one }))
}

impl Column {
    /// Returns the score of a role in the frozen set in words, if only the checks of one were run.
    pub fn score(&self, role: Role) -> Option<String> {
        let set = self.set.as_ref()?;
        let (rates, sizes) = (self.sentences.get(&role)?, set.sizes.get(&role)?);
        Some(format!("set {}: {}", set.name, score(rates, *sizes)))
    }

    /// A target without results.
    pub fn new(id: TargetId, about: Option<&About>, cases: Option<&str>) -> Self {
        Self {
            title: about.map_or_else(|| id.to_string(), |about| about.title.clone()),
            language: about.and_then(|about| about.language.clone()),
            api: about.and_then(|about| about.api.clone()),
            by_hand: about.map(|about| about.by_hand.clone()).unwrap_or_default(),
            revisions: BTreeSet::new(),
            version: about.and_then(|about| about.version.clone()),
            date: about.and_then(|about| about.date.clone()),
            dependencies: about.map(|about| about.dependencies.clone()).unwrap_or_default(),
            unverified: about.and_then(|about| about.unverified.clone()),
            planned: about.map_or(0, |about| about.planned),
            cases: cases.map(str::to_owned),
            set: None,
            missing: 0,
            name: id.to_string(),
            statuses: Counts::default(),
            folders: BTreeMap::new(),
            verified: 0,
            skipped: Vec::new(),
            rates: Rates::default(),
            sentences: BTreeMap::new(),
            is_main: true,
            stale: Vec::new(),
            snapshots: Vec::new(),
            seconds: 0.0,
            requirements: BTreeMap::new(),
            withheld: BTreeMap::new(),
            softly: BTreeSet::new(),
            keywords: Keywords::default(),
            untriaged: BTreeSet::new(),
            is_seen: false,
            micros: 0,
            id,
        }
    }

    /// Returns whether it is the reference, which is no real target.
    pub fn is_reference(&self) -> bool {
        self.id.name == REFERENCE
    }

    /// Counts a test.
    pub fn add(&mut self, record: &Record) {
        let status = Status::of(record);
        self.revisions.insert(record.test.revision);
        self.statuses.add(status);
        let folder = record.test.case.folder();
        match self.folders.get_mut(folder) {
            Some(counts) => counts.add(status),
            None => self.folders.entry(folder.to_owned()).or_default().add(status),
        }
        for verdict in &record.verdicts {
            let is_decided = self.requirements.entry(verdict.requirement.clone()).or_default();
            self.verified += usize::from(verdict.is_decided() && !*is_decided);
            *is_decided |= verdict.is_decided();
            if Status::from(verdict.kind) == Status::Known
                && verdict.known.as_ref().is_some_and(|it| it.reason == UNTRIAGED)
            {
                self.untriaged.insert(verdict.requirement.clone());
            }
            if verdict.level.is_must() {
                let controls = verdict.detail.iter().filter_map(|detail| match &detail.finding {
                    Finding::ControlFailed { control } => Some(control.clone()),
                    _ => None,
                });
                for control in controls {
                    self.withheld.entry(verdict.requirement.clone()).or_default().insert(control);
                }
            }
        }
        if matches!(status, Status::Warned | Status::Noted) {
            self.softly.insert(record.test.path());
        }
        self.rates.add(record);
        self.keywords.add(record);
        self.is_seen |= record.observation.unavailable.is_none();
        self.micros = self.micros.saturating_add(record.micros);
        // Rounded to milliseconds: shorter differences are noise.
        self.seconds = Duration::from_millis(self.micros / 1000).as_secs_f64();
    }

    /// Returns the number of known failures without a reason in words, if there are any.
    pub fn untriaged(&self) -> Option<String> {
        let known = count(self.untriaged.len(), "requirement");
        let one = !self.untriaged.is_empty();
        one.then(|| format!("{known} excused without a reason: replace `{UNTRIAGED}` in target.toml"))
    }

    /// Returns the MUSTs of which no check was decided because a control failed, each with that control, if the failure of
    /// the control alone fails no run: such a target did nothing that could break the MUST.
    pub fn untested(&self) -> impl Iterator<Item = (&RequirementId, &str)> {
        let is_open = |requirement| {
            let is_left = self.rates.left_to_author.values().any(|left| left.contains(requirement));
            self.requirements.get(requirement) == Some(&false) && !is_left
        };
        let open = self.withheld.iter().filter(move |(requirement, _)| is_open(requirement));
        open.filter_map(|(requirement, controls)| {
            let control = controls.iter().find(|control| self.softly.contains(*control))?;
            Some((requirement, control.as_str()))
        })
    }

    /// Returns whether all results are expected. Known failures are, and without `strict` violated SHOULDs are too.
    pub fn is_as_expected(&self, strict: bool) -> bool {
        self.stale.is_empty() && self.snapshots.is_empty() && !self.statuses.has_unexpected(strict)
    }

    /// The number of its tests with a status.
    pub fn count(&self, status: Status) -> usize {
        self.statuses.get(status)
    }

    /// The number of tests that do not apply to it.
    pub fn skips(&self) -> usize {
        self.skipped.iter().map(|skipped| skipped.tests).sum()
    }
}
