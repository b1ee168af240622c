//! Several attempts at one test: decides whether to run it again, and joins the results.
//!
//! Takes records of one test, gives one record. Must not know how a test is run again.

use crate::model::bound::{LEAST, bound};
use crate::model::reason::Finding;
use crate::model::record::{Attempt, Record};
use crate::model::verdict::VerdictKind;

/// The number of attempts whose observations are kept in full. Of the others, only the most important parts are kept.
const WHOLE: usize = 4;

/// Returns whether the test violates a MUST, so that another attempt can show whether it always does.
pub(super) fn is_worth_another(record: &Record) -> bool {
    !record.bug && record.verdicts.iter().any(|verdict| verdict.kind == VerdictKind::Fail)
}

/// Adds the earlier attempts to the record of a further attempt.
pub(super) fn after(earlier: Record, mut record: Record) -> Record {
    let Record { mut attempts, mut observation, verdicts, .. } = earlier;
    if attempts.len() >= WHOLE {
        bound(&mut observation, LEAST);
    }
    attempts.push(Attempt { observation, verdicts });
    record.attempts = attempts;
    record
}

/// Marks each check as flaky that failed in an earlier attempt and not in the last one.
pub(super) fn decide(record: &mut Record) {
    let all = record.attempts.len() + 1;
    for (place, verdict) in record.verdicts.iter_mut().enumerate() {
        let earlier = || record.attempts.iter().filter_map(|attempt| attempt.verdicts.get(place));
        let failed = || earlier().filter(|earlier| earlier.kind == VerdictKind::Fail);
        let Some(first) = failed().next().filter(|_| verdict.kind != VerdictKind::Fail) else { continue };
        let flaky = Finding::Flaky { failed: failed().count(), attempts: all };
        verdict.detail = std::iter::once(flaky.into()).chain(first.detail.iter().cloned()).collect();
        verdict.kind = VerdictKind::Flaky;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::case::Outcome;
    use crate::model::record::Verdict;
    use crate::model::spec::Level;

    fn record(kinds: &[VerdictKind]) -> Record {
        let verdict = |(step, kind): (usize, &VerdictKind)| Verdict {
            step,
            requirement: samples::requirement("r", Level::Must).id,
            level: Level::Must,
            kind: *kind,
            excuses: None,
            detail: vec![Finding::Missing { place: format!("{kind} at {step}") }.into()],
            line: 1,
            known: None,
            attribution: None,
        };
        let verdicts = kinds.iter().enumerate().map(verdict).collect();
        Record { verdicts, ..samples::record(0, "f/c/t@2026-07-28+http", Outcome::Success) }
    }

    #[test]
    fn check_that_fails_once_is_flaky() {
        use VerdictKind::{Fail, Flaky, Pass, Warn};
        let second = after(record(&[Fail, Pass, Fail, Warn]), record(&[Fail, Pass, Pass, Warn]));
        let mut decided = after(second, record(&[Pass, Pass, Fail, Warn]));
        decide(&mut decided);
        let kinds = |record: &Record| record.verdicts.iter().map(|verdict| verdict.kind).collect::<Vec<_>>();
        assert_eq!(kinds(&decided), [Flaky, Pass, Fail, Warn]);
        let detail = decided.verdicts[0].detail.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(detail, ["failed in 2 of 3 attempts", "fail at 0: missing"]);
        assert_eq!(decided.attempts.len(), 2);
    }

    #[test]
    fn only_a_violated_must_is_worth_another_attempt() {
        assert!(is_worth_another(&record(&[VerdictKind::Pass, VerdictKind::Fail])));
        for kind in [VerdictKind::Warn, VerdictKind::Inconclusive, VerdictKind::Error, VerdictKind::Known] {
            assert!(!is_worth_another(&record(&[kind])), "{kind}");
        }
        assert!(!is_worth_another(&Record { bug: true, ..record(&[VerdictKind::Fail]) }));
    }
}
