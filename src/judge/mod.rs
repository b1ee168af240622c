//! Judging: a transcript becomes an observation, and an observation becomes verdicts by the requirement catalogue.
//!
//! [`observe`] takes a test and its transcript; [`Judge`] takes the observation, the catalogue and the known failures.
//! Both are pure: they must not know processes, sockets, files or clocks, nor treat any target differently.

mod asked;
mod compare;
mod expect;
mod flaws;
mod messages;
mod observe;
mod places;
mod rounds;
#[cfg(test)]
pub(crate) mod samples;
mod violation;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use observe::observe;

use crate::model::case::{Check, Control, Expectation, Test};
use crate::model::observation::{Observation, StepObservation};
use crate::model::reason::{Detail, Finding, Stale};
use crate::model::record::{KnownAs, Verdict, VerdictKind};
use crate::model::spec::{Catalogue, Level, Requirement, Revision, Transport};
use crate::model::target::{Known, Target};
use crate::model::{CaseId, RequirementId, TargetId, TestId};

/// Judges tests in the order of the plan, and remembers failed controls and the use of known failures.
#[derive(Clone)]
pub struct Judge {
    catalogue: Arc<Catalogue>,
    known: Vec<KnownFailure>,
    /// The first failed control of each scope.
    controls: BTreeMap<Scope, FailedControl>,
}

/// A known failure of one target, with the numbers of its verdicts that failed and held.
#[derive(Clone)]
struct KnownFailure {
    target: TargetId,
    known: Known,
    failed: usize,
    held: usize,
}

/// The tests that a control governs: those of one row, or, without a row's name, of a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Scope {
    target: TargetId,
    case: CaseId,
    revision: Revision,
    transport: Transport,
    control: Control,
    row: Option<String>,
}

impl Scope {
    fn new(target: &TargetId, id: &TestId, control: Control) -> Self {
        let row = id.row.clone().filter(|_| control == Control::Row);
        let (case, revision, transport) = (id.case.clone(), id.revision, id.transport);
        Self { target: target.clone(), case, revision, transport, control, row }
    }
}

/// A control that failed, or that the adapter cannot express.
#[derive(Clone)]
struct FailedControl {
    path: String,
    cannot: bool,
}

impl Judge {
    /// Creates a judge of these targets by this catalogue. It copies both, so that threads can share it.
    pub fn new<'t>(catalogue: &Catalogue, targets: impl IntoIterator<Item = &'t Target>) -> Self {
        let known = targets.into_iter().flat_map(|target| {
            let entry =
                |known: &Known| KnownFailure { target: target.id.clone(), known: known.clone(), failed: 0, held: 0 };
            target.known.iter().map(entry)
        });
        Self { catalogue: Arc::new(catalogue.clone()), known: known.collect(), controls: BTreeMap::new() }
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
                verdicts.extend(self.verdict(step, check, requirement, id, observation, failed.as_ref()));
            }
        }
        for verdict in &mut verdicts {
            self.excuse(target, id, verdict);
        }
        verdicts
    }

    /// Remembers the verdicts of a test: a failed control decides about later tests, and known failures are counted.
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
            for entry in self.known.iter_mut().filter(|entry| entry.is_of(target, id, verdict)) {
                entry.failed += usize::from(fails(kind));
                entry.held += usize::from(holds(kind));
            }
        }
    }

    /// The stale known failures: those whose checks were judged, and all held.
    pub fn stale(&self) -> Vec<Stale> {
        let stale = self.known.iter().filter(|entry| entry.held > 0 && entry.failed == 0 && !entry.known.is_shared);
        let stale = stale.map(|KnownFailure { target, known, .. }| Stale {
            target: target.clone(),
            requirement: known.requirement.clone(),
            known: as_recorded(known),
        });
        stale.collect()
    }

    fn verdict(
        &self,
        step: usize,
        check: &Check,
        requirement: &Requirement,
        id: &TestId,
        observation: &Observation,
        failed: Option<&FailedControl>,
    ) -> Option<Verdict> {
        let verdict_of = |kind, finding: Finding| verdict(step, check, requirement.level, kind, vec![finding.into()]);
        if let Some(reason) = &observation.cannot {
            return Some(verdict_of(VerdictKind::Cannot, Finding::Inexpressible { reason: reason.clone() }));
        }
        let Some(observed) = observation.steps.get(step).filter(|_| observation.unavailable.is_none()) else {
            let unavailable = observation.unavailable.clone().map(|reason| Finding::Unavailable { reason });
            return Some(verdict_of(VerdictKind::Error, unavailable.unwrap_or(Finding::NotObserved)));
        };
        if let Some(FailedControl { path, cannot }) = failed {
            let control = path.clone();
            let (kind, finding) = if *cannot {
                (VerdictKind::Cannot, Finding::ControlInexpressible { control })
            } else {
                (VerdictKind::Inconclusive, Finding::ControlFailed { control })
            };
            // A MAY needs no verdict here: without its control, it is unknown whether the target takes it.
            return (requirement.level != Level::May).then(|| verdict_of(kind, finding));
        }
        let (kind, detail) = self.compare(check, requirement.level, observed, id);
        Some(verdict(step, check, requirement.level, kind, detail))
    }

    /// Compares the step with each alternative of a check.
    ///
    /// Gives the first alternative that holds. If none does, it gives the parts that cannot be read, if there is an
    /// alternative that fails by nothing else, or the parts that do not hold.
    fn compare(
        &self,
        check: &Check,
        level: Level,
        observed: &StepObservation,
        id: &TestId,
    ) -> (VerdictKind, Vec<Detail>) {
        let (mut missed, mut unknown) = (Vec::new(), Vec::new());
        for alternative in &check.alternatives {
            let Expectation { name, allowed_by, .. } = alternative;
            let mut wrong = expect::misses(alternative, observed, id);
            let absent = allowed_by.as_ref().filter(|may| !self.in_force(may, id.revision));
            wrong.missed.extend(absent.map(|may| Finding::NotInForce { requirement: may.clone() }));
            let detail = |finding| Detail { alternative: name.clone(), finding };
            if wrong.is_empty() {
                let kind = if allowed_by.is_some() { VerdictKind::Allowed } else { held(level) };
                let is_notable = name.is_some() || allowed_by.is_some();
                let holds = is_notable.then(|| detail(Finding::Holds { allowed_by: allowed_by.clone() }));
                return (kind, holds.into_iter().collect());
            }
            let (into, findings) =
                if wrong.missed.is_empty() { (&mut unknown, wrong.unknown) } else { (&mut missed, wrong.missed) };
            into.extend(findings.into_iter().map(detail));
        }
        if unknown.is_empty() { (violated(level), missed) } else { (VerdictKind::Inconclusive, unknown) }
    }

    fn in_force(&self, requirement: &RequirementId, revision: Revision) -> bool {
        self.catalogue.get(requirement).is_some_and(|requirement| requirement.revisions.contains(revision))
    }

    /// The failed control that makes this test inconclusive. A control depends only on controls of a wider scope.
    fn failed_control(&self, target: &TargetId, test: &Test, id: &TestId) -> Option<&FailedControl> {
        let above = match test.control {
            Some(Control::File) => [].as_slice(),
            Some(Control::Row) => &[Control::File],
            None => &[Control::File, Control::Row],
        };
        above.iter().find_map(|control| self.controls.get(&Scope::new(target, id, *control)))
    }

    fn remember(
        &mut self,
        target: &TargetId,
        test: &Test,
        id: &TestId,
        observation: &Observation,
        verdicts: &[Verdict],
    ) {
        let Some(control) = test.control else { return };
        let kinds = || verdicts.iter().map(|verdict| verdict.excuses.unwrap_or(verdict.kind));
        let any = |wanted: fn(VerdictKind) -> bool| kinds().any(wanted);
        let cannot = observation.cannot.is_some() || any(|kind| kind == VerdictKind::Cannot);
        let failed = observation.unavailable.is_some() || any(|kind| fails(kind) || kind == VerdictKind::Error);
        if cannot || failed {
            let failed = FailedControl { path: test.path(), cannot };
            self.controls.entry(Scope::new(target, id, control)).or_insert(failed);
        }
    }

    /// Turns a failure that the target lists as known into a known failure.
    fn excuse(&self, target: &TargetId, id: &TestId, verdict: &mut Verdict) {
        let (fails, holds) = (fails(verdict.kind), holds(verdict.kind));
        if !(fails || holds) {
            return;
        }
        for entry in &self.known {
            if entry.is_of(target, id, verdict) {
                verdict.known = Some(as_recorded(&entry.known));
                if fails && verdict.kind != VerdictKind::Known {
                    verdict.excuses = Some(verdict.kind);
                    verdict.kind = VerdictKind::Known;
                }
            }
        }
    }
}

impl KnownFailure {
    /// Returns whether the entry applies to this verdict.
    fn is_of(&self, target: &TargetId, id: &TestId, verdict: &Verdict) -> bool {
        self.target == *target && self.known.requirement == verdict.requirement && self.known.test.matches(id)
    }
}

fn as_recorded(known: &Known) -> KnownAs {
    let Known { test, reason, issue, disclosure, is_shared: shared, .. } = known;
    let test = test.as_str().to_owned();
    KnownAs { test, reason: reason.clone(), issue: issue.clone(), disclosure: *disclosure, shared: *shared }
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

/// Returns whether a known failure can excuse the verdict. It cannot excuse an error of the run.
fn fails(kind: VerdictKind) -> bool {
    use VerdictKind::{Fail, Inconclusive, Note, Warn};
    matches!(kind, Fail | Warn | Note | Inconclusive)
}

fn holds(kind: VerdictKind) -> bool {
    matches!(kind, VerdictKind::Pass | VerdictKind::Allowed)
}

#[cfg(test)]
mod tests;
