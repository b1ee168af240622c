//! The ids of a target's requests within a session.
//!
//! Takes the messages of a test, gives the steps with a repeated id. Must not know which behaviour is right.

use std::collections::BTreeSet;

use super::messages::Wire;
use crate::jsonrpc::envelope::Envelope;
use crate::model::transcript::{Message, Party};

/// The request with which a session begins.
const INITIALIZE: &str = "initialize";

/// Returns for each step whether one of its requests has the id of an earlier request. A new session begins with
/// `initialize`.
pub(super) fn repeated_ids(opening: &[Message], steps: &[Wire<'_>]) -> Vec<bool> {
    let mut ids = BTreeSet::new();
    for message in opening.iter().filter(|message| message.from == Party::Target) {
        _ = Envelope::read(&message.text).is_some_and(|envelope| repeats(&mut ids, &envelope));
    }
    let repeated = steps.iter().map(|wire| {
        // Every request is counted, so that all their ids are known in later steps.
        wire.of(Party::Target).filter(|(_, envelope)| repeats(&mut ids, envelope)).count() > 0
    });
    repeated.collect()
}

/// Adds the id of a request to those of its session; returns whether it was there.
fn repeats(ids: &mut BTreeSet<String>, envelope: &Envelope<'_>) -> bool {
    let (Some(method), Some(id)) = (envelope.method.as_deref(), envelope.id) else { return false };
    if method == INITIALIZE {
        ids.clear();
    }
    !ids.insert(id.get().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::transcript::{End, StepTranscript};

    #[test]
    fn id_of_an_earlier_step_is_repeated_until_the_next_session() {
        let step = |methods: &[(&str, u8)]| {
            let text = |(method, id): &(&str, u8)| format!(r#"{{"id":{id},"method":"{method}"}}"#);
            let messages = methods.iter().map(|one| samples::message(Party::Target, &text(one))).collect();
            StepTranscript { messages, end: End::Handed, ..samples::replied(&[]) }
        };
        let steps = [
            step(&[("initialize", 0), ("tools/list", 1)]),
            step(&[("tools/call", 2)]),
            step(&[("tools/call", 1)]),
            step(&[("initialize", 0), ("tools/call", 1)]),
        ];
        assert_eq!(repeated_ids(&[], &steps.each_ref().map(Wire::new)), [false, false, true, false]);
    }
}
