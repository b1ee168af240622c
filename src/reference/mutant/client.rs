//! The wrong clients: what each does, and the sentences that it breaks.
//!
//! Gives the table to the macro that is named, behind what that got before. Must not know where a mutant is consulted.

macro_rules! client_mutants {
    ($then:ident! $($before:tt)*) => {
        $then! { $($before)*
        "client" {
            /// Structured content is handed to the user unchecked.
            OutputNotValidatedByClient = "output-not-validated-by-client" ["tools/results-validated"],
            /// A tool with an output schema may succeed without structured content.
            MissingStructuredAcceptedByClient = "missing-structured-accepted-by-client" [
                "tools/missing-result-noticed",
            ],
            /// Results of a tool whose schema can't be compiled are taken unchecked.
            ValidationSkippedByClient = "validation-skipped-by-client" [
                "sep-1613/invalid-schema-noticed", "sep-1613/unsupported-dialect-is-error",
                "sep-2106/dangling-ref-rejected", "sep-2106/unresolved-dynamic-ref-rejected",
                "sep-2106/unresolved-ref-rejected",
            ],
            /// References to other documents are fetched when a schema is compiled.
            ClientFetchesRef = "client-fetches-ref" ["sep-2106/no-network-deref"],
            /// One tool whose schema can't be compiled makes the whole list fail.
            OneBadToolLosesAll = "one-bad-tool-loses-all" [
                "sep-1613/invalid-schema-noticed", "sep-1613/schema-keyword-kept",
                "sep-1613/unsupported-dialect-is-error", "sep-2106/dangling-ref-rejected",
                "sep-2106/unresolved-dynamic-ref-rejected", "sep-2106/unresolved-ref-rejected",
                "tools/bad-tool-stays-alone",
            ],
            /// Structured content that is 0, false, "" or null counts as missing.
            FalsyStructuredTakenForMissing = "falsy-structured-taken-for-missing" ["sep-2106/any-json-value"],
            /// The result of a tool that failed must fit the output schema.
            ErrorResultValidated = "error-result-validated" ["tools/errors-need-no-output"],
            /// The user gets schemas without `anyOf`, `oneOf`, `allOf`, `not`, `if` and `$defs`.
            SchemaKeywordsDroppedByClient = "schema-keywords-dropped-by-client" [
                "sep-2106/any-output-root", "sep-2106/bounds-are-reasonable", "sep-2106/input-keywords-kept",
                "tools/input-schema-kept", "tools/output-schema-kept",
            ],
            /// The user gets schemas without `enumNames`.
            EnumNamesLostByClient = "enum-names-lost-by-client" ["tools/input-schema-kept", "tools/output-schema-kept"],
            /// Defaults are not filled in, as a client may do.
            DefaultsIgnored = "defaults-ignored" [],
            /// Defaults are sent although the user declined or cancelled.
            DefaultsOnDecline = "defaults-on-decline" [
                "elicitation/content-only-on-accept", "elicitation/three-actions",
                "sep-1034/refusal-carries-no-default", "sep-2322/refusal-is-sent",
            ],
            /// A default replaces what the user entered.
            DefaultsOverwriteUser = "defaults-overwrite-user" ["sep-1034/user-wins"],
            /// Defaults that are 0, false, "" or [] are not filled in.
            DefaultsFalsyLost = "defaults-falsy-lost" ["sep-1034/client-prefills"],
            /// Defaults are filled in after the answer was checked, whether they fit or not.
            DefaultsUnchecked = "defaults-unchecked" ["elicitation/client-validates"],
            /// What is filled in is the first option or an empty value, whatever the default says.
            DefaultWrongValue = "default-wrong-value" ["sep-1034/client-prefills"],
            /// Defaults are filled in as the text that a field of a form holds.
            DefaultsAsText = "defaults-as-text" ["sep-1034/client-prefills"],
            /// Declining and cancelling carry an empty `content`.
            ContentWithDecline = "content-with-decline" [
                "elicitation/content-only-on-accept", "elicitation/three-actions",
                "sep-1034/refusal-carries-no-default", "sep-2322/refusal-is-sent",
            ],
            /// What the user entered is sent unchecked.
            InvalidAnswerSent = "invalid-answer-sent" ["elicitation/client-validates"],
            /// Several choices are sent as one text.
            MultiSelectFlattened = "multi-select-flattened" [
                "elicitation/odd-fields-tolerated", "sep-1034/user-wins", "sep-1330/choice-sent",
                "sep-1330/choices-sent-as-list",
            ],
            /// An elicitation is answered although its mode was not declared, or is unknown.
            UndeclaredModeAnswered = "undeclared-mode-answered" [
                "elicitation/undeclared-mode-code", "elicitation/undeclared-mode-unanswered",
                "sep-2322/inputs-before-retry", "sep-2322/undeclared-input-unanswered",
            ],
            /// An elicitation without `mode` is refused.
            ModeRequired = "mode-required" [
                "elicitation/answer-as-entered", "elicitation/no-mode-means-form", "elicitation/three-actions",
                "sep-1034/client-prefills", "sep-1034/user-wins", "sep-1330/choice-sent",
                "sep-1330/choices-sent-as-list",
            ],
            /// A `requestState` that looks like JSON is parsed, and written anew.
            StateReencoded = "state-reencoded" ["elicitation/three-actions", "sep-2322/state-echoed"],
            /// A retry carries no `requestState`.
            StateDropped = "state-dropped" [
                "elicitation/answer-as-entered", "elicitation/three-actions", "sep-1330/choice-sent",
                "sep-1330/choices-sent-as-list", "sep-2322/state-echoed",
            ],
            /// A retry carries a `requestState` of null where the server gave none.
            StateInvented = "state-invented" [
                "elicitation/three-actions", "sep-2322/no-state-invented", "sep-2322/type-decides",
            ],
            /// A retry has the id of the request that it repeats.
            IdReusedOnRetry = "id-reused-on-retry" ["sep-2322/retry-has-new-id"],
            /// A second input-required result is handed to the user as the result.
            SecondRoundLost = "second-round-lost" [
                "elicitation/answer-as-entered", "sep-2322/refusal-is-sent", "sep-2322/rounds-repeat",
            ],
            /// A result of an unknown `resultType` counts as complete.
            UnknownResultTypeAccepted = "unknown-result-type-accepted" ["base/unknown-result-type-is-invalid"],
            /// A result without `resultType` is an error.
            AbsentResultTypeRefused = "absent-result-type-refused" ["base/absent-result-type-is-complete"],
            /// A cursor that is an empty string counts as the end of the list.
            CursorEmptyIsEnd = "cursor-empty-is-end" ["tools/empty-cursor-is-no-end"],
            /// Blanks around a cursor are lost.
            CursorTrimmed = "cursor-trimmed" ["base/result-handed-over", "tools/cursors-are-opaque"],
            /// The first page counts as the whole list.
            PagesIgnored = "pages-ignored" ["tools/empty-cursor-is-no-end", "tools/pages-or-none"],
            /// After the last page of several, the list is begun anew, until the client's patience ends.
            EndOfListUnseen = "end-of-list-unseen" ["tools/missing-cursor-is-end"],
            /// `Accept` names `application/json` alone.
            AcceptJsonOnly = "accept-json-only" ["http/accept-lists-both"],
            /// Retries, and requests for further pages, carry no `_meta`.
            MetaMissing = "meta-missing" [
                "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
                "http/version-header-agrees", "sep-1330/choice-sent", "sep-1330/choices-sent-as-list",
                "sep-2322/incomplete-is-no-result", "sep-2322/rounds-end", "sep-2575/client-info-sent",
                "sep-2575/fields-on-every-request",
            ],
            /// A tool whose `x-mcp-header` is invalid stays in the list.
            InvalidHeaderToolKept = "invalid-header-tool-kept" ["tools/invalid-header-mark-excluded"],
            /// A mark within `allOf`, `anyOf` or `oneOf` counts as one in reach.
            MarksInBranchesFollowed = "marks-in-branches-followed" [
                "tools/header-reachable-only", "tools/invalid-header-mark-excluded",
            ],
            /// Arguments marked with `x-mcp-header` are not repeated in headers.
            ParameterHeadersMissing = "parameter-headers-missing" [
                "http/sentinel-encoded", "tools/header-value-base64", "tools/header-value-sent",
            ],
            /// A tool's name that looks like an encoded one goes into its header as it is.
            NameHeaderNotEncoded = "name-header-not-encoded" ["tools/name-header-encoded"],
            /// Only `$dynamicRef`s to other documents are fetched.
            ClientFetchesDynamicRef = "client-fetches-dynamic-ref" ["sep-2106/no-dynamic-deref"],
            /// An unknown dialect is fetched.
            ClientFetchesDialect = "client-fetches-dialect" ["sep-2106/dialect-not-fetched"],
            /// A schema's `$id` is fetched.
            ClientFetchesId = "client-fetches-id" [
                "sep-2106/id-not-fetched", "sep-2106/no-dynamic-deref", "sep-2106/no-network-deref",
            ],
            /// References to files are read.
            ClientReadsFile = "client-reads-file" ["sep-2106/no-file-deref"],
            /// References to other documents accept everything.
            ExternalRefIgnoredByClient = "external-ref-ignored-by-client" [
                "sep-2106/data-is-no-reference", "sep-2106/unresolved-dynamic-ref-rejected",
                "sep-2106/unresolved-ref-rejected",
            ],
            /// Every schema is read as 2020-12, whatever it says.
            DialectIgnoredByClient = "dialect-ignored-by-client" ["sep-1613/unsupported-dialect-is-error"],
            /// A schema that doesn't name its dialect is read as draft-07.
            DraftSevenAssumedByClient = "draft-7-assumed-by-client" [
                "sep-1613/declared-dialect", "sep-1613/default-dialect", "sep-1613/invalid-schema-noticed",
                "sep-2106/any-json-value", "tools/results-validated", "tools/structured-returned",
            ],
            /// A schema that names 2020-12 is refused.
            OwnDialectUnknownToClient = "own-dialect-unknown-to-client" [
                "elicitation/odd-fields-tolerated", "sep-1613/explicit-2020-12", "tools/structured-returned",
            ],
            /// Schemas have no bounds.
            DepthUnlimitedInClient = "depth-unlimited-in-client" [
                "sep-2106/bound-is-scoped", "sep-2106/bounds-applied",
            ],
            /// Schemas of more than 12 levels are refused.
            DepthOfTwelveInClient = "depth-of-12-in-client" ["sep-2106/bounds-are-reasonable"],
            /// Matching a long text by a pattern takes for ever.
            ValueUnboundedInClient = "value-unbounded-in-client" ["sep-2106/bound-is-scoped", "sep-2106/value-bounded"],
            /// Two output schemas with one `$id` share the validator of the first.
            FirstIdWinsInClient = "first-id-wins-in-client" ["sep-2106/own-schema", "tools/results-validated"],
            /// The user gets schemas without `additionalProperties`.
            ClosedSchemaOpenedByClient = "closed-schema-opened-by-client" [
                "sep-2106/any-output-root", "sep-2106/input-keywords-kept", "tools/input-schema-kept",
                "tools/no-parameter-forms", "tools/output-schema-kept",
            ],
            /// Structured content is not handed to the user.
            StructuredLostByClient = "structured-lost-by-client" [
                "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
                "http/both-answers-read", "sep-2106/any-json-value", "sep-2106/data-is-no-reference",
                "sep-2322/type-decides", "stdio/one-line-a-message", "tools/structured-returned",
                "tools/unlisted-tool-callable",
            ],
            /// Structured content without an output schema is an error.
            SchemaRequired = "schema-required" [
                "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
                "sep-1330/choice-sent", "sep-1330/choices-sent-as-list", "sep-2106/any-json-value",
                "tools/absent-is-error-is-success", "tools/bad-tool-stays-alone", "tools/result-without-schema",
                "tools/structured-returned", "tools/unlisted-tool-callable",
            ],
            /// A tool that was not listed can't be called.
            UnlistedToolRefused = "unlisted-tool-refused" [
                "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
                "sep-1034/user-wins", "sep-1330/choice-sent", "sep-1330/choices-sent-as-list",
                "tools/errors-need-no-output", "tools/structured-returned", "tools/unlisted-tool-callable",
            ],
            /// A nested argument can't be marked for a header.
            NestedHeaderMarkRefused = "nested-header-mark-refused" [
                "tools/header-value-sent", "tools/valid-header-mark-kept",
            ],
            /// A list without `ttlMs`, or with a negative one, is an error.
            TtlRequired = "ttl-required" ["tools/absent-ttl-is-zero", "tools/negative-ttl-is-zero"],
            /// The user isn't told that a tool failed.
            IsErrorLost = "is-error-lost" [
                "elicitation/nobody-to-ask-undeclared", "sep-1303/tool-errors-reach-the-user",
                "tools/errors-need-no-output",
            ],
            /// A result without `isError` is an error.
            IsErrorRequired = "is-error-required" [
                "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
                "sep-1330/choice-sent", "sep-1330/choices-sent-as-list", "sep-2106/any-json-value",
                "sep-2106/data-is-no-reference", "tools/absent-is-error-is-success", "tools/structured-returned",
            ],
            /// A JSON-RPC error is handed to the user as a result.
            ProtocolErrorAsSuccess = "protocol-error-as-success" [
                "elicitation/nobody-to-ask-undeclared", "sep-1303/protocol-error-is-no-success",
            ],
            /// After one tool has failed, no other is called.
            FailureIsStickyInClient = "failure-is-sticky-in-client" [
                "base/result-handed-over", "sep-1303/error-leaves-no-trace", "tools/errors-need-no-output",
            ],
            /// A client with a user doesn't declare that it can ask.
            ElicitationUndeclared = "elicitation-undeclared" [
                "elicitation/answer-as-entered", "elicitation/client-declares", "elicitation/three-actions",
                "sep-1034/user-wins", "sep-1330/choice-sent", "sep-1330/choices-sent-as-list",
            ],
            /// A client without a user declares that it can ask.
            ElicitationAlwaysDeclared = "elicitation-always-declared" ["elicitation/nobody-to-ask-undeclared"],
            /// A form needs a field.
            EmptyFormRefusedByClient = "empty-form-refused-by-client" ["elicitation/form-may-be-empty"],
            /// The URL of a question is fetched before the user is asked.
            UrlPrefetched = "url-prefetched" ["elicitation/url-not-fetched"],
            /// A retry carries no arguments.
            RetryArgumentsLost = "retry-arguments-lost" ["sep-2322/original-retried"],
            /// Several answers go back as responses, each with a `result`.
            AnswersWrapped = "answers-wrapped" [
                "sep-2322/inputs-before-retry", "sep-2322/refusal-is-sent", "sep-2322/responses-by-key",
            ],
            /// Requests have no `Mcp-Method`.
            MethodHeaderMissing = "method-header-missing" [
                "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
                "http/method-header-sent", "sep-1034/user-wins", "sep-1330/choice-sent",
                "sep-1330/choices-sent-as-list", "sep-1613/schema-keyword-kept", "sep-2106/any-json-value",
                "sep-2106/any-output-root", "sep-2106/bounds-are-reasonable", "sep-2106/data-is-no-reference",
                "sep-2106/input-keywords-kept", "sep-2106/own-schema", "tools/absent-is-error-is-success",
                "tools/input-schema-kept", "tools/no-parameter-forms", "tools/output-schema-kept",
                "tools/structured-returned",
            ],
            /// Calls have no `Mcp-Name`.
            NameHeaderMissing = "name-header-missing" [
                "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
                "http/name-header-sent", "sep-1034/user-wins", "sep-1330/choice-sent",
                "sep-1330/choices-sent-as-list", "sep-2106/any-json-value", "sep-2106/data-is-no-reference",
                "tools/absent-is-error-is-success", "tools/structured-returned",
            ],
            /// Requests have no `MCP-Protocol-Version`.
            VersionHeaderMissing = "version-header-missing" [
                "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
                "http/version-header-agrees", "http/version-header-sent", "lifecycle/version-header-negotiated",
                "lifecycle/version-header-sent", "sep-1034/user-wins", "sep-1330/choice-sent",
                "sep-1330/choices-sent-as-list", "sep-1613/schema-keyword-kept", "sep-2106/any-json-value",
                "sep-2106/any-output-root", "sep-2106/bounds-are-reasonable", "sep-2106/data-is-no-reference",
                "sep-2106/input-keywords-kept", "sep-2106/own-schema", "tools/absent-is-error-is-success",
                "tools/input-schema-kept", "tools/no-parameter-forms", "tools/output-schema-kept",
                "tools/structured-returned",
            ],
            /// `MCP-Protocol-Version` names an earlier version than the body, or than was agreed upon.
            VersionHeaderOutdated = "version-header-outdated" [
                "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
                "http/version-header-agrees", "lifecycle/version-header-negotiated",
                "sep-1034/user-wins", "sep-1330/choice-sent",
                "sep-1330/choices-sent-as-list", "sep-1613/schema-keyword-kept", "sep-2106/any-json-value",
                "sep-2106/any-output-root", "sep-2106/bounds-are-reasonable", "sep-2106/data-is-no-reference",
                "sep-2106/input-keywords-kept", "sep-2106/own-schema", "tools/absent-is-error-is-success",
                "tools/input-schema-kept", "tools/no-parameter-forms", "tools/output-schema-kept",
                "tools/structured-returned",
            ],
            /// The server's `MCP-Session-Id` doesn't come back.
            SessionHeaderMissing = "session-header-missing" [
                "base/result-handed-over", "elicitation/answer-as-entered", "elicitation/three-actions",
                "lifecycle/session-id-sent",
                "sep-1034/user-wins", "sep-1330/choice-sent", "sep-1330/choices-sent-as-list",
                "sep-1613/schema-keyword-kept", "sep-2106/data-is-no-reference", "tools/absent-is-error-is-success",
                "tools/input-schema-kept", "tools/no-parameter-forms", "tools/output-schema-kept",
                "tools/structured-returned",
            ],
            /// A reply is not read if its media type has parameters.
            MediaParametersRefused = "media-parameters-refused" [
                "http/both-answers-read", "http/header-names-any-case-by-clients",
            ],
            /// A marked argument is looked for by its name alone, and not along its path.
            ParameterPathIgnored = "parameter-path-ignored" ["tools/header-value-omitted", "tools/header-value-sent"],
            /// Arguments go into headers as they are, with all their lines.
            ParameterHeadersRaw = "parameter-headers-raw" [
                "http/sentinel-encoded", "tools/header-value-base64", "tools/header-value-encoded",
            ],
            /// Booleans are `True` and `False` in headers.
            ParameterBooleansCapitalized = "parameter-booleans-capitalized" ["tools/header-value-sent"],
            /// An argument that is null is repeated in its header.
            NullParameterSent = "null-parameter-sent" ["tools/header-value-omitted"],
            /// `notifications/initialized` goes out ahead of the handshake, too.
            InitializedTooEarly = "initialized-too-early" [
                "lifecycle/initialize-first", "lifecycle/session-id-sent", "lifecycle/version-header-negotiated",
                "lifecycle/version-header-sent",
            ],
            /// The handshake ends without `notifications/initialized`.
            InitializedMissing = "initialized-missing" ["lifecycle/initialized-sent"],
            /// Resources are listed that the server doesn't declare.
            UndeclaredResourcesListed = "undeclared-resources-listed" ["lifecycle/negotiated-capabilities-only"],
            /// A session begins with a ping whose id is null.
            PingWithNullId = "ping-with-null-id" ["base/id-not-null"],
            /// The client says its name, and not its version.
            ClientVersionLost = "client-version-lost" ["lifecycle/initialize-is-whole", "sep-2575/client-info-sent"],
            /// The mode `form` is declared by `true`.
            ModesAsBooleans = "modes-as-booleans" ["elicitation/one-mode-at-least"],
            /// A key in the `_meta` of requests has an empty label in its prefix.
            MetaPrefixSentMalformed = "meta-prefix-sent-malformed" ["base/meta-labels", "base/meta-prefix"],
            /// The name of a key in the `_meta` of requests begins with `_`.
            MetaNameSentMalformed = "meta-name-sent-malformed" ["base/meta-names"],
            /// The error for a question that can't be answered has no message.
            ErrorMessageLostByClient = "error-message-lost-by-client" ["base/error-has-code-and-message"],
            /// The error for a question that can't be answered has no id, and the call is given up.
            ErrorIdLostByClient = "error-id-lost-by-client" [
                "base/error-echoes-id", "elicitation/undeclared-mode-code",
            ],
            /// The code of the error for a question that can't be answered is a text.
            ErrorCodeAsTextByClient = "error-code-as-text-by-client" [
                "base/error-code-is-integer", "elicitation/undeclared-mode-code",
            ],
            /// Every answer within a call has the id of the first question.
            AnswerIdStaleByClient = "answer-id-stale-by-client" ["base/response-has-same-id"],
            /// The ids of requests are no integers.
            RequestIdAsFraction = "request-id-as-fraction" ["base/id-is-string-or-integer"],
            /// Answers go out as responses of their own, too, where the server makes no requests.
            AnswersSentAsResponses = "answers-sent-as-responses" [
                "http/no-responses-posted", "http/version-header-agrees", "http/version-header-sent",
                "sep-2322/inputs-before-retry", "sep-2322/no-state-invented", "sep-2322/state-echoed",
                "stdio/no-responses-written",
            ],
            /// Over stdio, line breaks in texts are written as they are.
            LineBreaksUnescaped = "line-breaks-unescaped" ["stdio/one-line-a-message", "stdio/stdin-is-for-messages"],
        }
        }
    };
}
