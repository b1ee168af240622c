//! The requests that one call of a client under test came to: the state that it gave back, its ids and parameters.
//!
//! Takes a step, gives a [`Round`] a request. Must not know what a client should have done.

use serde_json::Value;
use serde_json::value::RawValue;

use super::compare;
use super::reply::{self, Envelope, Members};
use crate::model::observation::{Params, Round, StateEcho};
use crate::model::transcript::{Party, StepTranscript};

const CALL: &str = "tools/call";
const STATE: &str = "requestState";
/// Parameters that belong to one request, and not to the call.
const OF_A_ROUND: [&str; 3] = [STATE, "inputResponses", "_meta"];

/// Each `tools/call` of a step, in order; none where there is one only, as plain as it can be.
pub(super) fn rounds(seen: &StepTranscript) -> Vec<Round> {
    let (mut rounds, mut ids, mut given, mut first) = (Vec::new(), Vec::new(), None, None);
    for message in &seen.messages {
        let Some(envelope) = Envelope::read(&message.text) else { continue };
        match (message.from, envelope.method.as_deref()) {
            (Party::Harness, None) => given = envelope.members().and_then(|result| text(result.get(STATE)?)),
            (Party::Target, Some(CALL)) => {
                let params = envelope.params.and_then(reply::members).unwrap_or_default();
                let id = envelope.id.map(RawValue::get);
                let sent = params.get(STATE).and_then(|state| text(state));
                let own = own(&params);
                let same = compare::equal(first.get_or_insert_with(|| own.clone()), &own);
                let params = if same { Params::Same } else { Params::Changed };
                let state = echo(given.as_deref(), sent.as_deref());
                rounds.push(Round { state, fresh_id: !ids.contains(&id), params });
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

/// The parameters that a retry repeats.
fn own(params: &Members<'_>) -> Value {
    let own = params.iter().filter(|(name, _)| !OF_A_ROUND.contains(&name.as_str()));
    own.map(|(name, value)| (name.clone(), reply::kept(value))).collect()
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
    use crate::model::transcript::End;

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
    fn a_retry_has_the_parameters_of_the_first_request_or_others() {
        let call = |id: u64, params: &str| {
            let text = format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"t",{params}}}}}"#);
            samples::message(Party::Target, &text)
        };
        let params = |again: &str| {
            let messages = vec![call(1, r#""arguments":{"a":1}"#), call(2, again)];
            rounds(&StepTranscript { messages, end: End::Handed, ..samples::replied(&[]) })[1].params
        };
        assert_eq!(params(r#""arguments":{"a":1.0},"inputResponses":{},"_meta":{"x":1}"#), Params::Same);
        for again in [r#""arguments":{}"#, r#""x":1"#, r#""arguments":{"a":1},"x":1"#] {
            assert_eq!(params(again), Params::Changed, "{again}");
        }
    }

    #[test]
    fn one_plain_request_is_not_worth_telling() {
        assert_eq!(seen(&[(Some(1), ""), (None, "")]), []);
        assert_eq!(seen(&[(Some(1), r#""a""#)]).len(), 1);
    }
}
