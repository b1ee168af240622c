//! The side of a pair at which a check fails, and the sentence that it broke.
//!
//! Takes a failed check and the observation of its step, as the user and as the messages show it. A side is named only
//! for what its own messages or its user show. Must not know the targets.

use std::cmp::Ordering;

use super::expect::misses;
use crate::model::case::{Check, Outcome, Test, When};
use crate::model::observation::{Relayed, StepObservation};
use crate::model::pair::{Attribution, Fault, LossPlace, MessagePlaces, RequestState, Rule};
use crate::model::reason::Finding;
use crate::model::spec::{Catalogue, Requirement, Role};
use crate::model::transcript::HTTP_ERROR;
use crate::model::{RequirementId, TestId};

/// The sentence that a server breaks that lists another schema than its tools have.
const SCHEMA: &str = "tools/output-schema-kept";
/// The sentence that a server breaks whose question is not the one that the tool asks.
const QUESTION: &str = "elicitation/field-kept";
/// The sentence that a client breaks which sends no response to a question.
const RESPONSE: &str = "messages/request-answered";
/// The sentence about the text beside structured content.
const TEXT: &str = "sep-2106/text-for-older-clients";

/// A check of a pair that failed.
pub(super) struct Broken<'a> {
    pub(super) test: &'a Test,
    pub(super) id: &'a TestId,
    pub(super) check: &'a Check,
    pub(super) requirement: &'a Requirement,
    /// The steps of the test.
    pub(super) steps: &'a [StepObservation],
    /// The index of the step of the check.
    pub(super) step: usize,
}

/// Returns the side at which a check fails.
pub(super) fn of(broken: &Broken<'_>, catalogue: &Catalogue) -> Attribution {
    let nowhere = Attribution {
        side: None,
        place: LossPlace::Build,
        requirement: None,
        message: None,
        step: None,
        is_left_to_author: false,
    };
    let observed = &broken.steps[broken.step];
    let Some(relayed) = &observed.relayed else { return Attribution { side: Some(Role::Server), ..nowhere } };
    // The revision of the test is the newest of the client. Both sides may have agreed on another one.
    let revision = relayed.agreed.unwrap_or(broken.id.revision);
    let in_force = |one: &&_| catalogue.get(*one).is_some_and(|one| one.revisions.contains(revision));
    let here = lost(broken, broken.step, relayed);
    let is_after_answer = matches!(here.place(), LossPlace::Answer | LossPlace::Reply) && !observed.answered.is_empty();
    let earlier = match here.place() {
        LossPlace::Session => ended(broken),
        _ if is_after_answer => moved(broken),
        _ => None,
    };
    let (step, relayed, lost) = earlier.unwrap_or((broken.step, relayed, here));
    let other = |step: usize| Some(step).filter(|step| *step != broken.step);
    let (side, place) = match lost {
        Lost::At(side, place) => (Some(side), place),
        Lost::Refused { side, place, reason } => match cause(broken, catalogue, relayed, step, place, reason) {
            Some(Fault { rule, step, message, .. }) => {
                return Attribution {
                    side: Some(rule.side()),
                    place: LossPlace::Message,
                    requirement: Some(rule.requirement()),
                    message: Some(*message),
                    step: other(*step),
                    is_left_to_author: false,
                };
            }
            None if let (LossPlace::Session | LossPlace::End, Some((step, message))) =
                (place, relayed.silent_stream) =>
            {
                return Attribution { place: LossPlace::Stream, message: Some(message), step: other(step), ..nowhere };
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
        | LossPlace::Error
        | LossPlace::User
        | LossPlace::Schema
        | LossPlace::Message
        | LossPlace::Unasked => reply,
        LossPlace::Stream | LossPlace::End => reply.or(request),
    };
    let fixed = |name: &str| Some(RequirementId::within("", name));
    let first = |sentences: &[RequirementId]| sentences.iter().find(in_force).cloned();
    let sides = &broken.requirement.sides;
    let text = RequirementId::within("", TEXT);
    let is_list = matches!(broken.test.steps[broken.step].when, When::List);
    let requirement = match (side, place) {
        // The request for a page does not have the cursor.
        (Some(Role::Client), LossPlace::Request) if is_list && relayed.request == RequestState::Changed => {
            first(&sides.client)
        }
        (None, _)
        | (
            _,
            LossPlace::Build
            | LossPlace::Session
            | LossPlace::Request
            | LossPlace::Message
            | LossPlace::Stream
            | LossPlace::End
            // No sentence obliges a server to ask.
            | LossPlace::Unasked,
        ) => None,
        // Without a handshake, a question is no request.
        (_, LossPlace::Unanswered) => fixed(RESPONSE).filter(|_| relayed.agreed.is_some()),
        // Only sentences about tool errors say that the reply is no error.
        (_, LossPlace::Error) => first(&sides.server).filter(|_| wants_tool_error(broken.check)),
        (_, LossPlace::Schema) => fixed(SCHEMA),
        (_, LossPlace::Question) => fixed(QUESTION).filter(|_| relayed.question_changed),
        (_, LossPlace::Answer) => first(&sides.answer),
        (_, LossPlace::User) => first(&sides.client),
        (_, LossPlace::Reply) => {
            let is_typed = || is_call_of_typed_tool(broken.test, broken.steps, broken.step);
            let is_about_reply =
                |one: &RequirementId| *one != text || relayed.server.structured.is_some() || is_typed();
            first(&sides.server).filter(is_about_reply)
        }
    };
    // The sentences of this requirement are not about what was lost in another step.
    let requirement = requirement.filter(|_| step == broken.step);
    Attribution { side, place, requirement, message, step: other(step), is_left_to_author: false }
}

/// Returns whether a step calls a tool of which the client got an `outputSchema`. A list that failed gave it none.
fn is_call_of_typed_tool(test: &Test, steps: &[StepObservation], step: usize) -> bool {
    let When::Call { tool, .. } = &test.steps[step].when else { return false };
    let has_schema = test.given.tool(tool).is_some_and(|tool| tool.definition.get("outputSchema").is_some());
    let is_failed_list = |at: usize| matches!(test.steps[at].when, When::List) && steps[at].outcome != Outcome::Success;
    has_schema && !(0..step).any(is_failed_list)
}

/// Returns whether a check expects a tool error.
fn wants_tool_error(check: &Check) -> bool {
    check.alternatives.iter().any(|one| one.outcome.contains(&Outcome::ToolError))
}

/// Returns the first violation that can be the reason for which a side refused something in a step: one that came before
/// the refusal, of a sentence that is in force, and not one that this side accepted before. If the sentence was violated in
/// this step again, it is that violation.
fn cause<'a>(
    broken: &Broken<'_>,
    catalogue: &Catalogue,
    relayed: &'a Relayed,
    step: usize,
    place: LossPlace,
    reason: Reason,
) -> Option<&'a Fault> {
    let revisions = match relayed.agreed {
        Some(agreed) => [Some(agreed), None],
        None => [Some(broken.id.revision), broken.test.given.revision],
    };
    let in_force = |fault: &Fault| {
        let requirement = catalogue.get(&fault.rule.requirement());
        requirement.is_some_and(|one| revisions.iter().flatten().any(|revision| one.revisions.contains(*revision)))
    };
    let last = match place {
        // Whatever came until the end can be the reason.
        LossPlace::Session | LossPlace::End => usize::MAX,
        _ => relayed.places.reply.unwrap_or(usize::MAX),
    };
    let is_accepted = |rule: Rule| {
        let mut own =
            relayed.faults.iter().filter(|fault| fault.rule == rule && (fault.step, fault.message) < (step, last));
        rule.is_of_each_message() && own.any(|fault| fault.is_accepted)
    };
    let is_before = |fault: &&Fault| (fault.step, fault.message) <= (step, last);
    let mut before = relayed.faults.iter().filter(is_before);
    let first = before.find(|fault| reason.can_be(fault.rule) && in_force(fault) && !is_accepted(fault.rule))?;
    Some(before.find(|fault| fault.rule == first.rule && fault.step == step).unwrap_or(first))
}

/// The place where the values of a check were lost.
enum Lost {
    /// The messages and the user show the side.
    At(Role, LossPlace),
    /// One side refused something. Without a message that can be the reason, it is this side, if any.
    Refused { side: Option<Role>, place: LossPlace, reason: Reason },
}

impl Lost {
    fn place(&self) -> LossPlace {
        match self {
            Self::At(_, place) | Self::Refused { place, .. } => *place,
        }
    }
}

/// The messages that can be the reason for which a side refuses something.
#[derive(Clone, Copy)]
enum Reason {
    /// Any message.
    Any,
    /// Any message of this side.
    Of(Role),
    /// A value that the client's SDK need not hand to its user.
    ForDropping,
    /// A message by which the server cannot ask this client, or a question that is none.
    ForNotAsking,
    /// An answer that the server cannot use.
    ForAskingAgain,
}

impl Reason {
    fn can_be(self, rule: Rule) -> bool {
        let (side, requirement) = (rule.side(), rule.requirement());
        match self {
            Self::Any => true,
            Self::Of(own) => side == own,
            Self::ForDropping => rule == Rule::ObjectBefore2026,
            Self::ForNotAsking => {
                side == Role::Server || requirement.folder() == "elicitation" || rule == Rule::InitializedSent
            }
            Self::ForAskingAgain => side == Role::Client && requirement.folder() == "sep-2322",
        }
    }
}

/// Returns the step in which the session of an earlier step ended, or the client tried to open one, and what was lost there.
fn ended<'a>(broken: &Broken<'a>) -> Option<(usize, &'a Relayed, Lost)> {
    let has_session = |seen: &StepObservation| {
        seen.relayed.as_ref().is_some_and(|relayed| relayed.request != RequestState::NoSession)
    };
    let earlier = || broken.steps.iter().take(broken.step);
    let Some(last) = earlier().rposition(has_session) else {
        let is_replied = |relayed: &Relayed| relayed.places.reply.is_some();
        let last = earlier().rposition(|seen| seen.relayed.as_ref().is_some_and(is_replied))?;
        let relayed = broken.steps[last].relayed.as_ref()?;
        return Some((last, relayed, lost(broken, last, relayed)));
    };
    let seen = &broken.steps[last];
    let relayed = seen.relayed.as_ref()?;
    Some(match seen.outcome {
        Outcome::Success | Outcome::ToolError => {
            let by_client =
                Lost::Refused { side: Some(Role::Client), place: LossPlace::End, reason: Reason::Of(Role::Server) };
            (last, relayed, by_client)
        }
        _ => (last, relayed, lost(broken, last, relayed)),
    })
}

/// Returns the first earlier step whose user did not give its answers, or gave others as well, and what was lost there.
/// The user of a client answers in the order of the whole test, so that the answers of later steps are not their own.
fn moved<'a>(broken: &Broken<'a>) -> Option<(usize, &'a Relayed, Lost)> {
    let steps = broken.test.steps.iter().zip(broken.steps).enumerate().take(broken.step);
    steps.into_iter().find_map(|(index, (step, seen))| {
        let (When::Call { answers, .. }, Some(relayed)) = (&step.when, &seen.relayed) else { return None };
        let lost = |side, place, reason| Lost::Refused { side: Some(side), place, reason };
        let lost = match seen.answered.len().cmp(&answers.len()) {
            Ordering::Equal => return None,
            Ordering::Greater => lost(Role::Server, LossPlace::Question, Reason::ForAskingAgain),
            Ordering::Less if relayed.server.asked.is_empty() => {
                lost(Role::Server, LossPlace::Unasked, Reason::ForNotAsking)
            }
            Ordering::Less => lost(Role::Client, LossPlace::Unanswered, Reason::Of(Role::Server)),
        };
        Some((index, relayed, lost))
    })
}

/// Returns what was lost in the step of a check, or in an earlier step that has ended the session.
fn lost(broken: &Broken<'_>, step: usize, relayed: &Relayed) -> Lost {
    let Broken { check, id, .. } = *broken;
    let (observed, is_own) = (&broken.steps[step], step == broken.step);
    let server = &relayed.server;
    let refused = |side, place, reason| Lost::Refused { side, place, reason };
    let by_client = |place| refused(Some(Role::Client), place, Reason::Of(Role::Server));
    let by_server = |place| refused(Some(Role::Server), place, Reason::Of(Role::Client));
    let is_asked = !server.asked.is_empty();
    // In its own step, the client can lose an error after which nothing is asked; an error of another step is no value.
    let meant = || check.alternatives.iter().filter(|one| is_own || !one.not_asked);
    let holds = |step: &StepObservation| meant().any(|one| misses(one, step, id).is_empty());
    let has_arrived = holds(server);
    match (relayed.request, observed.outcome) {
        (RequestState::NoSession, _) => return refused(None, LossPlace::Session, Reason::Any),
        (RequestState::NotSent, Outcome::Timeout | Outcome::Crash) => return by_client(LossPlace::End),
        (RequestState::NotSent, _) => return by_client(LossPlace::Request),
        _ if relayed.question_changed && !has_arrived => return Lost::At(Role::Server, LossPlace::Question),
        _ if is_asked && relayed.places.answer.is_none() && observed.answered.is_empty() => {
            return by_client(LossPlace::Unanswered);
        }
        (_, Outcome::Timeout | Outcome::Crash) => {
            let is_answered = relayed.places.reply.is_some();
            return if is_answered { by_client(LossPlace::End) } else { by_server(LossPlace::End) };
        }
        _ => {}
    }
    if has_arrived {
        let is_refused = observed.outcome == Outcome::Refused;
        // A client may refuse a result that does not conform to the schema that it got.
        return if relayed.schema_changed && is_refused && server.outcome == Outcome::Success {
            // Unless the reply itself breaks a sentence.
            refused(Some(Role::Server), LossPlace::Schema, Reason::Of(Role::Server))
        } else if is_refused {
            by_client(LossPlace::User)
        } else {
            refused(Some(Role::Client), LossPlace::User, Reason::ForDropping)
        };
    }
    if relayed.request == RequestState::Changed {
        // A message of the server can be the reason for a page that was not asked for, and none for other arguments.
        return match broken.test.steps[step].when {
            When::List => by_client(LossPlace::Request),
            _ => Lost::At(Role::Client, LossPlace::Request),
        };
    }
    // The alternative that is the closest to what was observed. One that would judge nothing says nothing of a loss.
    let judging = check.alternatives.iter().filter(|one| !one.not_asked);
    let closest = judging.map(|one| misses(one, observed, id).missed).min_by_key(Vec::len);
    let keys: Vec<_> = closest.iter().flatten().filter_map(key).collect();
    let has = |wanted: &str| keys.iter().any(|key| key == wanted);
    let is_result = matches!(server.outcome, Outcome::Success | Outcome::ToolError);
    if (has("asked") || has("answered")) && !is_asked {
        let reason = if is_refusal(server) { Reason::Of(Role::Client) } else { Reason::ForNotAsking };
        refused(Some(Role::Server), LossPlace::Unasked, reason)
    } else if has("asked") {
        refused(Some(Role::Server), LossPlace::Question, Reason::ForAskingAgain)
    } else if has("answered") || observed.answered.iter().any(|answer| answer.code.is_some()) {
        Lost::At(Role::Client, LossPlace::Answer)
    } else if is_result {
        Lost::At(Role::Server, LossPlace::Reply)
    } else if is_asked {
        // The server can have a reason to refuse the content of an answer, and none to refuse a refusal.
        let is_content = observed.answered.iter().any(|answer| answer.content.is_some());
        let side = (!is_content).then_some(Role::Server);
        refused(side, LossPlace::Reply, Reason::Of(Role::Client))
    } else if is_refusal(server) {
        by_server(LossPlace::Error)
    } else if matches!(server.outcome, Outcome::ProtocolError | Outcome::HttpError) {
        Lost::At(Role::Server, LossPlace::Error)
    } else {
        Lost::At(Role::Server, LossPlace::Reply)
    }
}

/// Returns whether the server refuses the request, and does not report a failure of its own or of its tool.
fn is_refusal(server: &StepObservation) -> bool {
    const OF_THE_REQUEST: [i64; 4] = [-32_700, -32_600, -32_601, -32_602];
    const OF_THE_PROTOCOL: std::ops::RangeInclusive<i64> = -32_099..=-32_000;
    let is_code = |code: i64| OF_THE_REQUEST.contains(&code) || OF_THE_PROTOCOL.contains(&code);
    let has_status = server.status.is_some_and(|status| (HTTP_ERROR..500).contains(&status));
    server.outcome == Outcome::HttpError || has_status || server.code.is_some_and(is_code)
}

/// Returns the key of the expectation that a finding is about.
fn key(finding: &Finding) -> Option<String> {
    let (Finding::Mismatch { place, .. } | Finding::Missing { place } | Finding::Violation { place, .. }) = finding
    else {
        return None;
    };
    place.split([' ', '.', ':', '[', '/']).next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::judge::samples;
    use crate::load::{Source, load};
    use crate::model::case::{Action, Answer, Answered, Does, Expectation, Fixture, Step, Then};
    use crate::model::observation::{AnswerObservation, Observed};
    use crate::model::template::Template;

    /// A step that ends in a way, as both its user and the server's messages show it.
    fn seen(outcome: Outcome, request: RequestState, question: Option<&str>, answers: usize) -> StepObservation {
        let mut step = crate::judge::observe::blank(outcome, 0);
        step.asked = question.map(|text| Observed::Value(json!({ "message": text }))).into_iter().collect();
        let answer = AnswerObservation { action: Some(Action::Accept), content: None, code: None };
        step.answered = vec![answer; answers];
        let places = MessagePlaces { request: Some(0), reply: Some(1), ..MessagePlaces::default() };
        step.relayed = Some(Relayed {
            server: Box::new(step.clone()),
            request,
            question_changed: false,
            schema_changed: false,
            faults: Vec::new(),
            places,
            agreed: None,
            silent_stream: None,
        });
        step
    }

    /// Attributes the failure of a check of the second step, which expects a refusal.
    fn second(steps: &[StepObservation]) -> Attribution {
        attributed(steps, Outcome::Refused)
    }

    /// Attributes the failure of a check of the second step, which expects an outcome.
    fn attributed(steps: &[StepObservation], expected: Outcome) -> Attribution {
        attributed_with(steps, expected, None)
    }

    /// The same with another alternative of the check.
    fn attributed_with(steps: &[StepObservation], expected: Outcome, other: Option<Expectation>) -> Attribution {
        let expected = Expectation { outcome: vec![expected], ..Expectation::default() };
        attributed_by(steps, std::iter::once(expected).chain(other).collect())
    }

    /// The same with these alternatives.
    fn attributed_by(steps: &[StepObservation], alternatives: Vec<Expectation>) -> Attribution {
        let ask = || When::call("ask", None, vec![Answer::AcceptAlone]);
        let step = |when| Step { when, then: Then::Observe, declares: None, initialized: true };
        let test = Test { steps: vec![step(ask()), step(ask())], role: Role::Pair, ..samples::test(&[], Vec::new()) };
        let check = Check { requirement: RequirementId::within("f", "r"), line: 1, alternatives };
        let requirement = samples::requirement("r", crate::model::spec::Level::Derived);
        let id = samples::id("f/c/t@2025-11-25+http");
        let broken = Broken { test: &test, id: &id, check: &check, requirement: &requirement, steps, step: 1 };
        of(&broken, &load(&[Source::Embedded]).expect("the embedded cases").requirements)
    }

    /// A step that its user and the server's messages show differently, with violations in this step or earlier ones.
    fn differing(user: Outcome, server: StepObservation, faults: &[(Rule, usize, usize)]) -> StepObservation {
        let mut step = seen(user, RequestState::AsGiven, None, 0);
        let relayed = step.relayed.as_mut().expect("the messages of a pair");
        *relayed.server = StepObservation { relayed: None, ..server };
        relayed.faults = faults
            .iter()
            .map(|(rule, step, message)| Fault { rule: *rule, step: *step, message: *message, is_accepted: false })
            .collect();
        step
    }

    fn blamed(attribution: &Attribution) -> (Option<Role>, LossPlace) {
        (attribution.side, attribution.place)
    }

    #[test]
    fn answer_of_an_earlier_question_is_lost_where_that_question_was() {
        use RequestState::AsGiven;
        let fine = || seen(Outcome::Success, AsGiven, Some("?"), 1);
        let unasked = second(&[seen(Outcome::ToolError, AsGiven, None, 0), fine()]);
        assert_eq!((unasked.side, unasked.place, unasked.step), (Some(Role::Server), LossPlace::Unasked, Some(0)));
        let unanswered = second(&[seen(Outcome::ToolError, AsGiven, Some("?"), 0), fine()]);
        assert_eq!((unanswered.side, unanswered.place), (Some(Role::Client), LossPlace::Unanswered));
        let own = second(&[fine(), fine()]);
        assert_eq!((own.side, own.place, own.step), (Some(Role::Server), LossPlace::Reply, None));
    }

    #[test]
    fn step_after_the_end_of_a_session_fails_where_it_ended() {
        let later = || seen(Outcome::Timeout, RequestState::NoSession, None, 0);
        let hung = second(&[seen(Outcome::Timeout, RequestState::NotSent, None, 0), later()]);
        assert_eq!((hung.side, hung.place, hung.step), (Some(Role::Client), LossPlace::End, Some(0)));
        let never = second(&[later(), later()]);
        // The client tried to open one in the first step.
        assert_eq!((never.side, never.place, never.step), (None, LossPlace::Session, Some(0)));
    }

    #[test]
    fn list_that_the_server_answers_with_an_error_is_lost_by_the_server() {
        let failing =
            StepObservation { code: Some(-32_603), ..seen(Outcome::ProtocolError, RequestState::AsGiven, None, 0) };
        let steps =
            [differing(Outcome::Refused, failing, &[]), seen(Outcome::Refused, RequestState::NoSession, None, 0)];
        // The error of another step is none after which nothing is asked.
        let error = Expectation { not_asked: true, outcome: vec![Outcome::ProtocolError], ..Expectation::default() };
        let attribution = attributed_with(&steps, Outcome::Success, Some(error));
        assert_eq!((attribution.step, blamed(&attribution)), (Some(0), (Some(Role::Server), LossPlace::Error)));
    }

    #[test]
    fn violation_of_the_server_is_a_reason_only_for_a_refusal() {
        let fine = || seen(Outcome::Success, RequestState::AsGiven, None, 0);
        let faults = [(Rule::SessionIdCharacters, 0, 1)];
        let lost = differing(Outcome::ToolError, fine(), &faults);
        assert_eq!(blamed(&attributed(&[fine(), lost], Outcome::Success)), (Some(Role::Client), LossPlace::User));
        let refused = differing(Outcome::Refused, fine(), &faults);
        assert_eq!(blamed(&attributed(&[fine(), refused], Outcome::Success)), (Some(Role::Server), LossPlace::Message));
        // A client that cannot read the schema of a tool need not call it.
        let mut unsent = differing(Outcome::Refused, fine(), &[(Rule::SchemaIsValid, 0, 1)]);
        unsent.relayed.as_mut().expect("the messages of a pair").request = RequestState::NotSent;
        assert_eq!(blamed(&attributed(&[fine(), unsent], Outcome::Success)), (Some(Role::Server), LossPlace::Message));
    }

    #[test]
    fn listed_schema_is_the_reason_unless_the_reply_breaks_a_sentence() {
        let fine = || seen(Outcome::Success, RequestState::AsGiven, None, 0);
        let blamed = |schema_changed, faults: &[(Rule, usize, usize)]| {
            let mut refused = differing(Outcome::Refused, fine(), faults);
            refused.relayed.as_mut().expect("the messages of a pair").schema_changed = schema_changed;
            blamed(&attributed(&[fine(), refused], Outcome::Success))
        };
        assert_eq!(blamed(false, &[]), (Some(Role::Client), LossPlace::User));
        assert_eq!(blamed(true, &[]), (Some(Role::Server), LossPlace::Schema));
        assert_eq!(blamed(true, &[(Rule::ObjectBefore2026, 1, 1)]), (Some(Role::Server), LossPlace::Message));
    }

    #[test]
    fn violation_of_the_client_is_a_reason_only_for_the_refusal_of_its_message() {
        let fine = || seen(Outcome::Success, RequestState::AsGiven, None, 0);
        let failing =
            |code| StepObservation { code: Some(code), ..seen(Outcome::ProtocolError, RequestState::AsGiven, None, 0) };
        let with = |accepted: Option<usize>, code, faults: &[(Rule, usize, usize)]| {
            let mut second = differing(Outcome::Refused, failing(code), faults);
            let faults = &mut second.relayed.as_mut().expect("the messages of a pair").faults;
            faults.iter_mut().enumerate().for_each(|(at, fault)| fault.is_accepted = Some(at) == accepted);
            blamed(&attributed(&[fine(), second], Outcome::Success))
        };
        let blamed = |code, faults: &[(Rule, usize, usize)]| with(None, code, faults);
        let (client, server) = ((Some(Role::Client), LossPlace::Message), (Some(Role::Server), LossPlace::Error));
        let header = Rule::NegotiatedHeaderSent;
        assert_eq!(blamed(-32_600, &[(header, 1, 0)]), client);
        // An internal error is no refusal.
        assert_eq!(blamed(-32_603, &[(header, 1, 0)]), server);
        // The reply is the message 1.
        assert_eq!(blamed(-32_600, &[(header, 1, 2)]), server);
        assert_eq!(blamed(-32_600, &[(header, 0, 0), (header, 1, 0)]), client);
        // The server accepted such a message before, in an earlier step or in the same one.
        assert_eq!(with(Some(0), -32_600, &[(header, 0, 0), (header, 1, 0)]), server);
        assert_eq!(with(Some(0), -32_600, &[(header, 1, 0)]), server);
        // This sentence is in force on later revisions only.
        assert_eq!(blamed(-32_600, &[(Rule::MethodHeaderSent, 1, 0)]), server);
    }

    #[test]
    fn pair_that_hangs_at_a_silent_stream_blames_neither_side() {
        let mut hung = seen(Outcome::Timeout, RequestState::NoSession, None, 0);
        hung.relayed.as_mut().expect("the messages of a pair").silent_stream = Some((0, 4));
        let attribution = attributed(&[hung.clone(), hung], Outcome::Success);
        assert_eq!(blamed(&attribution), (None, LossPlace::Stream));
        assert_eq!((attribution.step, attribution.message), (Some(0), Some(4)));
    }

    #[test]
    fn missing_answer_breaks_a_sentence_and_missing_question_none() {
        let fine = || seen(Outcome::Success, RequestState::AsGiven, None, 0);
        let of = |question: Option<&str>, agreed: Option<&str>| {
            let mut lost = seen(Outcome::ToolError, RequestState::AsGiven, question, 0);
            let agreed = agreed.map(|one| one.parse().expect("a revision"));
            lost.relayed.as_mut().expect("the messages of a pair").agreed = agreed;
            let answered = Some(Answered { action: Action::Accept, content: None });
            let answered = Expectation { answered, ..Expectation::default() };
            let attribution = attributed_by(&[fine(), lost], vec![answered]);
            (attribution.place, attribution.requirement.map(|one| one.to_string()))
        };
        let named = |place, sentence: &str| (place, Some(sentence.to_owned()));
        // No sentence obliges a server to ask.
        assert_eq!(of(None, None), (LossPlace::Unasked, None));
        assert_eq!(of(Some("?"), Some("2025-11-25")), named(LossPlace::Unanswered, RESPONSE));
        // Without a handshake, a question is no request, and the client need not try again.
        assert_eq!(of(Some("?"), None), (LossPlace::Unanswered, None));
    }

    #[test]
    fn changed_question_is_no_loss_where_the_reply_has_the_value() {
        let fine = || seen(Outcome::Success, RequestState::AsGiven, None, 0);
        let mut lost = differing(Outcome::ToolError, fine(), &[]);
        lost.relayed.as_mut().expect("the messages of a pair").question_changed = true;
        assert_eq!(
            blamed(&attributed(&[fine(), lost.clone()], Outcome::Success)),
            (Some(Role::Client), LossPlace::User)
        );
        assert_eq!(blamed(&attributed(&[fine(), lost], Outcome::Crash)), (Some(Role::Server), LossPlace::Question));
    }
    #[test]
    fn result_is_typed_only_for_a_client_that_got_the_schema() {
        let is_typed = |schema: &str, listed: Outcome| {
            let mut tool = samples::tool("t", Template::Bool(true), Does::Echo);
            let Template::Object(definition) = &mut tool.definition else { unreachable!("a tool is an object") };
            definition.push((schema.into(), Template::Bool(true)));
            let steps = [When::List, samples::call("t")].map(|when| (when, Then::Observe)).into();
            let given = Arc::new(Fixture { tools: vec![tool], ..Fixture::default() });
            let test = Test { given, ..samples::test(&[], steps) };
            is_call_of_typed_tool(&test, &[listed, Outcome::Success].map(samples::step), 1)
        };
        assert!(is_typed("outputSchema", Outcome::Success));
        assert!(!is_typed("outputSchema", Outcome::ProtocolError));
        assert!(!is_typed("description", Outcome::Success));
    }
}
