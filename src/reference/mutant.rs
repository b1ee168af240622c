//! The mutants: each breaks one requirement on purpose, in the way that real servers break it.
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
}

impl Mutant {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        TABLE.iter().find(|(mutant, ..)| *mutant == self).map_or("", |(_, name, _)| *name)
    }

    /// The mutant of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|(_, known, _)| *known == name).map(|(mutant, ..)| *mutant)
    }
}

/// Every mutant's name, and what it does wrong.
pub fn mutants() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.iter().map(|(_, name, description)| (*name, *description))
}

const TABLE: &[(Mutant, &str, &str)] = &[
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_its_own_mutant() {
        for (index, (mutant, name, description)) in TABLE.iter().enumerate() {
            assert_eq!(Mutant::named(name), Some(*mutant));
            assert_eq!(TABLE.iter().filter(|(other, ..)| other == mutant).count(), 1, "{name} at {index}");
            assert!(description.ends_with('.'), "{name}");
        }
        assert_eq!(Mutant::named("none-of-them"), None);
    }
}
