//! [`Numbers`]: how many requirements hold for one server, and how many it violates.
//!
//! Takes records, gives three numbers: the verdict on a server that was tested without a `target.toml`.

use std::collections::BTreeMap;

use super::rates::holds;
use crate::model::RequirementId;
use crate::model::record::Record;
use crate::model::spec::Level;

/// The requirements with at least one decided check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers(BTreeMap<RequirementId, (Level, bool)>);

impl Numbers {
    /// Counts the verdicts of one test.
    pub fn add(&mut self, record: &Record) {
        for verdict in record.verdicts.iter().filter(|verdict| verdict.is_decided()) {
            let Some(holds) = holds(verdict.kind) else { continue };
            let (_, held) = self.0.entry(verdict.requirement.clone()).or_insert((verdict.level, true));
            *held &= holds;
        }
    }

    /// Returns the number of requirements that hold.
    pub fn hold(&self) -> usize {
        self.0.values().filter(|(_, held)| *held).count()
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
        self.0.values().filter(|(level, held)| !held && levels.contains(level)).count()
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
    }
}
