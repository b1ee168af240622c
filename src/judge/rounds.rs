//! The requests that one call of a client under test came to: the state that it gave back, and its ids.
//!
//! Takes a step, gives a [`Round`] a request. Must not know what a client should have done.

use serde_json::value::RawValue;

use super::reply::{self, Envelope};
use crate::model::record::{Party, Round, StateEcho, StepTranscript};

const CALL: &str = "tools/call";
const STATE: &str = "requestState";

/// Each `tools/call` of a step, in order; none where there is one only, as plain as it can be.
pub(super) fn rounds(seen: &StepTranscript) -> Vec<Round> {
    let (mut rounds, mut ids, mut given) = (Vec::new(), Vec::new(), None);
    for message in &seen.messages {
        let Some(envelope) = Envelope::read(&message.text) else { continue };
        match (message.from, envelope.method.as_deref()) {
            (Party::Harness, None) => given = envelope.members().and_then(|result| text(result.get(STATE)?)),
            (Party::Target, Some(CALL)) => {
                let params = envelope.params.and_then(reply::members).unwrap_or_default();
                let id = envelope.id.map(RawValue::get);
                let sent = params.get(STATE).and_then(|state| text(state));
                rounds.push(Round { state: echo(given.as_deref(), sent.as_deref()), fresh_id: !ids.contains(&id) });
                ids.push(id);
            }
            _ => {}
        }
    }
    match rounds.as_slice() {
        [Round { state: StateEcho::Absent, .. }] => Vec::new(),
        _ => rounds,
    }
}

/// What a state says: how its characters are escaped is nobody's concern.
#[expect(clippy::unnecessary_wraps, reason = "what is there is told from what isn't")]
fn text(state: &RawValue) -> Option<String> {
    Some(reply::scalar(state).unwrap_or_else(|| state.get().to_owned()))
}

fn echo(given: Option<&str>, sent: Option<&str>) -> StateEcho {
    match (given, sent) {
        (None, None) => StateEcho::Absent,
        (None, Some(_)) => StateEcho::Invented,
        (Some(_), None) => StateEcho::Dropped,
        (Some(given), Some(sent)) if given == sent => StateEcho::Echoed,
        (Some(_), Some(_)) => StateEcho::Changed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::record::End;

    /// Requests (`?`) with an id and the text behind it, and replies with a state or without.
    fn seen(messages: &[(Option<u64>, &str)]) -> Vec<Round> {
        let message = |(id, state): &(Option<u64>, &str)| {
            let state = if state.is_empty() { String::new() } else { format!(r#""requestState":{state}"#) };
            match id {
                Some(id) => {
                    let text = format!(r#"{{"id":{id},"method":"tools/call","params":{{{state}}}}}"#);
                    samples::message(Party::Target, &text)
                }
                None => samples::message(Party::Harness, &format!(r#"{{"id":1,"result":{{{state}}}}}"#)),
            }
        };
        let messages = messages.iter().map(message).collect();
        rounds(&StepTranscript { messages, end: End::Handed, ..samples::replied(&[]) })
    }

    #[test]
    fn each_round_tells_what_became_of_the_state_given_last() {
        let states = |messages| seen(messages).into_iter().map(|round| round.state).collect::<Vec<_>>();
        let given =
            [(Some(1), ""), (None, r#""a\u00e9""#), (Some(2), r#""aé""#), (None, r#""b""#), (Some(3), r#""a""#)];
        assert_eq!(states(&given), [StateEcho::Absent, StateEcho::Echoed, StateEcho::Changed]);
        let given = [(Some(1), ""), (None, r#""a""#), (Some(2), ""), (None, ""), (Some(3), r#""a""#)];
        assert_eq!(states(&given), [StateEcho::Absent, StateEcho::Dropped, StateEcho::Invented]);
    }

    #[test]
    fn an_id_that_comes_again_is_not_fresh() {
        let fresh: Vec<_> = seen(&[(Some(1), ""), (None, ""), (Some(1), "")]).iter().map(|one| one.fresh_id).collect();
        assert_eq!(fresh, [true, false]);
    }

    #[test]
    fn one_plain_request_is_not_worth_telling() {
        assert_eq!(seen(&[(Some(1), ""), (None, "")]), []);
        assert_eq!(seen(&[(Some(1), r#""a""#)]).len(), 1);
    }
}
