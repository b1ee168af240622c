//! The catalogue of requirements, and the table of revisions as data.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::RequirementId;

/// How a connection lives: what a revision's rules of lifecycle come down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// `initialize`, a session, requests from the server to the client.
    Stateful,
    /// Everything in each request's `_meta`; `server/discover`; multi round-trip results.
    Stateless,
}

/// What the harness needs to know of a revision. Code asks this table; it never compares revisions.
#[derive(Debug)]
pub struct Facts {
    /// The revision's name, as it goes over the wire.
    pub name: &'static str,
    /// How a connection lives.
    pub lifecycle: Lifecycle,
    /// Whether an elicitation has a `mode`, and the capability its members `form` and `url`.
    pub elicitation_modes: bool,
}

/// All revisions that the harness speaks, oldest first.
pub const REVISIONS: [Facts; 3] = [
    Facts { name: "2025-06-18", lifecycle: Lifecycle::Stateful, elicitation_modes: false },
    Facts { name: "2025-11-25", lifecycle: Lifecycle::Stateful, elicitation_modes: true },
    Facts { name: "2026-07-28", lifecycle: Lifecycle::Stateless, elicitation_modes: true },
];

/// A revision of the specification; ordered by age.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(u8);

impl Revision {
    /// Every revision, oldest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..REVISIONS.len()).map(|index| Self(u8::try_from(index).expect("a handful of revisions")))
    }

    /// The newest revision.
    pub fn newest() -> Self {
        Self::all().next_back().expect("the table has rows")
    }

    /// What the table says of it.
    pub fn facts(self) -> &'static Facts {
        &REVISIONS[usize::from(self.0)]
    }

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        self.facts().name
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl AsRef<str> for Revision {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

impl FromStr for Revision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::all().find(|revision| revision.name() == text).ok_or_else(|| {
            let names: Vec<_> = Self::all().map(Self::name).collect();
            format!("`{text}` is no revision that the harness speaks; it speaks {}", names.join(", "))
        })
    }
}

impl Serialize for Revision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Revision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A range of revisions, both ends included; an open end has no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revisions {
    /// The first revision.
    pub since: Option<Revision>,
    /// The last revision.
    pub until: Option<Revision>,
}

impl fmt::Display for Revisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.since, self.until) {
            (None, None) => f.write_str("on every revision"),
            (Some(since), None) => write!(f, "since {since}"),
            (None, Some(until)) => write!(f, "until {until}"),
            (Some(since), Some(until)) if since == until => write!(f, "on {since}"),
            (Some(since), Some(until)) => write!(f, "from {since} to {until}"),
        }
    }
}

impl Revisions {
    /// Whether the range holds this revision.
    pub fn contains(self, revision: Revision) -> bool {
        self.since.is_none_or(|since| since <= revision) && self.until.is_none_or(|until| revision <= until)
    }

    /// What both ranges hold.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        let since = self.since.max(other.since);
        let until = match (self.until, other.until) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self { since, until }
    }
}

/// Declares a closed set of words with one text form, for serde, for the command line and for the case reader.
macro_rules! words {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$inner])* #[serde(rename = $text)] $variant,)+ }

        impl $name {
            /// Every word, in the order of the vocabulary.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.word()
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|one| one.word() == text).ok_or_else(|| {
                    let words: Vec<_> = Self::ALL.iter().map(|one| one.word()).collect();
                    format!("`{text}` is none of {}", words.join(", "))
                })
            }
        }
    };
}
pub(crate) use words;

words! {
    /// What carries the messages.
    Transport {
        /// One message a line over the process's standard input and output.
        Stdio = "stdio",
        /// Streamable HTTP.
        Http = "http",
    }
}

words! {
    /// Who is under test.
    Role {
        /// The target builds the fixture and the harness calls.
        Server = "server",
        /// The harness serves the fixture and the target calls.
        Client = "client",
    }
}

words! {
    /// How strongly a sentence binds, in the words of BCP 14.
    Level {
        /// Broken is a failure.
        Must = "MUST",
        /// Broken is a failure.
        MustNot = "MUST NOT",
        /// Broken is a warning.
        Should = "SHOULD",
        /// Broken is a warning.
        ShouldNot = "SHOULD NOT",
        /// Taken or not, never judged.
        May = "MAY",
        /// No such word in the source: it follows from a type or a flat statement, or users rely on it.
        Derived = "DERIVED",
    }
}

words! {
    /// What a violation can do to a user.
    Harm {
        /// The target can be made to fetch what it shouldn't.
        Ssrf = "ssrf",
        /// The target can be kept busy or filled up.
        Dos = "dos",
        /// The target dies.
        Crash = "crash",
        /// What should be refused goes through.
        SilentAcceptance = "silent-acceptance",
        /// A value is lost or changed.
        DataLoss = "data-loss",
        /// Two implementations misunderstand each other.
        Interop = "interop",
        /// None that is known.
        None = "none",
    }
}

/// The same sentence elsewhere, at another level or in other words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Also {
    /// How strongly it binds there.
    pub level: Level,
    /// The page and its anchor.
    pub source: String,
    /// Its words.
    pub quote: String,
    /// The condition under which it speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
}

/// A sentence that an implementation can break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Its name.
    pub id: RequirementId,
    /// How strongly it binds.
    pub level: Level,
    /// Whom it binds.
    pub roles: Vec<Role>,
    /// Where it is in force.
    pub revisions: Revisions,
    /// The page and its anchor, relative to the specification's site.
    pub source: String,
    /// Its words.
    pub quote: String,
    /// Where else it stands.
    pub also: Vec<Also>,
    /// What a violation can do.
    pub harm: Harm,
    /// One sentence for people: why it matters.
    pub why: String,
    /// Why no process shows it, for a sentence that can't be checked.
    pub unobservable: Option<String>,
}

impl Requirement {
    /// A link to the sentence on the specification's site.
    pub fn link(&self) -> String {
        format!("https://modelcontextprotocol.io/{}", self.source)
    }
}

/// Every requirement, by id.
pub type Catalogue = BTreeMap<RequirementId, Requirement>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_revisions_include_their_ends() {
        let all: Vec<_> = Revision::all().collect();
        let middle = Revisions { since: Some(all[1]), until: Some(all[1]) };
        assert_eq!(all.iter().filter(|one| middle.contains(**one)).count(), 1);
        assert_eq!(middle.intersect(Revisions::default()), middle);
        let none = middle.intersect(Revisions { since: Some(all[2]), until: None });
        assert!(all.iter().all(|one| !none.contains(*one)));
    }
}
