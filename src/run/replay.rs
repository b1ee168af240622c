//! Judges the records of a run log again, by the current cases, levels and known failures.
//!
//! Takes a library, targets and records, gives records with new verdicts. Must not run a target.

use std::collections::BTreeMap;

use super::attempts::decide;
use super::hash;
use crate::judge::Judge;
use crate::model::case::{Library, Test};
use crate::model::reason::Stale;
use crate::model::record::Record;
use crate::model::target::Target;

/// The result of judging a run log again.
#[derive(Debug)]
pub struct Replay {
    /// The records with new verdicts. Records of removed, changed or cut tests keep their verdicts.
    pub records: Vec<Record>,
    /// Known failures that no longer fail.
    pub stale: Vec<Stale>,
    /// Paths of tests that no longer exist.
    pub gone: Vec<String>,
    /// Paths of tests whose fixture or steps have changed since the run.
    pub changed: Vec<String>,
    /// Paths of tests whose observations were cut.
    pub cut: Vec<String>,
}

/// Judges the observations of records again. Observations do not contain addresses, so no transcript is needed.
pub fn rejudge(library: &Library, targets: &[Target], records: Vec<Record>) -> Replay {
    let all = library.cases.iter().flat_map(|case| &case.tests);
    let tests: BTreeMap<String, &Test> = all.map(|test| (test.path(), test.as_ref())).collect();
    let mut judge = Judge::new(&library.requirements, targets);
    let mut replay = Replay { records, stale: Vec::new(), gone: Vec::new(), changed: Vec::new(), cut: Vec::new() };
    for record in &mut replay.records {
        match tests.get(&record.test.path()) {
            None => replay.gone.push(record.test.path()),
            Some(test) if hash(test) != record.hash || is_cut(record) => {
                let list = if is_cut(record) { &mut replay.cut } else { &mut replay.changed };
                list.push(record.test.path());
                judge.keep(&record.target, test, &record.test, &record.observation, &record.verdicts);
            }
            Some(test) => {
                for attempt in &mut record.attempts {
                    // Controls and known failures are decided by the last attempt.
                    attempt.verdicts = judge.verdicts(&record.target, test, &record.test, &attempt.observation);
                }
                record.verdicts = judge.judge(&record.target, test, &record.test, &record.observation);
                decide(record);
            }
        }
    }
    for list in [&mut replay.gone, &mut replay.changed, &mut replay.cut] {
        list.sort_unstable();
        list.dedup();
    }
    replay.stale = judge.stale();
    replay
}

/// Returns whether an observation of a record was cut. A cut value is another value, so it cannot be judged.
fn is_cut(record: &Record) -> bool {
    let attempts = record.attempts.iter().map(|attempt| &attempt.observation);
    attempts.chain([&record.observation]).any(|observation| observation.cut > 0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::judge::samples;
    use crate::model::CaseId;
    use crate::model::case::{Case, Control, Expectation, Outcome};
    use crate::model::spec::{Level, Requirement, Role};
    use crate::model::verdict::VerdictKind;

    fn library(requirement: Requirement, tests: Vec<Test>) -> Library {
        Library {
            cases: vec![Case {
                id: CaseId::new("f", "c"),
                path: "f/c.json".into(),
                title: "A sentence".into(),
                note: Vec::new(),
                role: Role::Server,
                rows: Vec::new(),
                tests: tests.into_iter().map(Arc::new).collect(),
            }],
            requirements: [(requirement.id.clone(), requirement)].into(),
            ..Library::default()
        }
    }

    #[test]
    fn unchanged_test_is_judged_by_current_levels() {
        let wanted = Expectation { outcome: vec![Outcome::Success], ..Expectation::default() };
        let test = samples::test(&[], vec![(samples::call("t"), samples::check("r", vec![wanted]))]);
        let same = hash(&test).to_owned();
        let requirement = samples::requirement("r", Level::Should);
        let library = library(requirement, vec![test]);
        let record = |index, test: &str, hash: &str| Record {
            hash: hash.into(),
            ..samples::record(index, test, Outcome::Crash)
        };
        let mut cut = record(3, "f/c/t@2025-11-25+http", &same);
        cut.observation.cut = 1;
        let records = vec![
            record(0, "f/c/t@2026-07-28+http", &same),
            record(1, "f/c/t@2026-07-28+stdio", "another"),
            record(2, "f/c/gone@2026-07-28+http", &same),
            cut,
        ];
        let replay = rejudge(&library, &[], records);
        assert_eq!(replay.records[0].verdicts[0].kind, VerdictKind::Warn);
        assert!(replay.records[1].verdicts.is_empty());
        assert!(replay.records[3].verdicts.is_empty(), "what was cut is not judged");
        assert_eq!(replay.cut, ["f/c/t"]);
        assert_eq!((replay.changed, replay.gone), (vec!["f/c/t".to_owned()], vec!["f/c/gone".to_owned()]));
    }

    #[test]
    fn cut_failed_control_leaves_other_tests_inconclusive() {
        let wanted = || Expectation { outcome: vec![Outcome::Success], ..Expectation::default() };
        let test = || samples::test(&[], vec![(samples::call("t"), samples::check("r", vec![wanted()]))]);
        let control = Test { id: "c".into(), control: Some(Control::File), ..test() };
        let hash = hash(&test()).to_owned();
        let requirement = samples::requirement("r", Level::Must);
        let library = library(requirement, vec![control, test()]);
        let record =
            |index, test: &str, outcome| Record { hash: hash.clone(), ..samples::record(index, test, outcome) };
        let mut cut = record(0, "f/c/c@2026-07-28+http", Outcome::Crash);
        let other = record(1, "f/c/t@2026-07-28+http", Outcome::Success);
        let judged = rejudge(&library, &[], vec![cut.clone(), other.clone()]).records;
        cut.verdicts = judged[0].verdicts.clone();
        cut.observation.cut = 1;
        let replay = rejudge(&library, &[], vec![cut, other]);
        assert_eq!(replay.cut, ["f/c/c"]);
        let kinds: Vec<_> = replay.records.iter().map(|record| record.verdicts[0].kind).collect();
        assert_eq!(kinds, [VerdictKind::Fail, VerdictKind::Inconclusive]);
    }
}
