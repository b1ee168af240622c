//! The wrong servers: what each does, and the sentences that it breaks.
//!
//! Gives the table to the macro that is named, behind what that got before. Must not know where a mutant is consulted.

macro_rules! server_mutants {
    ($then:ident! $($before:tt)*) => {
        $then! { $($before)*
        "server" {
            /// Arguments reach the tool unchecked.
            InputNotValidated = "input-not-validated" [
                "sep-1303/input-error-channel-2025-06-18", "sep-1303/input-errors-are-tool-errors",
                "tools/inputs-validated",
            ],
            /// A schema that can't be compiled accepts everything.
            ValidationSkippedWhenUncompilable = "validation-skipped-when-uncompilable" [
                "sep-1613/schema-is-valid", "sep-1613/unsupported-dialect-is-error", "sep-2106/dangling-ref-rejected",
                "sep-2106/unresolved-dynamic-ref-rejected", "sep-2106/unresolved-ref-rejected",
            ],
            /// A root `anyOf` is neither advertised nor enforced.
            KeywordStripped = "keyword-stripped" ["sep-2106/input-keywords-kept", "tools/inputs-validated"],
            /// An output schema without `type` is advertised with `type: object`.
            RootTypeInjectedIntoOutput = "root-type-injected-into-output" ["sep-2106/any-output-root"],
            /// A list goes out as the member `result` of an object.
            ArrayWrappedInResult = "array-wrapped-in-result" ["sep-2106/any-json-value"],
            /// Structured content has no text beside it.
            TextNotMirrored = "text-not-mirrored" ["tools/text-mirrors-structured"],
            /// Structured content that is 0, false, "" or null is left out.
            FalsyStructuredDropped = "falsy-structured-dropped" ["sep-2106/any-json-value"],
            /// Structured content that is null counts as missing.
            NullTakenForAbsent = "null-taken-for-absent" ["sep-2106/any-json-value"],
            /// References to other documents are fetched when the server is built.
            RefFetched = "ref-fetched" ["sep-2106/no-network-deref"],
            /// Only a literal `http:` or `https:` is refused in references; what is relative to an `$id` is fetched.
            PrefixCheckOnRef = "prefix-check-on-ref" ["sep-2106/data-is-no-reference", "sep-2106/no-network-deref"],
            /// References to other documents accept everything.
            ExternalRefIgnored = "external-ref-ignored" [
                "sep-2106/data-is-no-reference", "sep-2106/unresolved-dynamic-ref-rejected",
                "sep-2106/unresolved-ref-rejected",
            ],
            /// Schemas have no bounds.
            DepthUnlimited = "depth-unlimited" ["sep-2106/bound-is-scoped", "sep-2106/bounds-applied"],
            /// Two schemas with one `$id` share the validator of the first.
            FirstIdWins = "first-id-wins" ["sep-2106/own-schema", "tools/inputs-validated"],
            /// `enumNames` is left out of the form.
            EnumNamesLost = "enum-names-lost" ["sep-1330/legacy-titled"],
            /// `default` is left out of the form.
            DefaultsLost = "defaults-lost" [
                "sep-1034/boolean-default-kept", "sep-1034/default-kept", "sep-1330/titled-single",
            ],
            /// A user's answer reaches the tool unchecked.
            AnswerNotValidated = "answer-not-validated" [
                "elicitation/answers-validated", "elicitation/responses-validated",
            ],
            /// Arguments that don't fit are a JSON-RPC error.
            InputErrorAsProtocolError = "input-error-as-protocol-error" ["sep-1303/input-errors-are-tool-errors"],
            /// An unknown tool is a result with `isError`.
            UnknownToolAsToolError = "unknown-tool-as-tool-error" [
                "tools/unknown-tool-code", "tools/unknown-tool-is-protocol-error",
            ],
            /// Structured content goes out unchecked.
            OutputNotValidated = "output-not-validated" ["tools/output-conforms", "tools/output-violation-channel"],
            /// A tool with an output schema may succeed without structured content.
            MissingStructuredAccepted = "missing-structured-accepted" ["tools/output-present"],
            /// Any `requestState` is taken.
            StateNotVerified = "state-not-verified" ["sep-2322/state-bound-to-request", "sep-2322/state-verified"],
            /// The user is asked although the client can't show a form.
            CapabilityNotChecked = "capability-not-checked" [
                "elicitation/missing-capability-error", "elicitation/missing-capability-status",
                "elicitation/only-declared-modes", "elicitation/only-negotiated-capabilities",
            ],
            /// Results have no `resultType`.
            ResultTypeLost = "result-type-lost" [
                "elicitation/answer-arrives", "elicitation/missing-responses-asked-again",
                "sep-2322/retry-stands-alone", "sep-2575/result-type",
            ],
            /// Lists have neither `ttlMs` nor `cacheScope`.
            CacheHintsLost = "cache-hints-lost" [
                "tools/cache-scope-of-all-pages", "tools/caching-hints-present", "tools/ttl-not-negative",
            ],
            /// HTTP headers may say something else than the body.
            HeadersNotChecked = "headers-not-checked" [
                "http/header-mismatch-error", "http/headers-match-body", "http/version-header-matches",
                "http/version-header-missing", "tools/header-value-characters", "tools/header-value-checked",
                "tools/header-value-mismatch",
            ],
            /// An invalid cursor gives the first page.
            CursorIgnored = "cursor-ignored" ["tools/invalid-cursor-code"],
            /// The user is asked without a message.
            MessageLost = "message-lost" ["elicitation/answer-arrives", "elicitation/message-present"],
            /// A form goes out as `schema`, not as `requestedSchema`.
            SchemaMisnamed = "schema-misnamed" [
                "elicitation/field-kept", "elicitation/requested-schema-present", "sep-1034/boolean-default-kept",
                "sep-1034/default-kept", "sep-1330/untitled-single",
            ],
            /// A form is asked for in the mode `dialog`.
            ModeMisnamed = "mode-misnamed" ["elicitation/form-mode"],
            /// Lengths, ranges, numbers of choices and formats are left out of the form.
            BoundsLost = "bounds-lost" ["elicitation/field-kept", "sep-1330/titled-multi", "sep-1330/untitled-multi"],
            /// Any schema is sent as a form.
            FormNotChecked = "form-not-checked" [
                "elicitation/form-is-flat", "sep-1034/default-has-the-type", "sep-1034/default-is-a-choice",
            ],
            /// The user is asked although the client has not said that it is initialized.
            AsksTooEarly = "asks-too-early" ["elicitation/not-before-initialized"],
            /// A form needs a field.
            EmptyFormRefused = "empty-form-refused" ["elicitation/form-may-be-empty"],
            /// A field without a default gets an empty one.
            DefaultInvented = "default-invented" ["sep-1034/default-is-optional"],
            /// Each default in a form is replaced by another one of its type.
            DefaultWrong = "default-wrong" [
                "sep-1034/boolean-default-kept", "sep-1034/default-kept", "sep-1330/titled-single",
            ],
            /// A field with a default has to be answered.
            DefaultsRequired = "defaults-required" ["sep-1034/optional-field-may-be-missing"],
            /// A tool gets the defaults of a form that was declined or cancelled.
            DefaultsOnDeclineByServer = "defaults-on-decline-by-server" ["sep-1034/decline-carries-no-default"],
            /// Titled options become a plain `enum`.
            TitlesLost = "titles-lost" ["sep-1330/titled-multi", "sep-1330/titled-single"],
            /// A choice becomes a field for any text.
            EnumTurnedIntoText = "enum-turned-into-text" ["sep-1330/untitled-single"],
            /// A multiple choice becomes a single one.
            MultiSelectMadeSingle = "multi-select-made-single" ["sep-1330/titled-multi", "sep-1330/untitled-multi"],
            /// Whatever the user does, the tool goes on as if the form were accepted.
            DeclineTakenForAccept = "decline-taken-for-accept" [
                "elicitation/action-arrives", "sep-1034/decline-carries-no-default",
            ],
            /// A user who declines or cancels breaks the code that handles the call.
            DeclineUnforeseen = "decline-unforeseen" [
                "elicitation/action-arrives", "elicitation/answer-arrives", "elicitation/refusal-handled",
                "elicitation/responses-validated", "sep-1034/decline-carries-no-default",
            ],
            /// A client that answers with an error breaks the code that handles the call.
            ClientErrorUnforeseen = "client-error-unforeseen" ["elicitation/client-error-surfaces"],
            /// A client that declares `elicitation: {}` is not asked.
            EmptyCapabilityRefused = "empty-capability-refused" [
                "elicitation/answer-arrives", "elicitation/empty-means-form",
            ],
            /// A client that declares an unknown capability is refused.
            UnknownCapabilityRefused = "unknown-capability-refused" [
                "elicitation/capabilities-are-open", "sep-2575/unknown-meta-is-ignored",
            ],
            /// What one request declares counts for all that follow.
            CapabilitiesRemembered = "capabilities-remembered" ["elicitation/nothing-inferred"],
            /// An answer that is none is a result with `isError`.
            MalformedResponsesAsToolError = "malformed-responses-as-tool-error" [
                "elicitation/malformed-responses-are-errors",
            ],
            /// Answers that nobody asked for are an error.
            ExtraResponsesRefused = "extra-responses-refused" [
                "elicitation/extra-responses-ignored", "elicitation/missing-responses-asked-again",
            ],
            /// A retry without the answer is an error.
            MissingResponsesRefused = "missing-responses-refused" ["elicitation/missing-responses-asked-again"],
            /// A tool that fails is a JSON-RPC error.
            FailureAsProtocolError = "failure-as-protocol-error" ["sep-1303/failures-are-tool-errors"],
            /// A tool that fails is a result without `isError`.
            FailureAsSuccess = "failure-as-success" [
                "elicitation/answers-validated", "sep-1303/failures-are-tool-errors",
            ],
            /// After one tool has failed, every call fails.
            FailureIsSticky = "failure-is-sticky" ["sep-1303/error-leaves-no-trace"],
            /// A schema that doesn't name its dialect is read as draft-07.
            DraftSevenAssumed = "draft-7-assumed" [
                "sep-1613/declared-dialect", "sep-1613/default-dialect", "sep-1613/schema-is-valid",
                "sep-2106/any-json-value", "tools/inputs-validated",
            ],
            /// Every schema is read as 2020-12, whatever it says.
            DialectIgnored = "dialect-ignored" ["sep-1613/unsupported-dialect-is-error"],
            /// A schema that names 2020-12 is refused.
            OwnDialectUnknown = "own-dialect-unknown" ["sep-1613/explicit-2020-12", "tools/arguments-arrive"],
            /// `$schema` is left out of what is listed.
            DialectLost = "dialect-lost" ["sep-1613/schema-keyword-kept"],
            /// Root `allOf`, `anyOf` and `oneOf` are listed as empty lists.
            KeywordEmptied = "keyword-emptied" ["sep-2106/input-keywords-kept"],
            /// A choice has no options.
            EnumEmptied = "enum-emptied" ["sep-1330/untitled-single"],
            /// A schema that is null, true or a list is listed as it is.
            NoObjectListed = "no-object-listed" ["tools/input-is-schema-object"],
            /// Only `$dynamicRef`s to other documents are fetched.
            DynamicRefFetched = "dynamic-ref-fetched" ["sep-2106/no-dynamic-deref"],
            /// An unknown dialect is fetched.
            DialectFetched = "dialect-fetched" ["sep-2106/dialect-not-fetched"],
            /// A schema's `$id` is fetched.
            IdFetched = "id-fetched" [
                "sep-2106/id-not-fetched", "sep-2106/no-dynamic-deref", "sep-2106/no-network-deref",
            ],
            /// References to files are read.
            FileRead = "file-read" ["sep-2106/no-file-deref"],
            /// Schemas of more than 12 levels are refused.
            DepthOfTwelve = "depth-of-12" ["sep-2106/bounds-are-reasonable"],
            /// Matching a long text by a pattern takes for ever.
            ValueUnbounded = "value-unbounded" ["sep-2106/bound-is-scoped", "sep-2106/value-bounded"],
            /// Structured content and its schema may be anything, in every revision.
            RevisionIgnored = "revision-ignored" [
                "sep-2106/object-output-before-2026", "sep-2106/object-structured-before-2026",
            ],
            /// Texts that look like numbers or booleans are turned into them.
            ArgumentsCoerced = "arguments-coerced" ["tools/inputs-validated", "tools/no-coercion"],
            /// Arguments that no `properties` name are dropped.
            UnknownArgumentsDropped = "unknown-arguments-dropped" [
                "sep-1303/error-leaves-no-trace", "stdio/one-message-a-line", "tools/arguments-unchanged",
                "tools/no-parameter-forms",
            ],
            /// Numbers pass through 64-bit floating point, so that large ones change.
            NumbersAsFloats = "numbers-as-floats" [],
            /// A call without `arguments` is refused.
            ArgumentsRequired = "arguments-required" ["tools/arguments-optional"],
            /// 1.0 is no integer.
            WholeNumberRefused = "whole-number-refused" ["tools/whole-number-is-integer"],
            /// `additionalProperties: false` is left out of what is listed.
            ClosedSchemaOpened = "closed-schema-opened" ["tools/input-schema-kept", "tools/no-parameter-forms"],
            /// The root of an input schema may be of any type.
            RootNotChecked = "root-not-checked" ["tools/input-root-is-object"],
            /// A tool with a schema that can't be read makes the list fail.
            BadToolBreaksList = "bad-tool-breaks-list" ["sep-2106/bounds-are-reasonable", "tools/sibling-survives"],
            /// The result of a tool that failed is a JSON-RPC error where it doesn't fit the output schema.
            ErrorResultValidatedByServer = "error-result-validated-by-server" ["tools/errors-need-no-output"],
            /// Output schemas are not listed.
            OutputSchemaLost = "output-schema-lost" ["sep-2106/any-output-root", "tools/output-schema-kept"],
            /// Structured content is left out.
            StructuredLost = "structured-lost" [
                "elicitation/answer-arrives", "sep-1303/error-leaves-no-trace", "sep-2106/any-json-value",
                "sep-2106/data-is-no-reference", "stdio/one-message-a-line", "tools/arguments-unchanged",
                "tools/no-parameter-forms", "tools/structured-returned",
            ],
            /// Tools are found by their names in lower case.
            NamesFolded = "names-folded" ["tools/names-are-case-sensitive"],
            /// A tool's name may not have `.`.
            NamesWithoutDots = "names-without-dots" ["tools/names-characters"],
            /// A tool's name may have 64 characters.
            NamesOfSixtyFour = "names-of-64" ["tools/names-length"],
            /// A call whose parameters are malformed is a result with `isError`.
            MalformedAsToolError = "malformed-as-tool-error" ["tools/malformed-is-protocol-error"],
            /// An unknown tool is an unknown method.
            UnknownToolCodeWrong = "unknown-tool-code-wrong" ["tools/unknown-tool-code"],
            /// An unknown method is an invalid request.
            UnknownMethodCodeWrong = "unknown-method-code-wrong" [
                "tools/unknown-method-code", "tools/unknown-method-over-http",
            ],
            /// An unknown method has the HTTP status 200.
            UnknownMethodFound = "unknown-method-found" ["tools/unknown-method-over-http"],
            /// The handshake and results don't say which server this is.
            ServerInfoLost = "server-info-lost" ["lifecycle/server-named", "sep-2575/server-info"],
            /// A handshake agrees on whatever the client names.
            AnyVersionAgreed = "any-version-agreed" ["lifecycle/no-handshake-into-2026", "lifecycle/other-version"],
            /// Who declares no capability is offered an earlier version than the one asked for.
            EarlierVersionOffered = "earlier-version-offered" ["lifecycle/same-version"],
            /// A server with tools doesn't declare them.
            ToolsUndeclared = "tools-undeclared" ["tools/capability-declared"],
            /// A ping is an unknown method.
            PingUnknown = "ping-unknown" ["lifecycle/ping"],
            /// `server/discover` is an unknown method.
            DiscoverMissing = "discover-missing" ["sep-2575/discover"],
            /// `server/discover` asks for another round.
            DiscoverAsks = "discover-asks" [
                "sep-2322/only-where-supported", "sep-2575/discover", "sep-2575/result-type",
                "tools/capability-declared",
            ],
            /// An `initialize` is an unknown method, and nothing more is said.
            InitializeUnexplained = "initialize-unexplained" ["sep-2575/initialize-names-versions"],
            /// A request needs neither a version nor capabilities.
            MetaNotRequired = "meta-not-required" ["sep-2575/required-meta", "sep-2575/required-meta-status"],
            /// A request without what each must carry has the HTTP status 200.
            MetaMissingFound = "meta-missing-found" ["sep-2575/required-meta-status"],
            /// A request must say who the client is.
            ClientInfoRequired = "client-info-required" ["sep-2575/client-info-is-optional", "tools/arguments-arrive"],
            /// An unknown key in `_meta` is an error.
            UnknownMetaRefused = "unknown-meta-refused" ["sep-2575/unknown-meta-is-ignored"],
            /// Any version is spoken.
            VersionNotChecked = "version-not-checked" [
                "sep-2575/unsupported-version", "sep-2575/unsupported-version-over-http",
            ],
            /// Results have a `resultType` in every revision.
            ResultTypeBefore2026 = "result-type-in-2025" ["sep-2575/no-result-type-before-2026"],
            /// Every second list is in another order.
            ListShuffled = "list-shuffled" ["tools/list-order"],
            /// Tools that ask the user are listed only for clients that can be asked.
            ListByCapability = "list-by-capability" ["tools/list-not-per-connection"],
            /// Once a call has failed, tools that fail are no longer listed.
            ListBySideEffect = "list-by-side-effect" ["tools/list-not-by-side-effect", "tools/list-order"],
            /// A list of no tools is an error.
            EmptyListRefused = "empty-list-refused" ["tools/list-answered"],
            /// `ttlMs` is -1.
            TtlNegative = "ttl-negative" ["tools/ttl-not-negative"],
            /// `cacheScope` is `shared`.
            CacheScopeUnknown = "cache-scope-unknown" ["tools/cache-scope-of-all-pages", "tools/caching-hints-present"],
            /// Two tools may have one name.
            NamesTwiceAccepted = "names-twice-accepted" ["tools/names-unique"],
            /// Several blocks of text are made one.
            BlocksMerged = "blocks-merged" ["tools/content-as-given"],
            /// The questions in a result say `elicitation/ask`.
            QuestionOfUnknownKind = "question-of-unknown-kind" [
                "elicitation/answer-arrives", "elicitation/message-present", "sep-1034/default-is-optional",
                "sep-1034/default-kept", "sep-1330/untitled-single", "sep-2322/kinds-of-requests",
                "sep-2322/retry-stands-alone",
            ],
            /// An input-required result has neither questions nor a state.
            QuestionEmpty = "question-empty" [
                "elicitation/answer-arrives", "elicitation/message-present", "sep-1034/default-is-optional",
                "sep-1034/default-kept", "sep-1330/untitled-single", "sep-2322/asks-or-gives-state",
                "sep-2322/retry-stands-alone", "sep-2575/result-type",
            ],
            /// An input-required result says how long it can be cached.
            QuestionsCached = "hints-on-questions" ["sep-2322/questions-are-not-cached"],
            /// Before the result of an accepted form, the client gets a request of its own.
            AsksInTheStream = "asks-in-the-stream" [
                "elicitation/answer-arrives", "sep-2322/no-requests-to-the-client", "sep-2322/retry-stands-alone",
            ],
            /// A state fits any call of the tool.
            StateUnbound = "unbound-state" ["sep-2322/state-bound-to-request"],
            /// A call with an amount gets a state that no retry fits.
            StateOfOtherArguments = "state-of-other-arguments" ["sep-2322/retry-stands-alone"],
            /// Any origin is served.
            OriginNotChecked = "origin-not-checked" ["http/bad-origin-status", "http/origin-checked"],
            /// A foreign origin gets the HTTP status 401.
            BadOriginUnauthorized = "bad-origin-unauthorized" ["http/bad-origin-status"],
            /// A notification is answered with a result.
            NotificationAnswered = "notification-answered" [
                "http/notification-taken", "messages/unknown-notifications-are-ignored",
            ],
            /// The answer to a question gets the HTTP status 200.
            AnswerReceived = "answer-taken-with-200" ["http/answer-taken"],
            /// A request that would take up a stream again is refused.
            LastEventRefused = "last-event-refused" ["http/last-event-ignored"],
            /// A stateless server gives out sessions.
            SessionMinted = "session-minted" ["http/session-ignored"],
            /// The name of a session has a space.
            SessionIdWithSpace = "session-id-with-space" ["http/session-id-characters"],
            /// A request without its session gets the HTTP status 403.
            SessionMissingForbidden = "session-missing-forbidden" ["http/missing-session-status"],
            /// An unknown session gets the HTTP status 400.
            SessionUnknownBad = "session-unknown-bad" ["http/unknown-session-status"],
            /// Within a session, the header may name any version.
            SessionVersionIgnored = "session-version-ignored" ["http/invalid-version-status"],
            /// The header may name another version than the body, or none.
            VersionHeaderIgnored = "version-header-ignored" [
                "http/version-header-matches", "http/version-header-missing",
            ],
            /// Headers that differ from the body are an invalid request.
            HeaderErrorUnnamed = "header-error-unnamed" [
                "http/header-mismatch-error", "http/version-header-matches", "tools/header-value-mismatch",
            ],
            /// A name that is encoded in its header is taken as it stands there.
            NameNotDecoded = "name-not-decoded" ["http/encoded-headers-decoded"],
            /// Arguments may differ from their headers.
            ParameterHeadersNotChecked = "parameter-headers-not-checked" [
                "tools/header-value-characters", "tools/header-value-checked", "tools/header-value-mismatch",
            ],
            /// Numbers are compared with their headers as texts.
            ParameterNotNumeric = "parameter-not-numeric" ["tools/header-integers-as-numbers"],
            /// An argument that is null must be repeated in its header.
            NullParameterExpected = "null-parameter-expected" ["tools/header-value-not-expected"],
            /// An id that is a number in quotes comes back without them.
            IdAsNumber = "id-as-number" ["messages/result-has-the-id"],
            /// The error for an unknown method has no id.
            ErrorIdLost = "error-id-lost" ["messages/error-has-the-id"],
            /// The error for an unknown method has no message.
            ErrorMessageLost = "error-without-message" ["messages/error-has-code-and-message"],
            /// The code for an unknown method is a text.
            ErrorCodeAsText = "error-code-as-text" [
                "messages/error-codes-are-integers", "tools/unknown-method-code", "tools/unknown-method-over-http",
            ],
            /// The code for a method of another feature is one that the specification keeps for itself.
            ReservedCode = "reserved-code" ["messages/reserved-codes"],
            /// The code for a method of another feature is that of a capability that the client lacks.
            DefinedCodeMisused = "defined-code-misused" [
                "base/reserved-codes-as-defined", "messages/reserved-codes",
            ],
            /// The code for a method of another feature is one that earlier revisions had for a missing resource.
            RetiredCode = "retired-code" ["base/retired-codes"],
            /// A key in the `_meta` of results has an empty label in its prefix.
            MetaPrefixMalformed = "meta-prefix-malformed" ["base/meta-labels", "base/meta-prefix"],
            /// The name of a key in the `_meta` of results begins with `_`.
            MetaNameMalformed = "meta-name-malformed" ["base/meta-names"],
            /// A client that can't show a form is told to visit an address.
            VisitRequired = "visit-required" ["elicitation/url-required-only"],
            /// What is no JSON is an invalid request.
            ParseErrorCodeWrong = "parse-error-code-wrong" ["messages/parse-error-code"],
            /// After a message that could not be read, every list and call is refused.
            GarbageIsFatal = "garbage-is-fatal" ["messages/garbage-is-survived", "sep-2106/bound-is-scoped"],
            /// Of a batch, the first message is answered.
            BatchAccepted = "batch-accepted" ["messages/no-batches"],
            /// Over stdio, each message is announced by a line of prose.
            StrayLine = "stray-line" ["stdio/nothing-but-messages"],
            /// Over stdio, each message is indented over many lines.
            PrettyPrinted = "pretty-printed" ["stdio/one-message-a-line", "tools/arguments-arrive"],
            /// No server is ever built.
            RefusesEverything = "refuses-everything" [
                "base/meta-labels", "base/meta-names", "base/meta-prefix", "elicitation/answer-arrives",
                "elicitation/message-present", "http/encoded-headers-decoded", "http/header-names-any-case",
                "http/last-event-ignored", "http/notification-taken", "http/reply-media-type", "http/session-ignored",
                "lifecycle/ping", "lifecycle/same-version", "lifecycle/server-named", "messages/result-has-the-id",
                "sep-1034/default-is-optional", "sep-1034/default-kept", "sep-1330/untitled-single",
                "sep-1613/default-dialect", "sep-2106/any-json-value", "sep-2106/data-is-no-reference",
                "sep-2322/asks-or-gives-state", "sep-2322/kinds-of-requests", "sep-2322/questions-are-not-cached",
                "sep-2322/retry-stands-alone", "sep-2575/client-info-is-optional", "sep-2575/discover",
                "sep-2575/no-result-type-before-2026", "sep-2575/result-type", "sep-2575/server-info",
                "stdio/one-message-a-line", "tools/arguments-arrive", "tools/capability-declared",
                "tools/content-as-given", "tools/input-schema-kept", "tools/inputs-validated", "tools/list-answered",
                "tools/no-parameter-forms", "tools/output-conforms", "tools/output-schema-kept",
                "tools/structured-returned", "tools/whole-number-is-integer",
            ],
            /// Every call takes a second.
            SleepsOneSecond = "sleeps-1s" [],
        }
        }
    };
}
