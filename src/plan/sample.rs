//! The samples of a plan: case files that are asked over both transports, and servers that are served over stdio in both
//! ways.
//!
//! Takes cases and groups. Pure, and the same in all runs and for all targets: names choose the samples.

use std::collections::BTreeSet;

use super::{Group, Planned};
use crate::model::case::{Case, When};
use crate::model::transcript::StdioMode;
use crate::model::{CaseId, fnv1a};

/// Returns whether a case file is asked over both transports: its question depends on the transport, or it is in the
/// sample of the other files. The names of the files choose the sample, so that it is the same in all runs and for all
/// targets.
pub(super) fn is_asked_twice(case: &Case) -> bool {
    const SAMPLE: u64 = 8;
    !case.is_transport_neutral() || fnv1a(case.id.as_str().as_bytes()).is_multiple_of(SAMPLE)
}

/// Selects a few server tests of each target to be run both in a stream and in a process: from each of some case files
/// that are asked over both transports, the first suitable test of one group. Tests that send raw messages are not
/// suitable: the server may send no response, and a process that starts slowly looks the same.
pub(super) fn sample_stdio(groups: &mut [Group], asked_twice: &BTreeSet<CaseId>) {
    const GROUPS: usize = 8;
    for groups in groups.chunk_by_mut(|one, next| one.target.id == next.target.id) {
        let mut sampled: Vec<_> = groups
            .iter_mut()
            .filter(|group| asked_twice.contains(&group.case))
            .filter_map(|Group { case, revision, tests, .. }| {
                let is_fit = |planned: &&mut Planned| {
                    let is_answered = planned.test.steps.iter().all(|step| !matches!(step.when, When::Send { .. }));
                    planned.stdio == Some(StdioMode::Stream) && is_answered && !planned.test.heavy
                };
                let first = tests.iter_mut().find(is_fit)?;
                Some((fnv1a(format!("{case}@{revision}").as_bytes()), &*case, first))
            })
            .collect();
        sampled.sort_by_key(|(hash, ..)| *hash);
        let mut files = BTreeSet::new();
        sampled.retain(|(_, case, _)| files.insert(*case));
        for (_, _, planned) in sampled.into_iter().take(GROUPS) {
            planned.stdio = Some(StdioMode::Both);
        }
    }
}
