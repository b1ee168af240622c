//! The side of a pair at which a check fails, and the sentence that it broke.
//!
//! Takes a failed check and the observation of its step, as the user and as the messages show it. A side is named only
//! for what its own messages or its user show. Must not know the targets.

use super::expect::misses;
use crate::model::case::{Check, Outcome};
use crate::model::observation::StepObservation;
use crate::model::pair::{Attribution, Fault, LossPlace, MessagePlaces, Relayed, RequestState, Rule};
use crate::model::reason::Finding;
use crate::model::spec::{Catalogue, Requirement, Role};
use crate::model::{RequirementId, TestId};

/// The sentence that a server breaks that lists another schema than its tools have.
const SCHEMA: &str = "tools/output-schema-kept";
/// The sentence that a server breaks whose question is not the one that the tool asks.
const QUESTION: &str = "elicitation/field-kept";

/// Returns the side at which a check fails. `step` is the index of its step.
pub(super) fn of(
    check: &Check,
    requirement: &Requirement,
    catalogue: &Catalogue,
    observed: &StepObservation,
    id: &TestId,
    step: usize,
) -> Attribution {
    let nowhere = Attribution {
        side: None,
        place: LossPlace::Build,
        requirement: None,
        message: None,
        step: None,
        is_left_to_author: false,
    };
    let Some(relayed) = &observed.relayed else { return Attribution { side: Some(Role::Server), ..nowhere } };
    let in_force = |one: &&_| catalogue.get(*one).is_some_and(|one| one.revisions.contains(id.revision));
    let (side, place) = match lost(check, observed, relayed, id) {
        Lost::At(side, place) => (Some(side), place),
        Lost::Refused { side, place, reason } => match relayed.faults.iter().find(|fault| reason.can_be(fault.rule)) {
            Some(Fault { rule, step: other, message }) => {
                return Attribution {
                    side: Some(rule.side()),
                    place: LossPlace::Message,
                    requirement: Some(rule.requirement()),
                    message: Some(*message),
                    step: Some(*other).filter(|other| *other != step),
                    is_left_to_author: false,
                };
            }
            None => (side, place),
        },
    };
    let MessagePlaces { request, question, answer, reply } = relayed.places;
    let message = match place {
        LossPlace::Request => request,
        LossPlace::Question => question.or(reply),
        LossPlace::Answer | LossPlace::Unanswered => answer.or(question),
        LossPlace::Build
        | LossPlace::Session
        | LossPlace::Reply
        | LossPlace::User
        | LossPlace::Schema
        | LossPlace::Message
        | LossPlace::Unasked => reply,
        LossPlace::End => reply.or(request),
    };
    let fixed = |name: &str| Some(RequirementId::within("", name));
    let first = |sentences: &[RequirementId]| sentences.iter().find(in_force).cloned();
    let sides = &requirement.sides;
    let requirement = match (side, place) {
        (None, _)
        | (
            _,
            LossPlace::Build
            | LossPlace::Session
            | LossPlace::Request
            | LossPlace::Unasked
            | LossPlace::Unanswered
            | LossPlace::Message
            | LossPlace::End,
        ) => None,
        (_, LossPlace::Schema) => fixed(SCHEMA),
        (_, LossPlace::Question) => fixed(QUESTION),
        (_, LossPlace::Answer) => first(&sides.answer),
        (_, LossPlace::User) => first(&sides.client),
        (_, LossPlace::Reply) => first(&sides.server),
    };
    Attribution { side, place, requirement, message, step: None, is_left_to_author: false }
}

/// The place where the values of a check were lost.
enum Lost {
    /// The messages and the user show the side.
    At(Role, LossPlace),
    /// One side refused something. Without a message that can be the reason, it is this side, if any.
    Refused { side: Option<Role>, place: LossPlace, reason: Reason },
}

/// The messages that can be the reason for which a side refuses something.
#[derive(Clone, Copy)]
enum Reason {
    /// Any message.
    Any,
    /// Any message of this side.
    Of(Role),
    /// A message by which the server cannot ask this client, or a question that is none.
    ForNotAsking,
    /// An answer that the server cannot use.
    ForAskingAgain,
    /// A message of the server by which the client cannot tell which question it answers.
    ForOtherAnswer,
}

impl Reason {
    fn can_be(self, rule: Rule) -> bool {
        let (side, requirement) = (rule.side(), rule.requirement());
        match self {
            Self::Any => true,
            Self::Of(own) => side == own,
            Self::ForNotAsking => {
                side == Role::Server || requirement.folder() == "elicitation" || rule == Rule::InitializedSent
            }
            Self::ForAskingAgain => side == Role::Client && requirement.folder() == "sep-2322",
            Self::ForOtherAnswer => matches!(rule, Rule::IdNotNull | Rule::GetStreamNoResponse),
        }
    }
}

fn lost(check: &Check, observed: &StepObservation, relayed: &Relayed, id: &TestId) -> Lost {
    let server = &relayed.server;
    let refused = |side, place, reason| Lost::Refused { side, place, reason };
    let by_client = |place| refused(Some(Role::Client), place, Reason::Of(Role::Server));
    let by_server = |place| refused(Some(Role::Server), place, Reason::Of(Role::Client));
    let is_error = matches!(server.outcome, Outcome::ProtocolError | Outcome::HttpError);
    let is_asked = !server.asked.is_empty();
    match (relayed.request, observed.outcome) {
        (RequestState::NoSession, _) => return refused(None, LossPlace::Session, Reason::Any),
        (RequestState::NotSent, Outcome::Timeout | Outcome::Crash) => return by_client(LossPlace::End),
        (RequestState::NotSent, _) => return by_client(LossPlace::Request),
        _ if relayed.question_changed => return Lost::At(Role::Server, LossPlace::Question),
        _ if is_asked && relayed.places.answer.is_none() && observed.answered.is_empty() => {
            return by_client(LossPlace::Unanswered);
        }
        (_, Outcome::Timeout | Outcome::Crash) => {
            let is_answered = relayed.places.reply.is_some();
            return if is_answered { by_client(LossPlace::End) } else { by_server(LossPlace::End) };
        }
        _ => {}
    }
    let holds = |step: &StepObservation| check.alternatives.iter().any(|one| misses(one, step, id).is_empty());
    if holds(server) {
        // A client may refuse a result that does not conform to the schema that it got.
        let is_by_schema = relayed.schema_changed && observed.outcome == Outcome::Refused;
        return if is_by_schema && server.outcome == Outcome::Success {
            Lost::At(Role::Server, LossPlace::Schema)
        } else {
            by_client(LossPlace::User)
        };
    }
    if relayed.request == RequestState::Changed {
        return Lost::At(Role::Client, LossPlace::Request);
    }
    // The alternative that is the closest to what was observed.
    let closest = check.alternatives.iter().map(|one| misses(one, observed, id).missed).min_by_key(Vec::len);
    let keys: Vec<_> = closest.iter().flatten().filter_map(key).collect();
    let has = |wanted: &str| keys.iter().any(|key| key == wanted);
    let is_result = matches!(server.outcome, Outcome::Success | Outcome::ToolError);
    if (has("asked") || has("answered")) && !is_asked {
        let reason = if is_error { Reason::Of(Role::Client) } else { Reason::ForNotAsking };
        refused(Some(Role::Server), LossPlace::Unasked, reason)
    } else if has("asked") {
        refused(Some(Role::Server), LossPlace::Question, Reason::ForAskingAgain)
    } else if has("answered") || observed.answered.iter().any(|answer| answer.code.is_some()) {
        refused(Some(Role::Client), LossPlace::Answer, Reason::ForOtherAnswer)
    } else if is_result {
        Lost::At(Role::Server, LossPlace::Reply)
    } else if is_asked {
        // The server can have a reason to refuse the content of an answer, and none to refuse a refusal.
        let is_content = observed.answered.iter().any(|answer| answer.content.is_some());
        let side = (!is_content).then_some(Role::Server);
        refused(side, LossPlace::Reply, Reason::Of(Role::Client))
    } else {
        by_server(LossPlace::Reply)
    }
}

/// Returns the key of the expectation that a finding is about.
fn key(finding: &Finding) -> Option<String> {
    let (Finding::Mismatch { place, .. } | Finding::Missing { place } | Finding::Violation { place, .. }) = finding
    else {
        return None;
    };
    place.split([' ', '.', ':', '[', '/']).next().map(str::to_owned)
}
