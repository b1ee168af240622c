//! The flaws of listed tools that can be detected without knowing the tools.

use super::spec::words;

words! {
    /// A flaw of a listed tool that can be detected without knowing the tool.
    Flaw {
        /// Another tool of the list has the same name.
        ListedTwice = "listed-twice",
        /// `inputSchema` is not an object with `type: object`.
        NoObjectRoot = "no-object-root",
        /// `inputSchema` is invalid in its declared or default dialect.
        InvalidInputSchema = "invalid-input-schema",
        /// `outputSchema` is invalid in its declared or default dialect.
        InvalidOutputSchema = "invalid-output-schema",
        /// A schema declares a dialect that casebook does not know.
        UnknownDialect = "unknown-dialect",
        /// A reference points to another document.
        ExternalReference = "external-reference",
        /// A reference points to nothing within its document.
        DanglingReference = "dangling-reference",
        /// A reference was not checked, because parts of its document have ids of their own.
        UncheckedReference = "unchecked-reference",
        /// A mark `x-mcp-header` is no legal name, or its argument has no primitive type.
        IllegalHeaderMark = "illegal-header-mark",
        /// Two marks `x-mcp-header` of a schema have the same name.
        RepeatedHeaderMark = "repeated-header-mark",
        /// A mark `x-mcp-header` is at a place that is not reached through `properties` alone.
        UnreachableHeaderMark = "unreachable-header-mark",
        /// A schema cannot be read: a number out of range, or two equal keys.
        Unreadable = "unreadable",
        /// A schema has more than 64 levels, so casebook does not examine it.
        Deep = "deep",
        /// A schema is larger than 64 kB.
        Large = "large",
    }
}

impl Flaw {
    /// Returns whether a schema with this flaw may also have the flaw `other` without casebook detecting it.
    pub fn hides(self, other: Self) -> bool {
        use Flaw::{
            DanglingReference, ExternalReference, IllegalHeaderMark, InvalidInputSchema, InvalidOutputSchema,
            RepeatedHeaderMark, UncheckedReference, UnknownDialect, UnreachableHeaderMark,
        };
        let of_content = matches!(
            other,
            InvalidInputSchema
                | InvalidOutputSchema
                | UnknownDialect
                | ExternalReference
                | DanglingReference
                | UncheckedReference
                | IllegalHeaderMark
                | RepeatedHeaderMark
                | UnreachableHeaderMark
        );
        match self {
            Self::Deep | Self::Large | Self::Unreadable => of_content,
            Self::UnknownDialect => matches!(other, InvalidInputSchema | InvalidOutputSchema),
            Self::UncheckedReference => other == DanglingReference,
            _ => false,
        }
    }
}
