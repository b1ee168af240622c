//! The marks of calls of tools that casebook did not write: what their results are, and how they break their schemas.

use super::spec::words;

words! {
    /// A mark of the calls of one tool.
    CallMark {
        /// A call returned a result that is not an error.
        Result = "result",
        /// A call returned a result with `isError`.
        ToolError = "tool-error",
        /// A call returned a JSON-RPC error.
        ProtocolError = "protocol-error",
        /// The server refused arguments that the listed schema refuses.
        ArgumentsRefused = "arguments-refused",
        /// A call with arguments that the listed schema refuses returned a result that is not an error, with a text that
        /// reads like a refusal.
        MaybeRefused = "maybe-refused",
        /// The tool lists an output schema, and a call returned a result that is not an error.
        WithOutputSchema = "with-output-schema",
        /// A result that is not an error has structured content.
        Structured = "structured",
        /// A call with arguments that the listed schema refuses returned a result that is not an error.
        InvalidArgumentsAccepted = "invalid-arguments-accepted",
        /// A call without the member `arguments` returned a result that is not an error.
        WithoutArguments = "without-arguments",
        /// A call without the member `arguments` failed, and a later one with `{}` returned a result that is not an error.
        ArgumentsRequired = "arguments-required",
        /// No arguments were derived, because the listed inputSchema cannot be evaluated, or the list is too long.
        InputUnchecked = "input-unchecked",
        /// The tool was not called, because the calls of other tools took too much time or had too long responses.
        LeftOut = "left-out",
        /// The server refused an object of arguments by a JSON-RPC error, which the model does not see.
        RefusedByProtocolError = "refused-by-protocol-error",
        /// The server refused an object of arguments by a JSON-RPC error with another code than -32602.
        RefusedByOtherCode = "refused-by-other-code",
        /// A result that is not an error has no structured content, and the tool lists an output schema.
        OutputMissing = "output-missing",
        /// The structured content of a result violates the listed output schema.
        OutputInvalid = "output-invalid",
        /// The structured content was not validated, because the listed output schema cannot be evaluated.
        OutputUnchecked = "output-unchecked",
        /// No text block has the JSON of the structured content.
        TextMissing = "text-missing",
    }
}

impl CallMark {
    /// The marks that an expectation can exclude.
    pub const FLAWS: &'static [Self] = &[
        Self::InvalidArgumentsAccepted,
        Self::ArgumentsRequired,
        Self::RefusedByProtocolError,
        Self::RefusedByOtherCode,
        Self::OutputMissing,
        Self::OutputInvalid,
        Self::TextMissing,
    ];

    /// Returns whether calls with this mark show that those without the flaw `flaw` do not have it. Without any such
    /// call, the absence of the flaw shows nothing.
    pub fn is_about(self, flaw: Self) -> bool {
        match flaw {
            Self::RefusedByProtocolError | Self::RefusedByOtherCode => self == Self::ArgumentsRefused,
            Self::ArgumentsRequired => matches!(self, Self::ArgumentsRequired | Self::WithoutArguments),
            Self::OutputMissing => self == Self::WithOutputSchema,
            Self::OutputInvalid => matches!(self, Self::OutputInvalid | Self::OutputUnchecked | Self::Structured),
            Self::TextMissing => self == Self::Structured,
            _ => true,
        }
    }

    /// Returns whether this mark shows that a call was made that could have the flaw `flaw`, and does not hide it.
    pub fn is_decided(self, flaw: Self) -> bool {
        self.is_about(flaw) && !self.hides(flaw)
    }

    /// Returns whether a call with this mark may have the flaw `flaw` without casebook detecting it.
    pub fn hides(self, flaw: Self) -> bool {
        match flaw {
            Self::OutputInvalid => self == Self::OutputUnchecked,
            Self::InvalidArgumentsAccepted => {
                matches!(self, Self::MaybeRefused | Self::InputUnchecked | Self::LeftOut)
            }
            _ => false,
        }
    }

    /// Returns the flaw as a sentence about the tool.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::InvalidArgumentsAccepted => "accepts arguments that its listed inputSchema refuses",
            Self::ArgumentsRequired => "refuses a call without `arguments`, and takes one with `{}`",
            Self::RefusedByProtocolError => "refuses arguments by a protocol error, which the model does not see",
            Self::RefusedByOtherCode => "refuses arguments by an error with another code than -32602",
            Self::OutputMissing => "lists an outputSchema, and returns no structuredContent",
            Self::OutputInvalid => "returns structuredContent that its listed outputSchema refuses",
            Self::TextMissing => "returns structuredContent without a text block that has its JSON",
            other => other.word(),
        }
    }
}
