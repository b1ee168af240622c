//! A run from plan to record: conducted, written a line a test, read back whole or torn, judged again.
//!
//! Takes plans and logs, gives records, `run.jsonl` and, beside it, what went over the wire. Must not know how a
//! report looks, what a revision means, or what is special about a target.

mod attempts;
mod conduct;
mod lines;
mod log;
mod order;
mod replay;
mod secrets;

pub use conduct::{Conducted, RunError, Seen, conduct};
use log::shorten;
pub use log::{Log, LogError, RunLog, read_log, read_what_is_there, read_wire, wire_path};
pub use order::InOrder;
pub use replay::{Replay, rejudge};
pub use secrets::Secrets;

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::model::Fnv;
use crate::model::case::{Fixture, Library, Test};

/// A hash of what is done in a test: the fixture and the steps, not the sentence, and not what is expected, but for
/// which messages are kept.
/// Where it is the same, an observation may be judged by the expectations of today.
pub fn hash(test: &Test) -> String {
    shown(done(test, of(&*test.given)))
}

/// A hash of what is asked by all cases together: records with the same one compare.
pub fn fingerprint(library: &Library) -> String {
    let mut all = Fnv::default();
    for case in &library.cases {
        // A file's tests have a fixture a row in common.
        let mut fixtures: BTreeMap<*const Fixture, u64> = BTreeMap::new();
        for test in &case.tests {
            let given = *fixtures.entry(Arc::as_ptr(&test.given)).or_insert_with(|| of(&*test.given));
            let checks: Vec<_> = test.checks().map(|check| (&check.requirement, &check.alternatives)).collect();
            (&test.case, &test.id, &test.row, done(test, given), checks).hash(&mut all);
        }
    }
    shown(all.finish())
}

/// What is done in a test, its fixture being this.
fn done(test: &Test, given: u64) -> u64 {
    let steps = test.steps.iter();
    let steps = steps.map(|step| (&step.when, &step.declares, step.initialized, step.then.looks_into_messages()));
    of(&(test.role, given, steps.collect::<Vec<_>>()))
}

fn of(one: &impl Hash) -> u64 {
    let mut hasher = Fnv::default();
    one.hash(&mut hasher);
    hasher.finish()
}

fn shown(hash: u64) -> String {
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::case::{Expectation, Then};

    #[test]
    fn a_hash_changes_with_what_is_done_and_not_with_what_is_expected() {
        let test = |tool: &str, then| samples::test(&[], vec![(samples::call(tool), then)]);
        let observed = hash(&test("t", Then::Observe));
        assert_eq!(observed, hash(&test("t", samples::check("r", vec![Expectation::default()]))));
        assert_ne!(observed, hash(&test("u", Then::Observe)));
        assert_eq!(observed.len(), 16);
    }
}
