//! The requests of one call of a client under test, with the state that it returned, its ids and its parameters.
//!
//! Takes the messages of a step, gives a [`Round`] for each `tools/call`. Must not know which behaviour is right.

use serde_json::value::RawValue;

use super::compare;
use super::messages::{self, CALL, Wire};
use crate::jsonrpc::envelope::{self, Members};
use crate::model::observation::{Observed, Params, Round, StateEcho};
use crate::model::transcript::Party;

const STATE: &str = "requestState";
/// The parameters that belong to one request, and not to the call as a whole.
const OF_A_ROUND: [&str; 3] = [STATE, "inputResponses", "_meta"];

/// The `tools/call` requests of a step in their order; none if there is only one, which repeats nothing.
pub(super) fn rounds(wire: &Wire<'_>) -> Vec<Observed<Round>> {
    let (mut rounds, mut given, mut first) = (Vec::new(), None, None);
    let mut ids: Vec<Option<Id<'_>>> = Vec::new();
    for (_, from, envelope) in wire.all() {
        match (from, envelope.method.as_deref()) {
            // Between a question and its answers, a client may list tools, for example.
            (Party::Harness, None) => {
                let is_asked = |id: &RawValue| ids.iter().flatten().any(|(text, _)| *text == id.get());
                if envelope.id.is_some_and(is_asked) {
                    given = envelope.members().and_then(|result| result.get(STATE).copied());
                }
            }
            (Party::Target, Some(CALL)) => {
                let params = envelope.params.and_then(envelope::members).unwrap_or_default();
                // The first request is no retry: what its state is about is unknown.
                let is_first = ids.is_empty();
                let echoed = || echo(given, params.get(STATE).copied());
                let state = if is_first { Observed::Value(StateEcho::Absent) } else { echoed() };
                let own = own(params);
                let params = repeats(first.get_or_insert_with(|| own.clone()), &own);
                let id = envelope.id.map(|id| (id.get(), messages::kept(id)));
                rounds.push(match (state, is_fresh(id.as_ref(), &ids), params) {
                    (Observed::Value(state), Observed::Value(fresh_id), Observed::Value(params)) => {
                        Observed::Value(Round { state, fresh_id, params })
                    }
                    (Observed::Unreadable(why), ..)
                    | (_, Observed::Unreadable(why), _)
                    | (.., Observed::Unreadable(why)) => Observed::Unreadable(why),
                });
                ids.push(id);
            }
            _ => {}
        }
    }
    if rounds.len() < 2 { Vec::new() } else { rounds }
}

/// The parameters that a retry must repeat.
fn own(mut params: Members<'_>) -> Members<'_> {
    params.retain(|name, _| !OF_A_ROUND.contains(&name.as_str()));
    params
}

fn repeats(first: &Members<'_>, again: &Members<'_>) -> Observed<Params> {
    if !first.keys().eq(again.keys()) {
        return Observed::Value(Params::Changed);
    }
    let pairs: Vec<_> = first.values().zip(again.values()).map(|(one, other)| messages::same(one, other)).collect();
    if pairs.contains(&Observed::Value(false)) {
        return Observed::Value(Params::Changed);
    }
    Observed::all(pairs).map(|_| Params::Same)
}

fn echo(given: Option<&RawValue>, sent: Option<&RawValue>) -> Observed<StateEcho> {
    match (given, sent) {
        (None, None) => Observed::Value(StateEcho::Absent),
        (None, Some(_)) => Observed::Value(StateEcho::Invented),
        (Some(_), None) => Observed::Value(StateEcho::Dropped),
        (Some(given), Some(sent)) => {
            messages::same(given, sent).map(|same| if same { StateEcho::Echoed } else { StateEcho::Changed })
        }
    }
}

/// An id as text and as a value.
type Id<'a> = (&'a str, Observed);

/// Returns whether no earlier request has this id, whose texts may differ.
fn is_fresh(id: Option<&Id<'_>>, earlier: &[Option<Id<'_>>]) -> Observed<bool> {
    let equals = |other: &Option<Id<'_>>| match (id, other) {
        (Some((text, value)), Some((other_text, other))) => match (value, other) {
            _ if text == other_text => Observed::Value(true),
            // Numbers that no float holds can be told apart by their digits.
            _ if is_integer(text) && is_integer(other_text) => Observed::Value(false),
            (Observed::Value(value), Observed::Value(other)) => Observed::Value(compare::equal(value, other)),
            (Observed::Unreadable(why), _) | (_, Observed::Unreadable(why)) => Observed::Unreadable(why.clone()),
        },
        (None, None) => Observed::Value(true),
        _ => Observed::Value(false),
    };
    let found: Vec<_> = earlier.iter().map(equals).collect();
    if found.contains(&Observed::Value(true)) {
        return Observed::Value(false);
    }
    Observed::all(found).map(|_| true)
}

/// Returns whether a number is written as an integer, which has one such form.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::transcript::{End, Message, StepTranscript};

    fn call(id: u64, params: &str) -> Message {
        samples::message(Party::Target, &format!(r#"{{"id":{id},"method":"tools/call","params":{{{params}}}}}"#))
    }

    /// The rounds of requests, which have an id, and the replies to them, which have none; each with a state or without.
    fn seen(messages: &[(Option<u64>, &str)]) -> Vec<Round> {
        let mut asked = 0;
        let message = |(id, state): &(Option<u64>, &str)| {
            let state = if state.is_empty() { String::new() } else { format!(r#""requestState":{state}"#) };
            match id {
                Some(id) => {
                    asked = *id;
                    call(*id, &state)
                }
                None => samples::message(Party::Harness, &format!(r#"{{"id":{asked},"result":{{{state}}}}}"#)),
            }
        };
        let messages = messages.iter().map(message).collect();
        rounds_of(messages)
    }

    fn rounds_of(messages: Vec<Message>) -> Vec<Round> {
        let seen = StepTranscript { messages, end: End::Handed, ..samples::replied(&[]) };
        let rounds = rounds(&Wire::new(&seen));
        rounds.into_iter().map(|round| *round.value().expect("a round that can be read")).collect()
    }

    #[test]
    fn each_round_compares_its_state_with_the_last_one() {
        let states = |messages| seen(messages).into_iter().map(|round| round.state).collect::<Vec<_>>();
        let given =
            [(Some(1), ""), (None, r#""a\u00e9""#), (Some(2), r#""aé""#), (None, r#""b""#), (Some(3), r#""a""#)];
        assert_eq!(states(&given), [StateEcho::Absent, StateEcho::Echoed, StateEcho::Changed]);
        let given = [(Some(1), ""), (None, r#""a""#), (Some(2), ""), (None, ""), (Some(3), r#""a""#)];
        assert_eq!(states(&given), [StateEcho::Absent, StateEcho::Dropped, StateEcho::Invented]);
    }

    #[test]
    fn state_of_a_call_outlives_the_reply_to_another_request() {
        let state = r#""requestState":"a""#;
        let rounds = rounds_of(vec![
            call(1, ""),
            samples::message(Party::Harness, &format!(r#"{{"id":1,"result":{{{state}}}}}"#)),
            samples::message(Party::Target, r#"{"id":2,"method":"tools/list"}"#),
            samples::message(Party::Harness, r#"{"id":2,"result":{"tools":[]}}"#),
            call(3, state),
        ]);
        assert_eq!(rounds[1].state, StateEcho::Echoed);
    }

    #[test]
    fn repeated_id_is_not_fresh() {
        let fresh: Vec<_> = seen(&[(Some(1), ""), (None, ""), (Some(1), "")]).iter().map(|one| one.fresh_id).collect();
        assert_eq!(fresh, [true, false]);
    }

    #[test]
    fn retry_repeats_or_changes_the_parameters() {
        let call = |id: u64, params: &str| call(id, &format!(r#""name":"t",{params}"#));
        let params = |again: &str| {
            let messages = vec![call(1, r#""arguments":{"a":1}"#), call(2, again)];
            rounds_of(messages)[1].params
        };
        assert_eq!(params(r#""arguments":{"a":1.0},"inputResponses":{},"_meta":{"x":1}"#), Params::Same);
        for again in [r#""arguments":{}"#, r#""x":1"#, r#""arguments":{"a":1},"x":1"#] {
            assert_eq!(params(again), Params::Changed, "{again}");
        }
    }

    #[test]
    fn single_request_has_no_round_and_the_first_one_no_state() {
        for state in ["", r#""a""#] {
            assert_eq!(seen(&[(Some(1), state), (None, "")]), []);
            let states: Vec<_> =
                seen(&[(Some(1), state), (None, ""), (Some(2), "")]).iter().map(|one| one.state).collect();
            assert_eq!(states, [StateEcho::Absent, StateEcho::Absent]);
        }
    }

    #[test]
    fn unreadable_parameters_are_the_same_only_as_text() {
        let call = |id: u64, argument: &str| {
            let text = format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"t","a":{argument}}}}}"#);
            samples::message(Party::Target, &text)
        };
        let second = |first: &str, again: &str| {
            let messages = vec![call(1, first), call(2, again)];
            let seen = StepTranscript { messages, end: End::Handed, ..samples::replied(&[]) };
            rounds(&Wire::new(&seen)).remove(1)
        };
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(second("1e999", "1e999").map(|round| round.params), Observed::Value(Params::Same));
        assert!(matches!(second("1e999", "1e998"), Observed::Unreadable(_)));
        assert!(matches!(second(&deep(1200), &deep(1201)), Observed::Unreadable(_)));
    }

    #[test]
    fn equal_id_in_another_notation_is_not_fresh() {
        let call = |id: &str| {
            samples::message(Party::Target, &format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"t"}}}}"#))
        };
        let fresh = |first: &str, again: &str| rounds_of(vec![call(first), call(again)])[1].fresh_id;
        assert_eq!([fresh("1", "1.0"), fresh(r#""a""#, r#""\u0061""#), fresh("1", "2")], [false, false, true]);
        assert!(fresh("1180591620717411303425", "1180591620717411303426"), "larger than 64 bits");
    }
}
