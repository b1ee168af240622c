//! Compares the calls of listed tools with the flaws that none of them may have.
//!
//! Takes the marks of the calls by tool, gives a result for each tool with a flaw. Must not know the other keys of an
//! expectation.

use std::collections::{BTreeMap, BTreeSet};

use super::{Compared, missing, undecidable};
use crate::model::case::CallMark;
use crate::model::observation::CallEvidence;
use crate::model::reason::Finding;

/// Checks that there are calls that can have these flaws, and that none has.
pub(super) fn compare(
    without: &BTreeSet<CallMark>,
    calls: &BTreeMap<String, BTreeMap<CallMark, CallEvidence>>,
) -> Vec<Compared> {
    let mut found = Vec::new();
    for flaw in without {
        let mut marks = calls.values().flat_map(BTreeMap::keys);
        if !marks.any(|mark| mark.is_about(*flaw)) {
            found.push(Compared::Misses(missing("calls")));
        }
        for (tool, marks) in calls {
            if let Some(CallEvidence { request, reason }) = marks.get(flaw) {
                let (tool, reason) = (tool.clone(), reason.clone());
                found.push(Compared::Misses(Finding::Call { tool, flaw: *flaw, reason, request: *request }));
            } else if let Some(mark) = marks.keys().find(|mark| mark.hides(*flaw)) {
                // What was not called cannot have accepted anything.
                let is_uncalled = matches!(mark, CallMark::LeftOut | CallMark::InputUnchecked);
                if is_uncalled && calls.values().flat_map(BTreeMap::keys).any(|mark| mark.is_decided(*flaw)) {
                    continue;
                }
                let reason = match mark {
                    CallMark::MaybeRefused => "a result that is not marked as an error has a text that reads like one",
                    CallMark::LeftOut => "it was not called, because the calls of other tools took too long",
                    CallMark::InputUnchecked => {
                        "casebook derives no arguments from its listed schema, or from so long a list"
                    }
                    _ => "the listed schema cannot be evaluated",
                };
                found.push(Compared::Unknown(undecidable(&format!("calls of `{tool}`"), reason)));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flaw_is_found_and_its_absence_needs_a_call() {
        use CallMark::{
            InvalidArgumentsAccepted, MaybeRefused, OutputInvalid, OutputUnchecked, Result, TextMissing, ToolError,
        };
        let results = |marks: &[CallMark], flaw: CallMark| {
            let marks = marks.iter().map(|mark| (*mark, CallEvidence::default())).collect();
            let found = compare(&[flaw].into(), &[("t".to_owned(), marks)].into());
            let kind = |one: &Compared| match one {
                Compared::Holds => "holds",
                Compared::Misses(Finding::Call { .. }) => "flaw",
                Compared::Misses(_) => "missing",
                Compared::Unknown(_) => "unknown",
            };
            found.iter().map(kind).collect::<Vec<_>>()
        };
        assert_eq!(results(&[ToolError], InvalidArgumentsAccepted), Vec::<&str>::new());
        assert_eq!(results(&[Result, InvalidArgumentsAccepted], InvalidArgumentsAccepted), ["flaw"]);
        assert_eq!(results(&[Result, MaybeRefused], InvalidArgumentsAccepted), ["unknown"]);
        assert_eq!(results(&[MaybeRefused, InvalidArgumentsAccepted], InvalidArgumentsAccepted), ["flaw"]);
        assert_eq!(results(&[], InvalidArgumentsAccepted), ["missing"]);
        assert_eq!(results(&[CallMark::InputUnchecked], InvalidArgumentsAccepted), ["unknown"]);
        let two = [("a", CallMark::InputUnchecked), ("b", CallMark::ArgumentsRefused)]
            .map(|(tool, mark)| (tool.to_owned(), [(mark, CallEvidence::default())].into()));
        assert!(compare(&[InvalidArgumentsAccepted].into(), &two.into()).is_empty(), "the other tool was called");
        assert_eq!(results(&[Result], TextMissing), ["missing"]);
        assert_eq!(results(&[OutputUnchecked], OutputInvalid), ["unknown"]);
        assert_eq!(results(&[CallMark::Structured], OutputInvalid), Vec::<&str>::new());
    }
}
