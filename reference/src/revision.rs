//! The supported revisions of the protocol, and the differences between them.
//!
//! The module takes a name, and answers questions about the revision. It must not know messages or transports.

/// A revision, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Revision {
    June2025,
    November2025,
    July2026,
}

impl Revision {
    pub(crate) const ALL: [Self; 3] = [Self::June2025, Self::November2025, Self::July2026];

    /// Returns the revision with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// Returns the name on the wire.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::June2025 => "2025-06-18",
            Self::November2025 => "2025-11-25",
            Self::July2026 => "2026-07-28",
        }
    }

    /// Returns whether each request carries everything that is needed, without a session.
    pub(crate) fn is_stateless(self) -> bool {
        self >= Self::July2026
    }

    /// Returns whether structured content and its schema may be something other than an object.
    pub(crate) fn has_any_output(self) -> bool {
        self >= Self::July2026
    }

    /// Returns whether an elicitation has a mode.
    pub(crate) fn has_modes(self) -> bool {
        self >= Self::November2025
    }

    /// Returns whether forms have titled and multiple choices, and defaults of every type.
    pub(crate) fn has_rich_forms(self) -> bool {
        self >= Self::November2025
    }
}
