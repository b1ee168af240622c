//! The decisions that a server and a client must make, as values.
//!
//! [`Policy::STRICT`] follows the specification; the comment on each field describes its strict value. A mutant is
//! another policy. The server and the client read their policy, and must not know mutants.

use std::io;
use std::time::Duration;

use hyper::body::Bytes;
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

/// Declares structs of decisions, with the doc comment, type and strict value of each field in one place.
macro_rules! decisions {
    ($($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty = $strict:expr,)+ })+) => { $(
        $(#[$about])*
        #[derive(Clone, Debug)]
        #[allow(clippy::struct_excessive_bools, reason = "each is a decision of its own")]
        pub(crate) struct $name { $($(#[$doc])* pub(crate) $field: $type,)+ }

        impl $name {
            /// The policy that follows the specification.
            pub(crate) const STRICT: Self = Self { $($field: $strict,)+ };
        }
    )+ };
}

decisions! {
    /// All decisions of a server and a client.
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
        /// An event that changes later responses of the server: none.
        remembers: Option<Event> = None,
        /// Changes to messages: none.
        edits: Vec<Edit> = Vec::new(),
    }

    /// Decisions about schemas, for both roles.
    SchemasPolicy {
        /// The size of every schema is limited.
        bounds: Bounds = BOUNDS,
        /// Reading a schema and validating a value each take at most this long.
        budget: Duration = BUDGET,
        /// A schema without `$schema` uses 2020-12.
        default_dialect: Draft = Draft::Draft202012,
        /// A schema may declare 2020-12 as its dialect.
        default_dialect_may_be_named: bool = true,
        /// A schema is compiled unchanged, and none of its addresses is requested.
        prepare: fn(&mut Value) = |_| {},
        /// References to other documents are refused and not fetched.
        fetches_references: bool = false,
        /// A schema that cannot be compiled is refused. It does not accept everything.
        accepts_uncompilable: bool = false,
        /// The validation of a value always finishes.
        hangs_on: fn(&Value, &Value) -> bool = |_, _| false,
        /// Schemas with the same `$id` are compiled separately.
        are_shared_by_id: bool = false,
    }

    /// Decisions about the results of tools, for both roles.
    OutputPolicy {
        /// Structured content is validated against the output schema.
        is_checked: bool = true,
        /// A tool with an output schema returns structured content.
        is_required: bool = true,
        /// The result of a failed tool may violate the output schema.
        is_checked_after_failure: bool = false,
        /// The JSON values that count as absent structured content: none.
        absent: &'static [&'static str] = &[],
        /// Before this revision, structured content is an object.
        any_root_since: Revision = Revision::July2026,
        /// Before that revision, a value that is not an object is refused.
        older_values: OlderValues = OlderValues::Refused,
        /// A list is sent as a list, not inside an object.
        wraps_lists: bool = false,
        /// The text content repeats the structured content.
        is_mirrored_as_text: bool = true,
    }

    /// Decisions about the tools that a server accepts from its author and lists.
    ToolsPolicy {
        /// A server is built from a valid fixture.
        are_served: bool = true,
        /// The characters that a name may contain besides letters and digits.
        name_marks: &'static str = "_-.",
        /// The maximum length of a name.
        name_length: usize = 128,
        /// No two tools have the same name.
        names_are_unique: bool = true,
        /// Every schema is an object.
        schemas_are_objects: bool = true,
        /// An input schema has the type `object`.
        input_root_is_object: bool = true,
        /// The marks of arguments that headers repeat are legal.
        marks_are_checked: bool = true,
        /// An unusable tool is refused when the server is built. It does not make the list fail.
        bad_tool_breaks_list: bool = false,
        /// The list contains every tool, for every client and at any time.
        are_listed: fn(&Server, &Tool, &Value) -> bool = |_, _, _| true,
    }

    /// Decisions about the requests that a server accepts.
    RequestsPolicy {
        /// Batches are refused.
        reads_batches: bool = false,
        /// A request that is no message of the protocol gets an error.
        answers_invalid: bool = true,
        /// A stateless request must contain the protocol version and the client's capabilities.
        needs_meta: bool = true,
        /// Only the server's own version is accepted.
        checks_version: bool = true,
        /// `_meta` may contain any other keys.
        accepts_meta: fn(&Map<String, Value>) -> bool = |_| true,
        /// A cursor that the server did not issue is refused.
        checks_cursor: bool = true,
        /// Names of tools are compared exactly.
        same_name: fn(&str, &str) -> bool = |a, b| a == b,
        /// Arguments are validated against the input schema.
        checks_arguments: bool = true,
        /// Arguments are validated as received. The parameters are the arguments and the input schema.
        before_check: fn(&mut Value, &Value) = |_, _| {},
        /// The tool receives the arguments as validated.
        after_check: fn(&mut Value, &Value) = |_, _| {},
        /// A `requestState` that the server did not issue is refused.
        checks_state: bool = true,
        /// A `requestState` is only valid for its own call.
        state_covers_call: bool = true,
        /// A `requestState` with a state of the author expires.
        checks_expiry: bool = true,
        /// Log messages are sent only for stateless requests that ask for them.
        logs_on_demand: bool = true,
        /// An unknown level of log messages is refused by a server that sends them.
        checks_log_level: bool = true,
        /// The work of a cancelled call stops.
        works_on: bool = false,
        /// Progress is reported only for requests with a token.
        reports_unasked: bool = false,
        /// Each report of progress says more than the last one.
        reports_twice: bool = false,
        /// A report of progress has the token of its request.
        progress_token: fn(&Value) -> Value = Value::clone,
        /// A notification has no id.
        numbers_notifications: bool = false,
        /// A log message does not come with a cancellation.
        cancels_after_logs: bool = false,
        /// Every request of the server has an id of its own.
        question_id: fn(u64) -> Value = |id| json!(id),
        /// A call is not delayed.
        delay: Duration = Duration::ZERO,
    }

    /// The channels by which a server reports errors of calls.
    ErrorsPolicy {
        /// The parameters of a call are malformed.
        malformed: Channel = Channel::Protocol,
        /// The `inputResponses` of a call are malformed.
        malformed_responses: Channel = Channel::Protocol,
        /// The tool is unknown.
        unknown_tool: Channel = Channel::Protocol,
        /// The arguments violate the input schema.
        arguments: Channel = Channel::Tool,
        /// The tool failed.
        failure: Channel = Channel::Tool,
        /// The result of the tool violates the output schema.
        output: Channel = Channel::Tool,
    }

    /// Decisions about forms, and the answers that a server accepts.
    FormsPolicy {
        /// A form may have no fields.
        may_be_empty: bool = true,
        /// Every field is flat and has a type that the revision supports.
        fields_are_checked: bool = true,
        /// A client without the capability to show forms is not asked.
        needs_capability: bool = true,
        /// `elicitation: {}` is the capability to show a form.
        empty_capability_counts: bool = true,
        /// No client is asked before its session is initialized.
        waits_for_initialized: bool = true,
        /// An answer is validated before the tool receives it.
        answers_are_checked: bool = true,
        /// The answer for a field with a default may be absent.
        defaults_may_be_absent: bool = true,
        /// If the user declines or cancels, the tool receives only this action.
        refusal: fn(&Form, &str) -> Value = |_, action| json!({ "action": action }),
        /// Any answer of the user is handled.
        on_answer: fn(&Value) = |_| {},
        /// Any error response of the client is handled.
        on_client_error: fn(&str) = |_| {},
    }

    /// Decisions about the transports of a server.
    TransportPolicy {
        /// Requests from foreign origins are refused.
        checks_origin: bool = true,
        /// The status for a request from a foreign origin.
        bad_origin: u16 = 403,
        /// An origin is foreign even if `Host` names it too.
        trusts_named_host: bool = false,
        /// The status for a request without its session id.
        missing_session: u16 = 400,
        /// The status for an unknown session.
        unknown_session: u16 = 404,
        /// The status for a response of the client.
        response_taken: u16 = 202,
        /// Notifications get no reply.
        notification_reply: Option<&'static str> = None,
        /// `Last-Event-ID` is ignored.
        refuses_last_event: bool = false,
        /// The prefix of session ids, which consist of visible ASCII characters.
        session_prefix: &'static str = "session",
        /// A stateless server issues no session ids.
        has_stateless_sessions: bool = false,
        /// The status, the media type and the body of the reply to an unknown method, instead of an error response: none.
        unknown_method: Option<(u16, &'static str, &'static str)> = None,
        /// The server sends no message before the response to a stateless request.
        before_reply: fn(&str) -> Option<&'static str> = |_| None,
        /// The status for a GET request in a session.
        refused_get: u16 = 405,
        /// The status of the reply to a request that ends its session.
        session_ended: u16 = 204,
        /// The status for a GET or DELETE request without sessions.
        refused_old: u16 = 405,
        /// The media type of a reply without further messages.
        media: fn(&str) -> &'static str = |_| "application/json",
        /// The first notification of a call precedes its response.
        notifies_last: bool = false,
        /// The headers of an event stream exclude buffering.
        excludes_buffering: bool = true,
        /// A retry may use another connection than the question.
        binds_connections: bool = false,
        /// Over stdio, the process exits at the end of its input.
        outlives_input: bool = false,
        /// A cancelled request gets no response.
        answers_cancelled: bool = false,
        /// The end of the connection cancels no request in a session.
        hangs_on_connections: bool = false,
        /// A GET request is refused: all messages of a session are sent in the replies to POST requests.
        get_stream: Option<GetStream> = None,
        /// The replies to two calls that run at once are confused in this way.
        calls_at_once: Option<AtOnce> = None,
        /// The headers of a stateless request must agree with its body.
        checks_headers: bool = true,
        /// The header `Mcp-Name` is found, however its name is written.
        finds_name_header: bool = true,
        /// `MCP-Protocol-Version` must agree with the version in the body.
        checks_version_header: bool = true,
        /// In a session, `MCP-Protocol-Version` must be the version of the session.
        checks_session_version: bool = true,
        /// The header may contain the name of a tool in encoded form.
        decodes_names: bool = true,
        /// A header may contain a marked argument in encoded form.
        decodes_parameters: bool = true,
        /// The headers must repeat marked arguments.
        checks_parameters: bool = true,
        /// Numbers in headers are compared as numbers.
        compares_numbers: bool = true,
        /// A header is expected for an argument that is missing.
        expects_missing: bool = false,
        /// No header is expected for an argument that is null.
        expects_null: bool = false,
        /// Over stdio, a message is written on one line. This applies to both roles.
        framing: fn(String) -> String = |message| message,
    }

    /// Decisions of a client about a server.
    ClientPolicy {
        /// A message to send before the handshake: none.
        before_handshake: Option<&'static str> = None,
        /// A session begins only with a version that the client knows.
        goes_on_with_any_version: bool = false,
        /// A message to send after a handshake that took too long: none.
        after_unanswered_handshake: Option<&'static str> = None,
        /// The handshake ends with `notifications/initialized`.
        says_initialized: bool = true,
        /// A session that is no longer needed is ended.
        ends_sessions: bool = true,
        /// The session that is ended has this id: its own.
        ends_another_session: Option<&'static str> = None,
        /// A message to send after the handshake, and whether it is sent over HTTP only: none.
        after_handshake: Option<(&'static str, bool)> = None,
        /// No request comes before the first one of the script.
        discovers: bool = false,
        /// A message to send before each request: none.
        before_request: Option<fn(u64) -> String> = None,
        /// A message to send before the response to a question: none.
        before_answer: Option<&'static str> = None,
        /// The stream of a GET request is requested after the handshake, not after the first list.
        listens_late: bool = false,
        /// The tools are listed only if the script says so.
        lists_before_calls: bool = false,
        /// Request ids are integers.
        id: fn(u64) -> Value = |id| json!(id),
        /// `Accept` contains both media types.
        accept: &'static str = "application/json, text/event-stream",
        /// `Accept` of a GET request contains the media type of event streams.
        accept_of_get: &'static str = "text/event-stream",
        /// The pieces of a stream are read as they arrive.
        stream: fn(Bytes) -> io::Result<Bytes> = Ok,
        /// An event without a name is read.
        needs_event_name: bool = false,
        /// An event without data is no message.
        skips_empty_events: bool = true,
        /// The data of an event is all its `data` lines.
        data: fn(&str) -> &str = |data| data,
        /// A stream that ends before its reply is resumed as the server says.
        resume: Resume = Resume::AsTold,
        /// HTTP headers are sent unchanged. The parameters are the headers and the message.
        headers: fn(&mut HeaderMap, &str) = |_, _| {},
        /// The value of `Mcp-Name` is encoded if necessary.
        name_header: fn(&str) -> String = |name| parameters::written(&json!(name)).unwrap_or_default(),
        /// Headers repeat the values of marked arguments.
        parameter_headers: fn(&Parameter, Option<&Value>) -> Vec<(String, String)> = Parameter::headers,
        /// The marked arguments of an input schema are those that `properties` keywords lead to.
        marks: fn(&Value) -> Result<Vec<Parameter>, String> = parameters::of,
        /// Tools with invalid marks are removed from the list.
        drops_wrong_marks: bool = true,
        /// The media type of a reply may have parameters.
        accepts_media_parameters: bool = true,
        /// Every cursor, given as JSON text, leads to another page.
        is_further_page: fn(&str) -> bool = |_| true,
        /// A page with fewer tools than the first one may have a cursor for another page.
        ends_at_short_page: bool = false,
        /// A list that was received is requested again, whatever its `ttlMs` says.
        lists_from_cache: fn(Option<&Value>) -> bool = |_| false,
        /// A page is not another page of the cache.
        mixes_cached_pages: bool = false,
        /// The result of a retry is not returned for a later call.
        caches_retried_results: bool = false,
        /// The number of list requests after the last page.
        requests_after_end: usize = 0,
        /// A list may lack `ttlMs`.
        needs_ttl: bool = false,
        /// A result without `resultType` is complete.
        needs_result_type: bool = false,
        /// A result with an unknown `resultType` is invalid.
        accepts_unknown_result_type: bool = false,
        /// A schema is compiled when its tool is called, not when it is listed.
        compiles_when_listed: bool = false,
        /// A reserved key in the `_meta` of a result may have any value.
        takes_at_reserved_keys: fn(&Value) -> bool = |_| true,
        /// An unusable tool does not make other tools unusable.
        bad_tool_breaks_list: bool = false,
        /// The keywords that are removed from schemas before the user receives them: none.
        lost_keywords: &'static [&'static str] = &[],
        /// The member that is removed from tools before the user receives them: none.
        lost_tool_member: Option<&'static str> = None,
        /// A tool that was not listed may be called.
        refuses_unlisted: bool = false,
        /// A failed call does not affect later calls.
        failure_is_final: bool = false,
        /// A JSON-RPC error is reported to the user as an error.
        errors_are_results: bool = false,
        /// A result may lack `isError`.
        needs_is_error: bool = false,
        /// Structured content may come without an output schema.
        needs_output_schema: bool = false,
        /// A result is incomplete if it has questions and no `content`, whatever its `resultType` says.
        decides_by_members: bool = false,
        /// The member that is removed from results before the user receives them: none.
        lost_member: Option<&'static str> = None,
        /// A server may ask several times in one call.
        answers_every_round: bool = true,
        /// A call that the server rejects because of its headers is repeated after another list.
        repeats_after_mismatch: bool = true,
        /// A new session is opened if the server has lost the session.
        renews_session: bool = true,
        /// The notification that ends a call with an error: none.
        refused_notification: Option<&'static str> = None,
        /// The notification that gets a response: none.
        answered_notification: Option<&'static str> = None,
        /// A client that supports older servers sends `server/discover` first.
        probes: bool = true,
        /// A message that is sent after an answered probe: none.
        after_probe: Option<&'static str> = None,
        /// The errors of newer servers show that a server is a newer one.
        falls_back_after_newer: bool = false,
        /// Any error except those of newer servers shows that a server is an older one.
        falls_back_after: fn(i64) -> bool = |_| true,
        /// Each request has a time limit.
        limits_requests: bool = true,
        /// A request without a reply in time is cancelled.
        cancels: bool = true,
        /// The id in the notification that cancels a request.
        cancelled_id: fn(Value) -> Value = std::convert::identity,
        /// The first request of a call has no state of another call.
        repeats_last_state: bool = false,
        /// A retry has the state of its own call, not the state that any call received last.
        shares_state: bool = false,
        /// The state that was received last replaces earlier ones.
        keeps_first_state: bool = false,
        /// A call whose question has no answer is not retried.
        retries_unanswered: bool = false,
        /// A retry has a new id.
        retry_has_new_id: bool = true,
        /// Answers in a retry are not sent as responses as well.
        answers_are_also_responses: bool = false,
        /// A response has the id of its own request, not of the first one.
        answers_first_question: bool = false,
    }

    /// Decisions of a client about its user.
    UserPolicy {
        /// An elicitation without `mode` asks for a form.
        needs_mode: bool = false,
        /// An elicitation with an undeclared mode is refused.
        answers_undeclared_modes: bool = false,
        /// Another input than an elicitation is refused.
        invents_inputs: bool = false,
        /// The URL of an elicitation is not fetched.
        fetches_urls: bool = false,
        /// The answer to an elicitation in URL mode has no content.
        visit_has_content: bool = false,
        /// An answer is validated before it is sent.
        answers_are_checked: bool = true,
        /// Defaults are filled in.
        fills_in_defaults: bool = true,
        /// A default does not replace an answer of the user.
        defaults_replace_answers: bool = false,
        /// A default must be valid for its field.
        defaults_are_checked: bool = true,
        /// Every valid default is filled in.
        is_filled_in: fn(&Value) -> bool = |_| true,
        /// The value that is filled in is the default. The parameters are the field and its default.
        default: fn(&Value, &Value) -> Value = |_, default| default.clone(),
        /// An answer is sent unchanged. The flag is `true` if the user entered it.
        on_sent: fn(&mut Value, bool) = |_, _| {},
        /// An answer that declines or cancels has no content.
        refusal_content: fn(&elicit::Form) -> Option<Map<String, Value>> = |_| None,
    }
}

/// The form in which a server sends a value that is not an object, on the revisions that have no such structured content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OlderValues {
    /// The tool, or its result, is refused.
    Refused,
    /// The value is the text of the result. The output schema is not listed.
    Text,
    /// The value is the member `result` of an object. The output schema is not listed.
    Wrapped,
}

/// The channel by which an error is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// A JSON-RPC error with the code of invalid parameters.
    Protocol,
    /// A JSON-RPC error with the code of an invalid request.
    Request,
    /// A result with `isError`.
    Tool,
    /// A result without `isError`, which does not report an error.
    Success,
}

/// The replies to two calls that run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtOnce {
    /// Each call gets the whole response to the other one.
    Exchanged,
    /// Each call gets the result of the other one, with its own id.
    Crossed,
    /// The response to the other call precedes that to the call.
    Copied,
}

/// The messages that a server sends on the stream of a GET request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GetStream {
    /// The questions of a running request.
    Questions,
    /// The responses to calls.
    Responses,
    /// The notifications of a running request, which are sent in its reply as well.
    Copies,
}

/// The reaction of a client to a stream that ends before its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resume {
    /// It is resumed from its last event, after the time that the server named.
    AsTold,
    /// It is resumed at once.
    AtOnce,
    /// It is resumed from another event than the last one.
    FromElsewhere,
    /// It is resumed, and its messages are not read.
    Unread,
    /// It is given up.
    Never,
}

/// The events that a server may remember.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A message could not be read.
    Unreadable,
    /// A request came before the handshake (stdio).
    Probed,
    /// A cancellation named no running request.
    CancelledInVain,
    /// The code of a tool failed.
    ToolFailed,
    /// A call failed for any reason.
    CallFailed,
    /// A tool was called that does not exist.
    UnknownToolCalled,
    /// A client had the capability to show a form.
    FormAllowed,
    /// A second connection was opened (HTTP).
    Reconnected,
    /// The tools were listed an odd number of times.
    Listed,
}
