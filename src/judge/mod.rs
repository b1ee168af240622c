//! Judging: a transcript becomes an observation, and an observation becomes verdicts by the requirement catalogue.
//!
//! [`observe`] takes a test and its transcript; [`Judge`] takes the observation, the catalogue and the entries of targets
//! that excuse failures.
//! Both are pure: they must not know processes, sockets, files or clocks, nor treat any target differently.

mod asked;
mod attribution;
mod beside;
mod calls;
mod compare;
mod events;
mod expect;
mod flaws;
mod ids;
mod implied;
mod marks;
mod messages;
mod observe;
mod places;
mod replies;
mod rounds;
#[cfg(test)]
pub(crate) mod samples;
mod types;
mod unanswered;
mod unscripted;
mod violation;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use observe::observe;
pub use unscripted::{is_decidable, summaries, unscripted, withdraw_uncontrolled};

use crate::model::case::{CanaryState, Check, Control, Expectation, Outcome, Test};
use crate::model::implied::is_implied;
use crate::model::known::KnownAs;
use crate::model::observation::{Observation, StepObservation};
use crate::model::pair::Attribution;
use crate::model::reason::{Detail, Finding, Stale};
use crate::model::record::Verdict;
use crate::model::spec::{Catalogue, Level, Requirement, Revision, Role, Transport};
use crate::model::target::Target;
use crate::model::verdict::VerdictKind;
use crate::model::{CaseId, Pattern, RequirementId, TargetId, TestId};

/// The reason why a step after the end of a session shows nothing.
const NOT_BEGUN: &str = "not begun: the session had ended";

/// Judges tests in the order of the plan, and remembers failed controls and the use of the entries that excuse failures.
#[derive(Clone)]
pub struct Judge {
    catalogue: Arc<Catalogue>,
    excuses: Vec<CountedExcuse>,
    /// The folders of requirements that a target is held to before a release has them.
    implemented: Vec<(TargetId, String)>,
    /// The controls of each case file, in the order in which they were judged.
    controls: BTreeMap<Scope, Vec<JudgedControl>>,
}

/// An entry of a target that excuses failures, with the numbers of its verdicts.
#[derive(Clone)]
struct CountedExcuse {
    target: TargetId,
    test: Pattern,
    requirement: RequirementId,
    entry: KnownAs,
    /// The verdicts that failed.
    failed: usize,
    /// The verdicts that held or were not asked.
    idle: usize,
}

/// A target that runs a case file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Scope {
    target: TargetId,
    case: CaseId,
    revision: Revision,
    transport: Transport,
}

impl Scope {
    fn new(target: &TargetId, id: &TestId) -> Self {
        Self { target: target.clone(), case: id.case.clone(), revision: id.revision, transport: id.transport }
    }
}

/// A control that was judged.
#[derive(Clone)]
struct JudgedControl {
    control: Control,
    row: Option<String>,
    path: String,
    /// The way in which it did not hold; `None` if it held.
    end: Option<ControlEnd>,
}

/// The way in which a control did not hold.
#[derive(Clone, Copy)]
enum ControlEnd {
    /// The adapter cannot express it.
    Inexpressible,
    /// It ended by a surprise, or could not be decided.
    Undecided,
    /// One of its checks fails.
    Failed,
    /// One of its checks was not asked.
    NotAsked,
}

impl JudgedControl {
    /// Returns whether the control did not hold and decides about a test. A control of a whole file decides about its later
    /// controls too: a server that fails every call refuses what it must refuse.
    fn decides(&self, test: &Test) -> bool {
        let is_later = || test.control.is_some() && self.control == Control::File && self.path != test.path();
        self.end.is_some() && (is_later() || test.is_governed_by(&self.control, self.row.as_deref()))
    }

    /// The verdict on a test that the control decides about, with its reason; `None` if the control held.
    fn verdict(&self) -> Option<(VerdictKind, Finding)> {
        let control = self.path.clone();
        Some(match self.end? {
            ControlEnd::Inexpressible => (VerdictKind::Cannot, Finding::ControlInexpressible { control }),
            ControlEnd::Undecided => (VerdictKind::Inconclusive, Finding::ControlUndecided { control }),
            ControlEnd::Failed => (VerdictKind::NotAsked, Finding::ControlFailed { control }),
            ControlEnd::NotAsked => (VerdictKind::NotAsked, Finding::ControlNotAsked { control }),
        })
    }
}

impl Judge {
    /// Creates a judge of these targets by this catalogue. It copies both, so that threads can share it.
    pub fn new<'t>(catalogue: &Catalogue, targets: impl IntoIterator<Item = &'t Target>) -> Self {
        let targets: Vec<_> = targets.into_iter().collect();
        let implemented = targets
            .iter()
            .flat_map(|target| target.claims.implements.iter().map(|folder| (target.id.clone(), folder.clone())));
        let implemented = implemented.collect();
        let excuses = targets.into_iter().flat_map(|target| {
            let excuse = |test: &Pattern, requirement: &RequirementId, entry| CountedExcuse {
                target: target.id.clone(),
                test: test.clone(),
                requirement: requirement.clone(),
                entry,
                failed: 0,
                idle: 0,
            };
            let known = target.known.iter().map(move |one| excuse(&one.test, &one.requirement, one.into()));
            let author = target.author.iter().map(move |one| excuse(&one.test, &one.requirement, one.into()));
            known.chain(author)
        });
        let (catalogue, excuses) = (Arc::new(catalogue.clone()), excuses.collect());
        Self { catalogue, excuses, implemented, controls: BTreeMap::new() }
    }

    /// Returns a judge that remembers, as this one does now, what decides about one test.
    pub(crate) fn about(&self, target: &TargetId, id: &TestId) -> Self {
        let scope = Scope::new(target, id);
        let controls = self.controls.get(&scope).cloned().map(|controls| (scope, controls));
        Self {
            catalogue: Arc::clone(&self.catalogue),
            excuses: self.excuses.clone(),
            implemented: self.implemented.clone(),
            controls: controls.into_iter().collect(),
        }
    }

    /// Judges one test, and remembers its verdicts for later tests. A control must be judged before its tests.
    pub fn judge(&mut self, target: &TargetId, test: &Test, id: &TestId, observation: &Observation) -> Vec<Verdict> {
        let verdicts = self.verdicts(target, test, id, observation);
        self.keep(target, test, id, observation, &verdicts);
        verdicts
    }

    /// Judges one test. Its verdicts have no effect on later tests before [`keep`](Self::keep).
    pub fn verdicts(&self, target: &TargetId, test: &Test, id: &TestId, observation: &Observation) -> Vec<Verdict> {
        let failed = self.failed_control(target, test, id).cloned();
        let mut verdicts = Vec::new();
        for (step, check) in test
            .steps
            .iter()
            .enumerate()
            .flat_map(|(index, step)| step.then.checks().iter().map(move |check| (index, check)))
        {
            let Some(requirement) = self.catalogue.get(&check.requirement) else {
                verdicts.push(without_requirement(step, check));
                continue;
            };
            let in_force = requirement.revisions.contains(id.revision) && requirement.roles.contains(&test.role);
            if in_force {
                let verdict = self.verdict((step, &verdicts), check, requirement, id, observation, failed.as_ref());
                let seen = observation.steps.get(step).filter(|_| test.role == Role::Server);
                let is_controlled = || self.is_controlled(target, test, id);
                let verdict = verdict.map(|verdict| match seen {
                    Some(seen) => unanswered::weighed(verdict, check, seen, is_controlled),
                    None => verdict,
                });
                let is_of_pair = test.role == Role::Pair && observation.steps.get(step).is_some();
                verdicts.extend(verdict.map(|verdict| {
                    if !is_of_pair || !verdict.kind.is_broken() {
                        return verdict;
                    }
                    let broken = attribution::Broken { test, id, check, requirement, steps: &observation.steps, step };
                    let mut attribution = attribution::of(&broken, &self.catalogue);
                    attribution.is_left_to_author = self.is_left(target, &attribution);
                    Verdict { attribution: Some(Box::new(attribution)), ..verdict }
                }));
            }
        }
        let implied = implied::verdicts(&self.catalogue, test, id, observation, &verdicts);
        // A check of the same sentence that saw nothing of it shows nothing.
        let is_same = |one: &Verdict, own: &Verdict| one.step == own.step && one.requirement == own.requirement;
        verdicts.retain(|own| !implied.iter().any(|one| is_same(one, own)));
        verdicts.extend(implied);
        for verdict in &mut verdicts {
            self.propose(target, test, verdict);
            self.excuse(target, id, verdict);
        }
        verdicts
    }

    /// Returns whether the target at whose side a pair fails leaves the broken sentence to the authors of servers and
    /// clients.
    fn is_left(&self, pair: &TargetId, attribution: &Attribution) -> bool {
        let (Some((client, server)), Some(sentence)) = (pair.sides(), &attribution.requirement) else { return false };
        let side = match attribution.side {
            Some(Role::Client) => client,
            Some(Role::Server | Role::Pair) => server,
            None => return false,
        };
        let is_own = |one: &&CountedExcuse| one.target == side && one.requirement == *sentence;
        self.excuses.iter().filter(is_own).any(|one| one.kind() == VerdictKind::Author)
    }

    /// Remembers the verdicts of a test: a failed control decides about later tests, and the uses of entries are counted.
    pub fn keep(
        &mut self,
        target: &TargetId,
        test: &Test,
        id: &TestId,
        observation: &Observation,
        verdicts: &[Verdict],
    ) {
        self.remember(target, test, id, observation, verdicts);
        for verdict in verdicts {
            let kind = verdict.excuses.unwrap_or(verdict.kind);
            for excuse in self.excuses.iter_mut().filter(|excuse| excuse.is_of(target, id, verdict)) {
                excuse.failed += usize::from(excuse.applies_to(kind));
                excuse.idle += usize::from(is_idle(kind));
            }
        }
        // What every test looks for has no verdict where it holds.
        let is_seen = observation.unavailable.is_none() && observation.cannot.is_none();
        for excuse in self.excuses.iter_mut().filter(|one| is_seen && is_implied(&one.requirement)) {
            let is_of = excuse.target == *target && excuse.test.matches(id);
            let is_judged = verdicts.iter().any(|verdict| verdict.requirement == excuse.requirement);
            excuse.idle += usize::from(is_of && !is_judged);
        }
    }

    /// The stale entries: those whose checks held or were not asked, all of them.
    pub fn stale(&self) -> Vec<Stale> {
        let stale = self.excuses.iter().filter(|one| one.idle > 0 && one.failed == 0 && !one.entry.shared);
        let stale = stale.map(|CountedExcuse { target, requirement, entry, .. }| Stale {
            target: target.clone(),
            requirement: requirement.clone(),
            known: entry.clone(),
        });
        stale.collect()
    }

    fn verdict(
        &self,
        (step, earlier): (usize, &[Verdict]),
        check: &Check,
        requirement: &Requirement,
        id: &TestId,
        observation: &Observation,
        failed: Option<&JudgedControl>,
    ) -> Option<Verdict> {
        let verdict_of = |kind, finding: Finding| verdict(step, check, requirement.level, kind, vec![finding.into()]);
        if let Some(reason) = &observation.cannot {
            return Some(verdict_of(VerdictKind::Cannot, Finding::Inexpressible { reason: reason.clone() }));
        }
        let Some(observed) = observation.steps.get(step).filter(|_| observation.unavailable.is_none()) else {
            let unavailable = observation.unavailable.clone().map(|reason| Finding::Unavailable { reason });
            return Some(verdict_of(VerdictKind::Error, unavailable.unwrap_or(Finding::NotObserved)));
        };
        // Without its control, a check that nothing is fetched shows nothing when it holds. A request is one all the same.
        let is_fetched = observed.canary.is_some_and(|canary| canary != CanaryState::Untouched)
            && check.alternatives.iter().all(|one| one.canary == Some(CanaryState::Untouched));
        if let Some((kind, finding)) = failed.filter(|_| !is_fetched).and_then(JudgedControl::verdict) {
            // A MAY needs no verdict here: without its control, it is unknown whether the target takes it.
            return (requirement.level != Level::May).then(|| verdict_of(kind, finding));
        }
        // The step that ended the session has a verdict of its own, if it is judged.
        if let Some(last) = observation.steps.iter().position(|step| step.not_begun).filter(|_| observed.not_begun)
            && let Some(last) = last.checked_sub(1)
        {
            let reason = NOT_BEGUN.to_owned();
            // A server that ended or hangs, and that no check of the step asks about, is not let off here too.
            let is_judged = !matches!(observation.steps[last].outcome, Outcome::Crash | Outcome::Timeout)
                || earlier.iter().any(|one| one.step == last && one.kind != VerdictKind::NotAsked);
            let (kind, finding) = if is_judged {
                (VerdictKind::NotAsked, Finding::NotAsked { reason })
            } else {
                (VerdictKind::Inconclusive, Finding::Undecidable { place: "outcome".to_owned(), reason })
            };
            return (requirement.level != Level::May).then(|| verdict_of(kind, finding));
        }
        // The handshake has a verdict of its own.
        if let Some(finding) = implied::no_session(observed).filter(|_| !implied::is_about_handshake(requirement)) {
            return (requirement.level != Level::May).then(|| verdict_of(VerdictKind::NotAsked, finding));
        }
        let (kind, detail) = self.compare(check, requirement, observed, id);
        // What a client sent is judged by checks of its messages. What came of it is a consequence.
        let is_of_messages =
            |one: &Expectation| one.sent.is_some() || one.answered.is_some() && !observed.answered.is_empty();
        let is_consequence = !is_fetched && !check.alternatives.iter().any(is_of_messages);
        if observed.malformed && kind.is_broken() && is_consequence {
            let reason = "the client asked by a message that no server can act on".to_owned();
            return (requirement.level != Level::May)
                .then(|| verdict_of(VerdictKind::NotAsked, Finding::NotAsked { reason }));
        }
        Some(verdict(step, check, requirement.level, kind, detail))
    }

    /// Compares the step with each alternative of a check.
    ///
    /// Gives the first alternative that holds. If none does, it gives the parts that cannot be read, if there is an
    /// alternative that fails by nothing else, or the parts that do not hold. An alternative that holds because the step
    /// has nothing that it is about leaves nothing to ask. In a pair, nothing is asked either if the client refused an error of the tool after
    /// which nothing is asked.
    fn compare(
        &self,
        check: &Check,
        requirement: &Requirement,
        observed: &StepObservation,
        id: &TestId,
    ) -> (VerdictKind, Vec<Detail>) {
        let level = requirement.level;
        let (mut missed, mut unknown, mut nothing) = (Vec::new(), Vec::new(), None);
        for alternative in &check.alternatives {
            let Expectation { name, allowed_by, not_asked, .. } = alternative;
            let mut wrong = expect::misses(alternative, observed, id);
            let absent = allowed_by.as_ref().filter(|may| !self.in_force(may, id.revision));
            wrong.missed.extend(absent.map(|may| Finding::NotInForce { requirement: may.clone() }));
            let detail = |finding| Detail { alternative: name.clone(), finding };
            if wrong.is_empty() && *not_asked {
                let reason = name.clone().unwrap_or_default();
                return (VerdictKind::NotAsked, vec![Finding::NotAsked { reason }.into()]);
            }
            // A client may be right to do nothing, but a target that ended fetches nothing either.
            let needs_answer = requirement.roles == [Role::Server] || alternative.canary.is_some();
            let silent = || needs_answer.then(|| expect::about_silence(alternative, observed, id)).flatten();
            let idle = || expect::about_nothing(alternative, observed).or_else(silent);
            if let Some(reason) = wrong.is_empty().then(idle).flatten() {
                nothing = nothing.or(Some(reason));
                continue;
            }
            if wrong.is_empty() {
                let kind = if allowed_by.is_some() { VerdictKind::Allowed } else { held(level) };
                let is_notable = name.is_some() || allowed_by.is_some();
                let holds = is_notable.then(|| detail(Finding::Holds { allowed_by: allowed_by.clone() }));
                return (kind, holds.into_iter().collect());
            }
            match (wrong.missed.is_empty(), not_asked) {
                (true, _) => unknown.extend(wrong.unknown.into_iter().map(detail)),
                (false, false) => missed.extend(wrong.missed.into_iter().map(detail)),
                // Where nothing was to be asked, nothing was missed.
                (false, true) => {}
            }
        }
        if let Some(reason) = nothing {
            return (VerdictKind::NotAsked, vec![Finding::NotAsked { reason: reason.to_owned() }.into()]);
        }
        // Clients may hand an error of the tool to their user as an exception.
        if observed.outcome == Outcome::Refused
            && let Some(relayed) = &observed.relayed
            && relayed.server.outcome == Outcome::ToolError
            && let nothing @ (VerdictKind::NotAsked, _) = self.compare(check, requirement, &relayed.server, id)
        {
            return nothing;
        }
        if unknown.is_empty() { (violated(level), missed) } else { (VerdictKind::Inconclusive, unknown) }
    }

    fn in_force(&self, requirement: &RequirementId, revision: Revision) -> bool {
        self.catalogue.get(requirement).is_some_and(|requirement| requirement.revisions.contains(revision))
    }

    /// The first failed control that decides about this test.
    fn failed_control(&self, target: &TargetId, test: &Test, id: &TestId) -> Option<&JudgedControl> {
        self.controls.get(&Scope::new(target, id))?.iter().find(|one| one.decides(test))
    }

    /// Returns whether a control that governs this test was judged.
    fn is_controlled(&self, target: &TargetId, test: &Test, id: &TestId) -> bool {
        let judged = self.controls.get(&Scope::new(target, id));
        judged.is_some_and(|all| all.iter().any(|one| test.is_governed_by(&one.control, one.row.as_deref())))
    }

    fn remember(
        &mut self,
        target: &TargetId,
        test: &Test,
        id: &TestId,
        observation: &Observation,
        verdicts: &[Verdict],
    ) {
        let Some(control) = &test.control else { return };
        // What the target does beside its own checks is no reason for a test to prove nothing.
        let is_own = |verdict: &&Verdict| {
            let checks = test.steps.get(verdict.step).map(|step| step.then.checks());
            checks.is_some_and(|checks| checks.iter().any(|check| check.requirement == verdict.requirement))
        };
        let own: Vec<_> = verdicts.iter().filter(is_own).cloned().collect();
        let end = control_end(observation, &own);
        let judged = JudgedControl { control: control.clone(), row: test.row.clone(), path: test.path(), end };
        self.controls.entry(Scope::new(target, id)).or_default().push(judged);
    }

    /// Sets a verdict on a sentence of the draft apart, unless the target implements the proposal.
    fn propose(&self, target: &TargetId, test: &Test, verdict: &mut Verdict) {
        let is_draft = self.catalogue.get(&verdict.requirement).is_some_and(|one| one.revisions.is_draft);
        let is_own = |(own, folder): &(TargetId, String)| own == target && folder == verdict.requirement.folder();
        if is_draft && !self.implemented.iter().any(is_own) {
            verdict.kind = verdict.kind.of_proposal();
        }
        let request = test.steps.get(verdict.step).and_then(|step| step.when.method());
        let is_given = test.role == Role::Server && request.is_some_and(|method| test.given.method(method).is_some());
        if is_given && verdict.kind == VerdictKind::Adopted {
            verdict.detail.push(Finding::OfFixture.into());
        }
    }

    /// Turns a failure that the target lists into a known failure, or into one that is left to the author.
    fn excuse(&self, target: &TargetId, id: &TestId, verdict: &mut Verdict) {
        let Some(excuse) = self.excuses.iter().find(|excuse| excuse.is_of(target, id, verdict)) else { return };
        if excuse.applies_to(verdict.kind) {
            verdict.excuses = Some(verdict.kind);
            verdict.kind = if verdict.kind.is_broken() { excuse.kind() } else { VerdictKind::KnownInconclusive };
        } else if !is_idle(verdict.kind) {
            return;
        }
        verdict.known = Some(excuse.entry.clone());
    }
}

impl CountedExcuse {
    /// Returns whether the entry is about this verdict.
    fn is_of(&self, target: &TargetId, id: &TestId, verdict: &Verdict) -> bool {
        self.target == *target && self.requirement == verdict.requirement && self.test.matches(id)
    }

    /// The kind of the verdicts that the entry excuses.
    fn kind(&self) -> VerdictKind {
        if self.entry.url.is_some() { VerdictKind::Author } else { VerdictKind::Known }
    }

    /// Returns whether the entry excuses a verdict of this kind. No entry excuses an error of the run, and what could not
    /// be decided cannot be left to the author.
    fn applies_to(&self, kind: VerdictKind) -> bool {
        kind.is_broken() || (kind == VerdictKind::Inconclusive && self.kind() == VerdictKind::Known)
    }
}

/// Returns the way in which a control did not hold, by its verdicts without the entries that excuse them; `None` if it
/// held. A control that fails by its own check, or whose option is not taken, shows that the target lacks something, and
/// what depends on it is not asked. A control that ends by a surprise shows nothing.
fn control_end(observation: &Observation, verdicts: &[Verdict]) -> Option<ControlEnd> {
    let kinds = || verdicts.iter().map(|verdict| (verdict.step, verdict.excuses.unwrap_or(verdict.kind)));
    let any = |wanted: VerdictKind| kinds().any(|(_, kind)| kind == wanted);
    let lacks = |kind: VerdictKind| kind.is_broken() || matches!(kind, VerdictKind::NotTaken | VerdictKind::NotAdopted);
    let surprises = |step: usize| observation.steps.get(step).is_none_or(|step| is_surprise(step.outcome));
    if observation.cannot.is_some() || any(VerdictKind::Cannot) {
        Some(ControlEnd::Inexpressible)
    } else if observation.unavailable.is_some()
        || any(VerdictKind::Error)
        || any(VerdictKind::Inconclusive)
        || kinds().any(|(step, kind)| lacks(kind) && surprises(step))
    {
        Some(ControlEnd::Undecided)
    } else if kinds().any(|(_, kind)| lacks(kind)) {
        Some(ControlEnd::Failed)
    } else {
        any(VerdictKind::NotAsked).then_some(ControlEnd::NotAsked)
    }
}

/// Returns whether an outcome shows nothing of what a control is about.
fn is_surprise(outcome: Outcome) -> bool {
    use Outcome::{Crash, EmptyReply, InvalidMessage, Oversized, Timeout};
    matches!(outcome, Timeout | Crash | InvalidMessage | Oversized | EmptyReply)
}

fn verdict(step: usize, check: &Check, level: Level, kind: VerdictKind, detail: Vec<Detail>) -> Verdict {
    Verdict {
        step,
        requirement: check.requirement.clone(),
        level,
        kind,
        excuses: None,
        detail,
        line: check.line,
        known: None,
        attribution: None,
    }
}

/// The verdict for a check without a requirement. Loading refuses such a case, but a record may be judged with other
/// cases than it was made with.
fn without_requirement(step: usize, check: &Check) -> Verdict {
    verdict(step, check, Level::Derived, VerdictKind::Error, vec![Finding::NoRequirement.into()])
}

fn held(level: Level) -> VerdictKind {
    if level == Level::May { VerdictKind::Taken } else { VerdictKind::Pass }
}

fn violated(level: Level) -> VerdictKind {
    match level {
        Level::Must | Level::MustNot => VerdictKind::Fail,
        Level::Should | Level::ShouldNot => VerdictKind::Warn,
        Level::May => VerdictKind::NotTaken,
        Level::Derived => VerdictKind::Note,
    }
}

/// Returns whether there is nothing to excuse in a verdict of this kind.
fn is_idle(kind: VerdictKind) -> bool {
    matches!(kind, VerdictKind::Pass | VerdictKind::Allowed | VerdictKind::NotAsked)
}

#[cfg(test)]
mod tests;
