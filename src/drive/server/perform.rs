//! The messages of a case's steps, in both lifecycles.
//!
//! Takes steps, gives [`Exchange`]s: requests with ids, capabilities and `_meta`, pages, and the rounds of a call. Must
//! not know transports or the expected behaviour.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::drive::clock::Deadline;
use crate::drive::server::connection::{Connection, elicit_result};
use crate::drive::server::exchange::{Exchange, ExchangeLog};
use crate::jsonrpc::message::{self, Awaits};
use crate::jsonrpc::nesting;
use crate::jsonrpc::text::{object, quoted};
use crate::model::case::{Misplacing, Retry, Step, Tampering, When};
use crate::model::spec::Lifecycle;
use crate::model::template::{Bindings, Template};
use crate::model::transcript::End;

/// The number of pages of a list that are read.
const MAX_PAGES: usize = 50;
/// The number of times that a call is repeated with the input that the server requested.
const MAX_ROUNDS: usize = 8;
/// The time in which a server becomes able to send messages on a GET stream, after the response to a further request.
const SETTLE: Duration = Duration::from_millis(50);
/// The `clientInfo` of casebook.
const CLIENT: &str = r#"{"name":"casebook","version":"1"}"#;
/// The notification that a client must send after `initialize`.
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

impl Connection {
    /// Prepares the connection for its first step and the following ones. The end is [`End::Accepted`] if the
    /// connection is ready, and [`End::Replied`] if the server answers `initialize` with an error. The stateless
    /// lifecycle needs no preparation.
    pub(crate) async fn open(&mut self, first: &Step, bindings: &Bindings, deadline: Deadline) -> Exchange {
        let mut log = ExchangeLog::new(bindings, self.capabilities(first.declares.as_ref(), bindings), &[], deadline);
        let end = match self.revision.facts().lifecycle {
            Lifecycle::Stateful => {
                let listens = !matches!(first.when, When::Bare { .. });
                self.initialize(&mut log, first.initialized, listens).await
            }
            Lifecycle::Stateless => Err(End::Accepted),
        };
        log.finish(end_of(end))
    }

    /// Performs a step.
    ///
    /// A message is sent exactly as the case gives it, and a string as its bare text. Only an object with a `method`
    /// and without `jsonrpc` is completed with a client's usual `jsonrpc`, `id` and `_meta`.
    pub(crate) async fn perform(&mut self, step: &Step, bindings: &Bindings, deadline: Deadline) -> Exchange {
        let answers = match &step.when {
            When::Call { answers, .. } => answers.as_slice(),
            _ => &[],
        };
        let capabilities = self.capabilities(step.declares.as_ref(), bindings);
        let mut log = ExchangeLog::new(bindings, capabilities, answers, deadline);
        self.catch_up(&mut log).await;
        let end = match &step.when {
            When::Serve
            | When::CallEach { .. }
            | When::AtOnce(_)
            | When::Cancel { .. }
            | When::Bare { .. }
            | When::EndInput => Err(End::Accepted),
            When::List => self.list(&mut log).await,
            When::Call { tool, arguments, retry, .. } => self.call(&mut log, tool, arguments.as_ref(), retry).await,
            When::Send { message, headers } => {
                let text = match message {
                    Template::String(text) => text.clone(),
                    _ => self.completed(&log, message),
                };
                let awaits = Awaits::of(&text);
                self.exchange(&mut log, text, headers, &awaits).await
            }
        };
        if step.then.looks_into_events() {
            self.linger(&mut log).await;
        }
        log.finish(end_of(end))
    }

    /// Returns the capabilities that the client declares, as JSON; by default, elicitation by form.
    pub(crate) fn capabilities(&self, declares: Option<&Template>, bindings: &Bindings) -> String {
        match declares {
            Some(declares) => declares.render(bindings),
            None if self.revision.facts().elicitation_modes => r#"{"elicitation":{"form":{}}}"#.to_owned(),
            None => r#"{"elicitation":{}}"#.to_owned(),
        }
    }

    async fn initialize(&mut self, log: &mut ExchangeLog<'_>, to_the_end: bool, listens: bool) -> Result<usize, End> {
        #[derive(Default, Deserialize)]
        struct Agreed {
            #[serde(default, rename = "protocolVersion")]
            version: String,
        }
        let revision = self.revision.name();
        let params = vec![
            ("protocolVersion", quoted(revision)),
            ("capabilities", log.capabilities.clone()),
            ("clientInfo", CLIENT.to_owned()),
        ];
        let response = self.request(log, "initialize", params).await?;
        let Some(result) = message::result_of(log.text(response)) else { return Ok(response) };
        let Agreed { version } = serde_json::from_str(result.get()).unwrap_or_default();
        if version != revision {
            let version: String = version.chars().take(80).collect();
            return Err(End::Invalid {
                reason: format!("`initialize` negotiated `{version}` instead of `{revision}`"),
            });
        }
        self.store_agreement(log);
        if to_the_end {
            let end = self.exchange(log, INITIALIZED.to_owned(), &[], &Awaits::Nothing).await;
            if let Err(End::Timeout | End::Crash { .. } | End::Http { .. } | End::Oversized) = end {
                return end;
            }
        }
        // The cases about notifications judge a response to `initialized`.
        if listens && self.open_get_stream(log).await && self.is_asked {
            self.settle(log).await;
        }
        Err(End::Accepted)
    }

    /// Waits until a server that has sent the headers of a GET stream can also send messages on it. One SDK sends the
    /// headers before it registers the stream, and drops a question that it sends in between. No message shows the end
    /// of this time, which is longest in a process that was just started.
    async fn settle(&mut self, log: &mut ExchangeLog<'_>) {
        let deadline = log.deadline;
        log.shorten_deadline();
        // The cases about pings judge the response.
        _ = self.request(log, "ping", Vec::new()).await;
        log.deadline = deadline;
        tokio::time::sleep(SETTLE).await;
    }

    /// Sends a request and waits for its response.
    async fn request(
        &mut self,
        log: &mut ExchangeLog<'_>,
        method: &str,
        mut params: Vec<(&str, String)>,
    ) -> Result<usize, End> {
        let token = log.token.as_deref().filter(|_| method == "tools/call");
        params.extend(self.meta_with(log, token).map(|meta| ("_meta", meta)));
        let id = self.next_id();
        let message = message::request(id, method, &object(params));
        self.exchange(log, message, &[], &Awaits::Response(id.into())).await
    }

    /// Returns the `_meta` that the stateless lifecycle requires in every request.
    fn meta(&self, log: &ExchangeLog<'_>) -> Option<String> {
        self.meta_with(log, None)
    }

    /// Returns the `_meta` of a request, with a progress token if there is one.
    fn meta_with(&self, log: &ExchangeLog<'_>, token: Option<&str>) -> Option<String> {
        let token = token.map(|token| ("progressToken", quoted(token)));
        let meta = self.required_meta(log).into_iter().flatten().chain(token).collect::<Vec<_>>();
        (!meta.is_empty()).then(|| object(meta))
    }

    fn required_meta(&self, log: &ExchangeLog<'_>) -> Option<[(&'static str, String); 3]> {
        (self.revision.facts().lifecycle == Lifecycle::Stateless).then(|| {
            [
                ("io.modelcontextprotocol/protocolVersion", quoted(self.revision.name())),
                ("io.modelcontextprotocol/clientInfo", CLIENT.to_owned()),
                ("io.modelcontextprotocol/clientCapabilities", log.capabilities.clone()),
            ]
        })
    }

    /// Lists the tools, page by page, until a page comes again. The response is the last page or the first error.
    pub(super) async fn list(&mut self, log: &mut ExchangeLog<'_>) -> Result<usize, End> {
        #[derive(Default, Deserialize)]
        struct Page {
            #[serde(default, rename = "nextCursor")]
            next: Option<String>,
        }
        let mut cursor: Option<String> = None;
        let mut pages: Vec<usize> = Vec::new();
        loop {
            let params = cursor.iter().map(|cursor| ("cursor", quoted(cursor))).collect();
            let response = self.request(log, "tools/list", params).await?;
            let Some(result) = message::result_of(log.text(response)) else { return Ok(response) };
            let is_same = |page: &usize| message::result_of(log.text(*page)).is_some_and(|it| it.get() == result.get());
            let is_again = pages.iter().any(is_same);
            pages.push(response);
            self.mirrored.learn(result);
            cursor = serde_json::from_str::<Page>(result.get()).unwrap_or_default().next;
            if cursor.is_none() || is_again || pages.len() == MAX_PAGES {
                return Ok(response);
            }
        }
    }

    /// Calls a tool. In the stateless lifecycle, the input that the server requests is sent by repeating the call.
    pub(super) async fn call(
        &mut self,
        log: &mut ExchangeLog<'_>,
        tool: &str,
        arguments: Option<&Template>,
        changes: &Retry,
    ) -> Result<usize, End> {
        let params_of = |log: &ExchangeLog<'_>, tool: &str, arguments: Option<&Template>| {
            let arguments = arguments.map(|arguments| ("arguments", arguments.render(log.bindings)));
            [("name", quoted(tool))].into_iter().chain(arguments).collect::<Vec<_>>()
        };
        let mut response = self.request(log, "tools/call", params_of(log, tool, arguments)).await?;
        if self.revision.facts().lifecycle == Lifecycle::Stateful {
            return Ok(response);
        }
        for _ in 0..MAX_ROUNDS {
            let Some(round) = Round::of(log.text(response)) else { return Ok(response) };
            let (asked, state) = (round.asked()?, round.state.map(|state| state.get().to_owned()));
            let tool = changes.tool.as_deref().unwrap_or(tool);
            let mut retry = params_of(log, tool, changes.arguments.as_ref().or(arguments));
            if changes.fresh {
                self.renew();
            }
            tokio::time::sleep(Duration::from_secs(changes.after.into())).await;
            let answers = answered(log, asked, changes.answers)?;
            retry.extend(answers.map(|answers| ("inputResponses", answers)));
            retry.extend(state.map(|state| ("requestState", tampered(state, changes.state))));
            response = self.request(log, "tools/call", retry).await?;
            // The server cannot do more than ask again.
            if changes.answers.is_some_and(|answers| answers != Misplacing::Added) {
                return Ok(response);
            }
        }
        Round::of(log.text(response)).map_or(Ok(response), |_| Err(End::Unanswered))
    }

    /// Returns the parameters of a `tools/call`, as JSON, with a progress token if there is one.
    pub(crate) fn params_of_call(
        &self,
        log: &ExchangeLog<'_>,
        tool: &str,
        arguments: Option<&Template>,
        token: Option<&str>,
    ) -> String {
        let arguments = arguments.map(|arguments| ("arguments", arguments.render(log.bindings)));
        let meta = self.meta_with(log, token).map(|meta| ("_meta", meta));
        object([("name", quoted(tool))].into_iter().chain(arguments).chain(meta))
    }

    /// Returns a message of the case, completed with a client's usual members if the case leaves them out.
    fn completed(&mut self, log: &ExchangeLog<'_>, message: &Template) -> String {
        let (Template::Object(members), Some(Template::String(method)), None) =
            (message, message.get("method"), message.get("jsonrpc"))
        else {
            return message.render(log.bindings);
        };
        let mut whole = vec![("jsonrpc", quoted("2.0"))];
        let mut params = None;
        if !method.starts_with("notifications/") {
            if message.get("id").is_none() {
                whole.push(("id", self.next_id().to_string()));
            }
            params = self.with_meta(log, message.get("params"));
        }
        let is_written = |(key, _): &(&str, String)| params.is_none() || *key != "params";
        whole.extend(rendered(members, log.bindings).filter(is_written));
        whole.extend(params.map(|params| ("params", params)));
        object(whole)
    }

    /// Returns the parameters of a request, with `_meta` if it is required and the case gives none.
    fn with_meta(&self, log: &ExchangeLog<'_>, params: Option<&Template>) -> Option<String> {
        let members = match params {
            None => &[],
            Some(Template::Object(members)) => members.as_slice(),
            Some(_) => return None,
        };
        let meta = self.meta(log).filter(|_| members.iter().all(|(key, _)| key != "_meta"))?;
        Some(object(rendered(members, log.bindings).chain([("_meta", meta)])))
    }
}

/// Returns the members of an object as JSON, without those that must be absent.
fn rendered<'a>(
    members: &'a [(String, Template)],
    bindings: &'a Bindings,
) -> impl Iterator<Item = (&'a str, String)> + 'a {
    let written = members.iter().filter(|(_, value)| *value != Template::Absent);
    written.map(|(key, value)| (key.as_str(), value.render(bindings)))
}

fn end_of(end: Result<usize, End>) -> End {
    end.map_or_else(|end| end, |message| End::Replied { message })
}

/// A result that requests input.
#[derive(Deserialize)]
struct Round<'a> {
    #[serde(rename = "resultType", borrow)]
    kind: Option<&'a RawValue>,
    #[serde(rename = "inputRequests", borrow)]
    requests: Option<&'a RawValue>,
    #[serde(rename = "requestState", borrow)]
    state: Option<&'a RawValue>,
}

impl<'a> Round<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let round: Self = serde_json::from_str(message::result_of(text)?.get()).ok()?;
        round.kind.is_some_and(|kind| kind.get() == r#""input_required""#).then_some(round)
    }

    /// Returns the requests in the order of their keys, because members of an object have no order.
    fn asked(&self) -> Result<BTreeMap<String, Value>, End> {
        let invalid = |reason: String| End::Invalid { reason };
        match (self.requests, self.state) {
            (Some(requests), _) => nesting::read(requests.get().as_bytes())
                .map_err(|error| invalid(format!("invalid `inputRequests`: {error}"))),
            (None, Some(_)) => Ok(BTreeMap::new()),
            (None, None) => Err(invalid("`input_required` with neither `inputRequests` nor `requestState`".to_owned())),
        }
    }
}

/// Returns the state that a retry carries, as JSON.
fn tampered(state: String, tampering: Option<Tampering>) -> String {
    match tampering {
        None => state,
        Some(Tampering::Forged) => quoted("forged"),
        Some(Tampering::Altered) => {
            quoted(&super::altered::state(&serde_json::from_str::<String>(&state).unwrap_or_default()))
        }
    }
}

/// Returns the answer to each request; `None` if there are no requests.
fn answered(
    log: &mut ExchangeLog<'_>,
    asked: BTreeMap<String, Value>,
    misplacing: Option<Misplacing>,
) -> Result<Option<String>, End> {
    let mut answers = Vec::new();
    for (key, request) in asked {
        let answer = log.answer().filter(|_| request["method"] == "elicitation/create").ok_or(End::Unanswered)?;
        let answer = elicit_result(answer, log.bindings);
        match misplacing {
            None | Some(Misplacing::Added) => answers.push((key, answer)),
            Some(Misplacing::Renamed) => answers.push((format!("casebook {key}"), answer)),
            Some(Misplacing::LeftOut) => return Ok(Some("{}".to_owned())),
        }
    }
    if misplacing == Some(Misplacing::Added) {
        answers.push(("casebook".to_owned(), r#"{"action":"accept","content":{}}"#.to_owned()));
    }
    let members = answers.iter().map(|(key, answer)| (key.as_str(), answer.clone()));
    Ok((!answers.is_empty()).then(|| object(members)))
}

#[cfg(test)]
mod tests;
