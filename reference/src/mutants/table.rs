//! The table of mutants: the name of each, its difference from the strict policy, and the requirements that it
//! violates.
//!
//! The table is data, and the only place that knows the meaning of a mutant. In the other role, a mutant is the strict
//! target.

use std::time::Duration;

use jsonschema::Draft;
use serde_json::{Map, Value, json};

use super::client_deviations::{
    add_null_state, capitalize_booleans, capitalize_session, encode_one_line, flatten, headers_of_namesake,
    keep_carriage_returns, list_resources, name_lost_session, probe, refuse_comments, refuse_nested_marks,
    remove_error_id, remove_from_repetition, remove_headers_of_probe, remove_session_of_requests, report_calls,
    reserialize, send_defaults_as_text, send_earlier_version, send_earlier_version_with_probe, send_empty, send_null,
    split_lines, trim, value_without_defaults, wrap_answers,
};
use super::deviations::{
    PROGRESS, add_empty_default, add_page_of_other_scope, add_result_for_prompts, agree_on_any_version,
    announce_before_handshake, answer_nobody, ask_before_acceptance, ask_in_list, cancel_before_result,
    capabilities_are_known, change_value, coerce, declare_draft_7, decode_slashes, has_long_text_and_pattern,
    ignore_external, ignore_references_under_id, indent, invalidate_nested_marks, keep_types,
    let_texts_end_with_newline, list_by_connection, list_by_side_effect, list_by_unknown_call, log_before_handshake,
    lose_name, make_floats, make_single_choice, make_texts, malform_required, merge_text_blocks, mix_scalars,
    refuse_by_prefix, refuse_extra_responses, refuse_missing_responses, refuse_newer_keywords, refuse_own_dialect,
    refuse_reserved_keys, refuse_whole_numbers, remove_bounds, remove_closing, remove_falsy_content, remove_members,
    remove_supported_versions, remove_titles, remove_unknown_arguments, rename_schema_member, replace_state,
    report_before_list, report_unknown_method, require_url_visit, return_input_required, sample_before_handshake,
    set_code_for_resources, text_at_reserved_keys, text_for_failures, turn_into_error, unquote, with_merged_branches,
};
use super::{About, Mutant};
use crate::edits::Change::{Apply, Default, Remove, Replace, Set};
use crate::edits::Hook::{Question, Received, Reply, Request, Response};
use crate::fetch::{read_files, visit, visit_through_proxy};
use crate::message::{CLIENT_KEY, OWN_PREFIX};
use crate::parameters;
use crate::policy::{AtOnce, Channel, Event, GetStream, OlderValues, Resume};
use crate::revision::Revision;
use crate::schema::UNBOUNDED;

type When = (&'static str, &'static str);

const UNKNOWN_METHOD: When = ("/error/code", "-32601");
const MISSING_CAPABILITY: When = ("/error/code", "-32021");
const CANCELLED_HANDSHAKE: &str = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
const HANDSHAKE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"handshake","method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"reference","version":"1"}}}"#
);
/// The error for an unknown method, in a list.
const BATCH: &str = r#"[{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"not supported"}}]"#;
const DISCOVER: When = ("/request/method", r#""server/discover""#);
const LIST: When = ("/request/method", r#""tools/list""#);
const CALL: When = ("/request/method", r#""tools/call""#);
const NO_CAPABILITIES: When = ("/request/params/capabilities", "{}");
const SENT_CAPABILITIES: &str = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";
const SENT_ELICITATION: &str = "/params/_meta/io.modelcontextprotocol~1clientCapabilities/elicitation";
/// A request for the second page of a list.
const SECOND_PAGE: &str = r#"{"jsonrpc":"2.0","id":"p","method":"tools/list","params":{"cursor":"page-2"}}"#;
const LIST_RESOURCES: &str = r#"{"jsonrpc":"2.0","id":"r","method":"resources/list","params":{}}"#;

macro_rules! mutants {
    (|$policy:ident| $($role:ident {
        $($(#[doc = $does:literal])+ $name:literal: $change:expr => [$($breaks:literal),*],)+
    })+) => {
        /// Every mutant: first the servers, then the clients.
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
        /// Arguments reach the tool without validation.
        "input-not-validated": p.requests.checks_arguments = false => [
            "tools/inputs-validated", "tools/no-coercion"],
        /// A schema that cannot be compiled accepts every value.
        "validation-skipped-when-uncompilable": p.schemas.accepts_uncompilable = true => [
            "sep-1613/invalid-schema-noticed", "sep-1613/unsupported-dialect-is-error",
            "sep-2106/dangling-ref-rejected", "sep-2106/unresolved-dynamic-ref-rejected",
            "sep-2106/unresolved-ref-rejected", "sep-2106/unresolved-ref-rejected-earlier"],
        /// In a pattern, `$` also matches before a newline at the end of the text.
        "dollar-before-newline": p.schemas.prepare = let_texts_end_with_newline => ["tools/patterns-of-ecma-262"],
        /// An `anyOf` at the root is neither advertised nor enforced.
        "keyword-stripped": {
            p.schemas.prepare = |schema| remove_members(schema, &["anyOf"]);
            p.edit(Reply, "/result/tools/*/inputSchema/anyOf", Remove);
        } => [
            "sep-2106/input-keywords-enforced-earlier", "sep-2106/input-keywords-kept",
            "sep-2106/input-keywords-kept-earlier", "tools/inputs-validated", "tools/output-conforms"],
        /// Of the arguments, only the types are checked.
        "types-alone-checked": p.schemas.prepare = keep_types => ["elicitation/answer-arrives", "elicitation/answers-validated", "elicitation/field-kept", "sep-1034/boolean-default-kept", "sep-1034/default-kept", "sep-1330/legacy-titled", "sep-1330/titled-multi", "sep-1330/titled-single", "sep-1330/untitled-multi", "sep-1330/untitled-single", "sep-1613/declared-dialect", "sep-1613/default-dialect", "sep-1613/explicit-2020-12", "sep-1613/invalid-schema-noticed", "sep-1613/unsupported-dialect-is-error", "sep-2106/input-keywords-enforced-earlier", "tools/arguments-unchanged", "tools/header-value-characters", "tools/header-value-checked", "tools/inputs-validated", "tools/no-coercion", "tools/output-conforms"],
        /// Any scalar is accepted where another scalar is required.
        "scalars-mixed": p.schemas.prepare = mix_scalars => ["elicitation/answer-arrives", "messages/request-answered", "sep-2322/state-arrives", "tools/arguments-arrive", "tools/inputs-validated", "tools/no-coercion", "tools/output-conforms"],
        /// A schema that declares 2020-12 is read as draft-07.
        "own-dialect-misread": p.schemas.prepare = declare_draft_7 => ["sep-1613/explicit-2020-12"],
        /// References of a schema with an `$id` accept every value.
        "references-under-id-ignored": p.schemas.prepare = ignore_references_under_id => ["sep-2106/unresolved-ref-rejected", "tools/inputs-validated"],
        /// The input schema of a tool whose name begins with `returns-` has a text in place of the list `required`.
        "required-as-text": p.edit(Reply, "/result/tools/*", Apply(malform_required)) => ["sep-1613/schema-is-valid"],
        /// Bytes are sent as a list of numbers.
        "bytes-as-list": p.edit(Reply, "/result/structuredContent/data", Replace("[104,105]")) => ["tools/output-conforms", "tools/text-mirrors-structured"],
        /// Each member of structured content is sent as a text.
        "members-as-texts": p.edit(Reply, "/result/structuredContent", Apply(make_texts)) => ["elicitation/answer-arrives", "sep-2106/any-json-value", "sep-2106/data-is-no-reference", "tools/arguments-unchanged", "tools/output-conforms", "tools/structured-returned", "tools/text-mirrors-structured"],
        /// The `name` of one tool is not listed.
        "name-not-listed": p.edit(Reply, "/result/tools/*", Apply(lose_name)) => ["messages/types-kept", "tools/named"],
        /// The `title` of a tool is not listed.
        "title-not-listed": p.edit(Reply, "/result/tools/*/title", Remove) => ["tools/title-kept"],
        /// The `description` of a tool is not listed.
        "description-not-listed": p.edit(Reply, "/result/tools/*/description", Remove) => ["tools/description-kept"],
        /// The `annotations` of a tool is not listed.
        "annotations-not-listed": p.edit(Reply, "/result/tools/*/annotations", Remove) => ["tools/annotations-kept"],
        /// The `icons` of a tool is not listed.
        "icons-not-listed": p.edit(Reply, "/result/tools/*/icons", Remove) => ["tools/icons-kept"],
        /// The `_meta` of a tool is not listed.
        "meta-not-listed": p.edit(Reply, "/result/tools/*/_meta", Remove) => ["tools/meta-kept"],
        /// An output schema without `type` is advertised with `type: object`.
        "root-type-injected-into-output":
            p.edit(Reply, "/result/tools/*/outputSchema/type", Default(r#""object""#)) => [
            "sep-2106/any-output-root", "tools/output-conforms"],
        /// A list is sent as the member `result` of an object.
        "array-wrapped-in-result": p.output.wraps_lists = true => [
            "sep-2106/any-json-value", "tools/output-conforms"],
        /// Structured content is not repeated as text.
        "text-not-mirrored": p.output.is_mirrored_as_text = false => ["tools/text-mirrors-structured"],
        /// Structured content that is 0, false, "" or null is omitted.
        "falsy-structured-dropped": p.edit(Reply, "/result", Apply(remove_falsy_content)) => [
            "sep-2106/any-json-value", "tools/output-present"],
        /// Structured content that is null counts as missing.
        "null-taken-for-absent": p.output.absent = &["null"] => [
            "sep-2106/any-json-value", "tools/structured-returned"],
        /// References to other documents are fetched when the server is built.
        "ref-fetched": p.schemas.fetches_references = true => [
            "sep-2106/fetched-content-hidden", "sep-2106/no-network-deref", "sep-2106/no-network-deref-earlier"],
        /// References are fetched through the proxy of the environment, but not from this machine or over TLS.
        "ref-fetched-by-name": p.schemas.prepare = |schema| visit_through_proxy(schema, "http://") => [
            "sep-2106/no-network-deref", "sep-2106/no-network-deref-earlier"],
        /// References are fetched if they begin with `https:`.
        "ref-fetched-over-tls": p.schemas.prepare = |schema| visit_through_proxy(schema, "https://") => [
            "sep-2106/no-network-deref", "sep-2106/no-network-deref-earlier"],
        /// Only references that begin with `http:` or `https:` are refused; those relative to an `$id` are fetched.
        "prefix-check-on-ref": { p.schemas.fetches_references = true; p.schemas.prepare = refuse_by_prefix } => [
            "sep-2106/data-is-no-reference", "sep-2106/no-network-deref", "sep-2106/no-network-deref-earlier"],
        /// References to other documents accept every value.
        "external-ref-ignored": p.schemas.prepare = ignore_external => [
            "sep-2106/data-is-no-reference", "sep-2106/unresolved-dynamic-ref-rejected",
            "sep-2106/unresolved-ref-rejected", "sep-2106/unresolved-ref-rejected-earlier"],
        /// The size of schemas is not limited.
        "depth-unlimited": { p.schemas.bounds = UNBOUNDED; p.schemas.budget = Duration::MAX } => [
            "sep-2106/bounds-applied", "sep-2106/bounds-applied-earlier"],
        /// Two schemas with the same `$id` share the validator of the first.
        "first-id-wins": p.schemas.are_shared_by_id = true => ["sep-2106/own-schema", "tools/inputs-validated"],
        /// `enumNames` is missing from the form.
        "enum-names-lost": p.edit(Question, "/requestedSchema/properties/*/enumNames", Remove) => [
            "sep-1330/legacy-titled"],
        /// A question has a progress token that is neither a string nor an integer.
        "question-token-as-fraction": p.edit(Question, "/_meta", Default(r#"{"progressToken":1.5}"#)) => [
            "base/progress-token-type", "messages/types-kept"],
        /// `default` is missing from the form.
        "defaults-lost": p.edit(Question, "/requestedSchema/properties/*/default", Remove) => [
            "sep-1034/boolean-default-kept", "sep-1034/default-kept"],
        /// A user's answer reaches the tool without validation.
        "answer-not-validated": p.forms.answers_are_checked = false => ["elicitation/answers-validated",
            "elicitation/responses-validated"],
        /// Invalid arguments are reported as a JSON-RPC error.
        "input-error-as-protocol-error": p.errors.arguments = Channel::Protocol => [
            "sep-1303/input-errors-are-tool-errors"],
        /// Invalid arguments are reported as a JSON-RPC error for an invalid request.
        "input-error-as-invalid-request": p.errors.arguments = Channel::Request => [
            "sep-1303/input-error-channel-2025-06-18", "sep-1303/input-errors-are-tool-errors"],
        /// An unknown tool is reported as a result with `isError`.
        "unknown-tool-as-tool-error": p.errors.unknown_tool = Channel::Tool => [
            "tools/unknown-tool-is-protocol-error"],
        /// Structured content is sent without validation.
        "output-not-validated": p.output.is_checked = false => ["tools/output-conforms"],
        /// A result that violates its schema is reported as an error of the client.
        "output-error-as-client-error": p.errors.output = Channel::Protocol => ["tools/output-violation-channel"],
        /// A tool with an output schema may succeed without structured content.
        "missing-structured-accepted": p.output.is_required = false => ["tools/output-present"],
        /// Any `requestState` is accepted.
        "state-not-verified": p.requests.checks_state = false => ["sep-2322/state-bound-to-request",
            "sep-2322/state-verified"],
        /// The user is asked although the client does not support forms.
        "capability-not-checked": p.forms.needs_capability = false => ["elicitation/only-declared-modes",
            "elicitation/only-negotiated-capabilities"],
        /// The error for a missing capability does not name the capability.
        "missing-capability-unnamed": p.edit_if(Reply, MISSING_CAPABILITY, "/error/data", Set("{}")) => [
            "elicitation/missing-capability-error"],
        /// The error for a missing capability has the HTTP status 200.
        "missing-capability-found": p.edit_if(Reply, MISSING_CAPABILITY, "/status", Set("200")) => [
            "elicitation/missing-capability-status"],
        /// A question in URL mode has no `elicitationId`.
        "elicitation-id-lost": p.edit(Question, "/elicitationId", Remove) => [
            "elicitation/elicitation-id-present", "messages/types-kept"],
        /// The URL of a question is replaced with its host.
        "url-cut-off": p.edit(Question, "/url", Replace(r#""casebook.invalid""#)) => ["elicitation/url-is-valid"],
        /// The slashes in the URL of a question are percent-decoded.
        "url-decoded": p.edit(Question, "/url", Apply(decode_slashes)) => ["elicitation/url-kept"],
        /// A question in URL mode has no `url`.
        "url-lost": p.edit(Question, "/url", Remove) => [
            "elicitation/url-mode-present", "messages/types-kept"],
        /// Results have no `resultType`.
        "result-type-lost": p.edit(Reply, "/result/resultType", Remove) => [
            "elicitation/answer-arrives", "messages/types-kept", "sep-2322/state-arrives", "sep-2575/result-type"],
        /// Lists have neither `ttlMs` nor `cacheScope`.
        "cache-hints-lost": {
            p.edit(Reply, "/result/ttlMs", Remove);
            p.edit(Reply, "/result/cacheScope", Remove);
        } => ["messages/types-kept", "tools/caching-hints-present"],
        /// HTTP headers may differ from the body.
        "headers-not-checked": p.transport.checks_headers = false => ["http/headers-match-body",
            "http/version-header-matches", "http/version-header-missing", "tools/header-value-characters",
            "tools/header-value-checked"],
        /// The name of the header `Mcp-Name` is compared with its capitals, and never found.
        "header-name-with-capitals": p.transport.finds_name_header = false => [
            "base/log-sent", "base/reserved-codes-as-defined", "elicitation/answer-arrives",
            "http/header-names-any-case", "messages/request-answered", "sep-1303/input-errors-are-tool-errors",
            "sep-2106/any-json-value", "sep-2106/data-is-no-reference", "sep-2322/state-arrives",
            "sep-2575/unknown-meta-is-ignored", "tools/arguments-arrive", "tools/arguments-unchanged", "tools/content-as-given", "tools/sibling-survives",
            "tools/structured-returned", "tools/valid-header-mark-kept", "typed/listed-is-taken"],
        /// Results have a `resultType` that no page names.
        "result-type-of-its-own":
            p.edit_if(Reply, ("/result/resultType", r#""complete""#), "/result/resultType", Set(r#""done""#)) => [
            "sep-2575/result-is-complete"],
        /// An invalid cursor returns the first page.
        "cursor-ignored": p.requests.checks_cursor = false => ["tools/invalid-cursor-code"],
        /// The only page of a list has a cursor that leads to it again.
        "cursor-stays": {
            p.requests.checks_cursor = false;
            p.edit_if(Reply, LIST, "/result/nextCursor", Default(r#""again""#));
        } => ["tools/invalid-cursor-code", "tools/list-ends"],
        /// The user is asked without a message.
        "message-lost": p.edit(Question, "/message", Remove) => [
            "elicitation/answer-arrives", "elicitation/message-present", "elicitation/message-present-2025-06-18",
            "elicitation/url-mode-present", "messages/types-kept"],
        /// The form is sent as `schema` instead of `requestedSchema`.
        "schema-misnamed": p.edit(Question, "", Apply(rename_schema_member)) => [
            "elicitation/field-kept", "elicitation/requested-schema-present",
            "elicitation/requested-schema-present-2025-06-18", "messages/types-kept", "sep-1034/boolean-default-kept",
            "sep-1034/default-kept", "sep-1330/counts-kept", "sep-1330/legacy-titled", "sep-1330/titled-multi",
            "sep-1330/titled-single", "sep-1330/untitled-multi", "sep-1330/untitled-single"],
        /// The user is asked in the mode `dialog`.
        "mode-misnamed": p.edit(Question, "/mode", Replace(r#""dialog""#)) => [
            "elicitation/form-mode", "elicitation/url-mode-present", "messages/types-kept"],
        /// Lengths, ranges, numbers of choices and formats are missing from the form.
        "bounds-lost": p.edit(Question, "/requestedSchema/properties/*", Apply(remove_bounds)) => [
            "elicitation/field-kept", "sep-1330/counts-kept"],
        /// Any schema is sent as a form.
        "form-not-checked": p.forms.fields_are_checked = false => ["elicitation/form-is-flat",
            "sep-1034/default-has-the-type", "sep-1034/default-is-a-choice"],
        /// The user is asked before the client has sent `notifications/initialized`.
        "asks-too-early": p.forms.waits_for_initialized = false => ["elicitation/not-before-initialized"],
        /// A form without fields is refused.
        "empty-form-refused": p.forms.may_be_empty = false => ["elicitation/form-may-be-empty"],
        /// A field without a default is sent with an empty default.
        "default-invented": p.edit(Question, "/requestedSchema/properties/*", Apply(add_empty_default)) => [
            "sep-1034/default-is-optional"],
        /// Each default in a form is replaced with another value of the same type.
        "default-wrong": p.edit(Question, "/requestedSchema/properties/*/default", Apply(change_value)) => [
            "sep-1034/boolean-default-kept", "sep-1034/default-kept"],
        /// The answer for a field with a default must be present.
        "defaults-required": p.forms.defaults_may_be_absent = false => ["sep-1034/optional-field-may-be-missing"],
        /// The tool receives the form's defaults after the user declined or cancelled.
        "defaults-on-decline-by-server":
            p.forms.refusal = |form, action| json!({ "action": action, "content": form.defaults() }) => [
            "sep-1034/decline-carries-no-default"],
        /// Titled options are sent as a plain `enum`.
        "titles-lost": p.edit(Question, "/requestedSchema/properties/*", Apply(remove_titles)) => [
            "elicitation/field-kept", "sep-1330/titled-multi", "sep-1330/titled-single"],
        /// A choice is sent as a field for any text.
        "enum-turned-into-text": p.edit(Question, "/requestedSchema/properties/*/enum", Remove) => [
            "elicitation/field-kept", "sep-1034/default-kept", "sep-1330/legacy-titled", "sep-1330/untitled-single"],
        /// A multiple choice is sent as a single choice.
        "multi-select-made-single": p.edit(Question, "/requestedSchema/properties/*", Apply(make_single_choice)) => [
            "elicitation/field-kept", "sep-1034/default-has-the-type", "sep-1034/default-kept", "sep-1330/titled-multi",
            "sep-1330/untitled-multi"],
        /// The tool continues as if the form were accepted, even if the user declined or cancelled.
        "decline-taken-for-accept": p.forms.refusal = |_, _| json!({ "action": "accept" }) => [
            "elicitation/action-arrives", "elicitation/refusal-handled"],
        /// The code that handles a call panics if the user declines or cancels.
        "decline-unforeseen":
            p.forms.on_answer = |answer| assert_eq!(answer["action"], "accept", "a mutant foresees nothing else") => [
            "elicitation/action-arrives", "elicitation/refusal-handled", "elicitation/responses-validated",
            "sep-1034/decline-carries-no-default"],
        /// The code that handles a call panics if the client responds with an error.
        "client-error-unforeseen":
            p.forms.on_client_error = |reason| panic!("a mutant foresees no error: {reason}") => [
            "elicitation/client-error-surfaces"],
        /// A client that declares `elicitation: {}` is never asked.
        "empty-capability-refused": p.forms.empty_capability_counts = false => [
            "elicitation/answer-arrives", "elicitation/empty-means-form"],
        /// A client that declares an unknown capability is refused.
        "unknown-capability-refused": p.requests.accepts_meta = capabilities_are_known => [
            "elicitation/capabilities-are-open"],
        /// The capabilities that one request declares apply to all later requests.
        "capabilities-remembered": p.remembers = Some(Event::FormAllowed) => ["elicitation/nothing-inferred"],
        /// A malformed answer is reported as a result with `isError`.
        "malformed-responses-as-tool-error": p.errors.malformed_responses = Channel::Tool => [
            "elicitation/malformed-responses-are-errors"],
        /// Answers to questions that were not asked are an error.
        "extra-responses-refused": p.edit(Received, "/params/inputResponses", Apply(refuse_extra_responses)) => [
            "elicitation/extra-responses-ignored", "elicitation/missing-responses-asked-again"],
        /// A retry without the required answer is an error.
        "missing-responses-refused": p.edit(Reply, "", Apply(refuse_missing_responses)) => [
            "elicitation/missing-responses-asked-again"],
        /// A tool failure is reported as a JSON-RPC error.
        "failure-as-protocol-error": p.errors.failure = Channel::Protocol => ["sep-1303/failures-are-tool-errors"],
        /// A tool failure is reported as a result without `isError`.
        "failure-as-success": p.errors.failure = Channel::Success => ["sep-1303/failures-are-tool-errors"],
        /// Over HTTP, the reports of failed tools are sent as plain text.
        "failures-as-plain-text": p.transport.media = text_for_failures => ["http/reply-media-type", "messages/request-answered", "sep-2106/value-bounded", "sep-2575/no-result-type-before-2026", "sep-2575/result-is-complete", "tools/errors-need-no-output", "tools/no-coercion", "tools/output-violation-channel"],
        /// After one tool has failed, every later call fails.
        "failure-is-sticky": p.remembers = Some(Event::ToolFailed) => ["sep-1303/error-leaves-no-trace"],
        /// A schema without `$schema` is read as draft-07.
        "draft-7-assumed": p.schemas.default_dialect = Draft::Draft7 => [
            "sep-1613/default-dialect", "sep-1613/invalid-schema-noticed",
            "sep-2106/any-json-value", "tools/arguments-arrive", "tools/arguments-unchanged",
            "tools/inputs-validated", "typed/listed-is-taken"],
        /// Every schema is read as 2020-12, even if it declares another dialect.
        "dialect-ignored": p.schemas.prepare = |schema| remove_members(schema, &["$schema"]) => [
            "sep-1613/declared-dialect", "sep-1613/unsupported-dialect-is-error"],
        /// A schema that declares 2020-12 is refused.
        "own-dialect-unknown": p.schemas.default_dialect_may_be_named = false => ["sep-1613/explicit-2020-12",
            "tools/arguments-arrive"],
        /// The default of a parameter is not listed.
        "parameter-default-not-listed": p.edit(Reply, "/result/tools/*/inputSchema/properties/*/default", Remove) => [
            "sep-2106/data-is-no-reference", "sep-2106/input-keywords-kept", "tools/input-schema-kept",
            "typed/parameters-described"],
        /// `$schema` is missing from listed schemas.
        "dialect-lost": {
            p.edit(Reply, "/result/tools/*/inputSchema/$schema", Remove);
            p.edit(Reply, "/result/tools/*/outputSchema/$schema", Remove);
        } => ["sep-1613/schema-keyword-kept"],
        /// `allOf`, `anyOf` and `oneOf` at the root are listed as empty lists.
        "keyword-emptied": {
            p.edit(Reply, "/result/tools/*/inputSchema/allOf", Replace("[]"));
            p.edit(Reply, "/result/tools/*/inputSchema/anyOf", Replace("[]"));
            p.edit(Reply, "/result/tools/*/inputSchema/oneOf", Replace("[]"));
        } => ["sep-1613/schema-is-valid", "sep-2106/input-keywords-kept", "sep-2106/input-keywords-kept-earlier"],
        /// A choice is sent without options.
        "enum-emptied": p.edit(Question, "/requestedSchema/properties/*/enum", Replace("[]")) => [
            "elicitation/field-kept", "sep-1034/default-kept", "sep-1330/legacy-titled", "sep-1330/untitled-single"],
        /// A schema that is null, true or a list is listed unchanged.
        "no-object-listed": p.tools.schemas_are_objects = false => ["tools/input-is-schema-object"],
        /// `$dynamicRef` references to other documents are fetched, but not `$ref`.
        "dynamic-ref-fetched": p.schemas.prepare = |schema| visit(schema, "$dynamicRef") => [
            "sep-2106/no-dynamic-deref"],
        /// The address of an unknown dialect is fetched.
        "dialect-fetched": p.schemas.prepare = |schema| visit(schema, "$schema") => ["sep-2106/dialect-not-fetched"],
        /// The `$id` of a schema is fetched.
        "id-fetched": p.schemas.prepare = |schema| visit(schema, "$id") => [
            "sep-2106/id-not-fetched", "sep-2106/no-dynamic-deref", "sep-2106/no-network-deref",
            "sep-2106/no-network-deref-earlier"],
        /// References to local files are read.
        "file-read": p.schemas.prepare = read_files => ["sep-2106/no-file-deref"],
        /// Schemas with more than 12 levels are refused.
        "depth-of-12": p.schemas.bounds.depth = 12 => ["sep-2106/bounds-are-reasonable"],
        /// Matching a long text against a pattern never finishes.
        "value-unbounded": { p.schemas.hangs_on = has_long_text_and_pattern; p.schemas.budget = Duration::MAX } => [
            "sep-2106/value-bounded"],
        /// Structured content and its schema may have any type in every revision.
        "revision-ignored": p.output.any_root_since = Revision::June2025 => ["sep-2106/object-output-before-2026",
            "sep-2106/object-structured-before-2026"],
        /// Structured content may have any type in every revision, and is not repeated as text.
        "older-clients-forgotten": {
            p.output.any_root_since = Revision::June2025;
            p.output.is_mirrored_as_text = false;
        } => ["sep-2106/object-output-before-2026", "sep-2106/object-structured-before-2026",
            "sep-2106/text-for-older-clients", "tools/text-mirrors-structured"],
        /// On the revisions of 2025, a value that is not an object is sent as text alone.
        "older-values-as-text": p.output.older_values = OlderValues::Text => [],
        /// On the revisions of 2025, a value that is not an object is sent as the member `result` of one.
        "older-values-wrapped": p.output.older_values = OlderValues::Wrapped => [],
        /// On the revisions of 2025, a value that is not an object is not sent, and no value is repeated as text.
        "older-values-lost": {
            p.output.older_values = OlderValues::Text;
            p.output.is_mirrored_as_text = false;
        } => ["sep-2106/text-for-older-clients", "tools/text-mirrors-structured"],
        /// Strings that look like numbers or booleans are converted to them.
        "arguments-coerced": p.requests.before_check = coerce => ["tools/inputs-validated", "tools/no-coercion"],
        /// Arguments that `properties` does not name are removed.
        "unknown-arguments-dropped": p.requests.after_check = remove_unknown_arguments => [
            "tools/arguments-unchanged"],
        /// Numbers are converted to 64-bit floating point, which changes large ones.
        "numbers-as-floats": p.requests.after_check = |arguments, _| make_floats(arguments) => [
            "tools/arguments-unchanged"],
        /// A call without `arguments` is refused.
        "arguments-required": p.edit(Received, "/params/arguments", Default("null")) => [
            "tools/arguments-optional", "typed/listed-is-taken"],
        /// 1.0 is not accepted as an integer.
        "whole-number-refused": p.requests.before_check = refuse_whole_numbers => ["tools/whole-number-is-integer"],
        /// `additionalProperties: false` is added to listed input schemas.
        "inputs-closed": p.edit(Reply, "/result/tools/*/inputSchema/additionalProperties", Default("false")) => [
            "tools/input-schema-kept", "tools/inputs-validated"],
        /// `additionalProperties: false` is added to listed output schemas.
        "outputs-closed": p.edit(Reply, "/result/tools/*/outputSchema/additionalProperties", Default("false")) => [
            "sep-2106/any-output-root", "tools/output-conforms", "tools/output-schema-kept"],
        /// `additionalProperties: false` is missing from listed schemas.
        "closed-schema-opened": p.edit(Reply, "/result/tools/*/inputSchema", Apply(remove_closing)) => [
            "sep-2106/input-keywords-kept-earlier", "tools/input-schema-kept", "tools/no-parameter-forms"],
        /// The root of an input schema may have any type.
        "root-not-checked": p.tools.input_root_is_object = false => ["tools/input-root-is-object"],
        /// A tool whose schema cannot be read makes the list fail.
        "bad-tool-breaks-list": p.tools.bad_tool_breaks_list = true => ["tools/sibling-survives"],
        /// The result of a failed tool is reported as a JSON-RPC error if it violates the output schema.
        "error-result-validated-by-server": p.output.is_checked_after_failure = true => ["tools/errors-need-no-output"],
        /// Output schemas are missing from the list.
        "output-schema-lost": p.edit(Reply, "/result/tools/*/outputSchema", Remove) => ["sep-2106/any-output-root",
            "tools/output-schema-kept"],
        /// Structured content is omitted.
        "structured-lost": p.edit(Reply, "/result/structuredContent", Remove) => [
            "elicitation/answer-arrives", "sep-2106/any-json-value", "sep-2106/data-is-no-reference",
            "sep-2322/state-arrives", "tools/arguments-unchanged", "tools/output-present", "tools/sibling-survives",
            "tools/structured-returned"],
        /// The names of tools are compared without regard to case.
        "names-folded": p.requests.same_name = str::eq_ignore_ascii_case => ["tools/names-are-case-sensitive"],
        /// The name of a tool must not contain `.`.
        "names-without-dots": p.tools.name_marks = "_-" => ["tools/legal-names-accepted"],
        /// The name of a tool must not be longer than 64 characters.
        "names-of-64": p.tools.name_length = 64 => ["tools/legal-names-accepted"],
        /// Names of tools may contain spaces and be longer than 128 characters.
        "names-not-checked": { p.tools.name_marks = "_-. "; p.tools.name_length = usize::MAX } => [],
        /// A call with malformed parameters is reported as a result with `isError`.
        "malformed-as-tool-error": p.errors.malformed = Channel::Tool => ["tools/malformed-is-protocol-error"],
        /// An unknown tool is reported as an unknown method.
        "unknown-tool-code-wrong": p.edit(Reply, "/error", Apply(report_unknown_method)) => ["tools/unknown-tool-code"],
        /// An unknown method is reported as an invalid request.
        "unknown-method-code-wrong": {
            p.edit_if(Reply, UNKNOWN_METHOD, "/status", Set("400"));
            p.edit_if(Reply, UNKNOWN_METHOD, "/error/code", Set("-32600"));
        } => ["tools/unknown-method-code", "tools/unknown-method-over-http"],
        /// The response to an unknown method has the HTTP status 200.
        "unknown-method-found": p.edit_if(Reply, UNKNOWN_METHOD, "/status", Set("200")) => [
            "tools/unknown-method-over-http"],
        /// The handshake and the results do not contain the server's name and version.
        "server-info-lost": {
            p.edit(Reply, "/result/serverInfo", Remove);
            p.edit(Reply, "/result/_meta", Remove);
        } => ["lifecycle/server-named", "messages/types-kept", "sep-2575/server-info"],
        /// The handshake accepts any version that the client requests.
        "any-version-agreed": p.edit(Reply, "", Apply(agree_on_any_version)) => ["lifecycle/no-handshake-into-2026",
            "lifecycle/other-version"],
        /// A client that declares no capabilities is offered an earlier version than it requested.
        "earlier-version-offered":
            p.edit_if(Reply, NO_CAPABILITIES, "/result/protocolVersion", Replace(r#""2025-03-26""#)) => [
            "lifecycle/same-version"],
        /// A server with tools does not declare the capability.
        "tools-undeclared": p.edit(Reply, "/result/capabilities", Replace("{}")) => [
            "base/logging-declared", "tools/capability-declared"],
        /// A ping is reported as an unknown method.
        "ping-unknown":
            p.edit_if(Reply, ("/request/method", r#""ping""#), "", Apply(|reply| turn_into_error(reply, 200, -32601)))
            => ["lifecycle/ping"],
        /// The response to a ping has neither a result nor an error.
        "ping-without-result": p.edit_if(Reply, ("/request/method", r#""ping""#), "/result", Remove) => [
            "messages/result-present"],
        /// `server/discover` is reported as an unknown method.
        "discover-missing": p.edit_if(Reply, DISCOVER, "", Apply(|reply| turn_into_error(reply, 404, -32601))) => [
            "sep-2575/discover"],
        /// `server/discover` returns an input-required result.
        "discover-asks": p.edit_if(Reply, DISCOVER, "/result", Apply(return_input_required)) => [
            "base/logging-declared", "messages/types-kept", "sep-2322/only-where-supported", "sep-2575/discover"],
        /// The error for an unsupported version does not name the requested version.
        "requested-version-lost": p.edit_if(Reply, ("/error/code", "-32022"), "/error/data/requested", Remove) => [
            "sep-2575/unsupported-version-requested"],
        /// `initialize` is reported as an unknown method, without the supported versions.
        "initialize-unexplained":
            p.edit_if(Reply, ("/request/method", r#""initialize""#), "", Apply(remove_supported_versions)) => [
            "sep-2575/initialize-names-versions"],
        /// A request may omit the protocol version and the capabilities.
        "meta-not-required": p.requests.needs_meta = false => ["sep-2575/required-meta"],
        /// The response to a request without the required `_meta` has the HTTP status 200.
        "meta-missing-found": p.edit_if(Reply, ("/error/code", "-32602"), "/status", Set("200")) => [
            "sep-2575/required-meta-status"],
        /// A request must contain the client's name and version.
        "client-info-required": p.requests.accepts_meta = |meta| meta.contains_key(CLIENT_KEY) => [
            "sep-2575/client-info-is-optional", "tools/arguments-arrive"],
        /// A key in the `_meta` of requests with the reserved prefix `dev.mcp/` must have a text.
        "reserved-keys-typed": p.requests.accepts_meta = text_at_reserved_keys => [
            "base/meta-reserved-keys", "sep-2575/unknown-meta-is-ignored"],
        /// A key in `_meta` with a reserved prefix is an error.
        "reserved-keys-refused": p.edit(Reply, "", Apply(|reply| refuse_reserved_keys(reply, |_| false))) => [
            "sep-2575/unknown-meta-is-ignored"],
        /// A key in `_meta` with a reserved prefix must have a text.
        "reserved-keys-as-texts": p.edit(Reply, "", Apply(|reply| refuse_reserved_keys(reply, Value::is_string))) => [
            "base/meta-reserved-keys", "sep-2575/unknown-meta-is-ignored"],
        /// A key in `_meta` with a reserved prefix must have an object.
        "reserved-keys-as-objects": p.edit(Reply, "", Apply(|reply| refuse_reserved_keys(reply, Value::is_object))) => [
            "base/meta-reserved-keys", "sep-2575/unknown-meta-is-ignored"],
        /// An unknown key in `_meta` is an error.
        "unknown-meta-refused":
            p.requests.accepts_meta = |meta| meta.keys().all(|key| key == "progressToken" || key.starts_with(OWN_PREFIX)) => [
            "sep-2575/unknown-meta-is-ignored"],
        /// Any protocol version is accepted.
        "version-not-checked": p.requests.checks_version = false => ["sep-2575/unsupported-version",
            "sep-2575/unsupported-version-over-http"],
        /// Results have a `resultType` in every revision.
        "result-type-in-2025": {
            p.edit_if(Reply, LIST, "/result/resultType", Default(r#""complete""#));
            p.edit_if(Reply, CALL, "/result/resultType", Default(r#""complete""#));
        } => ["sep-2575/no-result-type-before-2026"],
        /// Every second list has another order.
        "list-shuffled": p.remembers = Some(Event::Listed) => ["tools/list-order"],
        /// After a second connection was opened, tools that fail are no longer listed.
        "list-by-connection": {
            p.remembers = Some(Event::Reconnected);
            p.tools.are_listed = list_by_connection;
        } => ["tools/list-not-per-connection"],
        /// After a call has failed, tools that fail are no longer listed.
        "list-by-side-effect": {
            p.remembers = Some(Event::CallFailed);
            p.tools.are_listed = list_by_side_effect;
        } => ["tools/list-not-by-side-effect"],
        /// After an unknown tool was called, tools that fail are no longer listed.
        "list-by-unknown-call": {
            p.remembers = Some(Event::UnknownToolCalled);
            p.tools.are_listed = list_by_unknown_call;
        } => ["tools/list-not-by-side-effect"],
        /// The list of a server with one tool asks for input.
        "list-asks": p.edit_if(Reply, LIST, "/result", Apply(ask_in_list)) => ["sep-2322/only-where-supported"],
        /// An empty list of tools is an error.
        "empty-list-refused":
            p.edit_if(Reply, ("/result/tools", "[]"), "", Apply(|reply| turn_into_error(reply, 200, -32602))) => [
            "tools/list-answered"],
        /// `ttlMs` is a string.
        "ttl-as-text": p.edit(Reply, "/result/ttlMs", Replace(r#""60000""#)) => [
            "messages/types-kept", "tools/caching-hints-present"],
        /// `ttlMs` is -1.
        "ttl-negative": p.edit(Reply, "/result/ttlMs", Replace("-1")) => [
            "messages/types-kept", "tools/ttl-not-negative"],
        /// `cacheScope` is `shared`.
        "cache-scope-unknown": p.edit(Reply, "/result/cacheScope", Replace(r#""shared""#)) => [
            "messages/types-kept", "tools/caching-hints-present"],
        /// A list has a second page, with another `cacheScope` and without tools.
        "second-page-of-other-scope": {
            p.requests.checks_cursor = false;
            p.edit(Reply, "", Apply(add_page_of_other_scope));
        } => ["sep-2106/any-output-root", "tools/cache-scope-of-all-pages", "tools/invalid-cursor-code"],
        /// Two tools may have the same name.
        "names-twice-accepted": p.tools.names_are_unique = false => ["tools/names-unique"],
        /// Several text blocks are merged into one.
        "blocks-merged": p.edit(Reply, "/result/content", Apply(merge_text_blocks)) => ["tools/content-as-given"],
        /// The requests in an input-required result have the method `elicitation/ask`.
        "question-of-unknown-kind": p.edit(Reply, "/result/inputRequests/*/method", Set(r#""elicitation/ask""#)) => [
            "elicitation/answer-arrives", "messages/types-kept", "sep-2322/kinds-of-requests",
            "sep-2322/state-arrives"],
        /// An input-required result has neither requests nor a state.
        "question-empty": {
            p.edit(Reply, "/result/inputRequests", Remove);
            p.edit(Reply, "/result/requestState", Remove);
        } => [
            "elicitation/answer-arrives", "sep-2322/asks-or-gives-state", "sep-2322/state-arrives"],
        /// An input-required result contains `ttlMs`.
        "hints-on-questions":
            p.edit_if(Reply, ("/result/resultType", r#""input_required""#), "/result/ttlMs", Set("60000")) => [
            "sep-2322/questions-are-not-cached"],
        /// The client receives a request of the server before the result of an accepted form.
        "asks-in-the-stream": p.transport.before_reply = ask_before_acceptance => [
            "elicitation/answer-arrives", "sep-2322/no-requests-to-the-client", "sep-2322/only-declared-requests",
            "sep-2322/state-arrives"],
        /// The model of the client is asked before the handshake ends, although the client has declared none.
        "sampling-not-declared": p.transport.before_reply = sample_before_handshake => [
            "lifecycle/negotiated-capabilities-only"],
        /// The folders of the client are asked for beside each question, although the client has declared none.
        "roots-not-declared": p.edit_if(Reply, ("/result/resultType", r#""input_required""#), "/result/inputRequests/roots",
            Set(r#"{"method":"roots/list"}"#)) => [
            "elicitation/answer-arrives", "sep-2322/only-declared-requests", "sep-2322/state-arrives"],
        /// A change of resources is announced before the handshake, which does not declare them.
        "resources-announced-undeclared": p.transport.before_reply = announce_before_handshake => [
            "lifecycle/negotiated-capabilities-only"],
        /// A log message is sent before the handshake, which does not declare them.
        "logs-before-handshake": {
            p.transport.before_reply = log_before_handshake;
            p.edit(Reply, "/result/capabilities/logging", Remove);
        } => ["base/logging-declared"],
        /// The progress of each list is reported, with a token of the server's own.
        "progress-of-lists": p.transport.before_reply = report_before_list => ["base/progress-wanted"],
        /// Before each list, a result is sent that no request asked for.
        "result-for-nobody": p.transport.before_reply = answer_nobody => ["messages/result-has-the-id"],
        /// The server sends `notifications/cancelled` before the result of a call.
        "cancelled-by-server": p.transport.before_reply = cancel_before_result => [
            "lifecycle/no-cancellation-by-server", "messages/types-kept"],
        /// After each log message, the server cancels a request of the client.
        "cancelled-after-logs": p.requests.cancels_after_logs = true => ["lifecycle/no-cancellation-by-server",
            "lifecycle/own-requests-cancelled"],
        /// A question of a running call is sent on the stream of a GET request.
        "asks-on-get-stream": p.transport.get_stream = Some(GetStream::Questions) => [
            "lifecycle/get-stream-unrelated"],
        /// The response to a call is sent on the stream of a GET request.
        "responds-on-get-stream": p.transport.get_stream = Some(GetStream::Responses) => [
            "http/stream-has-response", "lifecycle/get-stream-no-response"],
        /// Notifications of a running call are sent on the stream of a GET request and in the reply.
        "copies-on-get-stream": p.transport.get_stream = Some(GetStream::Copies) => ["lifecycle/one-stream-a-message"],
        /// Of two calls with progress tokens that run at once, each gets the result of the other one.
        "results-crossed": p.transport.calls_at_once = Some(AtOnce::Crossed) => ["messages/result-has-the-id"],
        /// Of two calls with progress tokens that run at once, each gets the response to the other one.
        "responses-exchanged": p.transport.calls_at_once = Some(AtOnce::Exchanged) => [
            "http/request-has-own-reply", "http/stream-has-response"],
        /// The responses to two calls with progress tokens that run at once are sent in both replies.
        "responses-in-both-replies": p.transport.calls_at_once = Some(AtOnce::Copied) => [
            "http/request-has-own-reply", "lifecycle/one-stream-a-message", "messages/request-answered"],
        /// Illegal marks of arguments that headers repeat are listed.
        "marks-not-checked": p.tools.marks_are_checked = false => [],
        /// A GET request in a session gets the HTTP status 404.
        "get-refused-by-404": p.transport.refused_get = 404 => ["lifecycle/get-opens-or-refuses"],
        /// The request that ends a session gets the HTTP status 403.
        "session-end-forbidden": p.transport.session_ended = 403 => ["http/session-end-answered"],
        /// A GET or DELETE request without sessions is accepted.
        "old-requests-accepted": p.transport.refused_old = 200 => ["http/get-and-delete-refused"],
        /// Event streams lack the header against buffering.
        "buffering-not-excluded": p.transport.excludes_buffering = false => ["http/stream-unbuffered"],
        /// A retry must use the connection of its call.
        "bound-to-connection": p.transport.binds_connections = true => ["base/connection-not-required"],
        /// The process does not exit at the end of its input.
        "outlives-input": p.transport.outlives_input = true => ["stdio/exit-at-end-of-input"],
        /// After a cancellation of an unknown request, every later request fails.
        "vain-cancellation-is-fatal": p.remembers = Some(Event::CancelledInVain) => [
            "lifecycle/invalid-cancellation-ignored", "messages/request-answered"],
        /// A cancelled request gets an error response.
        "cancelled-call-answered": p.transport.answers_cancelled = true => [
            "lifecycle/cancelled-call-unanswered", "stdio/cancelled-call-unanswered"],
        /// The code of a tool does not notice that its call was cancelled.
        "works-on": p.requests.works_on = true => ["http/disconnect-cancels",
            "lifecycle/cancelled-call-stops", "stdio/cancelled-call-stops"],
        /// In a session, the end of the connection of a request cancels the request.
        "disconnect-cancels-in-session": p.transport.hangs_on_connections = true => [
            "lifecycle/disconnect-is-no-cancellation"],
        /// Log messages are sent for every request.
        "logs-unrequested": p.requests.logs_on_demand = false => ["base/logs-on-demand"],
        /// A server that sends log messages does not declare the capability.
        "logging-undeclared": p.edit(Reply, "/result/capabilities/logging", Remove) => ["base/logging-declared"],
        /// Unknown levels of log messages are accepted.
        "log-level-not-checked": p.requests.checks_log_level = false => ["base/invalid-log-level"],
        /// Progress is reported for requests without a token.
        "progress-unasked": p.requests.reports_unasked = true => ["base/progress-wanted"],
        /// Each report of progress is sent twice.
        "progress-reported-twice": p.requests.reports_twice = true => ["base/progress-increases"],
        /// Progress of a call is reported after its response.
        "progress-after-response": p.transport.notifies_last = true => [
            "base/progress-stops", "base/progress-wanted"],
        /// Notifications have an id.
        "notifications-numbered": p.requests.numbers_notifications = true => [
            "base/notification-has-no-id"],
        /// The error for a method of another feature has a result as well.
        "result-beside-error": p.edit_if(Reply, UNKNOWN_METHOD, "", Apply(add_result_for_prompts)) => [
            "base/result-or-error", "base/result-or-error-later"],
        /// A report of progress has another token than its request.
        "progress-of-another-request": p.requests.progress_token = |_| json!("another") => ["base/progress-wanted",
            "http/messages-relate", "http/notifications-relate"],
        /// Every question has the same id.
        "question-id-repeated": p.requests.question_id = |_| json!(1) => ["base/id-unused-in-session"],
        /// Questions have the id null.
        "question-id-null": p.requests.question_id = |_| json!(null) => [
            "base/id-not-null", "base/id-present", "elicitation/answer-arrives"],
        /// The id of a question is a fraction.
        "question-id-fraction":
            p.requests.question_id = |id| json!(f64::from(u32::try_from(id).unwrap_or_default()) + 0.5) => [
            "base/id-present"],
        /// A state never expires.
        "state-never-expires": p.requests.checks_expiry = false => ["sep-2322/state-expires"],
        /// A `requestState` is accepted for any call.
        "unbound-state": p.requests.state_covers_call = false => ["sep-2322/state-bound-to-request"],
        /// A call with an amount gets a `requestState` that is valid for no retry.
        "state-of-other-arguments": p.edit(Reply, "", Apply(replace_state)) => [
            "sep-2322/state-arrives"],
        /// Requests from any origin are accepted.
        "origin-not-checked": p.transport.checks_origin = false => ["http/origin-checked"],
        /// Requests from any origin are accepted, and a GET request gets a stream.
        "stream-to-any-origin": {
            p.transport.checks_origin = false;
            p.transport.get_stream = Some(GetStream::Questions);
        } => ["http/origin-checked", "lifecycle/get-stream-unrelated"],
        /// An origin that `Host` names too is accepted.
        "origin-compared-with-host": p.transport.trusts_named_host = true => ["http/origin-checked"],
        /// The response to a foreign origin has the HTTP status 401.
        "bad-origin-unauthorized": p.transport.bad_origin = 401 => ["http/bad-origin-status"],
        /// A notification gets a response with a result.
        "notification-answered":
            p.transport.notification_reply = Some(r#"{"jsonrpc":"2.0","id":null,"result":{}}"#) => [
            "http/notification-taken", "lifecycle/invalid-cancellation-ignored",
            "messages/notifications-get-no-response", "messages/unknown-notifications-are-ignored"],
        /// A client's response is accepted with the HTTP status 200.
        "answer-taken-with-200": p.transport.response_taken = 200 => ["http/answer-taken"],
        /// A request to resume a stream with `Last-Event-ID` is refused.
        "last-event-refused": p.transport.refuses_last_event = true => ["http/last-event-ignored"],
        /// A stateless server issues session ids.
        "session-minted": p.transport.has_stateless_sessions = true => ["http/session-ignored"],
        /// A session id contains a space.
        "session-id-with-space": p.transport.session_prefix = "session " => ["http/session-id-characters"],
        /// The response to a request without its session id has the HTTP status 403.
        "session-missing-forbidden": p.transport.missing_session = 403 => ["http/missing-session-status"],
        /// The response to a request with an unknown session id has the HTTP status 400.
        "session-unknown-bad": p.transport.unknown_session = 400 => ["http/ended-session-status",
            "http/unknown-session-status"],
        /// In a session, `MCP-Protocol-Version` may name any version.
        "session-version-ignored": p.transport.checks_session_version = false => ["http/invalid-version-status"],
        /// `MCP-Protocol-Version` may be absent or differ from the body.
        "version-header-ignored": p.transport.checks_version_header = false => ["http/version-header-matches",
            "http/version-header-missing"],
        /// Headers that differ from the body are reported as an invalid request.
        "header-error-unnamed": p.edit_if(Reply, ("/error/code", "-32020"), "/error/code", Set("-32600")) => [
            "http/header-mismatch-error", "http/version-header-matches", "tools/header-value-mismatch"],
        /// An encoded argument in a header is compared without decoding it.
        "parameter-not-decoded": p.transport.decodes_parameters = false => ["http/encoded-headers-decoded"],
        /// An encoded name in a header is compared without decoding it.
        "name-not-decoded": p.transport.decodes_names = false => ["http/encoded-headers-decoded"],
        /// A tool with a nested argument that is marked for a header is refused.
        "nested-header-mark-not-served": p.schemas.prepare = invalidate_nested_marks => [
            "tools/valid-header-mark-kept"],
        /// Arguments may differ from the headers that repeat them.
        "parameter-headers-not-checked": p.transport.checks_parameters = false => ["tools/header-value-characters",
            "tools/header-value-checked"],
        /// Numbers in headers are compared as text.
        "parameter-not-numeric": p.transport.compares_numbers = false => ["tools/header-integers-as-numbers"],
        /// Headers are required for arguments that are missing.
        "missing-parameter-expected": p.transport.expects_missing = true => [
            "messages/request-answered", "tools/arguments-arrive", "tools/header-value-not-expected"],
        /// A header is required for an argument that is null.
        "null-parameter-expected": p.transport.expects_null = true => ["tools/header-value-not-expected"],
        /// An id that is a number in quotes is returned without the quotes.
        "id-as-number": p.edit(Reply, "/id", Apply(unquote)) => [
            "messages/error-has-the-id", "messages/result-has-the-id"],
        /// A list that ends has a cursor, which is null.
        "cursor-null": p.edit_if(Reply, LIST, "/result/nextCursor", Default("null")) => ["messages/types-kept"],
        /// The error for an unknown method has no id.
        "error-id-lost": p.edit_if(Reply, UNKNOWN_METHOD, "/id", Set("null")) => ["messages/error-has-the-id"],
        /// The error for an unknown method has no message.
        "error-without-message": p.edit_if(Reply, UNKNOWN_METHOD, "/error/message", Remove) => [
            "messages/error-has-code-and-message", "messages/types-kept"],
        /// Over HTTP, the reply to an unknown method is plain text.
        "unknown-method-as-text": p.transport.unknown_method = Some((400, "text/plain", "not supported")) => [
            "messages/request-answered", "tools/unknown-method-code", "tools/unknown-method-over-http"],
        /// Over HTTP, the reply to an unknown method is a JSON text.
        "unknown-method-as-json-text": p.transport.unknown_method = Some((400, "application/json", r#""not supported""#)) => [
            "http/reply-media-type", "messages/request-answered", "tools/unknown-method-code",
            "tools/unknown-method-over-http"],
        /// Over HTTP, the error for an unknown method is in a batch.
        "unknown-method-in-a-batch": p.transport.unknown_method = Some((400, "application/json", BATCH)) => [
            "http/reply-media-type", "messages/request-answered", "tools/unknown-method-code",
            "tools/unknown-method-over-http"],
        /// Over HTTP, the reply to an unknown method is a stream without events.
        "unknown-method-as-empty-stream": p.transport.unknown_method = Some((200, "text/event-stream", "")) => [
            "http/stream-has-response", "messages/request-answered", "tools/unknown-method-code",
            "tools/unknown-method-over-http"],
        /// The code of the error for an unknown method is a string.
        "error-code-as-text": p.edit_if(Reply, UNKNOWN_METHOD, "/error/code", Set(r#""-32601""#)) => [
            "messages/error-codes-are-integers", "messages/types-kept", "tools/unknown-method-code",
            "tools/unknown-method-over-http"],
        /// The error for a method of another feature has a code that the specification reserves.
        "reserved-code": p.edit_if(Reply, UNKNOWN_METHOD, "", Apply(|reply| set_code_for_resources(reply, -32050))) => [
            "messages/reserved-codes"],
        /// The error for a method of another feature has the code for a missing client capability.
        "defined-code-misused":
            p.edit_if(Reply, UNKNOWN_METHOD, "", Apply(|reply| set_code_for_resources(reply, -32021))) => [
            "base/reserved-codes-as-defined"],
        /// The error for a method of another feature has the code that earlier revisions used for a missing resource.
        "retired-code": p.edit_if(Reply, UNKNOWN_METHOD, "", Apply(|reply| set_code_for_resources(reply, -32002))) => [
            "base/retired-codes"],
        /// The error for a question that a client did not declare has the code that earlier revisions used for it.
        "retired-question-code": p.edit_if(Reply, MISSING_CAPABILITY, "/error/code", Set("-32042")) => [
            "base/retired-codes", "elicitation/missing-capability-error"],
        /// A key in the `_meta` of results has an empty label in its prefix.
        "meta-prefix-malformed": p.edit(Reply, "/result/_meta/com..example~1trace", Set(r#""1""#)) => [
            "base/meta-prefix"],
        /// A label of a prefix in the `_meta` of results begins with a digit.
        "meta-label-malformed": p.edit(Reply, "/result/_meta/com.1example~1trace", Set(r#""1""#)) => ["base/meta-labels"],
        /// The name of a key in the `_meta` of results begins with `_`.
        "meta-name-malformed": p.edit(Reply, "/result/_meta/com.example~1_trace", Set(r#""1""#)) => ["base/meta-names"],
        /// A client that does not support forms is told to visit a URL.
        "visit-required": p.edit(Reply, "", Apply(require_url_visit)) => ["elicitation/url-required-only"],
        /// Text that is not JSON is reported as an invalid request.
        "parse-error-code-wrong": p.edit_if(Reply, ("/error/code", "-32700"), "/error/code", Set("-32600")) => [
            "messages/parse-error-code"],
        /// After an unreadable message, every list and call is refused.
        "garbage-is-fatal": p.remembers = Some(Event::Unreadable) => ["messages/garbage-is-survived",
            "sep-2106/bound-is-scoped"],
        /// A request with a member of the wrong type gets no response.
        "invalid-requests-ignored": p.requests.answers_invalid = false => [
            "messages/failure-answered", "sep-2106/value-bounded"],
        /// Over stdio, the handshake is refused after another request.
        "probe-remembered": p.remembers = Some(Event::Probed) => ["lifecycle/opened-after-a-probe"],
        /// A batch is accepted, and its first message gets a response.
        "batch-accepted": p.requests.reads_batches = true => ["messages/no-batches"],
        /// Over stdio, a line of prose precedes each message.
        "stray-line":
            p.transport.framing = |message| format!("a message of {} bytes follows\n{message}", message.len()) => [
            "stdio/nothing-but-messages"],
        /// Over stdio, a line of a log in JSON precedes each message.
        "log-line-as-json":
            p.transport.framing = |message| format!("{{\"level\":\"info\",\"bytes\":{}}}\n{message}", message.len()) => [
            "stdio/nothing-but-messages"],
        /// Over stdio, each message is indented and spans several lines.
        "pretty-printed": p.transport.framing = indent => [
            "messages/request-answered", "stdio/nothing-but-messages", "stdio/one-message-a-line",
            "tools/arguments-arrive"],
        /// Every fixture is refused.
        "refuses-everything": p.tools.are_served = false => [
            "base/log-sent", "elicitation/answer-arrives", "messages/request-answered", "sep-2106/any-json-value",
            "sep-2106/bounds-are-reasonable", "sep-2106/data-is-no-reference", "sep-2322/state-arrives",
            "sep-2575/no-result-type-before-2026", "sep-2575/result-is-complete", "tools/annotations-kept",
            "tools/arguments-arrive", "tools/content-as-given", "tools/description-kept", "tools/icons-kept",
            "tools/input-schema-kept", "tools/meta-kept", "tools/structured-returned",
            "tools/title-kept", "tools/valid-header-mark-kept"],
        /// Every call takes a second.
        "sleeps-1s": p.requests.delay = Duration::from_secs(1) => [],
    }
    client {
        /// Structured content reaches the user without validation.
        "output-not-validated-by-client": p.output.is_checked = false => ["tools/results-validated"],
        /// A tool with an output schema may succeed without structured content.
        "missing-structured-accepted-by-client": p.output.is_required = false => ["tools/missing-result-noticed"],
        /// Results are not validated if the tool's schema cannot be compiled.
        "validation-skipped-by-client": p.schemas.accepts_uncompilable = true => [
            "sep-1613/invalid-schema-noticed", "sep-1613/unsupported-dialect-is-error",
            "sep-2106/dangling-ref-rejected", "sep-2106/unresolved-dynamic-ref-rejected",
            "sep-2106/unresolved-ref-rejected", "sep-2106/unresolved-ref-rejected-earlier"],
        /// References to other documents are fetched when a schema is compiled.
        "client-fetches-ref": { p.schemas.fetches_references = true; p.client.compiles_when_listed = true } => [
            "sep-2106/fetched-content-hidden", "sep-2106/no-network-deref", "sep-2106/no-network-deref-earlier"],
        /// One tool whose schema cannot be compiled makes the whole list fail.
        "one-bad-tool-loses-all": p.client.bad_tool_breaks_list = true => [
            "sep-1613/invalid-schema-noticed",
            "sep-2106/dangling-ref-rejected", "sep-2106/unresolved-dynamic-ref-rejected",
            "sep-2106/unresolved-ref-rejected", "sep-2106/unresolved-ref-rejected-earlier",
            "tools/bad-tool-stays-alone"],
        /// Structured content that is 0, false, "" or null counts as missing.
        "falsy-structured-taken-for-missing": p.output.absent = &["0", "false", "\"\"", "null"] => [
            "sep-2106/any-json-value"],
        /// The result of a failed tool is validated against the output schema.
        "error-result-validated": p.output.is_checked_after_failure = true => ["tools/errors-need-no-output"],
        /// The user does not receive the `title` of a tool.
        "title-lost-by-client": p.client.lost_tool_member = Some("title") => ["tools/title-kept"],
        /// The user does not receive the `description` of a tool.
        "description-lost-by-client": p.client.lost_tool_member = Some("description") => ["tools/description-kept"],
        /// The user does not receive the `annotations` of a tool.
        "annotations-lost-by-client": p.client.lost_tool_member = Some("annotations") => ["tools/annotations-kept"],
        /// The user does not receive the `icons` of a tool.
        "icons-lost-by-client": p.client.lost_tool_member = Some("icons") => ["tools/icons-kept"],
        /// The user does not receive the `_meta` of a tool.
        "meta-lost-by-client": p.client.lost_tool_member = Some("_meta") => ["tools/meta-kept"],
        /// The user does not receive the `execution` of a tool.
        "execution-lost-by-client": p.client.lost_tool_member = Some("execution") => ["tools/execution-kept"],
        /// The user receives schemas without `anyOf`, `oneOf`, `allOf`, `not`, `if` and `$defs`.
        "schema-keywords-dropped-by-client":
            p.client.lost_keywords = &["anyOf", "oneOf", "allOf", "not", "if", "then", "else", "$defs"] => [
            "sep-2106/any-output-root", "sep-2106/input-keywords-kept",
            "tools/input-schema-kept", "tools/output-schema-kept"],
        /// The user receives schemas without `enumNames`.
        "enum-names-lost-by-client": p.client.lost_keywords = &["enumNames"] => ["tools/input-schema-kept",
            "tools/output-schema-kept"],
        /// Defaults are not filled in, which the specification permits.
        "defaults-ignored": p.user.fills_in_defaults = false => [],
        /// Defaults are sent even if the user declined or cancelled.
        "defaults-on-decline": p.user.refusal_content = |form| Some(form.filled(Map::new())) => [
            "elicitation/content-only-on-accept", "sep-1034/refusal-carries-no-default"],
        /// A default replaces the value that the user entered.
        "defaults-overwrite-user": p.user.defaults_replace_answers = true => ["sep-1034/user-wins"],
        /// Defaults that are 0, false, "" or [] are not filled in.
        "defaults-falsy-lost":
            p.user.is_filled_in = |default| ![json!(0), json!(false), json!(""), json!([])].contains(default) => [
            "sep-1034/client-prefills"],
        /// Defaults are filled in after the validation of the answer, even if they are invalid.
        "defaults-unchecked": p.user.defaults_are_checked = false => ["elicitation/client-validates",
            "sep-1034/client-prefills"],
        /// The first option or an empty value is filled in instead of the default.
        "default-wrong-value": p.user.default = |field, _| value_without_defaults(field) => [
            "sep-1034/client-prefills"],
        /// Defaults are filled in as strings.
        "defaults-as-text": p.user.on_sent = send_defaults_as_text => ["sep-1034/client-prefills"],
        /// An answer that declines or cancels has an empty `content`.
        "content-with-decline": p.user.refusal_content = |_| Some(Map::new()) => ["elicitation/content-only-on-accept"],
        /// The values that the user entered are sent without validation.
        "invalid-answer-sent": p.user.answers_are_checked = false => ["elicitation/client-validates"],
        /// Several choices are sent as one string.
        "multi-select-flattened": p.user.on_sent = |value, _| flatten(value) => ["elicitation/answer-as-entered",
            "elicitation/odd-fields-tolerated", "sep-1034/user-wins", "sep-1330/choice-sent",
            "sep-1330/choices-sent-as-list"],
        /// An elicitation with an undeclared or unknown mode gets an answer.
        "undeclared-mode-answered": p.user.answers_undeclared_modes = true => [
            "elicitation/three-actions", "elicitation/undeclared-mode-code", "elicitation/undeclared-mode-unanswered",
            "elicitation/url-answer-has-no-content", "sep-2322/undeclared-input-unanswered"],
        /// A request for another input than an elicitation gets a result.
        "input-invented": p.user.invents_inputs = true => ["sep-2322/undeclared-input-unanswered"],
        /// The error for a mode that the client did not declare has another code.
        "undeclared-mode-code-other": p.edit_if(Response, ("/error/code", "-32602"), "/error/code", Set("-32600")) => [
            "elicitation/undeclared-elicitation-code", "elicitation/undeclared-mode-code"],
        /// An elicitation without `mode` is refused.
        "mode-required": p.user.needs_mode = true => ["elicitation/answer-as-entered", "elicitation/no-mode-means-form",
            "elicitation/three-actions"],
        /// A retry has the first of two states.
        "older-state-sent":
            p.edit_if(Request, ("/params/requestState", r#""second""#), "/params/requestState", Set(r#""first""#)) => [
            "sep-2322/state-echoed"],
        /// A `requestState` that looks like JSON is parsed and serialized again.
        "state-reencoded": p.edit(Request, "/params/requestState", Apply(reserialize)) => ["sep-2322/state-echoed"],
        /// A retry has no `requestState`.
        "state-dropped": p.edit(Request, "/params/requestState", Remove) => ["elicitation/answer-as-entered",
            "elicitation/three-actions", "sep-2322/state-echoed"],
        /// A retry has a `requestState` of null if the server sent none.
        "state-invented": p.edit(Request, "/params", Apply(add_null_state)) => ["messages/types-kept",
            "sep-2322/no-state-invented"],
        /// A retry has the id of the original request.
        "id-reused-on-retry": p.client.retry_has_new_id = false => ["sep-2322/retry-has-new-id"],
        /// A second input-required result is returned to the user as the result.
        "second-round-lost": p.client.answers_every_round = false => ["elicitation/answer-as-entered",
            "sep-2322/refusal-is-sent", "sep-2322/rounds-repeat"],
        /// A result with an unknown `resultType` is treated as complete.
        "unknown-result-type-accepted": p.client.accepts_unknown_result_type = true => [
            "base/unknown-result-type-is-invalid"],
        /// A key in the `_meta` of results with the reserved prefix `dev.mcp/` must have a text.
        "reserved-keys-typed-by-client": p.client.takes_at_reserved_keys = Value::is_string => [
            "base/meta-reserved-keys", "base/result-handed-over"],
        /// A key in the `_meta` of results with the reserved prefix `dev.mcp/` must have an object.
        "reserved-keys-as-objects-by-client": p.client.takes_at_reserved_keys = Value::is_object => [
            "base/meta-reserved-keys", "base/result-handed-over"],
        /// A result without `resultType` is an error.
        "absent-result-type-refused": p.client.needs_result_type = true => ["base/absent-result-type-is-complete"],
        /// An empty cursor is treated as the end of the list.
        "cursor-empty-is-end": p.client.is_further_page = |cursor| cursor != r#""""# => [
            "tools/empty-cursor-is-no-end"],
        /// A call without arguments has arguments of null.
        "null-arguments": p.edit_if(Request, ("/method", r#""tools/call""#), "/params/arguments", Default("null")) => [
            "tools/call-arguments-are-object"],
        /// White space around a cursor is removed.
        "cursor-trimmed": p.edit(Request, "/params/cursor", Apply(trim)) => ["tools/cursors-are-opaque"],
        /// The first page is treated as the whole list.
        "pages-ignored": p.client.is_further_page = |_| false => [
            "base/result-handed-over", "tools/pages-or-none"],
        /// After the last page of several, the list is requested again from the start, up to four more requests.
        "end-of-list-unseen": p.client.requests_after_end = 4 => ["tools/missing-cursor-is-end"],
        /// `Accept` contains only `application/json`.
        "accept-json-only": p.client.accept = "application/json" => ["http/accept-lists-both"],
        /// Retries, and requests for further pages, have no `_meta`.
        "meta-missing": p.edit(Request, "/params", Apply(|params| remove_from_repetition(params, "_meta"))) => [
            "base/result-handed-over", "elicitation/answer-as-entered",
            "elicitation/three-actions", "sep-2575/fields-on-every-request"],
        /// A tool whose `x-mcp-header` is invalid stays in the list.
        "invalid-header-tool-kept": p.client.drops_wrong_marks = false => ["tools/invalid-header-mark-excluded"],
        /// A mark inside `allOf`, `anyOf` or `oneOf` is treated like one that `properties` lead to.
        "marks-in-branches-followed": p.client.marks = |schema| parameters::of(&with_merged_branches(schema)) => [
            "tools/header-reachable-only", "tools/invalid-header-mark-excluded"],
        /// Headers do not repeat arguments marked with `x-mcp-header`.
        "parameter-headers-missing": p.client.parameter_headers = |_, _| vec![] => [
            "tools/header-mismatch-retried", "tools/header-value-sent"],
        /// The name of a tool is sent in its header without encoding, even if it looks encoded.
        "name-header-not-encoded": p.client.name_header = str::to_owned => ["tools/name-header-encoded"],
        /// References are fetched through the proxy of the environment, but not from this machine or over TLS.
        "client-fetches-by-name": p.schemas.prepare = |schema| visit_through_proxy(schema, "http://") => [
            "sep-2106/no-network-deref", "sep-2106/no-network-deref-earlier"],
        /// References are fetched if they begin with `https:`.
        "client-fetches-over-tls": p.schemas.prepare = |schema| visit_through_proxy(schema, "https://") => [
            "sep-2106/no-network-deref", "sep-2106/no-network-deref-earlier"],
        /// `$dynamicRef` references to other documents are fetched, but not `$ref`.
        "client-fetches-dynamic-ref": p.schemas.prepare = |schema| visit(schema, "$dynamicRef") => [
            "sep-2106/no-dynamic-deref"],
        /// The address of an unknown dialect is fetched.
        "client-fetches-dialect": p.schemas.prepare = |schema| visit(schema, "$schema") => [
            "sep-2106/dialect-not-fetched"],
        /// The `$id` of a schema is fetched.
        "client-fetches-id": p.schemas.prepare = |schema| visit(schema, "$id") => [
            "sep-2106/id-not-fetched", "sep-2106/no-dynamic-deref", "sep-2106/no-network-deref",
            "sep-2106/no-network-deref-earlier"],
        /// References to local files are read.
        "client-reads-file": p.schemas.prepare = read_files => ["sep-2106/no-file-deref"],
        /// References to other documents accept every value.
        "external-ref-ignored-by-client": p.schemas.prepare = ignore_external => [
            "sep-2106/data-is-no-reference", "sep-2106/unresolved-dynamic-ref-rejected",
            "sep-2106/unresolved-ref-rejected", "sep-2106/unresolved-ref-rejected-earlier"],
        /// Every schema is read as 2020-12, even if it declares another dialect.
        "dialect-ignored-by-client": p.schemas.prepare = |schema| remove_members(schema, &["$schema"]) => [
            "sep-1613/declared-dialect", "sep-1613/unsupported-dialect-is-error"],
        /// A schema without `$schema` is read as draft-07.
        "draft-7-assumed-by-client": p.schemas.default_dialect = Draft::Draft7 => [
            "base/result-handed-over", "sep-1613/default-dialect", "sep-1613/invalid-schema-noticed",
            "sep-2106/any-json-value", "tools/results-validated"],
        /// A list is refused if a schema without `$schema` has keywords that draft-07 does not have.
        "newer-keywords-refused": { p.schemas.prepare = refuse_newer_keywords; p.client.bad_tool_breaks_list = true } => ["sep-1613/default-dialect", "sep-1613/invalid-schema-noticed", "sep-2106/any-output-root", "sep-2106/dangling-ref-rejected", "sep-2106/input-keywords-kept", "sep-2106/unresolved-dynamic-ref-rejected", "sep-2106/unresolved-ref-rejected", "sep-2106/unresolved-ref-rejected-earlier", "tools/bad-tool-stays-alone"],
        /// A schema without `$schema` is refused if it has keywords that draft-07 does not have.
        "newer-keywords-invalid": p.schemas.prepare = refuse_newer_keywords => ["base/result-handed-over", "sep-1613/default-dialect", "sep-2106/any-json-value"],
        /// A list is refused if a schema declares 2020-12.
        "own-dialect-breaks-list": { p.schemas.prepare = refuse_own_dialect; p.client.bad_tool_breaks_list = true } => ["elicitation/odd-fields-tolerated", "sep-1613/explicit-2020-12", "sep-1613/invalid-schema-noticed", "sep-1613/schema-keyword-kept", "sep-2106/any-output-root", "sep-2106/dangling-ref-rejected", "sep-2106/input-keywords-kept", "sep-2106/unresolved-dynamic-ref-rejected", "sep-2106/unresolved-ref-rejected", "sep-2106/unresolved-ref-rejected-earlier", "tools/bad-tool-stays-alone", "tools/input-schema-kept"],
        /// Before the first call, the tools are listed and their references are fetched.
        "ref-fetched-before-call": {
            p.client.lists_before_calls = true;
            p.client.compiles_when_listed = true;
            p.schemas.fetches_references = true;
        } => ["sep-2106/fetched-content-hidden", "sep-2106/no-network-deref", "sep-2106/no-network-deref-earlier"],
        /// A schema that declares 2020-12 is read as draft-07.
        "own-dialect-misread-by-client": p.schemas.prepare = declare_draft_7 => ["sep-1613/explicit-2020-12"],
        /// A schema that declares 2020-12 is refused.
        "own-dialect-unknown-to-client": p.schemas.default_dialect_may_be_named = false => [
            "base/result-handed-over", "elicitation/odd-fields-tolerated", "sep-1613/explicit-2020-12"],
        /// The size of schemas is not limited.
        "depth-unlimited-in-client": { p.schemas.bounds = UNBOUNDED; p.schemas.budget = Duration::MAX } => [
            "sep-2106/bound-is-scoped", "sep-2106/bounds-applied", "sep-2106/bounds-applied-earlier"],
        /// Schemas with more than 12 levels are refused.
        "depth-of-12-in-client": p.schemas.bounds.depth = 12 => ["sep-2106/bounds-are-reasonable"],
        /// Matching a long text against a pattern never finishes.
        "value-unbounded-in-client": {
            p.schemas.hangs_on = has_long_text_and_pattern;
            p.schemas.budget = Duration::MAX;
        } => ["sep-2106/bound-is-scoped", "sep-2106/value-bounded"],
        /// Two output schemas with the same `$id` share the validator of the first.
        "first-id-wins-in-client": p.schemas.are_shared_by_id = true => ["sep-2106/own-schema",
            "tools/results-validated"],
        /// The user receives schemas without `additionalProperties`.
        "closed-schema-opened-by-client": p.client.lost_keywords = &["additionalProperties"] => [
            "sep-2106/any-output-root", "sep-2106/input-keywords-kept", "sep-2106/input-keywords-kept-earlier",
            "tools/input-schema-kept", "tools/output-schema-kept"],
        /// The user does not receive structured content.
        "structured-lost-by-client": p.client.lost_member = Some("structuredContent") => ["base/result-handed-over",
            "elicitation/answer-as-entered", "sep-2106/any-json-value", "sep-2106/data-is-no-reference",
            "tools/structured-returned"],
        /// Structured content without an output schema is an error.
        "schema-required": p.client.needs_output_schema = true => [
            "base/result-handed-over", "elicitation/answer-as-entered",
            "elicitation/three-actions", "sep-2106/any-json-value", "tools/absent-is-error-is-success",
            "tools/bad-tool-stays-alone", "tools/result-without-schema", "tools/structured-returned",
            "tools/unlisted-tool-callable"],
        /// A tool that was not listed cannot be called.
        "unlisted-tool-refused": p.client.refuses_unlisted = true => ["base/result-handed-over",
            "elicitation/answer-as-entered", "elicitation/three-actions", "tools/structured-returned",
            "tools/unlisted-tool-callable"],
        /// A nested argument marked for a header is refused.
        "nested-header-mark-refused": p.client.marks = refuse_nested_marks => ["tools/header-value-sent",
            "tools/valid-header-mark-kept"],
        /// A list without `ttlMs`, or with a negative one, is an error.
        "ttl-required": p.client.needs_ttl = true => ["tools/absent-ttl-is-zero", "tools/negative-ttl-is-zero"],
        /// A result that has content or no questions is complete, although its `resultType` asks for input.
        "type-read-from-members": {
            p.client.decides_by_members = true;
            p.client.lost_member = Some("resultType");
        } => ["sep-2322/incomplete-is-no-result", "sep-2322/type-decides"],
        /// `isError` is removed, so that the user does not learn that a tool failed.
        "is-error-lost": p.client.lost_member = Some("isError") => [
            "base/result-handed-over", "sep-1303/tool-errors-reach-the-user"],
        /// A result without `isError` is an error.
        "is-error-required": p.client.needs_is_error = true => [
            "base/result-handed-over", "elicitation/answer-as-entered",
            "elicitation/three-actions", "sep-2106/any-json-value", "sep-2106/bounds-are-reasonable",
            "sep-2106/data-is-no-reference", "tools/absent-is-error-is-success", "tools/structured-returned"],
        /// A JSON-RPC error is returned to the user as a result.
        "protocol-error-as-success": p.client.errors_are_results = true => ["sep-1303/protocol-error-is-no-success"],
        /// After one tool has failed, no other tool is called.
        "failure-is-sticky-in-client": p.client.failure_is_final = true => ["base/result-handed-over",
            "sep-1303/error-leaves-no-trace"],
        /// A client with a user does not declare the elicitation capability.
        "elicitation-undeclared": {
            p.edit(Request, "/params/capabilities", Replace("{}"));
            p.edit(Request, SENT_CAPABILITIES, Replace("{}"));
        } => ["elicitation/answer-as-entered", "elicitation/client-declares", "elicitation/declared-on-each-request",
            "elicitation/three-actions"],
        /// A client without a user declares the elicitation capability.
        "elicitation-always-declared": {
            p.edit(Request, "/params/capabilities/elicitation", Default(r#"{"form":{}}"#));
            p.edit(Request, SENT_ELICITATION, Default(r#"{"form":{}}"#));
        } => ["elicitation/nobody-to-ask-undeclared"],
        /// A form without fields is refused.
        "empty-form-refused-by-client": p.forms.may_be_empty = false => ["elicitation/form-may-be-empty"],
        /// The URL of an elicitation is fetched before the user is asked.
        "url-prefetched": p.user.fetches_urls = true => ["elicitation/url-not-fetched"],
        /// A retry has no arguments.
        "retry-arguments-lost":
            p.edit(Request, "/params", Apply(|params| remove_from_repetition(params, "arguments"))) => [
            "sep-2322/original-retried"],
        /// Several answers are each wrapped in an object with `result`.
        "answers-wrapped": p.edit(Request, "/params/inputResponses", Apply(wrap_answers)) => [
            "sep-2322/inputs-before-retry", "sep-2322/refusal-is-sent", "sep-2322/responses-by-key"],
        /// Requests have no `Mcp-Method` header.
        "method-header-missing": p.client.headers = |headers, _| drop(headers.remove("mcp-method")) => [
            "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
            "http/method-header-sent",
            "sep-1613/schema-keyword-kept", "sep-2106/any-json-value", "sep-2106/any-output-root",
            "sep-2106/bounds-are-reasonable", "sep-2106/data-is-no-reference", "sep-2106/input-keywords-kept",
            "sep-2106/own-schema", "tools/absent-is-error-is-success", "tools/annotations-kept",
            "tools/description-kept", "tools/icons-kept", "tools/input-schema-kept", "tools/meta-kept",
            "tools/output-schema-kept", "tools/structured-returned", "tools/title-kept"],
        /// Calls have no `Mcp-Name` header.
        "name-header-missing": p.client.headers = |headers, _| drop(headers.remove("mcp-name")) => [
            "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
            "http/name-header-sent",
            "sep-2106/any-json-value", "sep-2106/data-is-no-reference", "tools/absent-is-error-is-success",
            "tools/structured-returned"],
        /// Requests have no `MCP-Protocol-Version` header.
        "version-header-missing": p.client.headers = |headers, _| drop(headers.remove("mcp-protocol-version")) => [
            "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
            "http/version-header-sent", "lifecycle/version-header-sent", "sep-1613/schema-keyword-kept",
            "sep-2106/any-json-value", "sep-2106/any-output-root", "sep-2106/bounds-are-reasonable",
            "sep-2106/data-is-no-reference", "sep-2106/input-keywords-kept", "sep-2106/own-schema",
            "tools/absent-is-error-is-success", "tools/annotations-kept", "tools/description-kept", "tools/icons-kept",
            "tools/input-schema-kept", "tools/meta-kept", "tools/output-schema-kept", "tools/structured-returned",
            "tools/title-kept"],
        /// `MCP-Protocol-Version` names an earlier version than the body or the handshake.
        "version-header-outdated": p.client.headers = |headers, _| send_earlier_version(headers) => ["base/result-handed-over",
            "elicitation/answer-as-entered", "elicitation/three-actions", "http/version-header-agrees",
            "lifecycle/version-header-negotiated", "sep-1613/schema-keyword-kept", "sep-2106/any-json-value",
            "sep-2106/any-output-root", "sep-2106/bounds-are-reasonable", "sep-2106/data-is-no-reference",
            "sep-2106/input-keywords-kept", "sep-2106/own-schema", "tools/absent-is-error-is-success",
            "tools/annotations-kept", "tools/description-kept", "tools/execution-kept", "tools/icons-kept",
            "tools/input-schema-kept", "tools/meta-kept", "tools/output-schema-kept", "tools/structured-returned",
            "tools/title-kept"],
        /// The client asks for the versions first, without headers.
        "probe-without-headers": { p.client.discovers = true; p.client.headers = remove_headers_of_probe } => ["base/result-handed-over", "http/method-header-sent", "http/version-header-sent"],
        /// The client asks for the versions first, with an earlier version in the header than in the body.
        "probe-of-earlier-version": {
            p.client.discovers = true;
            p.client.headers = send_earlier_version_with_probe;
        } => ["base/result-handed-over", "http/version-header-agrees"],
        /// The client asks for the versions first, without `_meta`.
        "probe-without-meta": {
            p.client.discovers = true;
            p.edit_if(Request, ("/method", r#""server/discover""#), "/params/_meta", Remove);
        } => ["base/result-handed-over", "sep-2575/fields-on-every-request", "sep-2575/stdio-probe"],
        /// The client asks for the versions first, without declaring elicitation.
        "probe-undeclared": {
            p.client.discovers = true;
            p.edit_if(Request, ("/method", r#""server/discover""#), SENT_ELICITATION, Remove);
        } => ["elicitation/declared-on-each-request"],
        /// Calls have no `_meta`.
        "call-without-meta": p.edit_if(Request, ("/method", r#""tools/call""#), "/params/_meta", Remove) => ["base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions", "sep-2106/any-json-value", "sep-2106/data-is-no-reference", "sep-2575/fields-on-every-request", "tools/absent-is-error-is-success", "tools/structured-returned"],
        /// Lists and calls do not repeat the server's `MCP-Session-Id`, but notifications do.
        "session-header-missing-in-requests": p.client.headers = remove_session_of_requests => ["base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions", "lifecycle/session-id-sent", "sep-1613/schema-keyword-kept", "sep-2106/bounds-are-reasonable", "sep-2106/data-is-no-reference", "sep-2106/own-schema", "tools/absent-is-error-is-success", "tools/annotations-kept", "tools/description-kept", "tools/execution-kept", "tools/icons-kept", "tools/input-schema-kept", "tools/meta-kept", "tools/output-schema-kept", "tools/structured-returned", "tools/title-kept"],
        /// Requests do not repeat the server's `MCP-Session-Id`.
        "session-header-missing": p.client.headers = |headers, _| drop(headers.remove("mcp-session-id")) => [
            "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
            "lifecycle/session-id-sent", "sep-1613/schema-keyword-kept", "sep-2106/bounds-are-reasonable",
            "sep-2106/data-is-no-reference", "sep-2106/own-schema", "tools/absent-is-error-is-success",
            "tools/annotations-kept", "tools/description-kept", "tools/execution-kept", "tools/icons-kept",
            "tools/input-schema-kept", "tools/meta-kept", "tools/output-schema-kept", "tools/structured-returned",
            "tools/title-kept"],
        /// Requests have another `MCP-Session-Id` than the server's.
        "session-header-altered": p.client.headers = |headers, _| capitalize_session(headers) => ["base/result-handed-over",
            "elicitation/answer-as-entered", "elicitation/three-actions", "lifecycle/session-id-sent",
            "sep-1613/schema-keyword-kept", "sep-2106/bounds-are-reasonable", "sep-2106/data-is-no-reference",
            "sep-2106/own-schema", "tools/absent-is-error-is-success", "tools/annotations-kept",
            "tools/description-kept", "tools/execution-kept", "tools/icons-kept", "tools/input-schema-kept",
            "tools/meta-kept", "tools/output-schema-kept", "tools/structured-returned", "tools/title-kept"],
        /// A reply whose media type has parameters is not read.
        "media-parameters-refused": p.client.accepts_media_parameters = false => ["http/both-answers-read"],
        /// A marked argument is looked up by its name alone, at any path.
        "parameter-path-ignored": p.client.parameter_headers = headers_of_namesake => ["tools/header-value-omitted",
            "tools/header-value-sent"],
        /// Arguments are written to headers without encoding, including their line breaks.
        "parameter-headers-raw": p.client.parameter_headers = split_lines => ["http/sentinel-encoded",
            "tools/header-value-base64", "tools/header-value-encoded", "tools/header-value-sent"],
        /// Booleans are written to headers as `True` and `False`.
        "parameter-booleans-capitalized": p.client.parameter_headers = capitalize_booleans => [
            "tools/header-value-sent"],
        /// Line breaks are removed from texts that headers repeat.
        "parameter-lines-joined": p.client.parameter_headers = encode_one_line => ["tools/header-value-base64", "tools/header-value-sent"],
        /// A missing argument has an empty header.
        "missing-parameter-sent": p.client.parameter_headers = send_empty => ["tools/header-value-omitted"],
        /// A header repeats an argument that is null.
        "null-parameter-sent": p.client.parameter_headers = send_null => ["tools/header-value-omitted"],
        /// `notifications/initialized` is also sent before the handshake.
        "initialized-too-early":
            p.client.before_handshake = Some(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#) => [
            "lifecycle/initialize-first"],
        /// After a handshake that took too long, the tools are listed.
        "list-without-handshake":
            p.client.after_unanswered_handshake = Some(r#"{"jsonrpc":"2.0","id":"late","method":"tools/list"}"#) => [
            "lifecycle/nothing-before-the-result"],
        /// A handshake that takes too long is cancelled.
        "handshake-cancelled": p.client.after_unanswered_handshake = Some(CANCELLED_HANDSHAKE) => [
            "lifecycle/initialize-not-cancelled"],
        /// The answer to a ping has a member.
        "ping-answered-with-more": p.edit_if(Response, ("/result", "{}"), "/result/pong", Set("true")) => [
            "lifecycle/ping"],
        /// The client goes on with any version that the server selects.
        "any-version-agreed-by-client": p.client.goes_on_with_any_version = true => [
            "lifecycle/unsupported-version-left"],
        /// The stream of a GET request is requested as JSON.
        "get-accepts-json": p.client.accept_of_get = "application/json" => ["http/get-accepts-events"],
        /// The stream of a GET request is requested as JSON, and not before the first list.
        "late-get-accepts-json": { p.client.listens_late = true; p.client.accept_of_get = "application/json" } => [
            "http/get-accepts-events"],
        /// Events without a name are not read.
        "unnamed-events-ignored": p.client.needs_event_name = true => ["http/both-answers-read",
            "tools/structured-returned"],
        /// A stream with a comment is refused.
        "comments-refused": p.client.stream = refuse_comments => ["http/both-answers-read", "http/comments-ignored"],
        /// Only a line feed ends a line of a stream.
        "line-feeds-alone": p.client.stream = |piece| Ok(keep_carriage_returns(&piece)) => ["http/both-answers-read"],
        /// Each piece of a stream is decoded by itself.
        "pieces-decoded-alone": p.client.stream = |piece| Ok(String::from_utf8_lossy(&piece).into_owned().into()) => [
            "http/both-answers-read", "tools/structured-returned"],
        /// An event without data, which gives the stream an id, is read as a message.
        "primed-event-is-message": p.client.skips_empty_events = false => [
            "http/both-answers-read", "http/stream-polled"],
        /// Only the last `data` line of an event is read.
        "last-data-line-alone": p.client.data = |data| data.rsplit('\n').next().unwrap_or_default() => [
            "http/both-answers-read"],
        /// An event of more than 64 KiB is not read.
        "long-events-unread": p.client.data = |data| if data.len() > 1 << 16 { "" } else { data } => [
            "http/both-answers-read"],
        /// A stream that ended before its reply is resumed before the time that the server named.
        "retry-time-ignored": p.client.resume = Resume::AtOnce => ["http/retry-respected"],
        /// A stream that ended before its reply is resumed from another event than the last one.
        "resumed-from-elsewhere": p.client.resume = Resume::FromElsewhere => ["http/stream-resumed"],
        /// The messages of a resumed stream are not read.
        "resumed-stream-unread": p.client.resume = Resume::Unread => ["http/resumed-answer-read"],
        /// A stream that ended before its reply is never resumed.
        "stream-never-resumed": p.client.resume = Resume::Never => ["http/stream-polled"],
        /// The progress token of a request is a fraction.
        "progress-token-as-fraction": p.edit(Request, "/params/_meta/progressToken", Set("1.5")) => [
            "base/progress-token-type", "messages/types-kept"],
        /// A session begins with the progress of a request that nobody sent.
        "progress-sent-by-client": p.client.after_handshake = Some((PROGRESS, false)) => ["base/progress-wanted"],
        /// The progress of each question is reported, with a token of the client's own.
        "progress-of-questions": p.client.before_answer = Some(PROGRESS) => ["base/progress-wanted"],
        /// The handshake ends without `notifications/initialized`.
        "initialized-missing": p.client.says_initialized = false => ["lifecycle/initialized-sent"],
        /// Resources are listed although the server does not declare them.
        "undeclared-resources-listed": p.client.after_handshake = Some((LIST_RESOURCES, false)) => [
            "lifecycle/negotiated-capabilities-only"],
        /// Resources are listed before each request although the server does not declare them.
        "undeclared-resources-polled": p.client.before_request = Some(list_resources) => [
            "lifecycle/negotiated-capabilities-only"],
        /// Resources are listed before each answer although the server does not declare them.
        "undeclared-resources-asked": p.client.before_answer = Some(LIST_RESOURCES) => [
            "lifecycle/negotiated-capabilities-only"],
        /// A session that is no longer needed is left to the server.
        "session-not-ended": p.client.ends_sessions = false => ["http/session-deleted"],
        /// A session is ended with the id of another one.
        "other-session-ended": p.client.ends_another_session = Some("another") => [
            "http/session-deleted", "lifecycle/session-id-sent"],
        /// Each request has the id null.
        "request-ids-null": p.edit(Request, "/id", Set("null")) => ["base/id-not-null"],
        /// Each list has the id null.
        "list-id-null": p.edit_if(Request, ("/method", r#""tools/list""#), "/id", Set("null")) => ["base/id-not-null", "base/result-handed-over", "http/both-answers-read", "lifecycle/ping", "sep-1613/schema-keyword-kept", "sep-2106/bounds-are-reasonable", "sep-2106/data-is-no-reference", "sep-2106/own-schema", "sep-2575/older-server-reached", "tools/annotations-kept", "tools/description-kept", "tools/execution-kept", "tools/header-value-sent", "tools/icons-kept", "tools/input-schema-kept", "tools/meta-kept", "tools/output-schema-kept", "tools/title-kept"],
        /// The handshake lacks the client's capabilities.
        "client-capabilities-missing": p.edit(Request, "/params/capabilities", Remove) => ["lifecycle/initialize-is-whole", "messages/types-kept"],
        /// A session begins with a ping with the id null.
        "ping-with-null-id":
            p.client.after_handshake = Some((r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, true)) => [
            "base/id-not-null"],
        /// The client sends its name without a version.
        "client-version-lost": {
            p.edit(Request, "/params/clientInfo/version", Remove);
            p.edit(Request, "/params/_meta/io.modelcontextprotocol~1clientInfo/version", Remove);
        } => ["lifecycle/initialize-is-whole", "messages/types-kept", "sep-2575/client-info-sent"],
        /// The client sends a title that is null.
        "client-title-null": {
            p.edit(Request, "/params/clientInfo/title", Set("null"));
            p.edit(Request, "/params/_meta/io.modelcontextprotocol~1clientInfo/title", Set("null"));
        } => ["messages/types-kept"],
        /// The mode `form` is declared as `true`.
        "modes-as-booleans": {
            p.edit(Request, "/params/capabilities/elicitation", Replace(r#"{"form":true}"#));
            p.edit(Request, SENT_ELICITATION, Replace(r#"{"form":true}"#));
        } => ["elicitation/one-mode-at-least", "messages/types-kept"],
        /// A key in the `_meta` of requests has an empty label in its prefix.
        "meta-prefix-sent-malformed": p.edit(Request, "/params/_meta/com..example~1trace", Set(r#""1""#)) => [
            "base/meta-prefix"],
        /// A label of a prefix in the `_meta` of requests begins with a digit.
        "meta-label-sent-malformed": p.edit(Request, "/params/_meta/com.1example~1trace", Set(r#""1""#)) => [
            "base/meta-labels"],
        /// The name of a key in the `_meta` of requests begins with `_`.
        "meta-name-sent-malformed": p.edit(Request, "/params/_meta/com.example~1_trace", Set(r#""1""#)) => [
            "base/meta-names"],
        /// The error response to an unanswerable elicitation has no message.
        "error-message-lost-by-client": p.edit(Response, "/error/message", Remove) => [
            "base/error-has-code-and-message", "messages/types-kept"],
        /// The error response to an unanswerable elicitation has no id, and the call is abandoned.
        "error-id-lost-by-client": p.edit(Response, "", Apply(remove_error_id)) => ["base/error-echoes-id",
            "messages/request-answered"],
        /// The code in the error response to an unanswerable elicitation is a string.
        "error-code-as-text-by-client":
            p.edit(Response, "/error/code", Apply(|code| *code = json!(code.to_string()))) => [
            "base/error-code-is-integer", "messages/types-kept"],
        /// Every response within a call has the id of the first elicitation.
        "answer-id-stale-by-client": p.client.answers_first_question = true => ["base/response-has-same-id"],
        /// The ids of requests are fractions.
        "request-id-as-fraction":
            p.client.id = |id| json!(f64::from(u32::try_from(id).unwrap_or(u32::MAX)) + 0.5) => [
            "base/id-is-string-or-integer", "messages/types-kept"],
        /// Answers are also sent as separate responses, even if the server sends no requests.
        "answers-sent-as-responses": p.client.answers_are_also_responses = true => [
            "http/no-responses-posted", "http/version-header-sent", "stdio/no-responses-written"],
        /// Over stdio, a message is written on several lines.
        "messages-on-several-lines": p.transport.framing = indent => [
            "stdio/one-line-a-message", "stdio/stdin-is-for-messages"],
        /// Over stdio, a line that is no message follows each list, and each call with line breaks.
        "line-after-calls": p.transport.framing = report_calls => ["stdio/stdin-is-for-messages"],
        /// Over stdio, line breaks in strings are written without escaping.
        "line-breaks-unescaped": p.transport.framing = |message| message.replace("\\n", "\n") => [
            "stdio/one-line-a-message", "stdio/stdin-is-for-messages"],
        /// The user receives no content of a result.
        "content-lost-by-client": p.client.lost_member = Some("content") => [
            "base/result-handed-over", "sep-1303/tool-errors-reach-the-user", "sep-2106/text-fallback"],
        /// A retry has the state that any call received last.
        "state-of-another-call": p.client.shares_state = true => ["sep-2322/state-stays-with-its-request"],
        /// A retry has the state that any call received first.
        "state-of-first-question": { p.client.shares_state = true; p.client.keeps_first_state = true } => ["elicitation/answer-as-entered", "sep-2322/refusal-is-sent", "sep-2322/state-echoed", "sep-2322/state-stays-with-its-request"],
        /// A question that the user does not answer is followed by a retry without the answer.
        "retry-without-answer": p.client.retries_unanswered = true => ["sep-2322/inputs-before-retry"],
        /// The first request of a call has the state of the last call.
        "state-kept-for-next-call": p.client.repeats_last_state = true => ["elicitation/three-actions",
            "sep-1034/client-prefills", "sep-1034/refusal-carries-no-default", "sep-1034/user-wins",
            "sep-2322/state-affects-the-retry-only"],
        /// A list is never requested again.
        "list-cached-for-ever": p.client.lists_from_cache = |_| true => [
            "tools/header-mismatch-retried", "tools/negative-ttl-is-zero", "tools/zero-ttl-is-stale"],
        /// A further page is taken from the cache of the first one.
        "cache-ignores-cursor": p.client.mixes_cached_pages = true => ["tools/cache-key-has-parameters"],
        /// The result of a retry with answers is returned for later calls of the tool.
        "retried-result-cached": p.client.caches_retried_results = true => ["elicitation/three-actions",
            "tools/retried-result-not-cached"],
        /// A page with fewer tools than the first one counts as the last page.
        "short-page-taken-for-last": p.client.ends_at_short_page = true => ["tools/page-size-not-assumed"],
        /// A call that is rejected because of its headers is not repeated.
        "header-mismatch-is-final": p.client.repeats_after_mismatch = false => ["tools/header-mismatch-retried"],
        /// A lost session is an error, also for all later requests.
        "session-loss-is-final": p.client.renews_session = false => ["lifecycle/session-started-anew"],
        /// The handshake after a lost session still names it.
        "lost-session-named": p.client.headers = name_lost_session => ["lifecycle/session-started-anew"],
        /// The second page of a list is requested during the handshake, and no further one.
        "two-pages-read-at-start": p.client.after_handshake = Some((SECOND_PAGE, false)) => [
            "lifecycle/ping", "tools/cursors-are-opaque", "tools/missing-cursor-is-end",
            "tools/page-size-not-assumed"],
        /// A notification about an unknown elicitation ends the call.
        "unknown-completion-refused": p.client.refused_notification = Some("notifications/elicitation/complete") => [
            "elicitation/unknown-completion-ignored"],
        /// A notification that cancels no running request ends the call.
        "vain-cancellation-refused-by-client": p.client.refused_notification = Some("notifications/cancelled") => [
            "lifecycle/invalid-cancellation-ignored"],
        /// A notification that cancels no running request gets a response with an error.
        "vain-cancellation-answered-by-client":
            p.client.answered_notification = Some("notifications/cancelled") => [
            "lifecycle/invalid-cancellation-ignored", "messages/notifications-get-no-response"],
        /// The answer to an elicitation in URL mode has content.
        "url-answer-with-content": p.user.visit_has_content = true => ["elicitation/url-answer-has-no-content"],
        /// Requests for lists do not declare elicitation.
        "elicitation-undeclared-in-lists": p.edit_if(Request, ("/method", r#""tools/list""#), SENT_ELICITATION, Remove) => [
            "elicitation/declared-on-each-request"],
        /// The ids of requests repeat after the third request of a session.
        "request-ids-repeat": p.client.id = |id| json!((id - 1) % 3) => ["base/id-unused-in-session",
            "sep-2322/retry-has-new-id"],
        /// Each request has the same id.
        "request-ids-alike": p.client.id = |_| json!(1) => [
            "base/id-of-its-own", "base/id-unused-in-session", "sep-2322/retry-has-new-id"],
        /// `notifications/initialized` has an id.
        "initialized-with-id": {
            p.client.says_initialized = false;
            p.client.after_handshake =
                Some((r#"{"jsonrpc":"2.0","id":"i","method":"notifications/initialized"}"#, false));
        } => ["base/notification-has-no-id", "lifecycle/initialized-sent"],
        /// Lists in arguments are sent as texts.
        "arguments-as-text-by-client":
            p.edit(Request, "/params/arguments/list", Apply(|list| *list = json!(list.to_string()))) => [
            "tools/arguments-unchanged"],
        /// The response to an elicitation that the user declines has neither a result nor an error.
        "decline-without-result": p.edit_if(Response, ("/result/action", r#""decline""#), "/result", Remove) => [
            "elicitation/three-actions", "messages/result-present"],
        /// The response to an elicitation has both a result and an error.
        "answer-with-error": p.edit_if(Response, ("/result/action", r#""accept""#), "/error",
            Set(r#"{"code":0,"message":""}"#)) => ["base/result-or-error", "base/result-or-error-later",
            "elicitation/answer-as-entered", "elicitation/three-actions"],
        /// Only the error -32601 shows that a server is an older one.
        "fallback-by-one-code": p.client.falls_back_after = |code| code == -32601 => [
            "sep-2575/fallback-after-any-error", "sep-2575/older-server-reached"],
        /// A client that supports older servers begins with `initialize`.
        "probe-left-out": p.client.probes = false => ["base/result-handed-over", "sep-2575/stdio-probe"],
        /// The client probes an older server again before each request.
        "probe-repeated": p.client.before_request = Some(probe) => ["sep-2575/era-remembered"],
        /// A client sends `initialize` to a server that has answered its probe.
        "handshake-after-probe": p.client.after_probe = Some(HANDSHAKE) => ["sep-2575/modern-server-kept"],
        /// The errors of newer servers are taken for those of older ones.
        "newer-error-taken-for-old": p.client.falls_back_after_newer = true => ["sep-2575/body-before-fallback"],
        /// No error shows that a server is an older one.
        "never-falls-back": p.client.falls_back_after = |_| false => ["sep-2575/older-server-reached"],
        /// The time limit of the user is ignored.
        "request-timeout-ignored": p.client.limits_requests = false => ["lifecycle/requests-time-out"],
        /// A request without a reply in time is not cancelled by a notification.
        "timeout-not-cancelled": p.client.cancels = false => ["lifecycle/timeout-cancels",
            "lifecycle/timeout-is-notified"],
        /// The id of a cancelled request is sent as a string.
        "cancelled-id-as-string": p.client.cancelled_id = |id| id.to_string().into() => [
            "lifecycle/cancelled-request-known", "lifecycle/timeout-cancels", "lifecycle/timeout-is-notified"],
    }
}
