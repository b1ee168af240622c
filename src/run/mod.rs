//! Runs plans, and writes, reads and re-judges run logs.
//!
//! Takes plans and run logs, gives records, `run.jsonl`, and the transcripts beside it. Must not know the form of
//! reports, the meaning of revisions, or the details of a target.

mod attempts;
mod bounds;
mod conduct;
mod lines;
mod log;
mod order;
mod replay;
mod secrets;

pub use conduct::{Conducted, RunError, Seen, Unfinished, conduct};
pub use lines::private_folder;
pub use log::{Log, LogError, RunLog, read_header, read_log, read_shortened, read_what_is_there, read_wire, wire_path};
pub use order::InOrder;
pub use replay::{Replay, rejudge};
pub use secrets::Secrets;

use crate::model::case::{Step, Test};

/// Returns a hash of the actions of a test: its role, its fixture and its steps. Requirements and expectations do not
/// count, except that an expectation may need the messages of a step. While the hash is the same, the current
/// expectations can judge an old observation.
pub fn hash(test: &Test) -> &str {
    test.hash.get_or_init(|| hash_of_actions(test))
}

fn hash_of_actions(test: &Test) -> String {
    let steps = test.steps.iter();
    let looks = |step: &Step| (step.then.looks_into_messages(), step.then.looks_into_events());
    let steps = steps.map(|step| (&step.when, &step.declares, step.initialized, looks(step)));
    crate::model::hash(&(test.role, &*test.given, steps.collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::case::{Expectation, Then};

    #[test]
    fn hash_depends_on_actions_and_not_on_expectations() {
        let test = |tool: &str, then| samples::test(&[], vec![(samples::call(tool), then)]);
        let first = test("t", Then::Observe);
        let observed = hash(&first);
        assert_eq!(observed, hash(&test("t", samples::check("r", vec![Expectation::default()]))));
        assert_ne!(observed, hash(&test("u", Then::Observe)));
        assert_eq!(observed.len(), 16);
    }
}
