//! A run from plan to record: conducted, written a line a test, read back whole or torn, judged again.
//!
//! Takes plans and logs, gives records, `run.jsonl` and, beside it, what went over the wire. Must not know how a
//! report looks, what a revision means, or what is special about a target.

mod attempts;
mod bounds;
mod conduct;
mod lines;
mod log;
mod order;
mod replay;
mod secrets;

pub use conduct::{Conducted, RunError, Seen, conduct};
pub use lines::private_folder;
pub use log::{Log, LogError, RunLog, read_log, read_what_is_there, read_wire, wire_path};
pub use order::InOrder;
pub use replay::{Replay, rejudge};
pub use secrets::Secrets;

use crate::model::case::Test;

/// A hash of what is done in a test: the fixture and the steps, not the sentence, and not what is expected, but for
/// which messages are kept.
/// Where it is the same, an observation may be judged by the expectations of today.
pub fn hash(test: &Test) -> String {
    let steps = test.steps.iter();
    let steps = steps.map(|step| (&step.when, &step.declares, step.initialized, step.then.looks_into_messages()));
    crate::model::hash(&(test.role, &*test.given, steps.collect::<Vec<_>>()))
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
