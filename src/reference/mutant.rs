//! The mutants: each breaks a few sentences on purpose, in the way that real servers and clients break them.
//!
//! Takes nothing, gives names and, for each, the sentences that it breaks: no more and no fewer, as `casebook prove`
//! checks. Must not know where a mutant is consulted; each is at one place only.

/// What is known of a mutant.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name.
    pub name: &'static str,
    /// The role in which it is wrong: `server` or `client`. In the other role it is the strict target.
    pub role: &'static str,
    /// What it does wrong.
    pub does: &'static str,
    /// The requirements that it breaks. None where it does only what the specification leaves open.
    pub breaks: &'static [&'static str],
    /// Of a mutant that refuses everything: the only requirements that it can be seen to keep.
    pub keeps: Option<&'static [&'static str]>,
}

macro_rules! mutants {
    ($($role:literal { $(#[doc = $does:literal] $mutant:ident = $name:literal [$($broken:literal),* $(,)?],)+ })+) => {
        /// One way to be wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Mutant { $($(#[doc = $does] $mutant,)+)+ }

        const ALL: &[(Mutant, About)] = &[$($((Mutant::$mutant, About {
            name: $name,
            role: $role,
            does: $does.trim_ascii_start(),
            breaks: &[$($broken),*],
            keeps: kept(Mutant::$mutant),
        }),)+)+];
    };
}

mutants! {
    "server" {
        /// Arguments reach the tool unchecked.
        InputNotValidated = "input-not-validated" [
            "sep-1303/input-error-channel-2025-06-18", "sep-1303/input-errors-are-tool-errors",
            "tools/inputs-validated", "tools/no-coercion",
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
        StateNotVerified = "state-not-verified" [],
        /// The user is asked although the client can't show a form.
        CapabilityNotChecked = "capability-not-checked" [
            "elicitation/missing-capability-error", "elicitation/missing-capability-status",
            "elicitation/only-declared-modes", "elicitation/only-negotiated-capabilities",
        ],
        /// Results have no `resultType`.
        ResultTypeLost = "result-type-lost" ["elicitation/answer-arrives", "elicitation/missing-responses-asked-again"],
        /// Lists have neither `ttlMs` nor `cacheScope`.
        CacheHintsLost = "cache-hints-lost" [],
        /// HTTP headers may say something else than the body.
        HeadersNotChecked = "headers-not-checked" [],
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
        /// A form needs a field.
        EmptyFormRefused = "empty-form-refused" ["elicitation/answer-arrives"],
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
        DeclineUnforeseen = "decline-unforeseen" ["elicitation/action-arrives", "elicitation/refusal-handled"],
        /// A client that answers with an error breaks the code that handles the call.
        ClientErrorUnforeseen = "client-error-unforeseen" ["elicitation/client-error-surfaces"],
        /// A client that declares `elicitation: {}` is not asked.
        EmptyCapabilityRefused = "empty-capability-refused" ["elicitation/empty-means-form"],
        /// A client that declares an unknown capability is refused.
        UnknownCapabilityRefused = "unknown-capability-refused" ["elicitation/capabilities-are-open"],
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
        FailureAsSuccess = "failure-as-success" ["elicitation/answers-validated", "sep-1303/failures-are-tool-errors"],
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
        OwnDialectUnknown = "own-dialect-unknown" ["sep-1613/explicit-2020-12"],
        /// `$schema` is left out of what is listed.
        DialectLost = "dialect-lost" ["sep-1613/schema-keyword-kept"],
        /// Root `allOf`, `anyOf` and `oneOf` are listed as empty lists.
        KeywordEmptied = "keyword-emptied" ["sep-2106/input-keywords-kept"],
        /// A choice has no options.
        EnumEmptied = "enum-emptied" ["sep-1330/untitled-single"],
        /// An input schema that is null, true or a list is listed as it is.
        NoObjectListed = "no-object-listed" ["tools/input-is-schema-object"],
        /// Only `$dynamicRef`s to other documents are fetched.
        DynamicRefFetched = "dynamic-ref-fetched" ["sep-2106/no-dynamic-deref"],
        /// An unknown dialect is fetched.
        DialectFetched = "dialect-fetched" ["sep-2106/dialect-not-fetched"],
        /// A schema's `$id` is fetched.
        IdFetched = "id-fetched" ["sep-2106/id-not-fetched", "sep-2106/no-dynamic-deref", "sep-2106/no-network-deref"],
        /// References to files are read.
        FileRead = "file-read" ["sep-2106/no-file-deref"],
        /// Schemas of more than 20 levels are refused.
        DepthOfTwenty = "depth-of-20" ["sep-2106/bounds-are-reasonable"],
        /// Checking a value may take for ever.
        ValueUnbounded = "value-unbounded" ["sep-2106/value-bounded"],
        /// Structured content and its schema may be anything, in every revision.
        RevisionIgnored = "revision-ignored" [
            "sep-2106/object-output-before-2026", "sep-2106/object-structured-before-2026",
        ],
        /// Texts that look like numbers or booleans are turned into them.
        ArgumentsCoerced = "arguments-coerced" ["tools/inputs-validated", "tools/no-coercion"],
        /// Arguments that no `properties` name are dropped.
        UnknownArgumentsDropped = "unknown-arguments-dropped" [
            "sep-1303/error-leaves-no-trace", "tools/arguments-unchanged", "tools/no-parameter-forms",
        ],
        /// Numbers pass through 64-bit floating point, so that large ones change.
        NumbersAsFloats = "numbers-as-floats" [],
        /// A call without `arguments` is refused.
        ArgumentsRequired = "arguments-required" ["tools/arguments-optional"],
        /// 1.0 is no integer.
        WholeNumberRefused = "whole-number-refused" ["tools/whole-number-is-integer"],
        /// `additionalProperties: false` is left out of what is listed.
        ClosedSchemaOpened = "closed-schema-opened" ["tools/no-parameter-forms"],
        /// The root of an input schema may be of any type.
        RootNotChecked = "root-not-checked" ["tools/input-root-is-object"],
        /// A tool with a schema that can't be read makes the list fail.
        BadToolBreaksList = "bad-tool-breaks-list" ["tools/sibling-survives"],
        /// The result of a tool that failed must fit the output schema.
        ErrorResultValidatedByServer = "error-result-validated-by-server" [],
        /// Output schemas are not listed.
        OutputSchemaLost = "output-schema-lost" ["sep-2106/any-output-root", "tools/output-schema-kept"],
        /// Structured content is left out.
        StructuredLost = "structured-lost" [
            "elicitation/answer-arrives", "sep-1303/error-leaves-no-trace", "sep-2106/any-json-value",
            "sep-2106/data-is-no-reference", "tools/arguments-unchanged", "tools/no-parameter-forms",
            "tools/structured-returned",
        ],
        /// Tools are found by their names in lower case.
        NamesFolded = "names-folded" ["tools/names-are-case-sensitive"],
        /// A tool's name may not have `.`.
        NamesWithoutDots = "names-without-dots" ["tools/structured-returned"],
        /// A tool's name may have 64 characters.
        NamesOfSixtyFour = "names-of-64" ["tools/structured-returned"],
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
        /// No server is ever built.
        RefusesEverything = "refuses-everything" [
            "elicitation/answer-arrives", "elicitation/message-present", "sep-1034/default-is-optional",
            "sep-1034/default-kept", "sep-1330/untitled-single", "sep-1613/default-dialect", "sep-2106/any-json-value",
            "sep-2106/data-is-no-reference", "tools/arguments-arrive", "tools/input-schema-kept",
            "tools/inputs-validated", "tools/no-parameter-forms", "tools/output-conforms", "tools/output-schema-kept",
            "tools/structured-returned", "tools/whole-number-is-integer",
        ],
        /// Every call takes a second.
        SleepsOneSecond = "sleeps-1s" [],
    }
    "client" {
        /// Structured content is handed to the user unchecked.
        OutputNotValidatedByClient = "output-not-validated-by-client" ["tools/results-validated"],
        /// A tool with an output schema may succeed without structured content.
        MissingStructuredAcceptedByClient = "missing-structured-accepted-by-client" ["tools/missing-result-noticed"],
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
            "sep-1613/invalid-schema-noticed", "sep-1613/schema-keyword-kept", "sep-1613/unsupported-dialect-is-error",
            "sep-2106/bounds-are-reasonable", "sep-2106/dangling-ref-rejected",
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
            "tools/bad-tool-stays-alone", "tools/input-schema-kept", "tools/output-schema-kept",
        ],
        /// The user gets schemas without `enumNames`.
        EnumNamesLostByClient = "enum-names-lost-by-client" [],
        /// Defaults are not filled in, as a client may do.
        DefaultsIgnored = "defaults-ignored" [],
        /// Defaults are sent although the user declined or cancelled.
        DefaultsOnDecline = "defaults-on-decline" [
            "elicitation/content-only-on-accept", "elicitation/three-actions", "sep-1034/refusal-carries-no-default",
            "sep-2322/refusal-is-sent",
        ],
        /// A default replaces what the user entered.
        DefaultsOverwriteUser = "defaults-overwrite-user" ["sep-1034/user-wins"],
        /// Defaults that are 0, false, "" or [] are not filled in.
        DefaultsFalsyLost = "defaults-falsy-lost" ["sep-1034/client-prefills"],
        /// Defaults are filled in after the answer was checked, whether they fit or not.
        DefaultsUnchecked = "defaults-unchecked" ["elicitation/client-validates"],
        /// What is filled in is the first option or an empty value, whatever the default says.
        DefaultWrongValue = "default-wrong-value" ["sep-1034/client-prefills"],
        /// Declining and cancelling carry an empty `content`.
        ContentWithDecline = "content-with-decline" [
            "elicitation/content-only-on-accept", "elicitation/three-actions", "sep-1034/refusal-carries-no-default",
            "sep-2322/refusal-is-sent",
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
            "base/error-code-is-integer", "elicitation/undeclared-mode-code", "elicitation/undeclared-mode-unanswered",
            "sep-2322/inputs-before-retry", "sep-2322/undeclared-input-unanswered",
        ],
        /// An elicitation without `mode` is refused.
        ModeRequired = "mode-required" [
            "base/error-code-is-integer", "base/response-has-same-id", "elicitation/answer-as-entered",
            "elicitation/no-mode-means-form", "elicitation/three-actions", "sep-1034/client-prefills",
            "sep-1034/user-wins", "sep-1330/choice-sent", "sep-1330/choices-sent-as-list",
            "sep-2322/inputs-before-retry", "sep-2322/no-state-invented", "sep-2322/state-echoed",
        ],
        /// A `requestState` that looks like JSON is parsed, and written anew.
        StateReencoded = "state-reencoded" ["sep-2322/state-echoed"],
        /// A retry carries no `requestState`.
        StateDropped = "state-dropped" [
            "elicitation/answer-as-entered", "elicitation/no-mode-means-form", "elicitation/three-actions",
            "sep-1330/choice-sent", "sep-1330/choices-sent-as-list", "sep-2322/inputs-before-retry",
            "sep-2322/state-echoed",
        ],
        /// A retry carries a `requestState` of null where the server gave none.
        StateInvented = "state-invented" ["sep-2322/no-state-invented", "sep-2322/type-decides"],
        /// A retry has the id of the request that it repeats.
        IdReusedOnRetry = "id-reused-on-retry" ["sep-2322/retry-has-new-id"],
        /// A second input-required result is handed to the user as the result.
        SecondRoundLost = "second-round-lost" ["sep-2322/refusal-is-sent", "sep-2322/rounds-repeat"],
        /// A result of an unknown `resultType` counts as complete.
        UnknownResultTypeAccepted = "unknown-result-type-accepted" ["base/unknown-result-type-is-invalid"],
        /// A result without `resultType` is an error.
        AbsentResultTypeRefused = "absent-result-type-refused" ["base/absent-result-type-is-complete"],
        /// A cursor that is an empty string counts as the end of the list.
        CursorEmptyIsEnd = "cursor-empty-is-end" ["tools/empty-cursor-is-no-end"],
        /// `Accept` names `application/json` alone.
        AcceptJsonOnly = "accept-json-only" [],
        /// Retries, and requests for further pages, carry no `_meta`.
        MetaMissing = "meta-missing" [
            "elicitation/answer-as-entered", "elicitation/no-mode-means-form", "elicitation/three-actions",
            "sep-1330/choice-sent", "sep-1330/choices-sent-as-list", "sep-2322/incomplete-is-no-result",
            "sep-2322/inputs-before-retry", "sep-2322/retry-has-new-id", "sep-2322/rounds-end", "sep-2322/state-echoed",
            "tools/cursors-are-opaque", "tools/empty-cursor-is-no-end", "tools/missing-cursor-is-end",
        ],
        /// A tool whose `x-mcp-header` is invalid stays in the list.
        InvalidHeaderToolKept = "invalid-header-tool-kept" ["tools/invalid-header-mark-excluded"],
        /// Arguments marked with `x-mcp-header` are not repeated in headers.
        ParameterHeadersMissing = "parameter-headers-missing" [],
        /// A tool's name that looks like an encoded one goes into its header as it is.
        NameHeaderNotEncoded = "name-header-not-encoded" ["tools/name-header-encoded"],
    }
}

/// Nobody is asked, and nothing is left out of a list, where no server is built.
const fn kept(mutant: Mutant) -> Option<&'static [&'static str]> {
    match mutant {
        Mutant::RefusesEverything => Some(&["elicitation/only-declared-modes", "tools/sibling-survives"]),
        _ => None,
    }
}

impl Mutant {
    /// The mutant of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        ALL.iter().find(|(_, about)| about.name == name).map(|(mutant, _)| *mutant)
    }

    fn about(self) -> &'static About {
        ALL.iter().find(|(mutant, _)| *mutant == self).map(|(_, about)| about).expect("every mutant is listed")
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        self.about().name
    }

    /// Whether it is a client that this mutant makes wrong.
    pub(super) fn is_client(self) -> bool {
        self.about().role == "client"
    }
}

/// Every mutant that can prove something; the one that is only slow can't.
pub fn mutants() -> impl Iterator<Item = &'static About> {
    ALL.iter().filter(|(mutant, _)| *mutant != Mutant::SleepsOneSecond).map(|(_, about)| about)
}

/// Whether there is such a mutant, proof or not.
pub fn is_mutant(name: &str) -> bool {
    Mutant::named(name).is_some()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::load::{Source, load};

    #[test]
    fn every_name_leads_to_its_own_mutant() {
        for (mutant, about) in ALL {
            assert_eq!(Mutant::named(about.name), Some(*mutant), "two mutants are named {}", about.name);
            assert!(about.does.ends_with('.') && !about.does.starts_with(' '), "{}", about.name);
        }
        assert_eq!(Mutant::named("none-of-them"), None);
    }

    #[test]
    fn every_mutant_breaks_requirements_that_bind_its_role() {
        let library = load(&[Source::Embedded]).expect("the embedded cases are sound");
        for about in mutants() {
            assert!(
                about.breaks.is_sorted() && about.breaks.iter().collect::<BTreeSet<_>>().len() == about.breaks.len()
            );
            for id in about.breaks {
                let one = library.requirements.values().find(|one| one.id.as_str() == *id);
                let one = one.unwrap_or_else(|| panic!("{} breaks {id}, which nobody wrote", about.name));
                assert!(one.roles.iter().any(|role| role.word() == about.role), "{id} binds no {}", about.role);
            }
            assert_eq!(about.breaks.is_empty(), UNSEEN.contains(&about.name), "{}", about.name);
        }
    }

    /// What a target may do (the first), or what no case looks for yet. The list should only get shorter.
    const UNSEEN: [&str; 9] = [
        "defaults-ignored",
        "state-not-verified",
        "cache-hints-lost",
        "headers-not-checked",
        "numbers-as-floats",
        "error-result-validated-by-server",
        "enum-names-lost-by-client",
        "accept-json-only",
        "parameter-headers-missing",
    ];
}
