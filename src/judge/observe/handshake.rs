//! The handshakes of a client, and what the client sent before, during and after them.
//!
//! Takes the messages of a test, gives the phase of each message. Must not know what a client may send in a phase.

use serde_json::value::RawValue;

use crate::judge::messages::Wire;
use crate::model::observation::HandshakePhase;
use crate::model::transcript::{Message, Party, Transcript};

/// A step, and a message in it.
type Place = (usize, usize);

/// The places at which a phase begins, in their order; before the first of them is no session.
pub(super) struct Handshakes {
    begin: Vec<(Place, HandshakePhase)>,
}

impl Handshakes {
    pub(super) fn of(transcript: &Transcript) -> Self {
        let (mut begin, mut open) = (Vec::new(), None);
        for (step, seen) in transcript.steps.iter().enumerate() {
            let wire = Wire::new(seen);
            for (place, message) in seen.messages.iter().enumerate() {
                let at = (step, place);
                let envelope = wire.at(place);
                let method = envelope.and_then(|envelope| envelope.method.as_deref());
                let id = envelope.and_then(|envelope| envelope.id).map(RawValue::get);
                match message.from {
                    Party::Target if method == Some("initialize") => {
                        open = id.map(str::to_owned);
                        begin.push((at, HandshakePhase::During));
                    }
                    Party::Target if ends_session(message) => begin.push((at, HandshakePhase::Before)),
                    Party::Harness if method.is_none() && id.is_some() && id == open.as_deref() => {
                        open = None;
                        begin.push((at, HandshakePhase::After));
                    }
                    Party::Target | Party::Harness => {}
                }
            }
        }
        Self { begin }
    }

    /// The phase of a message of the client; `None` if there is no handshake.
    pub(super) fn phase(&self, place: Place) -> Option<HandshakePhase> {
        self.begin.iter().find(|(_, phase)| *phase == HandshakePhase::During)?;
        // The request that begins or ends a session is no part of what comes after it.
        let earlier = self
            .begin
            .iter()
            .take_while(|(begin, phase)| *begin < place || *begin == place && *phase == HandshakePhase::During);
        Some(earlier.last().map_or(HandshakePhase::Before, |(_, phase)| *phase))
    }
}

fn ends_session(message: &Message) -> bool {
    message.header(":method") == Some("DELETE")
}

#[cfg(test)]
mod tests {
    use HandshakePhase::{After, Before, During};

    use super::*;
    use crate::judge::samples;
    use crate::model::transcript::{End, StepTranscript};

    #[test]
    fn messages_are_before_during_or_after_a_handshake() {
        let of = |from: Party, text: &str| samples::message(from, text);
        let ends = Message { headers: vec![(":method".to_owned(), "DELETE".to_owned())], ..of(Party::Target, "") };
        let first = vec![
            of(Party::Target, r#"{"id":0,"method":"ping"}"#),
            of(Party::Harness, r#"{"id":0,"result":{}}"#),
            of(Party::Target, r#"{"id":1,"method":"initialize"}"#),
            of(Party::Target, r#"{"id":2,"method":"ping"}"#),
            of(Party::Harness, r#"{"id":2,"result":{}}"#),
            of(Party::Harness, r#"{"id":1,"result":{}}"#),
            of(Party::Target, r#"{"method":"notifications/initialized"}"#),
            ends,
            of(Party::Target, r#"{"id":3,"method":"ping"}"#),
        ];
        let again = vec![of(Party::Target, r#"{"id":4,"method":"initialize"}"#)];
        let step = |messages| StepTranscript { messages, end: End::Handed, ..samples::replied(&[]) };
        let handshakes = Handshakes::of(&samples::transcript(vec![step(first), step(again)]));
        let phase = |place| handshakes.phase(place).expect("a phase");
        let phases = [(0, 0), (0, 2), (0, 3), (0, 6), (0, 7), (0, 8), (1, 0)].map(phase);
        assert_eq!(phases, [Before, During, During, After, After, Before, During]);
        assert_eq!(Handshakes::of(&samples::transcript(vec![step(vec![])])).phase((0, 0)), None);
    }
}
