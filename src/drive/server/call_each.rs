//! Calls of the tools that a server lists, with arguments derived from their listed schemas.
//!
//! Takes the kind of arguments and the tools that may be called, gives the messages of the list and of all calls. Must
//! not know the expected behaviour.
//!
//! A server that does not validate runs its tool with arguments that its schema refuses. A tool that nobody permitted is
//! therefore called only with arguments with which it cannot do its work ([`ListedSchema::refused`]), and never with
//! arguments that its schema accepts; one that the server calls destructive is not called at all.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::connection::Connection;
use super::exchange::{Exchange, ExchangeLog};
use crate::drive::clock::Deadline;
use crate::jsonrpc::message;
use crate::model::arguments::{ListedSchema, TOOLS, With, is_destructive};
use crate::model::callable::Callable;
use crate::model::case::{Answer, Retry, Step};
use crate::model::spec::{Lifecycle, Revision};
use crate::model::template::{Bindings, Template};
use crate::model::transcript::{End, Message, Party};

/// The time after which no further call is made, so that the calls of a slow server do not use up the time of the test.
const ENOUGH: Duration = Duration::from_secs(20);
/// The bytes of messages after which no further call is made.
const BYTES: usize = 16 << 20;
/// Begins the progress tokens of the calls.
const TOKEN: &str = "casebook-call-";
/// The answers to all questions of one call.
static ANSWERS: [Answer; 16] = [const { Answer::Decline }; 16];

/// The tools that may be called, and the time limit of each call.
#[derive(Debug, Default)]
pub(crate) struct Permission {
    pub(crate) callable: Callable,
    pub(crate) limit: Duration,
}

impl Connection {
    /// Lists the tools and calls them one after the other. A call without a usable response ends the step.
    pub(crate) async fn call_each(
        &mut self,
        (with, also): (With, &[Template]),
        permission: &Permission,
        step: &Step,
        bindings: &Bindings,
        deadline: Deadline,
    ) -> Exchange {
        let capabilities = self.capabilities(step.declares.as_ref(), bindings);
        let began = deadline.micros();
        let log =
            |answers| ExchangeLog::new(bindings, capabilities.clone(), answers, deadline.narrowed(permission.limit));
        let mut whole = self.list_once(log(&[])).await;
        if !matches!(whole.end, End::Replied { .. }) {
            return whole;
        }
        let also: Vec<Value> = also.iter().filter_map(|one| serde_json::from_str(&one.render(bindings)).ok()).collect();
        let (mut bytes, mut number) = (0, 0);
        for (tool, arguments) in calls(self.revision, (with, &also), &permission.callable, &whole.messages) {
            if Duration::from_micros(deadline.micros().saturating_sub(began)) > ENOUGH || bytes > BYTES {
                break;
            }
            let arguments = arguments.as_ref().map(Template::from);
            let mut log = log(&ANSWERS);
            number += 1;
            // Progress is observed where the tools do their work.
            log.token = (with == With::Accepted).then(|| format!("{TOKEN}{number}"));
            let called = self.call_once(log, &tool, arguments.as_ref()).await;
            bytes += called.messages.iter().map(|message| message.text.len()).sum::<usize>();
            let first = whole.messages.len();
            whole.messages.extend(called.messages);
            whole.micros = deadline.micros().saturating_sub(began);
            match called.end {
                End::Replied { message } => whole.end = End::Replied { message: first + message },
                // In a session, a call that asks again after each refusal never ends. Without one, asking is its result.
                End::Unanswered if self.revision.facts().lifecycle == Lifecycle::Stateful && with == With::Accepted => {
                    whole.end = End::Unanswered;
                    break;
                }
                End::Accepted | End::Handed | End::Unanswered | End::Empty | End::Http { .. } => {}
                end @ (End::Invalid { .. } | End::Oversized | End::Timeout | End::Crash { .. }) => {
                    whole.end = end;
                    break;
                }
            }
        }
        whole
    }

    async fn list_once(&mut self, mut log: ExchangeLog<'_>) -> Exchange {
        self.catch_up(&mut log).await;
        let end = self.list(&mut log).await;
        log.finish(end.map_or_else(|end| end, |message| End::Replied { message }))
    }

    async fn call_once(&mut self, mut log: ExchangeLog<'_>, tool: &str, arguments: Option<&Template>) -> Exchange {
        self.catch_up(&mut log).await;
        let end = self.call(&mut log, tool, arguments, &Retry::default()).await;
        log.finish(end.map_or_else(|end| end, |message| End::Replied { message }))
    }
}

/// Returns the calls of the tools of a list, each with the name of its tool: first one call of each tool, so that a slow
/// tool delays no other one. Of two tools with one name, the first counts.
///
/// A tool that takes no arguments is called without them before it is called with `{}`: if only the later call succeeds,
/// it was not the earlier one that made it fail.
fn calls(
    revision: Revision,
    (with, also): (With, &[Value]),
    callable: &Callable,
    messages: &[Message],
) -> Vec<(String, Option<Value>)> {
    #[derive(Deserialize)]
    struct Page<'a> {
        #[serde(borrow)]
        tools: Vec<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Tool<'a> {
        name: String,
        #[serde(rename = "inputSchema", borrow)]
        input: &'a RawValue,
        #[serde(borrow)]
        annotations: Option<&'a RawValue>,
    }
    let came = messages.iter().filter(|message| message.from == Party::Target);
    let results = came.filter_map(|message| message::result_of(&message.text));
    let pages = results.filter_map(|result| serde_json::from_str::<Page<'_>>(result.get()).ok());
    let tools = pages.flat_map(|page| page.tools);
    let mut tools: Vec<Tool<'_>> = tools.filter_map(|tool| serde_json::from_str(tool.get()).ok()).collect();
    let mut names = BTreeSet::new();
    tools.retain(|tool| names.insert(tool.name.clone()));
    tools.truncate(TOOLS);
    let mut calls = Vec::new();
    for Tool { name, input, annotations } in tools {
        let may_run = callable.allows(&name);
        if !may_run && annotations.is_some_and(is_destructive) {
            continue;
        }
        let chosen = callable.arguments(&name);
        let schema = ListedSchema::read(input.get(), revision);
        let derived = match (with, &schema) {
            // A person knows what the tool takes, also where the schema says nothing that can be read.
            (With::Accepted, _) if !chosen.is_empty() => chosen.into_iter().cloned().collect(),
            (_, None) => continue,
            (With::Refused, Some(schema)) => schema.refused(may_run, chosen.first().copied()),
            (With::Accepted, Some(schema)) if may_run => schema.accepted(),
            (With::Accepted, Some(_)) => Vec::new(),
        };
        let is_such =
            |one: &&Value| schema.as_ref().is_some_and(|schema| schema.accepts(one) == (with == With::Accepted));
        let none = (with == With::Accepted && derived.contains(&json!({}))).then_some(None);
        let given = also.iter().filter(is_such).cloned().chain(derived).map(Some);
        let arguments = none.into_iter().chain(given);
        calls.extend(arguments.enumerate().map(|(round, arguments)| (round, name.clone(), arguments)));
    }
    // The sort keeps the order of the tools within a round.
    calls.sort_by_key(|(round, ..)| *round);
    calls.into_iter().map(|(_, name, arguments)| (name, arguments)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::callable::Permitted;

    fn list(tools: &Value) -> Vec<Message> {
        let text = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}).to_string();
        vec![Message::new(Party::Harness, "{}"), Message::new(Party::Target, text)]
    }

    fn tool(name: &str) -> Value {
        let text = json!({"type": "string", "minLength": 2});
        json!({"name": name, "inputSchema": {"type": "object", "properties": {"a": text}, "required": ["a"]}})
    }

    fn permitted(arguments: Option<Value>) -> Callable {
        Callable { every: false, named: vec![Permitted { tool: "two".to_owned(), arguments }] }
    }

    #[test]
    fn given_arguments_replace_the_derived_ones() {
        let open = json!({"name": "two", "inputSchema": {"$ref": "#/nowhere"}});
        let given = json!({"a": "given", "b": [1]});
        for tools in [list(&json!([tool("two")])), list(&json!([open]))] {
            let sent = calls(Revision::newest(), (With::Accepted, &[]), &permitted(Some(given.clone())), &tools);
            assert_eq!(sent, [("two".to_owned(), Some(given.clone()))]);
        }
        let tools = list(&json!([tool("two")]));
        let sent = calls(Revision::newest(), (With::Refused, &[]), &permitted(Some(given.clone())), &tools);
        assert!(sent.contains(&("two".to_owned(), Some(json!({"b": [1]})))), "{sent:?}");
        assert!(!sent.contains(&("two".to_owned(), Some(given))), "{sent:?}");
    }

    #[test]
    fn accepted_arguments_are_sent_only_to_permitted_tools() {
        let tools = list(&json!([tool("one"), tool("two")]));
        let named = permitted(None);
        assert_eq!(calls(Revision::newest(), (With::Accepted, &[]), &Callable::default(), &tools), Vec::new());
        assert_eq!(
            calls(Revision::newest(), (With::Accepted, &[]), &named, &tools),
            ["casebook", "zürich 世界"].map(|text| ("two".to_owned(), Some(json!({ "a": text }))))
        );
        assert_eq!(calls(Revision::newest(), (With::Accepted, &[]), &Callable::all(), &tools).len(), 4);
        let near = Some(json!({"a": "c"}));
        let sent = |callable: &Callable, tool: &str| {
            let calls = calls(Revision::newest(), (With::Refused, &[]), callable, &tools).into_iter();
            calls.filter(|(name, _)| name == tool).map(|(_, arguments)| arguments).collect::<Vec<_>>()
        };
        assert!(!sent(&named, "one").contains(&near) && sent(&named, "two").contains(&near));
        assert_eq!(
            sent(&Callable::default(), "two"),
            [json!({}), json!({"a": {"casebook": "refused"}}), json!(["casebook"])].map(Some)
        );
    }

    #[test]
    fn tool_without_parameters_is_first_called_without_arguments() {
        let tools = list(&json!([{"name": "one", "inputSchema": {"type": "object"}}]));
        let sent = calls(Revision::newest(), (With::Accepted, &[]), &Callable::all(), &tools)
            .into_iter()
            .map(|(_, arguments)| arguments);
        assert_eq!(sent.collect::<Vec<_>>(), [None, Some(json!({}))]);
    }

    #[test]
    fn destructive_tool_is_called_only_with_permission() {
        let annotated = |annotations: Value| {
            let mut tool = tool("one");
            tool["annotations"] = annotations;
            list(&json!([tool]))
        };
        let marked = annotated(json!({"destructiveHint": true}));
        assert_eq!(calls(Revision::newest(), (With::Refused, &[]), &Callable::default(), &marked), Vec::new());
        assert!(!calls(Revision::newest(), (With::Refused, &[]), &Callable::all(), &marked).is_empty());
        for other in [json!({"destructiveHint": false}), json!({"title": "one"}), json!(7), json!(null)] {
            assert_eq!(
                calls(Revision::newest(), (With::Refused, &[]), &Callable::default(), &annotated(other)).len(),
                3
            );
        }
    }

    #[test]
    fn malformed_tools_of_a_list_are_not_called() {
        let odd = json!([7, {"name": 7}, {"name": "x"}, {"name": "y", "inputSchema": 7}, tool("z"), tool("z")]);
        assert_eq!(calls(Revision::newest(), (With::Accepted, &[]), &Callable::all(), &list(&odd)).len(), 2);
        assert_eq!(calls(Revision::newest(), (With::Accepted, &[]), &Callable::all(), &list(&json!({}))), Vec::new());
    }
}
