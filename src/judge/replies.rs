//! The messages of a server that reply to what a step sent. A server sends others beside them: what acknowledges an answer to
//! its own request, what comes on the stream of a GET request, responses to nobody's request.
//!
//! Takes the messages of a step, gives indexes. Must not know expectations.

use super::asked::ELICIT;
use super::messages::{self, Wire, answers};
use crate::model::transcript::{End, Message, Party, StepTranscript};

/// Returns the indexes of the replies, in their order.
pub(super) fn replies(seen: &StepTranscript, wire: &Wire<'_>) -> Vec<usize> {
    let response = if let End::Replied { message } = &seen.end { Some(*message) } else { None };
    let answered: Vec<_> = answers(wire).into_iter().map(|answer| answer.message).collect();
    let acknowledgements = acknowledgements(&seen.messages, wire, &answered);
    let has_answer = response.is_some_and(|response| answered.contains(&response));
    // Beside a right response, one with another id, or with the same one again, is a fault of its own.
    let is_foreign = |place: usize| {
        let has_id = |id: &serde_json::value::RawValue| id.get() != "null";
        has_answer && !answered.contains(&place) && wire.at(place).is_some_and(|one| one.id.is_some_and(has_id))
    };
    let is_reply = |(place, one): &(usize, &Message)| {
        one.from == Party::Target
            && messages::is_reply(one)
            // A stray line is a fault of its own.
            && !messages::is_stray(one)
            && (!one.on_get_stream || response == Some(*place))
            && !acknowledgements.contains(place)
            && !is_foreign(*place)
    };
    seen.messages.iter().enumerate().filter(is_reply).map(|(place, _)| place).collect()
}

/// Returns the indexes of the HTTP replies to responses of the harness that no test asks for: to a ping, or to a request for
/// roots. A test that answers a question asks for what follows. `answered` has the responses to the harness's own requests.
fn acknowledgements(messages: &[Message], wire: &Wire<'_>, answered: &[usize]) -> Vec<usize> {
    let mut asked: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let Some((id, envelope)) = wire.at(place).and_then(|one| Some((one.id?, one))) else { continue };
        match (message.from, &envelope.method) {
            (Party::Target, Some(method)) if method != ELICIT => asked.push(id.get()),
            (Party::Harness, None) if asked.contains(&id.get()) => {
                // The stream of the request goes on meanwhile, and has had its headers.
                let is_next = |(at, one): &(usize, &Message)| {
                    let is_reply = one.from == Party::Target && one.status.is_some() && !one.headers.is_empty();
                    is_reply && !one.on_get_stream && !answered.contains(at) && !found.contains(at)
                };
                let next = messages.iter().enumerate().skip(place + 1).find(is_next);
                found.extend(next.map(|(at, _)| at));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judge::samples;

    fn step(messages: Vec<Message>, response: usize) -> StepTranscript {
        StepTranscript { messages, end: End::Replied { message: response }, ..samples::replied(&[]) }
    }

    fn of(from: Party, text: &serde_json::Value) -> Message {
        samples::message(from, &text.to_string())
    }

    fn http(message: Message, status: u16) -> Message {
        Message { status: Some(status), headers: vec![("date".to_owned(), "today".to_owned())], ..message }
    }

    #[test]
    fn what_acknowledges_an_answer_is_no_reply() {
        let list = of(Party::Harness, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
        let ping = http(of(Party::Target, &json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" })), 200);
        let pong = of(Party::Harness, &json!({ "jsonrpc": "2.0", "id": "p", "result": {} }));
        let taken = http(samples::message(Party::Target, ""), 202);
        let result = of(Party::Target, &json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
        let seen = step(vec![list.clone(), ping, pong.clone(), taken.clone(), result.clone()], 4);
        assert_eq!(replies(&seen, &Wire::new(&seen)), [4]);
        // The ping came on another stream, so that the reply has headers of its own.
        let ping = Message {
            on_get_stream: true,
            ..of(Party::Target, &json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" }))
        };
        let seen = step(vec![list, ping, pong, http(result, 200), taken], 3);
        assert_eq!(replies(&seen, &Wire::new(&seen)), [3]);
    }

    #[test]
    fn response_to_nobody_is_no_reply_beside_the_right_one() {
        let list = of(Party::Harness, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
        let response = |id: u64| of(Party::Target, &json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
        let text = Message { on_get_stream: true, ..samples::message(Party::Target, "connected") };
        let seen = step(vec![list.clone(), text, response(9), response(1), response(1)], 3);
        assert_eq!(replies(&seen, &Wire::new(&seen)), [3]);
        let seen = step(vec![list, response(9)], 1);
        assert_eq!(replies(&seen, &Wire::new(&seen)), [1]);
    }
}
