//! Tools that elicit: by requests to the client in the stateful lifecycle, by input-required results in the stateless
//! one.
//!
//! Takes the `elicit` of a case, gives requests, and a result when all are answered. Must not know transports, or
//! whether an answer fits its request.

use std::sync::Arc;

use super::outlet::{Disconnected, Outlet};
use super::server::{Answered, Call, Fault, Server, Turn};
use super::tools::{Parts, failure, structured};
use crate::jsonrpc::text::{Members, is_object, string};
use crate::jsonrpc::text::{object, quoted};
use crate::model::template::{Bindings, Template};

/// The key of a request to which the case gives none.
const KEY: &str = "q";
/// The members of `elicit` that are no parameters of the request.
const MANNERS: [&str; 4] = ["requests", "rounds", "state", "stateOnly"];
/// The number of rounds that a case can have.
const MAX_ROUNDS: u64 = 100;

/// The elicitation of a tool.
#[derive(Clone, Debug)]
pub(super) struct Elicits {
    /// The requests of a round: key and parameters, as JSON.
    questions: Vec<(String, String)>,
    /// Set if the case gives keys to the requests. The tool then returns the answers by key.
    keyed: bool,
    rounds: usize,
    state: State,
    /// Set if the case names a mode. The tool then elicits, regardless of the client's capabilities.
    insists: bool,
}

/// The `requestState` of the stateless lifecycle.
#[derive(Clone, Debug)]
enum State {
    /// A different state in each round, with characters that are easily damaged in transit.
    Made,
    /// The states of the rounds as the case gives them. The last one applies to all further rounds; `None` means no
    /// state.
    Written(Vec<Option<String>>),
}

/// The response to a request of the stateless lifecycle.
#[derive(Debug)]
enum RoundResult<'a> {
    /// All requests of a round.
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

    /// Returns whether the client declared, as JSON, that it supports the elicitation.
    pub(super) fn may_ask(&self, capabilities: &str) -> bool {
        let modes = Members::of(capabilities).and_then(|all| all.get("elicitation").and_then(Members::of));
        // A client that declares no mode supports forms.
        let form = modes.is_some_and(|modes| modes.get("form").is_some() || modes.get("url").is_none());
        self.insists || self.questions.is_empty() || form
    }

    /// Returns the response to a request of the stateless lifecycle, which depends on this request only.
    pub(super) fn round_trip(&self, call: &Call<'_>, server: &Server) -> Result<String, Fault> {
        let round = match self.turn(call)? {
            RoundResult::Ask(round) => round,
            RoundResult::Done(answers) => return Ok(server.complete(structured(&self.answers(answers)))),
        };
        let mut parts = Vec::new();
        if !self.questions.is_empty() {
            let request = |params: &str| {
                let request = object([("method", quoted("elicitation/create")), ("params", params.to_owned())]);
                server.question(request)
            };
            let asked: Vec<_> = self.keys(round).map(|(key, params)| (key, request(params))).collect();
            parts.push(("inputRequests", object(asked.iter().map(|(key, asked)| (key.as_str(), asked.clone())))));
        }
        parts.extend(self.state(round).map(|state| ("requestState", quoted(&state))));
        Ok(server.result("input_required", parts))
    }

    fn turn<'a>(&self, call: &Call<'a>) -> Result<RoundResult<'a>, Fault> {
        let given = match call.params.get("inputResponses") {
            None => Members::default(),
            Some(given) => Members::of(given).ok_or_else(|| Fault::params("`inputResponses` is no object"))?,
        };
        let state = call.params.get("requestState").map(string);
        let refused = || Fault::params("`requestState` is not what was given");
        let state = state.map(|state| state.ok_or_else(refused)).transpose()?;
        let Some(round) = self.round(&given, state.as_deref()) else {
            return if state.is_some() { Err(refused()) } else { Ok(RoundResult::Ask(1)) };
        };
        if self.state(round) != state {
            return Err(refused());
        }
        let answers: Vec<_> = self.keys(round).filter_map(|(key, _)| given.get(&key)).collect();
        if !answers.iter().all(|answer| is_answer(answer)) {
            return Err(Fault::params("an answer in `inputResponses` is none"));
        }
        Ok(match round {
            // Answers are not stored between requests, so that incomplete ones start the round again.
            _ if answers.len() < self.questions.len() => RoundResult::Ask(round),
            _ if round < self.rounds => RoundResult::Ask(round + 1),
            _ => RoundResult::Done(answers),
        })
    }

    /// Returns the round that a request answers, according to its keys or to the state.
    fn round(&self, given: &Members<'_>, state: Option<&str>) -> Option<usize> {
        let mut rounds = (1..=self.rounds).rev();
        let by_key = rounds.clone().find(|round| self.keys(*round).any(|(key, _)| given.get(&key).is_some()));
        by_key.or_else(|| rounds.find(|round| state.is_some() && self.state(*round).as_deref() == state))
    }

    /// Returns the requests of a round, with keys that no other round has.
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

    /// Returns the result of the tool: the answer, or the answers by key.
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

/// A call of the stateful lifecycle that sends requests to the client before its response.
#[derive(Debug)]
pub(super) struct Dialog {
    server: Arc<Server>,
    id: String,
    turn: Turn,
    elicits: Elicits,
}

impl Dialog {
    pub(super) fn new(server: Arc<Server>, id: String, turn: Turn, elicits: Elicits) -> Self {
        Self { server, id, turn, elicits }
    }

    /// Sends the requests, waits for the answers, and responds, until the client disconnects.
    pub(super) async fn hold(self, mut outlet: Outlet) {
        let Ok(parts) = self.result(&mut outlet).await else { return };
        let text = self.server.response_to(&self.id, &self.turn, &self.server.complete(parts));
        // An error means that the client has disconnected.
        _ = outlet.send(text).await;
    }

    async fn result(&self, outlet: &mut Outlet) -> Result<Parts, Disconnected> {
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

    async fn ask(&self, params: &str, outlet: &mut Outlet) -> Result<Answered, Disconnected> {
        let (request, answer) = self.server.ask(params);
        outlet.send(request).await?;
        answer.await.map_err(|_| Disconnected)
    }
}
