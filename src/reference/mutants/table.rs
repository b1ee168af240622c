//! The table of mutants: the name of each, how it differs from the strict policy, and the requirements that it breaks.
//!
//! Data, and the only place that knows what a mutant is about. In the other role a mutant is the strict target.

use std::time::Duration;

use jsonschema::Draft;
use serde_json::{Map, json};

use super::deviations::{
    agree_on_any_version, another, ask_again, ask_before_acceptance, capabilities_are_known, capitalize_booleans,
    coerce, drop_falsy, drop_unknown, first_choice, flatten, flattened, headers_of_namesake, ignore_external, indent,
    invent_default, invent_state, leave_unexplained, list_by_capability, list_by_side_effect, long_texts_by_pattern,
    lose, lose_bounds, lose_id_of_error, lose_in_repetition, lose_titles, make_floats, make_single, merge,
    misname_schema, misname_unknown_tool, misplace_state, open, outdate_version, recode_resources, reencode, refuse,
    refuse_by_prefix, refuse_extra_responses, refuse_missing_responses, refuse_nested_marks, refuse_whole_numbers,
    require_visit, send_defaults_as_text, send_null, split_lines, trim, unquote, wrap_answers,
};
use super::{About, Mutant};
use crate::edits::Change::{Apply, Default, Remove, Replace, Set};
use crate::edits::Door::{Question, Received, Reply, Request, Response};
use crate::fetch::{read_files, visit};
use crate::message::{CLIENT_KEY, OWN_PREFIX};
use crate::parameters;
use crate::policy::{Channel, Event};
use crate::revision::Revision;
use crate::schema::UNBOUNDED;

type When = (&'static str, &'static str);

const UNKNOWN_METHOD: When = ("/error/code", "-32601");
const DISCOVER: When = ("/request/method", r#""server/discover""#);
const LIST: When = ("/request/method", r#""tools/list""#);
const CALL: When = ("/request/method", r#""tools/call""#);
const NO_CAPABILITIES: When = ("/request/params/capabilities", "{}");
const SENT_CAPABILITIES: &str = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";
const SENT_ELICITATION: &str = "/params/_meta/io.modelcontextprotocol~1clientCapabilities/elicitation";
const LIST_RESOURCES: &str = r#"{"jsonrpc":"2.0","id":"r","method":"resources/list","params":{}}"#;

macro_rules! mutants {
    (|$policy:ident| $($role:ident {
        $($(#[doc = $does:literal])+ $name:literal: $change:expr => [$($breaks:literal),*],)+
    })+) => {
        /// Every mutant: the servers, then the clients.
        pub(super) static ALL: &[Mutant] = &[$($(Mutant {
            about: About {
                name: $name,
                role: stringify!($role),
                does: concat!($($does),+).trim_ascii_start(),
                breaks: &[$($breaks),*],
                keeps: super::kept($name),
            },
            change: |$policy| { $change; },
        },)+)+];
    };
}

mutants! { |p|
    server {
        /// Arguments reach the tool unchecked.
        "input-not-validated": p.requests.checks_arguments = false => ["sep-1303/input-error-channel-2025-06-18",
            "sep-1303/input-errors-are-tool-errors", "tools/inputs-validated"],
        /// A schema that can't be compiled accepts everything.
        "validation-skipped-when-uncompilable": p.schemas.accepts_uncompilable = true => ["sep-1613/schema-is-valid",
            "sep-1613/unsupported-dialect-is-error", "sep-2106/dangling-ref-rejected",
            "sep-2106/unresolved-dynamic-ref-rejected", "sep-2106/unresolved-ref-rejected"],
        /// A root `anyOf` is neither advertised nor enforced.
        "keyword-stripped": {
            p.schemas.prepare = |schema| lose(schema, &["anyOf"]);
            p.edit(Reply, "/result/tools/*/inputSchema/anyOf", Remove);
        } => ["sep-2106/input-keywords-kept", "tools/inputs-validated"],
        /// An output schema without `type` is advertised with `type: object`.
        "root-type-injected-into-output":
            p.edit(Reply, "/result/tools/*/outputSchema/type", Default(r#""object""#)) => ["sep-2106/any-output-root"],
        /// A list goes out as the member `result` of an object.
        "array-wrapped-in-result": p.output.wraps_lists = true => ["sep-2106/any-json-value"],
        /// Structured content has no text beside it.
        "text-not-mirrored": p.output.is_mirrored_as_text = false => ["tools/text-mirrors-structured"],
        /// Structured content that is 0, false, "" or null is left out.
        "falsy-structured-dropped": p.edit(Reply, "/result", Apply(drop_falsy)) => ["sep-2106/any-json-value"],
        /// Structured content that is null counts as missing.
        "null-taken-for-absent": p.output.absent = &["null"] => ["sep-2106/any-json-value"],
        /// References to other documents are fetched when the server is built.
        "ref-fetched": p.schemas.fetches_references = true => ["sep-2106/no-network-deref"],
        /// Only a literal `http:` or `https:` is refused in references; what is relative to an `$id` is fetched.
        "prefix-check-on-ref": { p.schemas.fetches_references = true; p.schemas.prepare = refuse_by_prefix } => [
            "sep-2106/data-is-no-reference", "sep-2106/no-network-deref"],
        /// References to other documents accept everything.
        "external-ref-ignored": p.schemas.prepare = ignore_external => ["sep-2106/data-is-no-reference",
            "sep-2106/unresolved-dynamic-ref-rejected", "sep-2106/unresolved-ref-rejected"],
        /// Schemas have no bounds.
        "depth-unlimited": { p.schemas.bounds = UNBOUNDED; p.schemas.budget = Duration::MAX } => [
            "sep-2106/bound-is-scoped", "sep-2106/bounds-applied"],
        /// Two schemas with one `$id` share the validator of the first.
        "first-id-wins": p.schemas.are_shared_by_id = true => ["sep-2106/own-schema", "tools/inputs-validated"],
        /// `enumNames` is left out of the form.
        "enum-names-lost": p.edit(Question, "/requestedSchema/properties/*/enumNames", Remove) => [
            "sep-1330/legacy-titled"],
        /// `default` is left out of the form.
        "defaults-lost": p.edit(Question, "/requestedSchema/properties/*/default", Remove) => [
            "sep-1034/boolean-default-kept", "sep-1034/default-kept", "sep-1330/titled-single"],
        /// A user's answer reaches the tool unchecked.
        "answer-not-validated": p.forms.answers_are_checked = false => ["elicitation/answers-validated",
            "elicitation/responses-validated"],
        /// Arguments that don't fit are a JSON-RPC error.
        "input-error-as-protocol-error": p.errors.arguments = Channel::Protocol => [
            "sep-1303/input-errors-are-tool-errors"],
        /// An unknown tool is a result with `isError`.
        "unknown-tool-as-tool-error": p.errors.unknown_tool = Channel::Tool => ["tools/unknown-tool-code",
            "tools/unknown-tool-is-protocol-error"],
        /// Structured content goes out unchecked.
        "output-not-validated": p.output.is_checked = false => ["tools/output-conforms",
            "tools/output-violation-channel"],
        /// A tool with an output schema may succeed without structured content.
        "missing-structured-accepted": p.output.is_required = false => ["tools/output-present"],
        /// Any `requestState` is taken.
        "state-not-verified": p.requests.checks_state = false => ["sep-2322/state-bound-to-request",
            "sep-2322/state-verified"],
        /// The user is asked although the client can't show a form.
        "capability-not-checked": p.forms.needs_capability = false => ["elicitation/missing-capability-error",
            "elicitation/missing-capability-status", "elicitation/only-declared-modes",
            "elicitation/only-negotiated-capabilities"],
        /// Results have no `resultType`.
        "result-type-lost": p.edit(Reply, "/result/resultType", Remove) => ["elicitation/answer-arrives",
            "elicitation/missing-responses-asked-again", "sep-2322/retry-stands-alone", "sep-2575/result-type"],
        /// Lists have neither `ttlMs` nor `cacheScope`.
        "cache-hints-lost": {
            p.edit(Reply, "/result/ttlMs", Remove);
            p.edit(Reply, "/result/cacheScope", Remove);
        } => ["tools/cache-scope-of-all-pages", "tools/caching-hints-present", "tools/ttl-not-negative"],
        /// HTTP headers may say something else than the body.
        "headers-not-checked": p.transport.checks_headers = false => ["http/header-mismatch-error",
            "http/headers-match-body", "http/version-header-matches", "http/version-header-missing",
            "tools/header-value-characters", "tools/header-value-checked", "tools/header-value-mismatch"],
        /// An invalid cursor gives the first page.
        "cursor-ignored": p.requests.checks_cursor = false => ["tools/invalid-cursor-code"],
        /// The user is asked without a message.
        "message-lost": p.edit(Question, "/message", Remove) => ["elicitation/answer-arrives",
            "elicitation/message-present"],
        /// A form goes out as `schema`, not as `requestedSchema`.
        "schema-misnamed": p.edit(Question, "", Apply(misname_schema)) => ["elicitation/field-kept",
            "elicitation/requested-schema-present", "sep-1034/boolean-default-kept", "sep-1034/default-kept",
            "sep-1330/untitled-single"],
        /// A form is asked for in the mode `dialog`.
        "mode-misnamed": p.edit(Question, "/mode", Replace(r#""dialog""#)) => ["elicitation/form-mode"],
        /// Lengths, ranges, numbers of choices and formats are left out of the form.
        "bounds-lost": p.edit(Question, "/requestedSchema/properties/*", Apply(lose_bounds)) => [
            "elicitation/field-kept", "sep-1330/titled-multi", "sep-1330/untitled-multi"],
        /// Any schema is sent as a form.
        "form-not-checked": p.forms.fields_are_checked = false => ["elicitation/form-is-flat",
            "sep-1034/default-has-the-type", "sep-1034/default-is-a-choice"],
        /// The user is asked although the client has not said that it is initialized.
        "asks-too-early": p.forms.waits_for_initialized = false => ["elicitation/not-before-initialized"],
        /// A form needs a field.
        "empty-form-refused": p.forms.may_be_empty = false => ["elicitation/form-may-be-empty"],
        /// A field without a default gets an empty one.
        "default-invented": p.edit(Question, "/requestedSchema/properties/*", Apply(invent_default)) => [
            "sep-1034/default-is-optional"],
        /// Each default in a form is replaced by another one of its type.
        "default-wrong": p.edit(Question, "/requestedSchema/properties/*/default", Apply(another)) => [
            "sep-1034/boolean-default-kept", "sep-1034/default-kept", "sep-1330/titled-single"],
        /// A field with a default has to be answered.
        "defaults-required": p.forms.defaults_may_be_absent = false => ["sep-1034/optional-field-may-be-missing"],
        /// A tool gets the defaults of a form that was declined or cancelled.
        "defaults-on-decline-by-server":
            p.forms.refusal = |form, action| json!({ "action": action, "content": form.defaults() }) => [
            "sep-1034/decline-carries-no-default"],
        /// Titled options become a plain `enum`.
        "titles-lost": p.edit(Question, "/requestedSchema/properties/*", Apply(lose_titles)) => [
            "sep-1330/titled-multi", "sep-1330/titled-single"],
        /// A choice becomes a field for any text.
        "enum-turned-into-text": p.edit(Question, "/requestedSchema/properties/*/enum", Remove) => [
            "sep-1330/untitled-single"],
        /// A multiple choice becomes a single one.
        "multi-select-made-single": p.edit(Question, "/requestedSchema/properties/*", Apply(make_single)) => [
            "sep-1330/titled-multi", "sep-1330/untitled-multi"],
        /// Whatever the user does, the tool goes on as if the form were accepted.
        "decline-taken-for-accept": p.forms.refusal = |_, _| json!({ "action": "accept" }) => [
            "elicitation/action-arrives", "sep-1034/decline-carries-no-default"],
        /// A user who declines or cancels breaks the code that handles the call.
        "decline-unforeseen":
            p.forms.on_answer = |answer| assert_eq!(answer["action"], "accept", "a mutant foresees nothing else") => [
            "elicitation/action-arrives", "elicitation/answer-arrives", "elicitation/refusal-handled",
            "elicitation/responses-validated", "sep-1034/decline-carries-no-default"],
        /// A client that answers with an error breaks the code that handles the call.
        "client-error-unforeseen":
            p.forms.on_client_error = |reason| panic!("a mutant foresees no error: {reason}") => [
            "elicitation/client-error-surfaces"],
        /// A client that declares `elicitation: {}` is not asked.
        "empty-capability-refused": p.forms.empty_capability_counts = false => ["elicitation/answer-arrives",
            "elicitation/empty-means-form"],
        /// A client that declares an unknown capability is refused.
        "unknown-capability-refused": p.requests.accepts_meta = capabilities_are_known => [
            "elicitation/capabilities-are-open", "sep-2575/unknown-meta-is-ignored"],
        /// What one request declares counts for all that follow.
        "capabilities-remembered": p.remembers = Some(Event::FormAllowed) => ["elicitation/nothing-inferred"],
        /// An answer that is none is a result with `isError`.
        "malformed-responses-as-tool-error": p.errors.malformed_responses = Channel::Tool => [
            "elicitation/malformed-responses-are-errors"],
        /// Answers that nobody asked for are an error.
        "extra-responses-refused": p.edit(Received, "/params/inputResponses", Apply(refuse_extra_responses)) => [
            "elicitation/extra-responses-ignored", "elicitation/missing-responses-asked-again"],
        /// A retry without the answer is an error.
        "missing-responses-refused": p.edit(Reply, "", Apply(refuse_missing_responses)) => [
            "elicitation/missing-responses-asked-again"],
        /// A tool that fails is a JSON-RPC error.
        "failure-as-protocol-error": p.errors.failure = Channel::Protocol => ["sep-1303/failures-are-tool-errors"],
        /// A tool that fails is a result without `isError`.
        "failure-as-success": p.errors.failure = Channel::Success => ["elicitation/answers-validated",
            "sep-1303/failures-are-tool-errors"],
        /// After one tool has failed, every call fails.
        "failure-is-sticky": p.remembers = Some(Event::ToolFailed) => ["sep-1303/error-leaves-no-trace"],
        /// A schema that doesn't name its dialect is read as draft-07.
        "draft-7-assumed": p.schemas.default_dialect = Draft::Draft7 => ["sep-1613/declared-dialect",
            "sep-1613/default-dialect", "sep-1613/schema-is-valid", "sep-2106/any-json-value",
            "tools/inputs-validated"],
        /// Every schema is read as 2020-12, whatever it says.
        "dialect-ignored": p.schemas.prepare = |schema| lose(schema, &["$schema"]) => [
            "sep-1613/unsupported-dialect-is-error"],
        /// A schema that names 2020-12 is refused.
        "own-dialect-unknown": p.schemas.default_dialect_may_be_named = false => ["sep-1613/explicit-2020-12",
            "tools/arguments-arrive"],
        /// `$schema` is left out of what is listed.
        "dialect-lost": {
            p.edit(Reply, "/result/tools/*/inputSchema/$schema", Remove);
            p.edit(Reply, "/result/tools/*/outputSchema/$schema", Remove);
        } => ["sep-1613/schema-keyword-kept"],
        /// Root `allOf`, `anyOf` and `oneOf` are listed as empty lists.
        "keyword-emptied": {
            p.edit(Reply, "/result/tools/*/inputSchema/allOf", Replace("[]"));
            p.edit(Reply, "/result/tools/*/inputSchema/anyOf", Replace("[]"));
            p.edit(Reply, "/result/tools/*/inputSchema/oneOf", Replace("[]"));
        } => ["sep-2106/input-keywords-kept"],
        /// A choice has no options.
        "enum-emptied": p.edit(Question, "/requestedSchema/properties/*/enum", Replace("[]")) => [
            "sep-1330/untitled-single"],
        /// A schema that is null, true or a list is listed as it is.
        "no-object-listed": p.tools.schemas_are_objects = false => ["tools/input-is-schema-object"],
        /// Only `$dynamicRef`s to other documents are fetched.
        "dynamic-ref-fetched": p.schemas.prepare = |schema| visit(schema, "$dynamicRef") => [
            "sep-2106/no-dynamic-deref"],
        /// An unknown dialect is fetched.
        "dialect-fetched": p.schemas.prepare = |schema| visit(schema, "$schema") => ["sep-2106/dialect-not-fetched"],
        /// A schema's `$id` is fetched.
        "id-fetched": p.schemas.prepare = |schema| visit(schema, "$id") => ["sep-2106/id-not-fetched",
            "sep-2106/no-dynamic-deref", "sep-2106/no-network-deref"],
        /// References to files are read.
        "file-read": p.schemas.prepare = read_files => ["sep-2106/no-file-deref"],
        /// Schemas of more than 12 levels are refused.
        "depth-of-12": p.schemas.bounds.depth = 12 => ["sep-2106/bounds-are-reasonable"],
        /// Matching a long text by a pattern takes for ever.
        "value-unbounded": { p.schemas.hangs_on = long_texts_by_pattern; p.schemas.budget = Duration::MAX } => [
            "sep-2106/bound-is-scoped", "sep-2106/value-bounded"],
        /// Structured content and its schema may be anything, in every revision.
        "revision-ignored": p.output.any_root_since = Revision::June2025 => ["sep-2106/object-output-before-2026",
            "sep-2106/object-structured-before-2026"],
        /// Texts that look like numbers or booleans are turned into them.
        "arguments-coerced": p.requests.before_check = coerce => ["tools/inputs-validated", "tools/no-coercion"],
        /// Arguments that no `properties` name are dropped.
        "unknown-arguments-dropped": p.requests.after_check = drop_unknown => ["sep-1303/error-leaves-no-trace",
            "stdio/one-message-a-line", "tools/arguments-unchanged", "tools/no-parameter-forms"],
        /// Numbers pass through 64-bit floating point, so that large ones change.
        "numbers-as-floats": p.requests.after_check = |arguments, _| make_floats(arguments) => [],
        /// A call without `arguments` is refused.
        "arguments-required": p.edit(Received, "/params/arguments", Default("null")) => ["tools/arguments-optional"],
        /// 1.0 is no integer.
        "whole-number-refused": p.requests.before_check = refuse_whole_numbers => ["tools/whole-number-is-integer"],
        /// `additionalProperties: false` is left out of what is listed.
        "closed-schema-opened": p.edit(Reply, "/result/tools/*/inputSchema", Apply(open)) => ["tools/input-schema-kept",
            "tools/no-parameter-forms"],
        /// The root of an input schema may be of any type.
        "root-not-checked": p.tools.input_root_is_object = false => ["tools/input-root-is-object"],
        /// A tool with a schema that can't be read makes the list fail.
        "bad-tool-breaks-list": p.tools.bad_tool_breaks_list = true => ["sep-2106/bounds-are-reasonable",
            "tools/sibling-survives"],
        /// The result of a tool that failed is a JSON-RPC error where it doesn't fit the output schema.
        "error-result-validated-by-server": p.output.is_checked_after_failure = true => ["tools/errors-need-no-output"],
        /// Output schemas are not listed.
        "output-schema-lost": p.edit(Reply, "/result/tools/*/outputSchema", Remove) => ["sep-2106/any-output-root",
            "tools/output-schema-kept"],
        /// Structured content is left out.
        "structured-lost": p.edit(Reply, "/result/structuredContent", Remove) => ["elicitation/answer-arrives",
            "sep-1303/error-leaves-no-trace", "sep-2106/any-json-value", "sep-2106/data-is-no-reference",
            "stdio/one-message-a-line", "tools/arguments-unchanged", "tools/no-parameter-forms",
            "tools/structured-returned"],
        /// Tools are found by their names in lower case.
        "names-folded": p.requests.same_name = str::eq_ignore_ascii_case => ["tools/names-are-case-sensitive"],
        /// A tool's name may not have `.`.
        "names-without-dots": p.tools.name_marks = "_-" => ["tools/names-characters"],
        /// A tool's name may have 64 characters.
        "names-of-64": p.tools.name_length = 64 => ["tools/names-length"],
        /// A call whose parameters are malformed is a result with `isError`.
        "malformed-as-tool-error": p.errors.malformed = Channel::Tool => ["tools/malformed-is-protocol-error"],
        /// An unknown tool is an unknown method.
        "unknown-tool-code-wrong": p.edit(Reply, "/error", Apply(misname_unknown_tool)) => ["tools/unknown-tool-code"],
        /// An unknown method is an invalid request.
        "unknown-method-code-wrong": {
            p.edit_if(Reply, UNKNOWN_METHOD, "/status", Set("400"));
            p.edit_if(Reply, UNKNOWN_METHOD, "/error/code", Set("-32600"));
        } => ["tools/unknown-method-code", "tools/unknown-method-over-http"],
        /// An unknown method has the HTTP status 200.
        "unknown-method-found": p.edit_if(Reply, UNKNOWN_METHOD, "/status", Set("200")) => [
            "tools/unknown-method-over-http"],
        /// The handshake and results don't say which server this is.
        "server-info-lost": {
            p.edit(Reply, "/result/serverInfo", Remove);
            p.edit(Reply, "/result/_meta", Remove);
        } => ["lifecycle/server-named", "sep-2575/server-info"],
        /// A handshake agrees on whatever the client names.
        "any-version-agreed": p.edit(Reply, "", Apply(agree_on_any_version)) => ["lifecycle/no-handshake-into-2026",
            "lifecycle/other-version"],
        /// Who declares no capability is offered an earlier version than the one asked for.
        "earlier-version-offered":
            p.edit_if(Reply, NO_CAPABILITIES, "/result/protocolVersion", Replace(r#""2025-03-26""#)) => [
            "lifecycle/same-version"],
        /// A server with tools doesn't declare them.
        "tools-undeclared": p.edit(Reply, "/result/capabilities", Replace("{}")) => ["tools/capability-declared"],
        /// A ping is an unknown method.
        "ping-unknown":
            p.edit_if(Reply, ("/request/method", r#""ping""#), "", Apply(|reply| refuse(reply, 200, -32601))) => [
            "lifecycle/ping"],
        /// `server/discover` is an unknown method.
        "discover-missing": p.edit_if(Reply, DISCOVER, "", Apply(|reply| refuse(reply, 404, -32601))) => [
            "sep-2575/discover"],
        /// `server/discover` asks for another round.
        "discover-asks": p.edit_if(Reply, DISCOVER, "/result", Apply(ask_again)) => ["sep-2322/only-where-supported",
            "sep-2575/discover", "sep-2575/result-type", "tools/capability-declared"],
        /// An `initialize` is an unknown method, and nothing more is said.
        "initialize-unexplained":
            p.edit_if(Reply, ("/request/method", r#""initialize""#), "", Apply(leave_unexplained)) => [
            "sep-2575/initialize-names-versions"],
        /// A request needs neither a version nor capabilities.
        "meta-not-required": p.requests.needs_meta = false => ["sep-2575/required-meta",
            "sep-2575/required-meta-status"],
        /// A request without what each must carry has the HTTP status 200.
        "meta-missing-found": p.edit_if(Reply, ("/error/code", "-32602"), "/status", Set("200")) => [
            "sep-2575/required-meta-status"],
        /// A request must say who the client is.
        "client-info-required": p.requests.accepts_meta = |meta| meta.contains_key(CLIENT_KEY) => [
            "sep-2575/client-info-is-optional", "tools/arguments-arrive"],
        /// An unknown key in `_meta` is an error.
        "unknown-meta-refused":
            p.requests.accepts_meta = |meta| meta.keys().all(|key| key.starts_with(OWN_PREFIX)) => [
            "sep-2575/unknown-meta-is-ignored"],
        /// Any version is spoken.
        "version-not-checked": p.requests.checks_version = false => ["sep-2575/unsupported-version",
            "sep-2575/unsupported-version-over-http"],
        /// Results have a `resultType` in every revision.
        "result-type-in-2025": {
            p.edit_if(Reply, LIST, "/result/resultType", Default(r#""complete""#));
            p.edit_if(Reply, CALL, "/result/resultType", Default(r#""complete""#));
        } => ["sep-2575/no-result-type-before-2026"],
        /// Every second list is in another order.
        "list-shuffled": p.remembers = Some(Event::Listed) => ["tools/list-order"],
        /// Tools that ask the user are listed only for clients that can be asked.
        "list-by-capability": p.tools.are_listed = list_by_capability => ["tools/list-not-per-connection"],
        /// Once a call has failed, tools that fail are no longer listed.
        "list-by-side-effect": {
            p.remembers = Some(Event::CallFailed);
            p.tools.are_listed = list_by_side_effect;
        } => ["tools/list-not-by-side-effect", "tools/list-order"],
        /// A list of no tools is an error.
        "empty-list-refused":
            p.edit_if(Reply, ("/result/tools", "[]"), "", Apply(|reply| refuse(reply, 200, -32602))) => [
            "tools/list-answered"],
        /// `ttlMs` is -1.
        "ttl-negative": p.edit(Reply, "/result/ttlMs", Replace("-1")) => ["tools/ttl-not-negative"],
        /// `cacheScope` is `shared`.
        "cache-scope-unknown": p.edit(Reply, "/result/cacheScope", Replace(r#""shared""#)) => [
            "tools/cache-scope-of-all-pages", "tools/caching-hints-present"],
        /// Two tools may have one name.
        "names-twice-accepted": p.tools.names_are_unique = false => ["tools/names-unique"],
        /// Several blocks of text are made one.
        "blocks-merged": p.edit(Reply, "/result/content", Apply(merge)) => ["tools/content-as-given"],
        /// The questions in a result say `elicitation/ask`.
        "question-of-unknown-kind": p.edit(Reply, "/result/inputRequests/*/method", Set(r#""elicitation/ask""#)) => [
            "elicitation/answer-arrives", "elicitation/message-present", "sep-1034/default-is-optional",
            "sep-1034/default-kept", "sep-1330/untitled-single", "sep-2322/kinds-of-requests",
            "sep-2322/retry-stands-alone"],
        /// An input-required result has neither questions nor a state.
        "question-empty": {
            p.edit(Reply, "/result/inputRequests", Remove);
            p.edit(Reply, "/result/requestState", Remove);
        } => ["elicitation/answer-arrives", "elicitation/message-present", "sep-1034/default-is-optional",
            "sep-1034/default-kept", "sep-1330/untitled-single", "sep-2322/asks-or-gives-state",
            "sep-2322/retry-stands-alone", "sep-2575/result-type"],
        /// An input-required result says how long it can be cached.
        "hints-on-questions":
            p.edit_if(Reply, ("/result/resultType", r#""input_required""#), "/result/ttlMs", Set("60000")) => [
            "sep-2322/questions-are-not-cached"],
        /// Before the result of an accepted form, the client gets a request of its own.
        "asks-in-the-stream": p.transport.before_reply = ask_before_acceptance => ["elicitation/answer-arrives",
            "sep-2322/no-requests-to-the-client", "sep-2322/retry-stands-alone"],
        /// A state fits any call of the tool.
        "unbound-state": p.requests.state_covers_arguments = false => ["sep-2322/state-bound-to-request"],
        /// A call with an amount gets a state that no retry fits.
        "state-of-other-arguments": p.edit(Reply, "", Apply(misplace_state)) => ["sep-2322/retry-stands-alone"],
        /// Any origin is served.
        "origin-not-checked": p.transport.checks_origin = false => ["http/bad-origin-status", "http/origin-checked"],
        /// A foreign origin gets the HTTP status 401.
        "bad-origin-unauthorized": p.transport.bad_origin = 401 => ["http/bad-origin-status"],
        /// A notification is answered with a result.
        "notification-answered":
            p.transport.notification_reply = Some(r#"{"jsonrpc":"2.0","id":null,"result":{}}"#) => [
            "http/notification-taken", "messages/unknown-notifications-are-ignored"],
        /// The answer to a question gets the HTTP status 200.
        "answer-taken-with-200": p.transport.response_taken = 200 => ["http/answer-taken"],
        /// A request that would take up a stream again is refused.
        "last-event-refused": p.transport.refuses_last_event = true => ["http/last-event-ignored"],
        /// A stateless server gives out sessions.
        "session-minted": p.transport.has_stateless_sessions = true => ["http/session-ignored"],
        /// The name of a session has a space.
        "session-id-with-space": p.transport.session_prefix = "session " => ["http/session-id-characters"],
        /// A request without its session gets the HTTP status 403.
        "session-missing-forbidden": p.transport.missing_session = 403 => ["http/missing-session-status"],
        /// An unknown session gets the HTTP status 400.
        "session-unknown-bad": p.transport.unknown_session = 400 => ["http/unknown-session-status"],
        /// Within a session, the header may name any version.
        "session-version-ignored": p.transport.checks_session_version = false => ["http/invalid-version-status"],
        /// The header may name another version than the body, or none.
        "version-header-ignored": p.transport.checks_version_header = false => ["http/version-header-matches",
            "http/version-header-missing"],
        /// Headers that differ from the body are an invalid request.
        "header-error-unnamed": p.edit_if(Reply, ("/error/code", "-32020"), "/error/code", Set("-32600")) => [
            "http/header-mismatch-error", "http/version-header-matches", "tools/header-value-mismatch"],
        /// A name that is encoded in its header is taken as it stands there.
        "name-not-decoded": p.transport.decodes_names = false => ["http/encoded-headers-decoded"],
        /// Arguments may differ from their headers.
        "parameter-headers-not-checked": p.transport.checks_parameters = false => ["tools/header-value-characters",
            "tools/header-value-checked", "tools/header-value-mismatch"],
        /// Numbers are compared with their headers as texts.
        "parameter-not-numeric": p.transport.compares_numbers = false => ["tools/header-integers-as-numbers"],
        /// An argument that is null must be repeated in its header.
        "null-parameter-expected": p.transport.expects_null = true => ["tools/header-value-not-expected"],
        /// An id that is a number in quotes comes back without them.
        "id-as-number": p.edit(Reply, "/id", Apply(unquote)) => ["messages/result-has-the-id"],
        /// The error for an unknown method has no id.
        "error-id-lost": p.edit_if(Reply, UNKNOWN_METHOD, "/id", Set("null")) => ["messages/error-has-the-id"],
        /// The error for an unknown method has no message.
        "error-without-message": p.edit_if(Reply, UNKNOWN_METHOD, "/error/message", Remove) => [
            "messages/error-has-code-and-message"],
        /// The code for an unknown method is a text.
        "error-code-as-text": p.edit_if(Reply, UNKNOWN_METHOD, "/error/code", Set(r#""-32601""#)) => [
            "messages/error-codes-are-integers", "tools/unknown-method-code", "tools/unknown-method-over-http"],
        /// The code for a method of another feature is one that the specification keeps for itself.
        "reserved-code": p.edit_if(Reply, UNKNOWN_METHOD, "", Apply(|reply| recode_resources(reply, -32050))) => [
            "messages/reserved-codes"],
        /// The code for a method of another feature is that of a capability that the client lacks.
        "defined-code-misused":
            p.edit_if(Reply, UNKNOWN_METHOD, "", Apply(|reply| recode_resources(reply, -32021))) => [
            "base/reserved-codes-as-defined", "messages/reserved-codes"],
        /// The code for a method of another feature is one that earlier revisions had for a missing resource.
        "retired-code": p.edit_if(Reply, UNKNOWN_METHOD, "", Apply(|reply| recode_resources(reply, -32002))) => [
            "base/retired-codes"],
        /// A key in the `_meta` of results has an empty label in its prefix.
        "meta-prefix-malformed": p.edit(Reply, "/result/_meta/com..example~1trace", Set(r#""1""#)) => [
            "base/meta-labels", "base/meta-prefix"],
        /// The name of a key in the `_meta` of results begins with `_`.
        "meta-name-malformed": p.edit(Reply, "/result/_meta/com.example~1_trace", Set(r#""1""#)) => ["base/meta-names"],
        /// A client that can't show a form is told to visit an address.
        "visit-required": p.edit(Reply, "", Apply(require_visit)) => ["elicitation/url-required-only"],
        /// What is no JSON is an invalid request.
        "parse-error-code-wrong": p.edit_if(Reply, ("/error/code", "-32700"), "/error/code", Set("-32600")) => [
            "messages/parse-error-code"],
        /// After a message that could not be read, every list and call is refused.
        "garbage-is-fatal": p.remembers = Some(Event::Unreadable) => ["messages/garbage-is-survived",
            "sep-2106/bound-is-scoped"],
        /// Of a batch, the first message is answered.
        "batch-accepted": p.requests.reads_batches = true => ["messages/no-batches"],
        /// Over stdio, each message is announced by a line of prose.
        "stray-line":
            p.transport.framing = |message| format!("a message of {} bytes follows\n{message}", message.len()) => [
            "stdio/nothing-but-messages"],
        /// Over stdio, each message is indented over many lines.
        "pretty-printed": p.transport.framing = indent => ["stdio/one-message-a-line", "tools/arguments-arrive"],
        /// No server is ever built.
        "refuses-everything": p.tools.are_served = false => ["base/meta-labels", "base/meta-names", "base/meta-prefix",
            "elicitation/answer-arrives", "elicitation/message-present", "http/encoded-headers-decoded",
            "http/header-names-any-case", "http/last-event-ignored", "http/notification-taken", "http/reply-media-type",
            "http/session-ignored", "lifecycle/ping", "lifecycle/same-version", "lifecycle/server-named",
            "messages/result-has-the-id", "sep-1034/default-is-optional", "sep-1034/default-kept",
            "sep-1330/untitled-single", "sep-1613/default-dialect", "sep-2106/any-json-value",
            "sep-2106/data-is-no-reference", "sep-2322/asks-or-gives-state", "sep-2322/kinds-of-requests",
            "sep-2322/questions-are-not-cached", "sep-2322/retry-stands-alone", "sep-2575/client-info-is-optional",
            "sep-2575/discover", "sep-2575/no-result-type-before-2026", "sep-2575/result-type", "sep-2575/server-info",
            "stdio/one-message-a-line", "tools/arguments-arrive", "tools/capability-declared", "tools/content-as-given",
            "tools/input-schema-kept", "tools/inputs-validated", "tools/list-answered", "tools/no-parameter-forms",
            "tools/output-conforms", "tools/output-schema-kept", "tools/structured-returned",
            "tools/whole-number-is-integer"],
        /// Every call takes a second.
        "sleeps-1s": p.requests.delay = Duration::from_secs(1) => [],
    }
    client {
        /// Structured content is handed to the user unchecked.
        "output-not-validated-by-client": p.output.is_checked = false => ["tools/results-validated"],
        /// A tool with an output schema may succeed without structured content.
        "missing-structured-accepted-by-client": p.output.is_required = false => ["tools/missing-result-noticed"],
        /// Results of a tool whose schema can't be compiled are taken unchecked.
        "validation-skipped-by-client": p.schemas.accepts_uncompilable = true => ["sep-1613/invalid-schema-noticed",
            "sep-1613/unsupported-dialect-is-error", "sep-2106/dangling-ref-rejected",
            "sep-2106/unresolved-dynamic-ref-rejected", "sep-2106/unresolved-ref-rejected"],
        /// References to other documents are fetched when a schema is compiled.
        "client-fetches-ref": { p.schemas.fetches_references = true; p.client.compiles_when_listed = true } => [
            "sep-2106/no-network-deref"],
        /// One tool whose schema can't be compiled makes the whole list fail.
        "one-bad-tool-loses-all": p.client.bad_tool_breaks_list = true => ["sep-1613/invalid-schema-noticed",
            "sep-1613/schema-keyword-kept", "sep-1613/unsupported-dialect-is-error", "sep-2106/dangling-ref-rejected",
            "sep-2106/unresolved-dynamic-ref-rejected", "sep-2106/unresolved-ref-rejected",
            "tools/bad-tool-stays-alone"],
        /// Structured content that is 0, false, "" or null counts as missing.
        "falsy-structured-taken-for-missing": p.output.absent = &["0", "false", "\"\"", "null"] => [
            "sep-2106/any-json-value"],
        /// The result of a tool that failed must fit the output schema.
        "error-result-validated": p.output.is_checked_after_failure = true => ["tools/errors-need-no-output"],
        /// The user gets schemas without `anyOf`, `oneOf`, `allOf`, `not`, `if` and `$defs`.
        "schema-keywords-dropped-by-client":
            p.client.lost_keywords = &["anyOf", "oneOf", "allOf", "not", "if", "then", "else", "$defs"] => [
            "sep-2106/any-output-root", "sep-2106/bounds-are-reasonable", "sep-2106/input-keywords-kept",
            "tools/input-schema-kept", "tools/output-schema-kept"],
        /// The user gets schemas without `enumNames`.
        "enum-names-lost-by-client": p.client.lost_keywords = &["enumNames"] => ["tools/input-schema-kept",
            "tools/output-schema-kept"],
        /// Defaults are not filled in, as a client may do.
        "defaults-ignored": p.user.fills_in_defaults = false => [],
        /// Defaults are sent although the user declined or cancelled.
        "defaults-on-decline": p.user.refusal_content = |form| Some(form.filled(Map::new())) => [
            "elicitation/content-only-on-accept", "elicitation/three-actions", "sep-1034/refusal-carries-no-default",
            "sep-2322/refusal-is-sent"],
        /// A default replaces what the user entered.
        "defaults-overwrite-user": p.user.defaults_replace_answers = true => ["sep-1034/user-wins"],
        /// Defaults that are 0, false, "" or [] are not filled in.
        "defaults-falsy-lost":
            p.user.is_filled_in = |default| ![json!(0), json!(false), json!(""), json!([])].contains(default) => [
            "sep-1034/client-prefills"],
        /// Defaults are filled in after the answer was checked, whether they fit or not.
        "defaults-unchecked": p.user.defaults_are_checked = false => ["elicitation/client-validates"],
        /// What is filled in is the first option or an empty value, whatever the default says.
        "default-wrong-value": p.user.default = |field, _| first_choice(field) => ["sep-1034/client-prefills"],
        /// Defaults are filled in as the text that a field of a form holds.
        "defaults-as-text": p.user.on_sent = send_defaults_as_text => ["sep-1034/client-prefills"],
        /// Declining and cancelling carry an empty `content`.
        "content-with-decline": p.user.refusal_content = |_| Some(Map::new()) => ["elicitation/content-only-on-accept",
            "elicitation/three-actions", "sep-1034/refusal-carries-no-default", "sep-2322/refusal-is-sent"],
        /// What the user entered is sent unchecked.
        "invalid-answer-sent": p.user.answers_are_checked = false => ["elicitation/client-validates"],
        /// Several choices are sent as one text.
        "multi-select-flattened": p.user.on_sent = |value, _| flatten(value) => ["elicitation/odd-fields-tolerated",
            "sep-1034/user-wins", "sep-1330/choice-sent", "sep-1330/choices-sent-as-list"],
        /// An elicitation is answered although its mode was not declared, or is unknown.
        "undeclared-mode-answered": p.user.answers_undeclared_modes = true => ["elicitation/undeclared-mode-code",
            "elicitation/undeclared-mode-unanswered", "sep-2322/inputs-before-retry",
            "sep-2322/undeclared-input-unanswered"],
        /// An elicitation without `mode` is refused.
        "mode-required": p.user.needs_mode = true => ["elicitation/answer-as-entered", "elicitation/no-mode-means-form",
            "elicitation/three-actions", "sep-1034/client-prefills", "sep-1034/user-wins", "sep-1330/choice-sent",
            "sep-1330/choices-sent-as-list"],
        /// A `requestState` that looks like JSON is parsed, and written anew.
        "state-reencoded": p.edit(Request, "/params/requestState", Apply(reencode)) => ["elicitation/three-actions",
            "sep-2322/state-echoed"],
        /// A retry carries no `requestState`.
        "state-dropped": p.edit(Request, "/params/requestState", Remove) => ["elicitation/answer-as-entered",
            "elicitation/three-actions", "sep-1330/choice-sent", "sep-1330/choices-sent-as-list",
            "sep-2322/state-echoed"],
        /// A retry carries a `requestState` of null where the server gave none.
        "state-invented": p.edit(Request, "/params", Apply(invent_state)) => ["elicitation/three-actions",
            "sep-2322/no-state-invented", "sep-2322/type-decides"],
        /// A retry has the id of the request that it repeats.
        "id-reused-on-retry": p.client.retry_has_new_id = false => ["sep-2322/retry-has-new-id"],
        /// A second input-required result is handed to the user as the result.
        "second-round-lost": p.client.answers_every_round = false => ["elicitation/answer-as-entered",
            "sep-2322/refusal-is-sent", "sep-2322/rounds-repeat"],
        /// A result of an unknown `resultType` counts as complete.
        "unknown-result-type-accepted": p.client.accepts_unknown_result_type = true => [
            "base/unknown-result-type-is-invalid"],
        /// A result without `resultType` is an error.
        "absent-result-type-refused": p.client.needs_result_type = true => ["base/absent-result-type-is-complete"],
        /// A cursor that is an empty string counts as the end of the list.
        "cursor-empty-is-end": p.client.is_further_page = |cursor| cursor != r#""""# => [
            "tools/empty-cursor-is-no-end"],
        /// Blanks around a cursor are lost.
        "cursor-trimmed": p.edit(Request, "/params/cursor", Apply(trim)) => ["base/result-handed-over",
            "tools/cursors-are-opaque"],
        /// The first page counts as the whole list.
        "pages-ignored": p.client.is_further_page = |_| false => ["tools/empty-cursor-is-no-end",
            "tools/pages-or-none"],
        /// After the last page of several, the list is begun anew, until the client's patience ends.
        "end-of-list-unseen": p.client.requests_after_end = 4 => ["tools/missing-cursor-is-end"],
        /// `Accept` names `application/json` alone.
        "accept-json-only": p.client.accept = "application/json" => ["http/accept-lists-both"],
        /// Retries, and requests for further pages, carry no `_meta`.
        "meta-missing": p.edit(Request, "/params", Apply(|params| lose_in_repetition(params, "_meta"))) => [
            "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
            "http/version-header-agrees", "sep-1330/choice-sent", "sep-1330/choices-sent-as-list",
            "sep-2322/incomplete-is-no-result", "sep-2322/rounds-end", "sep-2575/client-info-sent",
            "sep-2575/fields-on-every-request"],
        /// A tool whose `x-mcp-header` is invalid stays in the list.
        "invalid-header-tool-kept": p.client.drops_wrong_marks = false => ["tools/invalid-header-mark-excluded"],
        /// A mark within `allOf`, `anyOf` or `oneOf` counts as one in reach.
        "marks-in-branches-followed": p.client.marks = |schema| parameters::of(&flattened(schema)) => [
            "tools/header-reachable-only", "tools/invalid-header-mark-excluded"],
        /// Arguments marked with `x-mcp-header` are not repeated in headers.
        "parameter-headers-missing": p.client.parameter_headers = |_, _| vec![] => ["http/sentinel-encoded",
            "tools/header-value-base64", "tools/header-value-sent"],
        /// A tool's name that looks like an encoded one goes into its header as it is.
        "name-header-not-encoded": p.client.name_header = str::to_owned => ["tools/name-header-encoded"],
        /// Only `$dynamicRef`s to other documents are fetched.
        "client-fetches-dynamic-ref": p.schemas.prepare = |schema| visit(schema, "$dynamicRef") => [
            "sep-2106/no-dynamic-deref"],
        /// An unknown dialect is fetched.
        "client-fetches-dialect": p.schemas.prepare = |schema| visit(schema, "$schema") => [
            "sep-2106/dialect-not-fetched"],
        /// A schema's `$id` is fetched.
        "client-fetches-id": p.schemas.prepare = |schema| visit(schema, "$id") => ["sep-2106/id-not-fetched",
            "sep-2106/no-dynamic-deref", "sep-2106/no-network-deref"],
        /// References to files are read.
        "client-reads-file": p.schemas.prepare = read_files => ["sep-2106/no-file-deref"],
        /// References to other documents accept everything.
        "external-ref-ignored-by-client": p.schemas.prepare = ignore_external => ["sep-2106/data-is-no-reference",
            "sep-2106/unresolved-dynamic-ref-rejected", "sep-2106/unresolved-ref-rejected"],
        /// Every schema is read as 2020-12, whatever it says.
        "dialect-ignored-by-client": p.schemas.prepare = |schema| lose(schema, &["$schema"]) => [
            "sep-1613/unsupported-dialect-is-error"],
        /// A schema that doesn't name its dialect is read as draft-07.
        "draft-7-assumed-by-client": p.schemas.default_dialect = Draft::Draft7 => ["sep-1613/declared-dialect",
            "sep-1613/default-dialect", "sep-1613/invalid-schema-noticed", "sep-2106/any-json-value",
            "tools/results-validated", "tools/structured-returned"],
        /// A schema that names 2020-12 is refused.
        "own-dialect-unknown-to-client": p.schemas.default_dialect_may_be_named = false => [
            "elicitation/odd-fields-tolerated", "sep-1613/explicit-2020-12", "tools/structured-returned"],
        /// Schemas have no bounds.
        "depth-unlimited-in-client": { p.schemas.bounds = UNBOUNDED; p.schemas.budget = Duration::MAX } => [
            "sep-2106/bound-is-scoped", "sep-2106/bounds-applied"],
        /// Schemas of more than 12 levels are refused.
        "depth-of-12-in-client": p.schemas.bounds.depth = 12 => ["sep-2106/bounds-are-reasonable"],
        /// Matching a long text by a pattern takes for ever.
        "value-unbounded-in-client": {
            p.schemas.hangs_on = long_texts_by_pattern;
            p.schemas.budget = Duration::MAX;
        } => ["sep-2106/bound-is-scoped", "sep-2106/value-bounded"],
        /// Two output schemas with one `$id` share the validator of the first.
        "first-id-wins-in-client": p.schemas.are_shared_by_id = true => ["sep-2106/own-schema",
            "tools/results-validated"],
        /// The user gets schemas without `additionalProperties`.
        "closed-schema-opened-by-client": p.client.lost_keywords = &["additionalProperties"] => [
            "sep-2106/any-output-root", "sep-2106/input-keywords-kept", "tools/input-schema-kept",
            "tools/no-parameter-forms", "tools/output-schema-kept"],
        /// Structured content is not handed to the user.
        "structured-lost-by-client": p.client.lost_member = Some("structuredContent") => ["base/result-handed-over",
            "elicitation/answer-as-entered", "elicitation/three-actions", "http/both-answers-read",
            "sep-2106/any-json-value", "sep-2106/data-is-no-reference", "sep-2322/type-decides",
            "stdio/one-line-a-message", "tools/structured-returned", "tools/unlisted-tool-callable"],
        /// Structured content without an output schema is an error.
        "schema-required": p.client.needs_output_schema = true => ["base/result-handed-over",
            "elicitation/answer-as-entered", "elicitation/three-actions", "sep-1330/choice-sent",
            "sep-1330/choices-sent-as-list", "sep-2106/any-json-value", "tools/absent-is-error-is-success",
            "tools/bad-tool-stays-alone", "tools/result-without-schema", "tools/structured-returned",
            "tools/unlisted-tool-callable"],
        /// A tool that was not listed can't be called.
        "unlisted-tool-refused": p.client.refuses_unlisted = true => ["base/result-handed-over",
            "elicitation/answer-as-entered", "elicitation/three-actions", "sep-1034/user-wins", "sep-1330/choice-sent",
            "sep-1330/choices-sent-as-list", "tools/errors-need-no-output", "tools/structured-returned",
            "tools/unlisted-tool-callable"],
        /// A nested argument can't be marked for a header.
        "nested-header-mark-refused": p.client.marks = refuse_nested_marks => ["tools/header-value-sent",
            "tools/valid-header-mark-kept"],
        /// A list without `ttlMs`, or with a negative one, is an error.
        "ttl-required": p.client.needs_ttl = true => ["tools/absent-ttl-is-zero", "tools/negative-ttl-is-zero"],
        /// The user isn't told that a tool failed.
        "is-error-lost": p.client.lost_member = Some("isError") => ["elicitation/nobody-to-ask-undeclared",
            "sep-1303/tool-errors-reach-the-user", "tools/errors-need-no-output"],
        /// A result without `isError` is an error.
        "is-error-required": p.client.needs_is_error = true => ["base/result-handed-over",
            "elicitation/answer-as-entered", "elicitation/three-actions", "sep-1330/choice-sent",
            "sep-1330/choices-sent-as-list", "sep-2106/any-json-value", "sep-2106/data-is-no-reference",
            "tools/absent-is-error-is-success", "tools/structured-returned"],
        /// A JSON-RPC error is handed to the user as a result.
        "protocol-error-as-success": p.client.errors_are_results = true => ["elicitation/nobody-to-ask-undeclared",
            "sep-1303/protocol-error-is-no-success"],
        /// After one tool has failed, no other is called.
        "failure-is-sticky-in-client": p.client.failure_is_final = true => ["base/result-handed-over",
            "sep-1303/error-leaves-no-trace", "tools/errors-need-no-output"],
        /// A client with a user doesn't declare that it can ask.
        "elicitation-undeclared": {
            p.edit(Request, "/params/capabilities", Replace("{}"));
            p.edit(Request, SENT_CAPABILITIES, Replace("{}"));
        } => ["elicitation/answer-as-entered", "elicitation/client-declares", "elicitation/three-actions",
            "sep-1034/user-wins", "sep-1330/choice-sent", "sep-1330/choices-sent-as-list"],
        /// A client without a user declares that it can ask.
        "elicitation-always-declared": {
            p.edit(Request, "/params/capabilities/elicitation", Default(r#"{"form":{}}"#));
            p.edit(Request, SENT_ELICITATION, Default(r#"{"form":{}}"#));
        } => ["elicitation/nobody-to-ask-undeclared"],
        /// A form needs a field.
        "empty-form-refused-by-client": p.forms.may_be_empty = false => ["elicitation/form-may-be-empty"],
        /// The URL of a question is fetched before the user is asked.
        "url-prefetched": p.user.fetches_urls = true => ["elicitation/url-not-fetched"],
        /// A retry carries no arguments.
        "retry-arguments-lost":
            p.edit(Request, "/params", Apply(|params| lose_in_repetition(params, "arguments"))) => [
            "sep-2322/original-retried"],
        /// Several answers go back as responses, each with a `result`.
        "answers-wrapped": p.edit(Request, "/params/inputResponses", Apply(wrap_answers)) => [
            "sep-2322/inputs-before-retry", "sep-2322/refusal-is-sent", "sep-2322/responses-by-key"],
        /// Requests have no `Mcp-Method`.
        "method-header-missing": p.client.headers = |headers| drop(headers.remove("mcp-method")) => [
            "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
            "http/method-header-sent", "sep-1034/user-wins", "sep-1330/choice-sent", "sep-1330/choices-sent-as-list",
            "sep-1613/schema-keyword-kept", "sep-2106/any-json-value", "sep-2106/any-output-root",
            "sep-2106/bounds-are-reasonable", "sep-2106/data-is-no-reference", "sep-2106/input-keywords-kept",
            "sep-2106/own-schema", "tools/absent-is-error-is-success", "tools/input-schema-kept",
            "tools/no-parameter-forms", "tools/output-schema-kept", "tools/structured-returned"],
        /// Calls have no `Mcp-Name`.
        "name-header-missing": p.client.headers = |headers| drop(headers.remove("mcp-name")) => [
            "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
            "http/name-header-sent", "sep-1034/user-wins", "sep-1330/choice-sent", "sep-1330/choices-sent-as-list",
            "sep-2106/any-json-value", "sep-2106/data-is-no-reference", "tools/absent-is-error-is-success",
            "tools/structured-returned"],
        /// Requests have no `MCP-Protocol-Version`.
        "version-header-missing": p.client.headers = |headers| drop(headers.remove("mcp-protocol-version")) => [
            "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
            "http/version-header-agrees", "http/version-header-sent", "lifecycle/version-header-negotiated",
            "lifecycle/version-header-sent", "sep-1034/user-wins", "sep-1330/choice-sent",
            "sep-1330/choices-sent-as-list", "sep-1613/schema-keyword-kept", "sep-2106/any-json-value",
            "sep-2106/any-output-root", "sep-2106/bounds-are-reasonable", "sep-2106/data-is-no-reference",
            "sep-2106/input-keywords-kept", "sep-2106/own-schema", "tools/absent-is-error-is-success",
            "tools/input-schema-kept", "tools/no-parameter-forms", "tools/output-schema-kept",
            "tools/structured-returned"],
        /// `MCP-Protocol-Version` names an earlier version than the body, or than was agreed upon.
        "version-header-outdated": p.client.headers = outdate_version => ["base/result-handed-over",
            "elicitation/answer-as-entered", "elicitation/three-actions", "http/version-header-agrees",
            "lifecycle/version-header-negotiated", "sep-1034/user-wins", "sep-1330/choice-sent",
            "sep-1330/choices-sent-as-list", "sep-1613/schema-keyword-kept", "sep-2106/any-json-value",
            "sep-2106/any-output-root", "sep-2106/bounds-are-reasonable", "sep-2106/data-is-no-reference",
            "sep-2106/input-keywords-kept", "sep-2106/own-schema", "tools/absent-is-error-is-success",
            "tools/input-schema-kept", "tools/no-parameter-forms", "tools/output-schema-kept",
            "tools/structured-returned"],
        /// The server's `MCP-Session-Id` doesn't come back.
        "session-header-missing": p.client.headers = |headers| drop(headers.remove("mcp-session-id")) => [
            "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
            "lifecycle/session-id-sent", "sep-1034/user-wins", "sep-1330/choice-sent", "sep-1330/choices-sent-as-list",
            "sep-1613/schema-keyword-kept", "sep-2106/data-is-no-reference", "tools/absent-is-error-is-success",
            "tools/input-schema-kept", "tools/no-parameter-forms", "tools/output-schema-kept",
            "tools/structured-returned"],
        /// A reply is not read if its media type has parameters.
        "media-parameters-refused": p.client.accepts_media_parameters = false => ["http/both-answers-read",
            "http/header-names-any-case-by-clients"],
        /// A marked argument is looked for by its name alone, and not along its path.
        "parameter-path-ignored": p.client.parameter_headers = headers_of_namesake => ["tools/header-value-omitted",
            "tools/header-value-sent"],
        /// Arguments go into headers as they are, with all their lines.
        "parameter-headers-raw": p.client.parameter_headers = split_lines => ["http/sentinel-encoded",
            "tools/header-value-base64", "tools/header-value-encoded"],
        /// Booleans are `True` and `False` in headers.
        "parameter-booleans-capitalized": p.client.parameter_headers = capitalize_booleans => [
            "tools/header-value-sent"],
        /// An argument that is null is repeated in its header.
        "null-parameter-sent": p.client.parameter_headers = send_null => ["tools/header-value-omitted"],
        /// `notifications/initialized` goes out ahead of the handshake, too.
        "initialized-too-early":
            p.client.before_handshake = Some(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#) => [
            "lifecycle/initialize-first", "lifecycle/session-id-sent", "lifecycle/version-header-negotiated",
            "lifecycle/version-header-sent"],
        /// The handshake ends without `notifications/initialized`.
        "initialized-missing": p.client.says_initialized = false => ["lifecycle/initialized-sent"],
        /// Resources are listed that the server doesn't declare.
        "undeclared-resources-listed": p.client.after_handshake = Some((LIST_RESOURCES, false)) => [
            "lifecycle/negotiated-capabilities-only"],
        /// A session begins with a ping whose id is null.
        "ping-with-null-id":
            p.client.after_handshake = Some((r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, true)) => [
            "base/id-not-null"],
        /// The client says its name, and not its version.
        "client-version-lost": {
            p.edit(Request, "/params/clientInfo/version", Remove);
            p.edit(Request, "/params/_meta/io.modelcontextprotocol~1clientInfo/version", Remove);
        } => ["lifecycle/initialize-is-whole", "sep-2575/client-info-sent"],
        /// The mode `form` is declared by `true`.
        "modes-as-booleans": {
            p.edit(Request, "/params/capabilities/elicitation", Replace(r#"{"form":true}"#));
            p.edit(Request, SENT_ELICITATION, Replace(r#"{"form":true}"#));
        } => ["elicitation/one-mode-at-least"],
        /// A key in the `_meta` of requests has an empty label in its prefix.
        "meta-prefix-sent-malformed": p.edit(Request, "/params/_meta/com..example~1trace", Set(r#""1""#)) => [
            "base/meta-labels", "base/meta-prefix"],
        /// The name of a key in the `_meta` of requests begins with `_`.
        "meta-name-sent-malformed": p.edit(Request, "/params/_meta/com.example~1_trace", Set(r#""1""#)) => [
            "base/meta-names"],
        /// The error for a question that can't be answered has no message.
        "error-message-lost-by-client": p.edit(Response, "/error/message", Remove) => [
            "base/error-has-code-and-message"],
        /// The error for a question that can't be answered has no id, and the call is given up.
        "error-id-lost-by-client": p.edit(Response, "", Apply(lose_id_of_error)) => ["base/error-echoes-id",
            "elicitation/undeclared-mode-code"],
        /// The code of the error for a question that can't be answered is a text.
        "error-code-as-text-by-client":
            p.edit(Response, "/error/code", Apply(|code| *code = json!(code.to_string()))) => [
            "base/error-code-is-integer", "elicitation/undeclared-mode-code"],
        /// Every answer within a call has the id of the first question.
        "answer-id-stale-by-client": p.client.answers_first_question = true => ["base/response-has-same-id"],
        /// The ids of requests are no integers.
        "request-id-as-fraction":
            p.client.id = |id| json!(f64::from(u32::try_from(id).unwrap_or(u32::MAX)) + 0.5) => [
            "base/id-is-string-or-integer"],
        /// Answers go out as responses of their own, too, where the server makes no requests.
        "answers-sent-as-responses": p.client.answers_are_also_responses = true => ["http/no-responses-posted",
            "http/version-header-agrees", "http/version-header-sent", "sep-2322/inputs-before-retry",
            "sep-2322/no-state-invented", "sep-2322/state-echoed", "stdio/no-responses-written"],
        /// Over stdio, line breaks in texts are written as they are.
        "line-breaks-unescaped": p.transport.framing = |message| message.replace("\\n", "\n") => [
            "stdio/one-line-a-message", "stdio/stdin-is-for-messages"],
    }
}
