//! The plan of a run: the tests to run, their order, and the reasons why others are skipped.
//!
//! The module takes the library, the targets and the user's selection, and returns a [`Plan`]: tests × revisions ×
//! transports. It is pure, and must not know how a test is run, nor what time it is.

mod declared;
mod excuses;
mod hints;
mod sample;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::hints::hint;
use self::sample::{is_asked_twice, sample_stdio};
use crate::model::applicability::Applicability;
use crate::model::case::{Case, Control, Library, Test};
use crate::model::reason::SkipReason;
use crate::model::record::Skipped;
use crate::model::spec::{Catalogue, Revision, Role, Transport};
use crate::model::target::TargetPair;
use crate::model::target::{Target, TargetKind};
use crate::model::transcript::StdioMode;
use crate::model::{CaseId, Pattern, RequirementId, Shard, TargetId, TestId};

/// The filters of a run. An empty list selects everything.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Selects only tests that one of these patterns matches.
    pub only: Vec<Pattern>,
    /// Excludes tests that one of these patterns matches.
    pub skip: Vec<Pattern>,
    /// Selects only this role.
    pub role: Option<Role>,
    /// Selects only these revisions.
    pub revision: Vec<Revision>,
    /// Selects only these transports.
    pub transport: Vec<Transport>,
    /// Includes tests that are too expensive to run by default.
    pub heavy: bool,
    /// Selects only this shard of the remaining tests, and the controls that they need.
    pub shard: Option<Shard>,
    /// Requirements whose tests each shard contains.
    pub in_each_shard: Vec<RequirementId>,
    /// The way in which adapters serve over stdio; `None` for streams, and a sample of processes.
    pub stdio: Option<StdioMode>,
    /// Selects only tests that have checks, each on the newest revision of each lifecycle, and over stdio only if it
    /// cannot run over HTTP.
    pub is_thin: bool,
    /// Also repeats the tests whose question does not depend on the transport over the second transport. Otherwise only
    /// a sample of their case files is repeated.
    pub every_transport: bool,
}

impl Selection {
    /// Returns whether the selection excludes something that an unfiltered run has.
    pub fn is_partial(&self) -> bool {
        let Self {
            only,
            skip,
            role,
            revision,
            transport,
            shard,
            in_each_shard: _,
            heavy: _,
            stdio: _,
            is_thin,
            every_transport: _,
        } = self;
        *is_thin
            || shard.is_some()
            || !(only.is_empty() && skip.is_empty() && role.is_none() && revision.is_empty() && transport.is_empty())
    }
}

/// The tests to run, in order.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The tests, in groups that each run on one worker.
    pub groups: Vec<Group>,
    /// The tests that do not apply to a target, with the reasons.
    pub skipped: Vec<Skipped>,
    /// `true` if the user selected a part of the tests, so that the absence of a test proves nothing.
    pub is_partial: bool,
    /// The shard, if the run is split over several.
    pub shard: Option<Shard>,
}

impl Plan {
    /// Returns every test, in order.
    pub fn tests(&self) -> impl Iterator<Item = (&Group, &Planned)> {
        self.groups.iter().flat_map(|group| group.tests.iter().map(move |planned| (group, planned)))
    }

    /// Returns the number of tests.
    pub fn len(&self) -> usize {
        self.groups.iter().map(|group| group.tests.len()).sum()
    }

    /// Returns whether the plan has no tests.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }
}

/// Tests of one case file on one target, revision and transport: one that waits for long, or all between such tests.
#[derive(Clone, Debug)]
pub struct Group {
    /// The target.
    pub target: Arc<Target>,
    /// The case file.
    pub case: CaseId,
    /// The revision.
    pub revision: Revision,
    /// The transport.
    pub transport: Transport,
    /// The tests: each after its controls, and next to other tests with the same fixture.
    pub tests: Vec<Planned>,
}

impl Group {
    /// Returns whether a test of the group may need all or most of a step's time limit.
    pub fn is_hard(&self) -> bool {
        self.tests.iter().any(|planned| planned.test.is_hard())
    }

    /// Returns for about how many seconds the tests of the group wait for time to pass.
    pub fn wait(&self) -> u32 {
        self.tests.iter().map(|planned| planned.test.wait(self.transport)).sum()
    }
}

/// One test in a plan.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The index in the whole plan.
    pub index: usize,
    /// The id.
    pub id: TestId,
    /// The test.
    pub test: Arc<Test>,
    /// The way in which an adapter with a choice serves the test, if it is a server over stdio.
    pub stdio: Option<StdioMode>,
}

/// The error for a selection, or a target's list of known failures, for which there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A pattern of the selection matches no test.
    #[error("`{pattern}` matches no test{}", suggestion(.hint.as_deref()))]
    UnmatchedPattern {
        /// The pattern, as written.
        pattern: String,
        /// The likely mistake, or tests with similar names.
        hint: Option<String>,
    },
    /// An entry of a target that excuses failures matches no test of the library.
    #[error("{target} excuses failures in `{pattern}`, but it matches no test{}", suggestion(.hint.as_deref()))]
    UnmatchedKnown {
        /// The target.
        target: TargetId,
        /// The pattern, as written.
        pattern: String,
        /// The likely mistake, or tests with similar names.
        hint: Option<String>,
    },
    /// No test that an entry of a target matches checks its requirement.
    #[error(
        "{target} excuses failures of `{requirement}` in `{pattern}`, but no test there checks this requirement{}",
        suggestion(.hint.as_deref())
    )]
    UncheckedKnown {
        /// The target.
        target: TargetId,
        /// The pattern, as written.
        pattern: String,
        /// The requirement, as written.
        requirement: RequirementId,
        /// Requirements of those tests with similar names.
        hint: Option<String>,
    },
    /// Two entries of a target excuse the same verdict.
    #[error("{target} excuses {requirement} in {test} twice: {}", .entries.join(" and "))]
    KnownTwice {
        /// The target.
        target: TargetId,
        /// The requirement of both.
        requirement: RequirementId,
        /// A test that both match.
        test: Box<TestId>,
        /// Both entries, as written.
        entries: Box<[String; 2]>,
    },
    /// No test is left to run.
    #[error("nothing to run: {}", reasons(.skipped))]
    Nothing {
        /// The skipped tests, with the reasons.
        skipped: Vec<Skipped>,
    },
}

impl PlanError {
    /// Returns the pattern of the selection that matches no test, if that is the error.
    pub fn unmatched(&self) -> &str {
        if let Self::UnmatchedPattern { pattern, .. } = self { pattern } else { "" }
    }
}

fn suggestion(hint: Option<&str>) -> String {
    hint.map_or_else(String::new, |hint| format!("; {hint}"))
}

fn reasons(skipped: &[Skipped]) -> String {
    if skipped.is_empty() {
        return "the selection leaves no test".to_owned();
    }
    let reasons = skipped.iter().map(|Skipped { target, reason, tests }| format!("{target}: {reason} ({tests})"));
    reasons.collect::<Vec<_>>().join("; ")
}

/// Plans a run.
///
/// # Errors
/// [`PlanError`] if a pattern matches no test, or no test is left to run.
pub fn plan(library: &Library, targets: &[Arc<Target>], selection: &Selection) -> Result<Plan, PlanError> {
    check_patterns(library, targets, selection)?;
    let only = &selection.only;
    let is_selected = |case: &&Case| only.is_empty() || only.iter().any(|pattern| pattern.may_match(&case.id));
    let mut cases: Vec<&Case> = library.cases.iter().filter(is_selected).collect();
    cases.sort_by(|a, b| a.id.cmp(&b.id));
    let mut planner = Planner { library, selection, groups: Vec::new(), skipped: BTreeMap::new(), index: 0 };
    let asked_twice: BTreeSet<_> =
        cases.iter().filter(|case| is_asked_twice(case)).map(|case| case.id.clone()).collect();
    for (place, target) in targets.iter().enumerate() {
        for case in &cases {
            planner.add(place, target, case);
        }
    }
    let skipped = planner.skipped.into_iter().filter(|(_, tests)| *tests > 0).map(|((place, reason), tests)| Skipped {
        target: targets[place].id.clone(),
        reason,
        tests,
    });
    let (mut groups, skipped) = (planner.groups, skipped.collect());
    if selection.stdio.is_none() && selection.only.is_empty() {
        sample_stdio(&mut groups, &asked_twice);
    }
    if groups.is_empty() {
        Err(PlanError::Nothing { skipped })
    } else {
        Ok(Plan { groups, skipped, is_partial: selection.is_partial(), shard: selection.shard })
    }
}

struct Planner<'a> {
    library: &'a Library,
    selection: &'a Selection,
    groups: Vec<Group>,
    skipped: BTreeMap<(usize, SkipReason), usize>,
    index: usize,
}

impl Planner<'_> {
    fn add(&mut self, place: usize, target: &Arc<Target>, case: &Case) {
        // The tests of pairs are not skipped on single targets: they are no tests of them.
        if (case.role == Role::Pair) != matches!(target.drives, TargetKind::Pair(_)) {
            return;
        }
        let tests = run_order(case);
        for revision in Revision::all().filter(|one| listed(&self.selection.revision, one)) {
            for transport in Transport::ALL.iter().copied().filter(|one| listed(&self.selection.transport, one)) {
                let mut planned = Vec::new();
                let spoken = target.claims.revisions.iter().filter(|one| listed(&self.selection.revision, one));
                let newest = spoken.max() == Some(&revision);
                let mut selected = self.selected(&tests, revision, transport);
                selected.retain(|(_, test)| newest || !test.revisions.is_draft);
                let repeated = self.repeated(target, case, transport);
                let reasons = selected.iter().map(|(id, test)| {
                    let reason = self.skip_reason(target, test, revision, transport);
                    reason.or(repeated.filter(|_| !self.is_named(id)))
                });
                let reasons: Vec<_> = reasons.collect();
                let needless = Self::needless_controls(&selected, &reasons);
                for ((id, test), reason) in selected.into_iter().zip(reasons) {
                    if let Some(reason) = reason.or(needless.filter(|_| test.control.is_some())) {
                        // A control counts only in the shard that contains it, so that the counts of all shards add up
                        // to the whole.
                        let counts = self.selection.shard.is_none_or(|shard| shard.has(&id));
                        *self.skipped.entry((place, reason)).or_default() += usize::from(counts);
                        continue;
                    }
                    let stdio = self.stdio(target, test, transport);
                    planned.push(Planned { index: self.index, id, test: Arc::clone(test), stdio });
                    self.index += 1;
                }
                // A test that waits for long is a group of its own, unless it is a control or has one.
                let is_linked = |one: &Test| planned.iter().any(|two| two.test.governs(one) || one.governs(&two.test));
                let is_alone = |one: &Planned| one.test.waits_long(transport) && !is_linked(&one.test);
                for tests in planned.chunk_by(|one, other| !is_alone(one) && !is_alone(other)) {
                    let (target, case, tests) = (Arc::clone(target), case.id.clone(), tests.to_vec());
                    self.groups.push(Group { target, case, revision, transport, tests });
                }
            }
        }
    }

    /// Returns the reason to skip a case file on the second transport of a target.
    fn repeated(&self, target: &Target, case: &Case, transport: Transport) -> Option<SkipReason> {
        const FIRST: Transport = Transport::Http;
        let Selection { transport: selected, every_transport, .. } = self.selection;
        let is_second = transport != FIRST && target.claims.transports.contains(&FIRST);
        let is_left_out = is_second && selected.is_empty() && !every_transport && !is_asked_twice(case);
        is_left_out.then_some(SkipReason::AskedOver(FIRST))
    }

    /// Returns whether the user has selected a test by a pattern that names its transport.
    fn is_named(&self, id: &TestId) -> bool {
        self.selection.only.iter().any(|pattern| pattern.names_transport() && pattern.matches(id))
    }

    /// Returns the reason to skip the controls too: the tests that they govern call tools that may not be called. Each
    /// request to a server that casebook did not start counts.
    fn needless_controls(selected: &[(TestId, &Arc<Test>)], reasons: &[Option<SkipReason>]) -> Option<SkipReason> {
        let is_governed = |((_, test), _): &(&(TestId, &Arc<Test>), _)| test.control.is_none();
        let mut governed = selected.iter().zip(reasons).filter(is_governed).map(|(_, reason)| *reason).peekable();
        governed.peek()?;
        governed.all(|reason| reason == Some(SkipReason::NotCallable)).then_some(SkipReason::NotCallable)
    }

    /// Returns the selected tests that apply, and the controls that they depend on.
    fn selected<'t>(
        &self,
        tests: &[&'t Arc<Test>],
        revision: Revision,
        transport: Transport,
    ) -> Vec<(TestId, &'t Arc<Test>)> {
        let Selection { only, skip, role, shard, in_each_shard, is_thin, .. } = self.selection;
        let mut applying: Vec<_> = tests
            .iter()
            .filter(|test| applies(test, revision, transport, &self.library.requirements))
            .map(|test| (id(test, revision, transport), *test))
            .filter(|(id, _)| !skip.iter().any(|one| one.matches(id)))
            .collect();
        let is_in_each = |test: &Test| test.checks().any(|check| in_each_shard.contains(&check.requirement));
        let is_chosen = |id: &TestId, test: &Test| {
            role.is_none_or(|role| role == test.role)
                && (only.is_empty() || only.iter().any(|one| one.matches(id)))
                && shard.is_none_or(|shard| shard.has(id) || is_in_each(test))
                && !(*is_thin && (test.checks().next().is_none() || self.is_elsewhere(test, revision, transport)))
        };
        let mut taken: Vec<bool> = applying.iter().map(|(id, test)| is_chosen(id, test)).collect();
        // A control may need controls of its own.
        let mut open: Vec<usize> = (0..applying.len()).filter(|one| taken[*one]).collect();
        while let Some(test) = open.pop() {
            for control in 0..applying.len() {
                if !taken[control] && applying[control].1.governs(applying[test].1) {
                    taken[control] = true;
                    open.push(control);
                }
            }
        }
        let mut taken = taken.into_iter();
        applying.retain(|_| taken.next().is_some_and(|one| one));
        applying
    }

    /// Returns whether this test also runs, with all of its checks, on a newer revision of the same lifecycle or over
    /// HTTP.
    fn is_elsewhere(&self, test: &Test, revision: Revision, transport: Transport) -> bool {
        let newer = |one: &Revision| *one > revision && one.facts().lifecycle == revision.facts().lifecycle;
        let has = |revision, transport| applies(test, revision, transport, &self.library.requirements);
        let checks = |one: Revision| {
            let known = test.checks().filter_map(|check| self.library.requirements.get(&check.requirement));
            known.filter(|requirement| requirement.revisions.contains(revision)).all(|it| it.revisions.contains(one))
        };
        let quicker = Transport::Http;
        Revision::all().filter(newer).any(|one| has(one, transport) && checks(one))
            || transport != quicker && listed(&self.selection.transport, &quicker) && has(revision, quicker)
    }

    /// Returns the reason to skip a test on a target, if there is one.
    fn skip_reason(
        &self,
        target: &Target,
        test: &Test,
        revision: Revision,
        transport: Transport,
    ) -> Option<SkipReason> {
        let claims = &target.claims;
        let lacks = test.needs.iter().find(|need| claims.lacks.contains(need));
        if !claims.roles.contains(&test.role) {
            Some(SkipReason::Role(test.role))
        } else if let Some(revision) = unspoken(target, test, revision) {
            Some(SkipReason::Revision(revision))
        } else if !claims.transports.contains(&transport) {
            Some(SkipReason::Transport(transport))
        } else if let Some(reason) = kind_skip_reason(&target.drives, &test.reach) {
            Some(reason)
        } else if target.callable.is_none() && test.needs_permission() {
            Some(SkipReason::NotCallable)
        } else if let Some(reason) = declared::skip_reason(target, test, revision) {
            Some(reason)
        } else if let Some(need) = lacks {
            Some(SkipReason::Lacks(*need))
        } else if test.heavy && !self.selection.heavy {
            Some(SkipReason::Heavy)
        } else if test.heavy && !self.is_heavy_run(target, test, revision, transport) {
            Some(SkipReason::HeavyOnce)
        } else {
            None
        }
    }

    /// Returns the way in which a server is served over stdio. A test that runs only over stdio is about the process
    /// and its streams.
    fn stdio(&self, target: &Target, test: &Test, transport: Transport) -> Option<StdioMode> {
        let is_choice = transport == Transport::Stdio
            && test.role == Role::Server
            && matches!(target.drives, TargetKind::Adapter(_));
        let is_about_process = test.transports.as_deref() == Some(&[Transport::Stdio]);
        let mode =
            if is_about_process { StdioMode::Process } else { self.selection.stdio.unwrap_or(StdioMode::Stream) };
        is_choice.then_some(mode)
    }

    /// Returns whether a heavy test runs on this revision and transport: on the newest revision possible, and over only
    /// one transport unless the case names some. A target that hangs uses up the whole time limit each time.
    fn is_heavy_run(&self, target: &Target, test: &Test, revision: Revision, transport: Transport) -> bool {
        let can = |revision: &Revision, transport: &Transport| {
            target.claims.revisions.contains(revision)
                && target.claims.transports.contains(transport)
                && listed(&self.selection.revision, revision)
                && listed(&self.selection.transport, transport)
                && applies(test, *revision, *transport, &self.library.requirements)
        };
        let newest = Revision::all().rev().find(|one| can(one, &transport));
        let quickest = [Transport::Http, Transport::Stdio].into_iter().find(|one| can(&revision, one));
        newest == Some(revision) && (test.transports.is_some() || quickest == Some(transport))
    }
}

/// Returns the reason to skip a test on this kind of target, if there is one. The tools of a fixed server are only
/// known when it runs.
fn kind_skip_reason(drives: &TargetKind, reach: &Applicability) -> Option<SkipReason> {
    match (drives, reach) {
        (TargetKind::Adapter(_) | TargetKind::Pair(_), Applicability::FixedOnly(_)) => Some(SkipReason::NoFixture),
        (TargetKind::Fixed(_), Applicability::AdapterOnly) => Some(SkipReason::NoAdapter),
        (TargetKind::Adapter(_) | TargetKind::Pair(_), Applicability::AdapterOnly | Applicability::AlsoFixed(_))
        | (TargetKind::Fixed(_), Applicability::AlsoFixed(_) | Applicability::FixedOnly(_)) => None,
    }
}

/// Returns the revision of a test that a target does not speak, if there is one. The server of a pair can speak another
/// revision than its client, which then begins with its own.
fn unspoken(target: &Target, test: &Test, revision: Revision) -> Option<Revision> {
    let is_claimed = |target: &Target, revision: &Revision| target.claims.revisions.contains(revision);
    match (&target.drives, test.given.revision.filter(|_| test.role == Role::Pair)) {
        (TargetKind::Pair(TargetPair { client, server }), Some(other)) => {
            let own = (!is_claimed(client, &revision)).then_some(revision);
            own.or((!is_claimed(server, &other)).then_some(other))
        }
        _ => (!is_claimed(target, &revision)).then_some(revision),
    }
}

fn listed<T: PartialEq>(list: &[T], one: &T) -> bool {
    list.is_empty() || list.contains(one)
}

fn id(test: &Test, revision: Revision, transport: Transport) -> TestId {
    TestId { case: test.case.clone(), test: test.id.clone(), row: test.row.clone(), revision, transport }
}

/// Returns whether a test applies on a revision and transport, by its own ranges and those of its requirements. One
/// requirement in force is enough; the judge ignores the others.
fn applies(test: &Test, revision: Revision, transport: Transport, requirements: &Catalogue) -> bool {
    let mut checks = test.checks().peekable();
    let in_force = checks.peek().is_none()
        || checks.any(|check| {
            requirements
                .get(&check.requirement)
                .is_some_and(|one| one.revisions.contains(revision) && one.roles.contains(&test.role))
        });
    in_force
        && test.revisions.contains(revision)
        && test.transports.as_ref().is_none_or(|transports| transports.contains(&transport))
}

/// Sorts the tests of a case: controls of the file first, then row by row, and within a row its controls first. Rows with
/// a control of named tests precede the others. Tests with the same fixture are adjacent, so that it is built once.
fn run_order(case: &Case) -> Vec<&Arc<Test>> {
    let first = |same: &dyn Fn(&Test) -> bool| case.tests.iter().position(|one| same(one));
    let mut tests: Vec<_> = case.tests.iter().collect();
    tests.sort_by_cached_key(|test| {
        (
            Reverse(test.control == Some(Control::File)),
            !case.tests.iter().any(|one| one.row == test.row && matches!(one.control, Some(Control::Tests(_)))),
            first(&|one| one.row == test.row),
            match test.control {
                Some(Control::Row) => 0,
                Some(Control::Tests(_)) => 1,
                Some(Control::File) | None => 2,
            },
            first(&|one| Arc::ptr_eq(&one.given, &test.given) || one.given == test.given),
        )
    });
    tests
}

fn check_patterns(library: &Library, targets: &[Arc<Target>], selection: &Selection) -> Result<(), PlanError> {
    let is_unmatched = |pattern: &&Pattern| !means_a_test(pattern, library);
    if let Some(pattern) = selection.only.iter().chain(&selection.skip).find(is_unmatched) {
        return Err(unmatched(pattern, library));
    }
    for target in targets {
        if let Some(pattern) = target.excuses().map(|excuse| excuse.test).find(is_unmatched) {
            let (target, hint) = (target.id.clone(), hint(pattern, library));
            return Err(PlanError::UnmatchedKnown { target, pattern: pattern.as_str().to_owned(), hint });
        }
        let errors = [excuses::unchecked(library, target), excuses::twice(library, target)];
        if let Some(error) = errors.into_iter().flatten().next() {
            return Err(error);
        }
    }
    Ok(())
}

/// Returns the error for a pattern that matches no test.
pub fn unmatched(pattern: &Pattern, library: &Library) -> PlanError {
    PlanError::UnmatchedPattern { pattern: pattern.as_str().to_owned(), hint: hint(pattern, library) }
}

/// Returns the id of every test on each revision and transport where it applies, on any target.
pub fn every_id(library: &Library) -> impl Iterator<Item = TestId> {
    library.cases.iter().flat_map(|case| all_runs(library, case)).map(|(id, _)| id)
}

/// Returns whether a pattern matches any test, on any target.
pub fn means_a_test(pattern: &Pattern, library: &Library) -> bool {
    candidates(pattern, library).any(|(id, _)| pattern.matches(&id))
}

/// Returns the tests of all files that a pattern can match, with their ids.
fn candidates<'l>(pattern: &Pattern, library: &'l Library) -> impl Iterator<Item = (TestId, &'l Arc<Test>)> {
    library.cases.iter().filter(|case| pattern.may_match(&case.id)).flat_map(|case| all_runs(library, case))
}

fn all_runs<'l>(library: &'l Library, case: &'l Case) -> impl Iterator<Item = (TestId, &'l Arc<Test>)> {
    let runs = case
        .tests
        .iter()
        .flat_map(|test| Revision::all().flat_map(move |one| Transport::ALL.iter().map(move |t| (test, one, *t))));
    runs.filter(|(test, revision, transport)| applies(test, *revision, *transport, &library.requirements))
        .map(|(test, revision, transport)| (id(test, revision, transport), test))
}

#[cfg(test)]
mod tests;
