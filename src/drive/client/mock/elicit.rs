//! Tools that ask: by requests to the client in the stateful lifecycle, by input-required results in the stateless one.
//!
//! Takes what a case has a tool ask, gives questions, and a result once all are answered. Must not know transports, nor
//! whether an answer fits what was asked.

use std::sync::Arc;

use super::outlet::{Gone, Outlet};
use super::server::{Answered, Call, Fault, Server};
use super::tools::{Parts, failure, structured};
use crate::jsonrpc::text::{Members, is_object, string};
use crate::jsonrpc::text::{object, quoted};
use crate::model::template::{Bindings, Template};

/// The key of a question, where the case gives none.
const KEY: &str = "q";
/// Members of `elicit` that say how it is asked; the others are the parameters.
const MANNERS: [&str; 4] = ["requests", "rounds", "state", "stateOnly"];
/// Rounds that a case can ask for; more would only be more of the same.
const MAX_ROUNDS: u64 = 100;

/// What a tool asks before it returns.
#[derive(Clone, Debug)]
pub(super) struct Elicits {
    /// The questions of a round, by key: the parameters, as JSON.
    questions: Vec<(String, String)>,
    /// Whether the case gives them keys, so that the answers are told by key as well.
    keyed: bool,
    rounds: usize,
    state: State,
    /// Whether a mode is written down: then it is asked whatever the client declared.
    insists: bool,
}

/// The `requestState` of the stateless lifecycle.
#[derive(Clone, Debug)]
enum State {
    /// Another one each round, made of everything that is easily damaged on the way.
    Made,
    /// What the case says, a round each, of which the last goes on; an empty place is none.
    Written(Vec<Option<String>>),
}

/// What a request of the stateless lifecycle comes to.
#[derive(Debug)]
enum ExchangeLog<'a> {
    /// All questions of a round.
    Ask(usize),
    Done(Vec<&'a str>),
}

impl Elicits {
    pub(super) fn of(elicit: &Template, bindings: &Bindings) -> Self {
        let keyed = elicit.get("requests");
        let single = [(KEY.to_owned(), elicit.clone())];
        let asked = match (keyed, is_true(elicit.get("stateOnly"))) {
            (_, true) => &[],
            (Some(Template::Object(requests)), false) => &requests[..],
            _ => &single[..],
        };
        let insists = asked.iter().any(|(_, one)| one.get("mode").is_some_and(|mode| *mode != Template::Absent));
        let questions = asked.iter().map(|(key, one)| (key.clone(), parameters(one, bindings))).collect();
        let rounds = match elicit.get("rounds") {
            Some(Template::Number(rounds)) => rounds.as_u64().unwrap_or(1).clamp(1, MAX_ROUNDS),
            _ => 1,
        };
        let rounds = usize::try_from(rounds).expect("at most a hundred");
        let state = match elicit.get("state") {
            None | Some(Template::Absent) => State::Made,
            Some(Template::Array(rounds)) => {
                State::Written(rounds.iter().map(|written| string(&written.render(bindings))).collect())
            }
            Some(written) => State::Written(vec![string(&written.render(bindings))]),
        };
        Self { questions, keyed: keyed.is_some(), rounds, state, insists }
    }

    /// Whether a client that declared these capabilities, as JSON, may be asked.
    pub(super) fn may_ask(&self, capabilities: &str) -> bool {
        let modes = Members::of(capabilities).and_then(|all| all.get("elicitation").and_then(Members::of));
        // No mode at all means form.
        let form = modes.is_some_and(|modes| modes.get("form").is_some() || modes.get("url").is_none());
        self.insists || self.questions.is_empty() || form
    }

    /// What a request of the stateless lifecycle comes to: everything is in the request itself.
    pub(super) fn round_trip(&self, call: &Call<'_>, server: &Server) -> Result<String, Fault> {
        let round = match self.turn(call)? {
            ExchangeLog::Ask(round) => round,
            ExchangeLog::Done(answers) => return Ok(server.complete(structured(&self.answers(answers)))),
        };
        let mut parts = Vec::new();
        if !self.questions.is_empty() {
            let request = |params: &str| {
                let request = object([("method", quoted("elicitation/create")), ("params", params.to_owned())]);
                server.deviated("elicitation/create", request)
            };
            let asked: Vec<_> = self.keys(round).map(|(key, params)| (key, request(params))).collect();
            parts.push(("inputRequests", object(asked.iter().map(|(key, asked)| (key.as_str(), asked.clone())))));
        }
        parts.extend(self.state(round).map(|state| ("requestState", quoted(&state))));
        Ok(server.result("input_required", parts))
    }

    fn turn<'a>(&self, call: &Call<'a>) -> Result<ExchangeLog<'a>, Fault> {
        let given = match call.params.get("inputResponses") {
            None => Members::default(),
            Some(given) => Members::of(given).ok_or_else(|| Fault::params("`inputResponses` is no object"))?,
        };
        let state = call.params.get("requestState").map(string);
        let refused = || Fault::params("`requestState` is not what was given");
        let state = state.map(|state| state.ok_or_else(refused)).transpose()?;
        let Some(round) = self.round(&given, state.as_deref()) else {
            return if state.is_some() { Err(refused()) } else { Ok(ExchangeLog::Ask(1)) };
        };
        if self.state(round) != state {
            return Err(refused());
        }
        let answers: Vec<_> = self.keys(round).filter_map(|(key, _)| given.get(&key)).collect();
        if !answers.iter().all(|answer| is_answer(answer)) {
            return Err(Fault::params("an answer in `inputResponses` is none"));
        }
        Ok(match round {
            // Nothing is remembered, so that a part of the answers is none.
            _ if answers.len() < self.questions.len() => ExchangeLog::Ask(round),
            _ if round < self.rounds => ExchangeLog::Ask(round + 1),
            _ => ExchangeLog::Done(answers),
        })
    }

    /// The round that a request answers: told by the keys, or else by the state.
    fn round(&self, given: &Members<'_>, state: Option<&str>) -> Option<usize> {
        let mut rounds = (1..=self.rounds).rev();
        let by_key = rounds.clone().find(|round| self.keys(*round).any(|(key, _)| given.get(&key).is_some()));
        by_key.or_else(|| rounds.find(|round| state.is_some() && self.state(*round).as_deref() == state))
    }

    /// The questions of a round, by keys that no other round has.
    fn keys(&self, round: usize) -> impl Iterator<Item = (String, &str)> {
        let key = move |key: &String| if round == 1 { key.clone() } else { format!("{key}#{round}") };
        self.questions.iter().map(move |(name, params)| (key(name), params.as_str()))
    }

    fn state(&self, round: usize) -> Option<String> {
        match &self.state {
            State::Made => Some(format!(
                " {round}/{} \"q\" \\u0041 {{\"a\":[1.0]}} %7B+&=;é e\u{301} 🦀 \u{2028}\t\r\n",
                self.rounds
            )),
            State::Written(rounds) => rounds.get(round - 1).or(rounds.last())?.clone(),
        }
    }

    /// What the tool returns: the answer, or the answers by key.
    fn answers<'a>(&self, answers: impl IntoIterator<Item = &'a str>) -> String {
        let mut answers = answers.into_iter().map(str::to_owned);
        if self.keyed {
            object(self.questions.iter().map(|(key, _)| key.as_str()).zip(answers))
        } else {
            answers.next().unwrap_or_else(|| "{}".to_owned())
        }
    }
}

fn is_true(template: Option<&Template>) -> bool {
    template == Some(&Template::Bool(true))
}

fn parameters(elicit: &Template, bindings: &Bindings) -> String {
    let Template::Object(members) = elicit else { return elicit.render(bindings) };
    let members = members.iter().filter(|(name, _)| !MANNERS.contains(&name.as_str()));
    Template::Object(members.cloned().collect()).render(bindings)
}

fn is_answer(answer: &str) -> bool {
    let action = Members::of(answer).and_then(|answer| string(answer.get("action")?));
    action.is_some_and(|action| ["accept", "decline", "cancel"].contains(&action.as_str()))
}

/// A call of the stateful lifecycle that asks the client before it is answered.
#[derive(Debug)]
pub(super) struct Dialog {
    server: Arc<Server>,
    id: String,
    method: String,
    elicits: Elicits,
}

impl Dialog {
    pub(super) fn new(server: Arc<Server>, id: String, method: String, elicits: Elicits) -> Self {
        Self { server, id, method, elicits }
    }

    /// Asks, waits, and answers, until the client is gone.
    pub(super) async fn hold(self, mut outlet: Outlet) {
        let Ok(parts) = self.result(&mut outlet).await else { return };
        let text = self.server.response_to(&self.id, &self.method, &self.server.complete(parts));
        // Nobody there to hear it is nobody's fault.
        _ = outlet.send(text).await;
    }

    async fn result(&self, outlet: &mut Outlet) -> Result<Parts, Gone> {
        let mut answers = Vec::new();
        for round in 1..=self.elicits.rounds {
            answers.clear();
            for (_, params) in self.elicits.keys(round) {
                match self.ask(params, outlet).await? {
                    Some(answer) if is_object(&answer) => answers.push(answer),
                    Some(_) => return Ok(failure("the client's answer is no object")),
                    None => return Ok(failure("the client answered with an error")),
                }
            }
        }
        Ok(structured(&self.elicits.answers(answers.iter().map(String::as_str))))
    }

    async fn ask(&self, params: &str, outlet: &mut Outlet) -> Result<Answered, Gone> {
        let (request, answer) = self.server.ask(params);
        outlet.send(request).await?;
        answer.await.map_err(|_| Gone)
    }
}
