//! The features that a case can require of a target.
//!
//! Words of case files and of `target.toml`. Must not know which target has a feature.

use super::spec::words;

words! {
    /// A feature that a case can require of a target.
    Need {
        /// Elicitation in form mode.
        ElicitationForm = "elicitation.form",
        /// Tools at all, of a server.
        Tools = "tools",
        /// Tools with an output schema.
        ToolsOutputSchema = "tools.outputSchema",
        /// A client that speaks older and newer revisions, and determines which of them a server speaks.
        VersionsNegotiation = "versions.negotiation",
        /// A server that speaks older revisions beside its own.
        VersionsOlder = "versions.older",
        /// Notifications that the list of tools has changed.
        ToolsListChanged = "tools.listChanged",
        /// A server whose SDK decides whether a client asked for progress, and not the author of a tool.
        ProgressUnasked = "progress.unasked",
        /// Tools as the code of the language, of which the SDK derives the schemas.
        Typed = "typed",
    }
}
