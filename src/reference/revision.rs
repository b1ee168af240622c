//! The revisions of the protocol that are spoken, and what each changes.
//!
//! Takes a name, gives answers to yes-or-no questions. Must not know messages or transports.

/// A revision, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Revision {
    June2025,
    November2025,
    July2026,
}

impl Revision {
    pub(crate) const ALL: [Self; 3] = [Self::June2025, Self::November2025, Self::July2026];

    /// The revision of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// The name on the wire.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::June2025 => "2025-06-18",
            Self::November2025 => "2025-11-25",
            Self::July2026 => "2026-07-28",
        }
    }

    /// Whether each request carries all that is needed, without a session.
    pub(crate) fn is_stateless(self) -> bool {
        self >= Self::July2026
    }

    /// Whether structured content and its schema may be anything but an object.
    pub(crate) fn has_any_output(self) -> bool {
        self >= Self::July2026
    }

    /// Whether an elicitation names its mode.
    pub(crate) fn has_modes(self) -> bool {
        self >= Self::November2025
    }

    /// Whether forms have titled and multiple choices, and defaults of every kind.
    pub(crate) fn has_rich_forms(self) -> bool {
        self >= Self::November2025
    }
}
