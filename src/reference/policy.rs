//! The decisions that the specification asks of a server and a client, as values.
//!
//! [`Policy::STRICT`] is the specification; the comment of each field says what its strict value means. A mutant is
//! another policy. The server and the client read their policy, and must not know mutants.

use std::time::Duration;

use jsonschema::Draft;
use reqwest::header::HeaderMap;
use serde_json::{Map, Value, json};

use crate::client::elicit;
use crate::edits::Edit;
use crate::parameters::{self, Parameter};
use crate::revision::Revision;
use crate::schema::{BOUNDS, BUDGET, Bounds};
use crate::server::Server;
use crate::server::elicitation::Form;
use crate::server::fixture::Tool;

/// Structs of decisions, each with its doc comment, type and strict value in one place.
macro_rules! decisions {
    ($($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty = $strict:expr,)+ })+) => { $(
        $(#[$about])*
        #[derive(Clone, Debug)]
        #[allow(clippy::struct_excessive_bools, reason = "each is a decision of its own")]
        pub(crate) struct $name { $($(#[$doc])* pub(crate) $field: $type,)+ }

        impl $name {
            /// The specification.
            pub(crate) const STRICT: Self = Self { $($field: $strict,)+ };
        }
    )+ };
}

decisions! {
    /// All decisions, of a server and of a client.
    Policy {
        schemas: SchemasPolicy = SchemasPolicy::STRICT,
        output: OutputPolicy = OutputPolicy::STRICT,
        tools: ToolsPolicy = ToolsPolicy::STRICT,
        requests: RequestsPolicy = RequestsPolicy::STRICT,
        errors: ErrorsPolicy = ErrorsPolicy::STRICT,
        forms: FormsPolicy = FormsPolicy::STRICT,
        transport: TransportPolicy = TransportPolicy::STRICT,
        client: ClientPolicy = ClientPolicy::STRICT,
        user: UserPolicy = UserPolicy::STRICT,
        /// What a server remembers from one message to the next: nothing that changes an answer.
        remembers: Option<Event> = None,
        /// Changes to messages: none.
        edits: Vec<Edit> = Vec::new(),
    }

    /// Schemas, on both sides.
    SchemasPolicy {
        /// Every schema is bounded.
        bounds: Bounds = BOUNDS,
        /// Reading a schema, or checking a value, takes no longer.
        budget: Duration = BUDGET,
        /// A schema without `$schema` is one of 2020-12.
        default_dialect: Draft = Draft::Draft202012,
        /// A schema may name 2020-12 as its dialect.
        default_dialect_may_be_named: bool = true,
        /// A schema is compiled as it came, and nothing in it is visited.
        prepare: fn(&mut Value) = |_| {},
        /// References to other documents are refused, not fetched.
        fetches_references: bool = false,
        /// A schema that can't be compiled is refused, not taken for one that accepts everything.
        accepts_uncompilable: bool = false,
        /// Checking a value ends, whatever the schema and the value.
        hangs_on: fn(&Value, &Value) -> bool = |_, _| false,
        /// Schemas with the same `$id` are still schemas of their own.
        are_shared_by_id: bool = false,
    }

    /// The results of tools, on both sides.
    OutputPolicy {
        /// Structured content fits the output schema.
        is_checked: bool = true,
        /// A tool with an output schema returns structured content.
        is_required: bool = true,
        /// The result of a tool that failed need not fit the output schema.
        is_checked_after_failure: bool = false,
        /// The JSON texts that count as no structured content: none; every value is content.
        absent: &'static [&'static str] = &[],
        /// Before this revision, structured content is an object.
        any_root_since: Revision = Revision::July2026,
        /// A list goes out as a list, not within an object.
        wraps_lists: bool = false,
        /// Structured content has its text beside it.
        is_mirrored_as_text: bool = true,
    }

    /// The tools that a server accepts from its author, and lists.
    ToolsPolicy {
        /// A sound fixture becomes a server.
        are_served: bool = true,
        /// The characters of a name beside letters and digits.
        name_marks: &'static str = "_-.",
        /// The greatest length of a name.
        name_length: usize = 128,
        /// Two tools have two names.
        names_are_unique: bool = true,
        /// Every schema is an object.
        schemas_are_objects: bool = true,
        /// An input schema has the type `object`.
        input_root_is_object: bool = true,
        /// A tool that can't be used is refused when the server is built; it doesn't make the list fail.
        bad_tool_breaks_list: bool = false,
        /// The list has every tool, whoever asks and whatever happened before.
        are_listed: fn(&Server, &Tool, &Value) -> bool = |_, _, _| true,
    }

    /// The requests that a server accepts.
    RequestsPolicy {
        /// A batch is no message.
        reads_batches: bool = false,
        /// A stateless request names its version and the client's capabilities.
        needs_meta: bool = true,
        /// Only the server's own version is accepted.
        checks_version: bool = true,
        /// `_meta` may have any other keys, or lack them.
        accepts_meta: fn(&Map<String, Value>) -> bool = |_| true,
        /// A cursor that was not given out is refused.
        checks_cursor: bool = true,
        /// Names of tools are compared as they are.
        same_name: fn(&str, &str) -> bool = |a, b| a == b,
        /// Arguments fit the input schema.
        checks_arguments: bool = true,
        /// Arguments are checked as they came: the arguments, and the input schema.
        before_check: fn(&mut Value, &Value) = |_, _| {},
        /// Arguments reach the tool as they were checked.
        after_check: fn(&mut Value, &Value) = |_, _| {},
        /// A `requestState` is one that the server gave out.
        checks_state: bool = true,
        /// A `requestState` belongs to the arguments of its call.
        state_covers_arguments: bool = true,
        /// A call takes no longer than it must.
        delay: Duration = Duration::ZERO,
    }

    /// The way in which a server reports errors of calls.
    ErrorsPolicy {
        /// A call whose parameters are malformed.
        malformed: Channel = Channel::Protocol,
        /// A call whose `inputResponses` can't be read.
        malformed_responses: Channel = Channel::Protocol,
        /// A call of an unknown tool.
        unknown_tool: Channel = Channel::Protocol,
        /// Arguments that don't fit the input schema.
        arguments: Channel = Channel::Tool,
        /// A tool that failed.
        failure: Channel = Channel::Tool,
    }

    /// Forms, and the answers that a server accepts.
    FormsPolicy {
        /// A form may have no field.
        may_be_empty: bool = true,
        /// Every field is flat and of a kind that the revision knows.
        fields_are_checked: bool = true,
        /// Nobody is asked who can't show a form.
        needs_capability: bool = true,
        /// `elicitation: {}` is the capability to show a form.
        empty_capability_counts: bool = true,
        /// Nobody is asked before the session is initialized.
        waits_for_initialized: bool = true,
        /// An answer is checked before it reaches the tool.
        answers_are_checked: bool = true,
        /// A field with a default may be left out.
        defaults_may_be_absent: bool = true,
        /// A tool gets the action of a user who declines or cancels, and nothing else.
        refusal: fn(&Form, &str) -> Value = |_, action| json!({ "action": action }),
        /// Any answer of the user is handled.
        on_answer: fn(&Value) = |_| {},
        /// Any error that the client answers with is handled.
        on_client_error: fn(&str) = |_| {},
    }

    /// The transports of a server.
    TransportPolicy {
        /// Foreign origins are refused.
        checks_origin: bool = true,
        /// The status for a foreign origin.
        bad_origin: u16 = 403,
        /// The status for a request without its session.
        missing_session: u16 = 400,
        /// The status for an unknown session.
        unknown_session: u16 = 404,
        /// The status for a response of the client.
        response_taken: u16 = 202,
        /// Notifications have no reply.
        notification_reply: Option<&'static str> = None,
        /// `Last-Event-ID` is ignored.
        refuses_last_event: bool = false,
        /// The beginning of the names of sessions: visible ASCII.
        session_prefix: &'static str = "session",
        /// A stateless server has no sessions.
        has_stateless_sessions: bool = false,
        /// No message of the server precedes the reply to a stateless request.
        before_reply: fn(&str) -> Option<&'static str> = |_| None,
        /// Headers repeat the body of a stateless request.
        checks_headers: bool = true,
        /// `MCP-Protocol-Version` repeats the version of the body.
        checks_version_header: bool = true,
        /// In a session, `MCP-Protocol-Version` names the version of the session.
        checks_session_version: bool = true,
        /// The name of a tool may be encoded in its header.
        decodes_names: bool = true,
        /// Marked arguments are repeated in headers.
        checks_parameters: bool = true,
        /// Numbers in headers are compared as numbers.
        compares_numbers: bool = true,
        /// An argument that is null is not repeated.
        expects_null: bool = false,
        /// Over stdio, a message is one line; on both sides.
        framing: fn(String) -> String = |message| message,
    }

    /// The behaviour of a client toward a server.
    ClientPolicy {
        /// A message that precedes the handshake.
        before_handshake: Option<&'static str> = None,
        /// The handshake ends with `notifications/initialized`.
        says_initialized: bool = true,
        /// A message that follows the handshake, and whether it is sent over HTTP only.
        after_handshake: Option<(&'static str, bool)> = None,
        /// Ids are integers.
        id: fn(u64) -> Value = |id| json!(id),
        /// `Accept` names both media types.
        accept: &'static str = "application/json, text/event-stream",
        /// HTTP headers go out as they are.
        headers: fn(&mut HeaderMap) = |_| {},
        /// The value of `Mcp-Name`: encoded where it has to be.
        name_header: fn(&str) -> String = |name| parameters::written(&json!(name)).unwrap_or_default(),
        /// The headers that repeat a marked argument.
        parameter_headers: fn(&Parameter, Option<&Value>) -> Vec<(String, String)> = Parameter::headers,
        /// The marked arguments of an input schema.
        marks: fn(&Value) -> Result<Vec<Parameter>, String> = parameters::of,
        /// Tools with wrong marks are left out of the list.
        drops_wrong_marks: bool = true,
        /// The media type of a reply may have parameters.
        accepts_media_parameters: bool = true,
        /// Every cursor leads to a further page; the JSON text of a cursor.
        is_further_page: fn(&str) -> bool = |_| true,
        /// Nothing is requested after the last page.
        requests_after_end: usize = 0,
        /// A list may lack `ttlMs`.
        needs_ttl: bool = false,
        /// A result without `resultType` is complete.
        needs_result_type: bool = false,
        /// A result with an unknown `resultType` is invalid.
        accepts_unknown_result_type: bool = false,
        /// A schema is compiled when its tool is called.
        compiles_when_listed: bool = false,
        /// A tool that can't be used makes no other unusable.
        bad_tool_breaks_list: bool = false,
        /// The keywords that schemas lose on their way to the user: none.
        lost_keywords: &'static [&'static str] = &[],
        /// A tool that was not listed may be called.
        refuses_unlisted: bool = false,
        /// One failed call leaves the next alone.
        failure_is_final: bool = false,
        /// A JSON-RPC error is an error to the user.
        errors_are_results: bool = false,
        /// A result may lack `isError`.
        needs_is_error: bool = false,
        /// Structured content may come without an output schema.
        needs_output_schema: bool = false,
        /// The member of results that doesn't reach the user: none.
        lost_member: Option<&'static str> = None,
        /// A server may ask again when it was answered.
        answers_every_round: bool = true,
        /// A retry has an id of its own.
        retry_has_new_id: bool = true,
        /// Answers in a retry are not sent as responses, too.
        answers_are_also_responses: bool = false,
        /// A response has the id of its request, not that of the first one.
        answers_first_question: bool = false,
    }

    /// The behaviour of a client toward its user.
    UserPolicy {
        /// Without `mode`, a form is asked for.
        needs_mode: bool = false,
        /// A mode that was not declared is refused.
        answers_undeclared_modes: bool = false,
        /// The URL of a question is not fetched.
        fetches_urls: bool = false,
        /// An answer is checked before it is sent.
        answers_are_checked: bool = true,
        /// Defaults are filled in.
        fills_in_defaults: bool = true,
        /// A default doesn't replace an answer of the user.
        defaults_replace_answers: bool = false,
        /// A default fits its field.
        defaults_are_checked: bool = true,
        /// Every default that fits is filled in.
        is_filled_in: fn(&Value) -> bool = |_| true,
        /// What is filled in is the default: of a field, and its default.
        default: fn(&Value, &Value) -> Value = |_, default| default.clone(),
        /// An answer is sent as it is; the flag tells whether the user entered it.
        on_sent: fn(&mut Value, bool) = |_, _| {},
        /// Declining and cancelling have no content.
        refusal_content: fn(&elicit::Form) -> Option<Map<String, Value>> = |_| None,
    }
}

/// The channel by which an error is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// As a JSON-RPC error.
    Protocol,
    /// As a result with `isError`.
    Tool,
    /// As a result without `isError`, which no error is.
    Success,
}

/// The events that a server may remember.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A message could not be read.
    Unreadable,
    /// The code of a tool failed.
    ToolFailed,
    /// A call failed, for whatever reason.
    CallFailed,
    /// A client could show a form.
    FormAllowed,
    /// Tools were listed, an odd number of times.
    Listed,
}
