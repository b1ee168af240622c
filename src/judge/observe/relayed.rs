//! The steps of a pair as the messages between its sides show them.
//!
//! Takes a transcript in which the client is the target, gives the same steps with the server as the target. Must not
//! know expectations, nor which behaviour is right.

use std::collections::BTreeSet;

use serde_json::Value;
use serde_json::value::RawValue;

use super::Observer;
use super::faults::{self, Read};
use crate::jsonrpc::envelope::{self, Envelope};
use crate::judge::compare;
use crate::judge::messages::{self, Wire};
use crate::model::action::Asks;
use crate::model::case::{Does, Step, Test, Tool, When};
use crate::model::observation::{AdvertisedTool, Observation, Observed, Relayed, StepObservation};
use crate::model::pair::{MessagePlaces, RequestState};
use crate::model::schema::Schema;
use crate::model::spec::Role;
use crate::model::template::Bindings;
use crate::model::transcript::{End, HTTP_ERROR, Message, Party, Served, StepTranscript, Transcript};

/// Adds to each step what the messages between the sides show.
pub(super) fn add(test: &Test, transcript: &Transcript, observation: &mut Observation) {
    let blank = Transcript::blank(transcript.target.clone(), transcript.test.clone(), Served::Serving);
    let steps: Vec<_> = test.steps.iter().zip(&transcript.steps).map(|(step, seen)| swapped(step, seen)).collect();
    let places: Vec<_> = test.steps.iter().zip(&steps).map(|(step, seen)| places(step, seen)).collect();
    let is_whole = transcript.served == Served::Serving;
    let begun = test.steps.iter().zip(&steps).zip(&places);
    let begun = begun.map(|((step, seen), places)| without_others(step, seen, places.request)).collect();
    let turned = Transcript { bindings: transcript.bindings.clone(), steps: begun, micros: transcript.micros, ..blank };
    let observer = Observer::new(test, Role::Server, &turned);
    let servers = observer.steps();
    let Read { faults, agreed, silent_stream } = faults::read(test, transcript);
    let changed: Vec<_> =
        servers.iter().flat_map(|step| &step.advertised).filter(|(_, tool)| has_other_schema(tool)).collect();
    let changed: BTreeSet<String> = changed.into_iter().map(|(name, _)| name.clone()).collect();
    for (index, mut server) in servers.into_iter().enumerate().take(places.len()) {
        let (step, seen, places) = (&test.steps[index], &steps[index], places[index]);
        let Some(observed) = observation.steps.get_mut(index) else { continue };
        // The answers are the client's, whichever side is looked at.
        server.answered.clone_from(&observed.answered);
        // A session can end in a test; the steps after that have no request.
        let has_session = is_whole || places.request.is_some();
        let request = if has_session { request(step, seen, places, &turned.bindings) } else { RequestState::NoSession };
        let tool = match step.when.asks(&test.given) {
            Asks::Call(tool) => tool,
            _ => None,
        };
        // No side is to blame for a message that casebook did not keep as it was.
        observed.unread = observed.unread.take().or_else(|| kept_in_part(seen));
        observed.relayed = Some(Relayed {
            request,
            question_changed: tool.is_some_and(|tool| is_other_question(tool, &server, &turned.bindings)),
            schema_changed: tool.is_some_and(|tool| {
                changed.contains(&tool.name) && listed_schema_refuses(&steps[..=index], tool, places)
            }),
            faults: faults.clone(),
            places,
            agreed,
            silent_stream,
            server: Box::new(server),
        });
    }
}

/// Returns the reason why a message of a step is not kept as it was, if there is one.
fn kept_in_part(seen: &StepTranscript) -> Option<String> {
    let mut in_part = seen.messages.iter().filter(|message| message.cut_from.is_some() || message.lossy);
    in_part.find_map(messages::doubt)
}

/// Returns whether the output schema of a listed tool differs from the one that its author gave.
fn has_other_schema(tool: &AdvertisedTool) -> bool {
    let AdvertisedTool { removed, added, changed, .. } = tool;
    let is_schema = |place: &String| place.starts_with("/outputSchema");
    removed.iter().chain(added).chain(changed).any(is_schema)
}

/// Returns whether the output schema that was listed for a tool refuses the value of its reply. Otherwise the schema is no
/// reason for which a client that read it refuses the value.
fn listed_schema_refuses(turned: &[StepTranscript], tool: &Tool, places: MessagePlaces) -> bool {
    let Some((last, _)) = turned.split_last() else { return false };
    let wire = Wire::new(last);
    let reply = places.reply.and_then(|place| wire.at(place)).and_then(Envelope::members);
    let value = reply.as_ref().and_then(|reply| reply.get("structuredContent")).map(|raw| messages::kept(raw));
    let Some(value) = value.as_ref().and_then(Observed::value) else { return false };
    let listed = turned.iter().rev().find_map(|step| {
        let tools = messages::listed(&Wire::new(step))?.into_iter();
        let mut own = tools.filter(|(name, _)| name.as_ref() == Some(&tool.name));
        own.find_map(|(_, tool)| tool.get("outputSchema").map(|raw| messages::kept(raw)))
    });
    let Some(listed) = listed.as_ref().and_then(Observed::value) else { return false };
    // A client cannot use a schema that cannot be compiled.
    Schema::new(listed).map_or(true, |schema| schema.violation(value) != Ok(None))
}

/// Returns whether a question of the server differs from that of the tool: it lacks something that the tool asks, or has
/// defaults that the tool does not give.
fn is_other_question(tool: &Tool, server: &StepObservation, bindings: &Bindings) -> bool {
    let elicit = tool.definition.get("does").and_then(|does| does.get("elicit"));
    let given = elicit.filter(|_| tool.does == Does::Elicit).and_then(|elicit| elicit.value(bindings));
    let Some(Value::Object(mut given)) = given else { return false };
    given.remove("state");
    let given = Value::Object(given);
    let defaults = |question: &Value| question.to_string().matches(r#""default":"#).count();
    let mode = |question: &Value| question.get("mode").and_then(Value::as_str).unwrap_or("form").to_owned();
    let is_other = |asked: &Value| {
        !compare::contains(asked, &given) || defaults(asked) != defaults(&given) || mode(asked) != mode(&given)
    };
    server.asked.iter().filter_map(Observed::value).any(is_other)
}

/// Returns a turned step without the messages before its first request, which open the session, and without the responses
/// to requests of other methods, which are no part of what the step asks, unless it has no other response.
fn without_others(step: &Step, turned: &StepTranscript, request: Option<usize>) -> StepTranscript {
    let mut begun = turned.clone();
    let before = request.unwrap_or(0);
    let wire = Wire::new(turned);
    let (own, others): (Vec<_>, Vec<_>) =
        messages::answers(&wire).into_iter().partition(|answer| Some(answer.method) == step.when.method());
    let others: BTreeSet<usize> =
        others.iter().filter(|_| !own.is_empty()).map(|answer| answer.message).filter(|one| *one >= before).collect();
    let mut places = 0..;
    begun.messages.retain(|_| places.next().is_some_and(|place| place >= before && !others.contains(&place)));
    if let End::Replied { message } = &mut begun.end {
        let left_out = before + others.iter().filter(|place| *place < message).count();
        *message = message.saturating_sub(left_out);
    }
    begun
}

/// Returns a step with the server as the target: it ends with the last reply to a request of the step.
fn swapped(step: &Step, seen: &StepTranscript) -> StepTranscript {
    let turn = |message: &Message| {
        let from = if message.from == Party::Target { Party::Harness } else { Party::Target };
        Message { from, ..message.clone() }
    };
    let messages = seen.messages.iter().map(turn).collect();
    let mut turned =
        StepTranscript { messages, end: End::Empty, micros: seen.micros, canary: Vec::new(), handed: None };
    turned.end = end(step, &turned);
    turned
}

fn end(step: &Step, turned: &StepTranscript) -> End {
    let wire = Wire::new(turned);
    let answers = messages::answers(&wire);
    let own = answers.iter().rfind(|answer| Some(answer.method) == step.when.method());
    let refused = || answers.last().filter(|answer| answer.envelope.error.is_some());
    if let Some(answer) = own.or_else(refused) {
        return End::Replied { message: answer.message };
    }
    match last_reply(turned).and_then(|place| turned.messages[place].status) {
        Some(status) if status >= HTTP_ERROR => End::Http { status },
        _ if matches!(step.when, When::Serve) => End::Accepted,
        _ => End::Empty,
    }
}

/// The last message of the server before the client ends the session: what it says to the end is no reply to a request.
fn last_reply(turned: &StepTranscript) -> Option<usize> {
    let ends = |message: &Message| message.from == Party::Harness && message.header(":method") == Some("DELETE");
    let end = turned.messages.iter().position(ends).unwrap_or(turned.messages.len());
    turned.messages[..end].iter().rposition(|message| message.from == Party::Target)
}

/// Finds the messages of a turned step that decide.
fn places(step: &Step, turned: &StepTranscript) -> MessagePlaces {
    let wire = Wire::new(turned);
    let asks = |envelope: &Envelope<'_>| {
        let has_requests = || envelope.members().is_some_and(|result| result.contains_key("inputRequests"));
        envelope.method.as_deref() == Some("elicitation/create") || has_requests()
    };
    let answers = |envelope: &Envelope<'_>| {
        let params = envelope.params.and_then(envelope::members).unwrap_or_default();
        envelope.method.is_none() || params.contains_key("inputResponses")
    };
    let question = wire.of(Party::Target).find(|(_, envelope)| asks(envelope)).map(|(place, _)| place);
    let answer = question.and_then(|question| {
        let later = wire.of(Party::Harness).find(|(place, envelope)| *place > question && answers(envelope));
        later.map(|(place, _)| place)
    });
    let is_own =
        |envelope: &Envelope<'_>| envelope.method.is_some() && envelope.method.as_deref() == step.when.method();
    let request = wire.of(Party::Harness).find(|(_, envelope)| is_own(envelope)).map(|(place, _)| place);
    let reply = match turned.end {
        End::Replied { message } => Some(message),
        _ => last_reply(turned),
    };
    MessagePlaces { request, question, answer, reply }
}

/// Returns whether each page of a list is requested with the cursor of the page before it.
fn follows_cursors(turned: &StepTranscript) -> bool {
    let wire = Wire::new(turned);
    let text = |raw: &&RawValue| envelope::scalar::<String>(raw);
    let mut given = None;
    for (_, party, envelope) in wire.all() {
        if party == Party::Target {
            given = envelope.members().and_then(|result| result.get("nextCursor").and_then(text)).or(given);
        } else if envelope.method.as_deref() == Some(messages::LIST) {
            let params = envelope.params.and_then(envelope::members).unwrap_or_default();
            if params.get("cursor").and_then(text) != given.take() {
                return false;
            }
        }
    }
    given.is_none()
}

/// Compares the first request of a step with the values that the user gave, or the requests of a list with its cursors.
fn request(step: &Step, turned: &StepTranscript, places: MessagePlaces, bindings: &Bindings) -> RequestState {
    let When::Call { tool, arguments, .. } = &step.when else {
        let is_sent = places.request.is_some() || matches!(step.when, When::Serve);
        return match &step.when {
            _ if !is_sent => RequestState::NotSent,
            When::List if !follows_cursors(turned) => RequestState::Changed,
            _ => RequestState::AsGiven,
        };
    };
    let Some(place) = places.request else { return RequestState::NotSent };
    let wire = Wire::new(turned);
    let params = wire.at(place).and_then(|envelope| envelope.params).and_then(envelope::members).unwrap_or_default();
    let name: Option<String> = params.get("name").and_then(|name| envelope::scalar(name));
    let sent = params.get("arguments").map(|raw| messages::kept(raw));
    let empty = serde_json::json!({});
    let given = arguments.as_ref().and_then(|arguments| arguments.value(bindings));
    let is_same = match &sent {
        Some(sent) => sent.value().is_none_or(|sent| compare::equal(sent, given.as_ref().unwrap_or(&empty))),
        None => given.is_none_or(|given| given == empty),
    };
    if name.as_ref() == Some(tool) && is_same { RequestState::AsGiven } else { RequestState::Changed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{observe, samples};
    use crate::model::case::Then;
    use crate::model::template::Template;

    #[test]
    fn step_with_a_message_kept_in_part_is_unread() {
        let unread = |change: fn(Message) -> Message| {
            let test = samples::test(&[], vec![(samples::call("t"), Then::Observe)]);
            let test = Test { role: Role::Pair, ..test };
            let request = Message::new(Party::Target, r#"{"id":1,"method":"tools/call","params":{"name":"t"}}"#);
            let reply = change(Message::new(Party::Harness, r#"{"id":1,"result":{"content":[]}}"#));
            let handed = Some(r#"{"result":{"content":[]}}"#.to_owned());
            let step =
                StepTranscript { messages: vec![request, reply], end: End::Handed, handed, ..samples::replied(&[]) };
            observe(&test, &samples::transcript(vec![step])).steps[0].unread.is_some()
        };
        assert!(!unread(|reply| reply));
        assert!(unread(|reply| Message { cut_from: Some(1 << 30), ..reply }));
        assert!(unread(|reply| Message { lossy: true, ..reply }));
    }

    #[test]
    fn listed_schema_that_accepts_the_value_is_no_reason_for_a_refusal() {
        let has_reason = |listed: &str, value: &str| {
            let tool = Tool { name: "t".to_owned(), definition: Template::Null, does: Does::Return };
            let messages = [
                (Party::Harness, r#"{"id":0,"method":"tools/list"}"#.to_owned()),
                (
                    Party::Target,
                    format!(
                        r#"{{"id":0,"result":{{"tools":[{{"name":"t","inputSchema":{{}},"outputSchema":{listed}}}]}}}}"#
                    ),
                ),
                (Party::Harness, r#"{"id":1,"method":"tools/call","params":{"name":"t"}}"#.to_owned()),
                (Party::Target, format!(r#"{{"id":1,"result":{{"content":[],"structuredContent":{value}}}}}"#)),
            ];
            let messages = messages.map(|(from, text)| Message::new(from, &text)).into();
            let step = StepTranscript { messages, ..samples::replied(&[]) };
            listed_schema_refuses(&[step], &tool, MessagePlaces { reply: Some(3), ..MessagePlaces::default() })
        };
        assert!(has_reason(r#"{"type":"object"}"#, "[1]"));
        assert!(!has_reason(r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","maximum":9}"#, "[1]"));
        assert!(has_reason(r#"{"type":"no type"}"#, "[1]"));
    }
}
