//! The mutants: each breaks one requirement on purpose, in the way that real servers and clients break it.
//!
//! Takes nothing, gives the names. Must not know where a mutant is consulted; each is at one place only.

/// One way to be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mutant {
    InputNotValidated,
    ValidationSkippedWhenUncompilable,
    KeywordStripped,
    RootTypeInjectedIntoOutput,
    ArrayWrappedInResult,
    TextNotMirrored,
    FalsyStructuredDropped,
    NullTakenForAbsent,
    RefFetched,
    PrefixCheckOnRef,
    ExternalRefIgnored,
    DepthUnlimited,
    FirstIdWins,
    EnumNamesLost,
    DefaultsLost,
    AnswerNotValidated,
    InputErrorAsProtocolError,
    UnknownToolAsToolError,
    OutputNotValidated,
    MissingStructuredAccepted,
    StateNotVerified,
    CapabilityNotChecked,
    ResultTypeLost,
    CacheHintsLost,
    HeadersNotChecked,
    CursorIgnored,
    RefusesEverything,
    SleepsOneSecond,
    OutputNotValidatedByClient,
    MissingStructuredAcceptedByClient,
    ValidationSkippedByClient,
    ClientFetchesRef,
    OneBadToolLosesAll,
    FalsyStructuredTakenForMissing,
    ErrorResultValidated,
    SchemaKeywordsDroppedByClient,
    EnumNamesLostByClient,
    DefaultsIgnored,
    DefaultsOnDecline,
    DefaultsOverwriteUser,
    DefaultsFalsyLost,
    DefaultsUnchecked,
    DefaultWrongValue,
    ContentWithDecline,
    InvalidAnswerSent,
    MultiSelectFlattened,
    UndeclaredModeAnswered,
    ModeRequired,
    StateReencoded,
    StateDropped,
    StateInvented,
    IdReusedOnRetry,
    SecondRoundLost,
    UnknownResultTypeAccepted,
    AbsentResultTypeRefused,
    CursorEmptyIsEnd,
    AcceptJsonOnly,
    MetaMissing,
    InvalidHeaderToolKept,
    ParameterHeadersMissing,
    NameHeaderNotEncoded,
}

/// What is known of a mutant.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name.
    pub name: &'static str,
    /// The role in which it is wrong: `server` or `client`. In the other role it is the strict target.
    pub role: &'static str,
    /// What it does wrong.
    pub breaks: &'static str,
}

impl Mutant {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        SERVERS.iter().chain(CLIENTS).find(|(mutant, ..)| *mutant == self).map_or("", |(_, name, _)| *name)
    }

    /// The mutant of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        SERVERS.iter().chain(CLIENTS).find(|(_, known, _)| *known == name).map(|(mutant, ..)| *mutant)
    }

    /// Whether it is a client that this mutant makes wrong.
    pub(super) fn is_client(self) -> bool {
        CLIENTS.iter().any(|(mutant, ..)| *mutant == self)
    }
}

/// Every mutant.
pub fn mutants() -> impl Iterator<Item = About> {
    let about = |role| move |(_, name, breaks): &(Mutant, &'static str, &'static str)| About { name, role, breaks };
    SERVERS.iter().map(about("server")).chain(CLIENTS.iter().map(about("client")))
}

const SERVERS: &[(Mutant, &str, &str)] = &[
    (Mutant::InputNotValidated, "input-not-validated", "Arguments reach the tool unchecked."),
    (
        Mutant::ValidationSkippedWhenUncompilable,
        "validation-skipped-when-uncompilable",
        "A schema that can't be compiled accepts everything.",
    ),
    (Mutant::KeywordStripped, "keyword-stripped", "A root `anyOf` is neither advertised nor enforced."),
    (
        Mutant::RootTypeInjectedIntoOutput,
        "root-type-injected-into-output",
        "An output schema without `type` is advertised with `type: object`.",
    ),
    (Mutant::ArrayWrappedInResult, "array-wrapped-in-result", "A list goes out as the member `result` of an object."),
    (Mutant::TextNotMirrored, "text-not-mirrored", "Structured content has no text beside it."),
    (
        Mutant::FalsyStructuredDropped,
        "falsy-structured-dropped",
        "Structured content that is 0, false, \"\" or null is left out.",
    ),
    (Mutant::NullTakenForAbsent, "null-taken-for-absent", "Structured content that is null counts as missing."),
    (Mutant::RefFetched, "ref-fetched", "References to other documents are fetched when the server is built."),
    (
        Mutant::PrefixCheckOnRef,
        "prefix-check-on-ref",
        "Only a literal `http:` or `https:` is refused in references; what is relative to an `$id` is fetched.",
    ),
    (Mutant::ExternalRefIgnored, "external-ref-ignored", "References to other documents accept everything."),
    (Mutant::DepthUnlimited, "depth-unlimited", "Schemas have no bounds."),
    (Mutant::FirstIdWins, "first-id-wins", "Two schemas with one `$id` share the validator of the first."),
    (Mutant::EnumNamesLost, "enum-names-lost", "`enumNames` is left out of the form."),
    (Mutant::DefaultsLost, "defaults-lost", "`default` is left out of the form."),
    (Mutant::AnswerNotValidated, "answer-not-validated", "A user's answer reaches the tool unchecked."),
    (
        Mutant::InputErrorAsProtocolError,
        "input-error-as-protocol-error",
        "Arguments that don't fit are a JSON-RPC error.",
    ),
    (Mutant::UnknownToolAsToolError, "unknown-tool-as-tool-error", "An unknown tool is a result with `isError`."),
    (Mutant::OutputNotValidated, "output-not-validated", "Structured content goes out unchecked."),
    (
        Mutant::MissingStructuredAccepted,
        "missing-structured-accepted",
        "A tool with an output schema may succeed without structured content.",
    ),
    (Mutant::StateNotVerified, "state-not-verified", "Any `requestState` is taken."),
    (
        Mutant::CapabilityNotChecked,
        "capability-not-checked",
        "The user is asked although the client can't show a form.",
    ),
    (Mutant::ResultTypeLost, "result-type-lost", "Results have no `resultType`."),
    (Mutant::CacheHintsLost, "cache-hints-lost", "Lists have neither `ttlMs` nor `cacheScope`."),
    (Mutant::HeadersNotChecked, "headers-not-checked", "HTTP headers may say something else than the body."),
    (Mutant::CursorIgnored, "cursor-ignored", "An invalid cursor gives the first page."),
    (Mutant::RefusesEverything, "refuses-everything", "No server is ever built."),
    (Mutant::SleepsOneSecond, "sleeps-1s", "Every call takes a second."),
];

const CLIENTS: &[(Mutant, &str, &str)] = &[
    (
        Mutant::OutputNotValidatedByClient,
        "output-not-validated-by-client",
        "Structured content is handed to the user unchecked.",
    ),
    (
        Mutant::MissingStructuredAcceptedByClient,
        "missing-structured-accepted-by-client",
        "A tool with an output schema may succeed without structured content.",
    ),
    (
        Mutant::ValidationSkippedByClient,
        "validation-skipped-by-client",
        "Results of a tool whose schema can't be compiled are taken unchecked.",
    ),
    (
        Mutant::ClientFetchesRef,
        "client-fetches-ref",
        "References to other documents are fetched when a schema is compiled.",
    ),
    (
        Mutant::OneBadToolLosesAll,
        "one-bad-tool-loses-all",
        "One tool whose schema can't be compiled makes the whole list fail.",
    ),
    (
        Mutant::FalsyStructuredTakenForMissing,
        "falsy-structured-taken-for-missing",
        "Structured content that is 0, false, \"\" or null counts as missing.",
    ),
    (
        Mutant::ErrorResultValidated,
        "error-result-validated",
        "The result of a tool that failed must fit the output schema.",
    ),
    (
        Mutant::SchemaKeywordsDroppedByClient,
        "schema-keywords-dropped-by-client",
        "The user gets schemas without `anyOf`, `oneOf`, `allOf`, `not`, `if` and `$defs`.",
    ),
    (Mutant::EnumNamesLostByClient, "enum-names-lost-by-client", "The user gets schemas without `enumNames`."),
    (Mutant::DefaultsIgnored, "defaults-ignored", "Defaults are not filled in, as a client may do."),
    (Mutant::DefaultsOnDecline, "defaults-on-decline", "Defaults are sent although the user declined or cancelled."),
    (Mutant::DefaultsOverwriteUser, "defaults-overwrite-user", "A default replaces what the user entered."),
    (Mutant::DefaultsFalsyLost, "defaults-falsy-lost", "Defaults that are 0, false, \"\" or [] are not filled in."),
    (
        Mutant::DefaultsUnchecked,
        "defaults-unchecked",
        "Defaults are filled in after the answer was checked, whether they fit or not.",
    ),
    (
        Mutant::DefaultWrongValue,
        "default-wrong-value",
        "What is filled in is the first option or an empty value, whatever the default says.",
    ),
    (Mutant::ContentWithDecline, "content-with-decline", "Declining and cancelling carry an empty `content`."),
    (Mutant::InvalidAnswerSent, "invalid-answer-sent", "What the user entered is sent unchecked."),
    (Mutant::MultiSelectFlattened, "multi-select-flattened", "Several choices are sent as one text."),
    (
        Mutant::UndeclaredModeAnswered,
        "undeclared-mode-answered",
        "An elicitation is answered although its mode was not declared, or is unknown.",
    ),
    (Mutant::ModeRequired, "mode-required", "An elicitation without `mode` is refused."),
    (Mutant::StateReencoded, "state-reencoded", "A `requestState` that looks like JSON is parsed, and written anew."),
    (Mutant::StateDropped, "state-dropped", "A retry carries no `requestState`."),
    (Mutant::StateInvented, "state-invented", "A retry carries a `requestState` of null where the server gave none."),
    (Mutant::IdReusedOnRetry, "id-reused-on-retry", "A retry has the id of the request that it repeats."),
    (
        Mutant::SecondRoundLost,
        "second-round-lost",
        "A second input-required result is handed to the user as the result.",
    ),
    (
        Mutant::UnknownResultTypeAccepted,
        "unknown-result-type-accepted",
        "A result of an unknown `resultType` counts as complete.",
    ),
    (Mutant::AbsentResultTypeRefused, "absent-result-type-refused", "A result without `resultType` is an error."),
    (
        Mutant::CursorEmptyIsEnd,
        "cursor-empty-is-end",
        "A cursor that is an empty string counts as the end of the list.",
    ),
    (Mutant::AcceptJsonOnly, "accept-json-only", "`Accept` names `application/json` alone."),
    (Mutant::MetaMissing, "meta-missing", "Retries, and requests for further pages, carry no `_meta`."),
    (
        Mutant::InvalidHeaderToolKept,
        "invalid-header-tool-kept",
        "A tool whose `x-mcp-header` is invalid stays in the list.",
    ),
    (
        Mutant::ParameterHeadersMissing,
        "parameter-headers-missing",
        "Arguments marked with `x-mcp-header` are not repeated in headers.",
    ),
    (
        Mutant::NameHeaderNotEncoded,
        "name-header-not-encoded",
        "A tool's name that looks like an encoded one goes into its header as it is.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_its_own_mutant() {
        let known: Vec<_> = mutants().collect();
        for about in &known {
            let mutant = Mutant::named(about.name).expect("a known name");
            assert_eq!(mutant.is_client(), about.role == "client", "{}", about.name);
            assert_eq!(
                known.iter().filter(|other| Mutant::named(other.name) == Some(mutant)).count(),
                1,
                "{}",
                about.name
            );
            assert!(about.breaks.ends_with('.'), "{}", about.name);
        }
        assert_eq!(Mutant::named("none-of-them"), None);
    }
}
