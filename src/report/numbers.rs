//! [`Numbers`]: how many requirements hold for one server, and how many it violates.
//!
//! Takes records, gives three numbers: the verdict on a server that was tested without a `target.toml`. A server that ends
//! or hangs where it must answer is no success, whatever the level of the requirement.

use std::collections::{BTreeMap, BTreeSet};

use super::rates::holds;
use crate::model::RequirementId;
use crate::model::case::Outcome;
use crate::model::record::Record;
use crate::model::spec::{Level, Transport};

/// The requirement that a valid request is answered.
const ANSWERED: &str = "messages/request-answered";

/// The requirements with at least one decided check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    requirements: BTreeMap<RequirementId, (Level, bool)>,
    unanswered: BTreeSet<String>,
}

impl Numbers {
    /// Counts the verdicts of one test.
    pub fn add(&mut self, record: &Record) {
        for verdict in record.verdicts.iter().filter(|verdict| verdict.is_decided()) {
            let Some(holds) = holds(verdict.kind) else { continue };
            let requirements = &mut self.requirements;
            let (_, held) = requirements.entry(verdict.requirement.clone()).or_insert((verdict.level, true));
            *held &= holds;
            let outcome = record.observation.steps.get(verdict.step).map(|step| step.outcome);
            let is_unanswered = matches!(outcome, Some(Outcome::Timeout | Outcome::Crash | Outcome::InputRequired))
                && verdict.requirement.as_str() == ANSWERED;
            // No message is a reason for a process to end. Over HTTP, a server may close a connection.
            let has_ended = outcome == Some(Outcome::Crash) && record.test.transport == Transport::Stdio;
            if !holds && (is_unanswered || has_ended) {
                self.unanswered.insert(record.test.to_string());
            }
        }
    }

    /// Returns the number of requirements that hold.
    pub fn hold(&self) -> usize {
        self.requirements.values().filter(|(_, held)| *held).count()
    }

    /// Returns the tests in which the server ended, or hung and did not answer a valid request therefore.
    pub fn unanswered(&self) -> &BTreeSet<String> {
        &self.unanswered
    }

    /// Returns the number of violated MUSTs and MUST NOTs.
    pub fn musts(&self) -> usize {
        self.violated(&[Level::Must, Level::MustNot])
    }

    /// Returns the number of violated SHOULDs and SHOULD NOTs.
    pub fn shoulds(&self) -> usize {
        self.violated(&[Level::Should, Level::ShouldNot])
    }

    fn violated(&self, levels: &[Level]) -> usize {
        self.requirements.values().filter(|(level, held)| !held && levels.contains(level)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::case::Outcome;
    use crate::model::record::Verdict;
    use crate::model::verdict::VerdictKind;
    use crate::report::tests::verdict;

    #[test]
    fn requirement_holds_if_no_decided_check_fails() {
        let one = |name: &str, level: Level, kind: VerdictKind| Verdict {
            requirement: RequirementId::within("f", name),
            level,
            ..verdict(kind)
        };
        let verdicts = vec![
            one("a", Level::Must, VerdictKind::Pass),
            one("a", Level::Must, VerdictKind::Fail),
            one("b", Level::Must, VerdictKind::Pass),
            one("b", Level::Must, VerdictKind::Inconclusive),
            one("c", Level::ShouldNot, VerdictKind::Warn),
            one("d", Level::Derived, VerdictKind::Note),
            one("e", Level::Must, VerdictKind::Cannot),
            one("f", Level::May, VerdictKind::Taken),
        ];
        let mut numbers = Numbers::default();
        numbers.add(&Record { verdicts, ..samples::record(0, "f/c/t@2026-07-28+http", Outcome::Success) });
        assert_eq!((numbers.hold(), numbers.musts(), numbers.shoulds()), (1, 1, 1));
        assert!(numbers.unanswered().is_empty());
    }

    #[test]
    fn end_or_hang_in_place_of_an_answer_is_remembered_at_any_level() {
        let unanswered = |requirement: &str, kind, outcome| {
            let (folder, name) = requirement.split_once('/').expect("a folder");
            let requirement = RequirementId::within(folder, name);
            let verdicts = vec![Verdict { requirement, level: Level::Derived, ..verdict(kind) }];
            let mut numbers = Numbers::default();
            numbers.add(&Record { verdicts, ..samples::record(0, "f/c/t@2026-07-28+http", outcome) });
            numbers.unanswered().iter().cloned().collect::<Vec<_>>()
        };
        for outcome in [Outcome::Crash, Outcome::Timeout] {
            assert_eq!(unanswered(ANSWERED, VerdictKind::Note, outcome), ["f/c/t@2026-07-28+http"]);
            assert!(unanswered("messages/failure-answered", VerdictKind::Note, outcome).is_empty());
        }
        let ended = Verdict { level: Level::Should, ..verdict(VerdictKind::Warn) };
        for (transport, tests) in [("stdio", 1), ("http", 0)] {
            let mut numbers = Numbers::default();
            let test = format!("f/c/t@2026-07-28+{transport}");
            numbers.add(&Record { verdicts: vec![ended.clone()], ..samples::record(0, &test, Outcome::Crash) });
            assert_eq!(numbers.unanswered().len(), tests, "{transport}");
        }
        assert!(unanswered(ANSWERED, VerdictKind::Note, Outcome::ProtocolError).is_empty());
        assert!(unanswered(ANSWERED, VerdictKind::Pass, Outcome::Crash).is_empty());
    }
}
