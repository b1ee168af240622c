//! Several calls that run at once: the responses to each of them, and the reply on which each came.
//!
//! Takes the calls and the messages of a step, gives an observation of each call. Must not know expectations.

use super::{Observer, blank, ended};
use crate::jsonrpc::envelope::{Envelope, scalar};
use crate::judge::compare;
use crate::judge::messages::{CALL, Wire};
use crate::model::action::Asks;
use crate::model::case::{CallAtOnce, Outcome};
use crate::model::observation::{CallAtOnceObservation, ResponseAtOnce, ResponsePlace, StepObservation};
use crate::model::transcript::{Message, Party, StepTranscript};

/// The number of responses to a call that are kept.
const KEPT: usize = 8;

impl Observer<'_> {
    /// The step is a success if each call has a response; otherwise it has the outcome of the first call without one.
    pub(super) fn at_once(
        &self,
        calls: &[CallAtOnce],
        seen: &StepTranscript,
        wire: &Wire<'_>,
        observed: &mut StepObservation,
    ) {
        let is_call = |envelope: &Envelope<'_>| envelope.method.as_deref() == Some(CALL);
        let sent = wire.of(Party::Harness).filter(|(_, envelope)| is_call(envelope));
        let ids = sent.filter_map(|(_, envelope)| envelope.id.and_then(scalar::<serde_json::Value>));
        let all = calls.iter().zip(ids).enumerate();
        observed.at_once = all.map(|(place, (call, id))| self.call_at_once(call, &id, place, (seen, wire))).collect();
        observed.status = None;
        let unanswered = observed.at_once.iter().find(|call| call.responses.is_empty()).map(|call| call.outcome);
        if ended(&seen.end) == Some(Outcome::Accepted) && observed.at_once.len() == calls.len() {
            observed.outcome = unanswered.unwrap_or(Outcome::Success);
        }
    }

    fn call_at_once(
        &self,
        call: &CallAtOnce,
        id: &serde_json::Value,
        place: usize,
        (seen, wire): (&StepTranscript, &Wire<'_>),
    ) -> CallAtOnceObservation {
        let is_own = |envelope: &Envelope<'_>| {
            let own = envelope.id.and_then(scalar::<serde_json::Value>);
            envelope.method.is_none() && own.is_some_and(|own| compare::equal(&own, id))
        };
        let mut first: Option<StepObservation> = None;
        let mut responses = Vec::new();
        for (message, envelope) in wire.of(Party::Target).filter(|(_, envelope)| is_own(envelope)).take(KEPT) {
            let mut one = blank(Outcome::InvalidMessage, 0);
            self.response(Asks::Call(self.test.given.tool(&call.tool)), wire, envelope, &mut one);
            responses.push(ResponseAtOnce { on: on(&seen.messages[message], place), saw: one.saw.clone() });
            first.get_or_insert(one);
        }
        let is_refusal = |message: &&Message| message.on_call == Some(place) && message.status >= Some(400);
        let refused = || seen.messages.iter().find(is_refusal).map(|_| Outcome::HttpError);
        let lost = || match ended(&seen.end) {
            None | Some(Outcome::Accepted) => Outcome::EmptyReply,
            Some(outcome) => outcome,
        };
        let outcome = first.as_ref().map(|one| one.outcome).or_else(refused).unwrap_or_else(lost);
        CallAtOnceObservation { outcome, code: first.and_then(|one| one.code), responses }
    }
}

/// Returns the place of a response to the call with this number; `None` over stdio.
fn on(message: &Message, place: usize) -> Option<ResponsePlace> {
    match message.on_call {
        _ if message.on_get_stream => Some(ResponsePlace::GetStream),
        Some(call) if call == place => Some(ResponsePlace::Own),
        Some(_) => Some(ResponsePlace::Other),
        None => None,
    }
}
