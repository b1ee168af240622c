//! The types of the requirement catalogue, and the table of the specification's revisions.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::RequirementId;

/// The rules by which a revision opens and keeps a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// The client sends `initialize`, there is a session, and the server can send requests to the client.
    Stateful,
    /// Each request carries everything in `_meta`; there is `server/discover`, and results can ask for input and be
    /// retried (multi round-trip requests).
    Stateless,
}

/// The properties of one revision. Code reads this table and never compares revisions by name.
#[derive(Debug)]
pub struct Facts {
    /// The name of the revision, as sent over the wire.
    pub name: &'static str,
    /// The lifecycle of a connection.
    pub lifecycle: Lifecycle,
    /// `true` if an elicitation has a `mode`, and the capability has the members `form` and `url`.
    pub elicitation_modes: bool,
    /// `true` if a schema without `$schema` has a dialect: 2020-12.
    pub names_dialect: bool,
    /// The types of its messages, as `.ci/types` writes them.
    pub types: &'static str,
}

/// All revisions that casebook supports, oldest first.
pub const REVISIONS: [Facts; 3] = [
    Facts {
        name: "2025-06-18",
        lifecycle: Lifecycle::Stateful,
        elicitation_modes: false,
        names_dialect: false,
        types: include_str!("types/2025-06-18.json"),
    },
    Facts {
        name: "2025-11-25",
        lifecycle: Lifecycle::Stateful,
        elicitation_modes: true,
        names_dialect: true,
        types: include_str!("types/2025-11-25.json"),
    },
    Facts {
        name: "2026-07-28",
        lifecycle: Lifecycle::Stateless,
        elicitation_modes: true,
        names_dialect: true,
        types: include_str!("types/2026-07-28.json"),
    },
];

/// A revision of the specification, ordered by age.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(u8);

impl Revision {
    /// Returns every revision, oldest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..REVISIONS.len()).map(|index| Self(u8::try_from(index).expect("a handful of revisions")))
    }

    /// Returns the newest revision.
    pub fn newest() -> Self {
        Self::all().next_back().expect("the table has rows")
    }

    /// Returns the revision's row of [`REVISIONS`].
    pub fn facts(self) -> &'static Facts {
        &REVISIONS[usize::from(self.0)]
    }

    /// Returns the name, as sent over the wire.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Returns the name without the century and the day, for the heads of tables: `25-11`.
    pub fn brief(self) -> &'static str {
        self.name().get(2..7).unwrap_or(self.name())
    }

    /// Returns the revision of an `initialize` result, for a server of these revisions: the requested one, or else the
    /// newest that begins with `initialize`. `None` if none of them does.
    pub fn agreed(offered: &[Self], requested: &str) -> Option<Self> {
        let stateful = || offered.iter().copied().filter(|one| one.facts().lifecycle == Lifecycle::Stateful);
        stateful().find(|one| one.name() == requested).or_else(|| stateful().max())
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
            format!("`{text}` is not a supported revision; expected one of {}", names.join(", "))
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

/// The word for the next revision, which is not released: `"since": "draft"`.
pub const DRAFT: &str = "draft";

/// A range of revisions that includes both ends. An end that is `None` is unbounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revisions {
    /// The oldest revision of the range.
    pub since: Option<Revision>,
    /// The newest revision of the range.
    pub until: Option<Revision>,
    /// `true` for what is only proposed. It is asked in the messages of the newest revision that a target speaks.
    pub is_draft: bool,
}

impl fmt::Display for Revisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.since, self.until) {
            _ if self.is_draft => f.write_str("in the draft"),
            (None, None) => f.write_str("on every revision"),
            (Some(since), None) => write!(f, "since {since}"),
            (None, Some(until)) => write!(f, "until {until}"),
            (Some(since), Some(until)) if since == until => write!(f, "on {since}"),
            (Some(since), Some(until)) => write!(f, "from {since} to {until}"),
        }
    }
}

impl Revisions {
    /// Returns whether the range contains the revision.
    pub fn contains(self, revision: Revision) -> bool {
        self.since.is_none_or(|since| since <= revision) && self.until.is_none_or(|until| revision <= until)
    }

    /// Returns the intersection of both ranges.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        let since = self.since.max(other.since);
        let until = match (self.until, other.until) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self { since, until, is_draft: self.is_draft || other.is_draft }
    }
}

/// Declares an enum whose variants each have one word, used by serde, the command line and the case reader alike.
macro_rules! words {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$inner])* #[serde(rename = $text)] $variant,)+ }

        impl $name {
            /// Every variant, in order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the word of the variant.
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
                    format!("`{text}` is not one of {}", words.join(", "))
                })
            }
        }
    };
}
pub(crate) use words;

words! {
    /// The transport that carries the messages.
    Transport {
        /// One message per line on standard input and standard output.
        Stdio = "stdio",
        /// Streamable HTTP.
        Http = "http",
    }
}

words! {
    /// The side of the protocol that is under test.
    Role {
        /// The target serves the fixture, and casebook sends the requests.
        Server = "server",
        /// casebook serves the fixture, and the target sends the requests.
        Client = "client",
        /// One target serves the fixture, another one sends the requests, and casebook passes the messages on.
        Pair = "pair",
    }
}

impl Role {
    /// The roles of a single target.
    pub const SINGLE: [Self; 2] = [Self::Server, Self::Client];

    /// Returns whether a target serves the fixture.
    pub fn has_server(self) -> bool {
        self != Self::Client
    }

    /// Returns whether a target sends the requests of the steps, as its user asks for them.
    pub fn has_client(self) -> bool {
        self != Self::Server
    }
}

words! {
    /// The level of a requirement, in the keywords of BCP 14.
    Level {
        /// A violation is a failure.
        Must = "MUST",
        /// A violation is a failure.
        MustNot = "MUST NOT",
        /// A violation is a warning.
        Should = "SHOULD",
        /// A violation is a warning.
        ShouldNot = "SHOULD NOT",
        /// The option is taken or not; neither is judged.
        May = "MAY",
        /// The source has no BCP 14 keyword: the requirement follows from a type or a plain statement, or users rely on
        /// it.
        Derived = "DERIVED",
    }
}

impl Level {
    /// Returns whether a violation is a failure.
    pub fn is_must(self) -> bool {
        matches!(self, Self::Must | Self::MustNot)
    }

    /// Returns whether the sentence is an order: a MUST or a SHOULD.
    pub fn is_binding(self) -> bool {
        !matches!(self, Self::May | Self::Derived)
    }
}

words! {
    /// The harm that a violation can do to a user. From the worst to none.
    Harm {
        /// An attacker can make the target fetch an address of the attacker's choice.
        Ssrf = "ssrf",
        /// A value is lost or changed.
        DataLoss = "data-loss",
        /// The target's process crashes.
        Crash = "crash",
        /// An attacker can exhaust the target's processor time or memory.
        Dos = "dos",
        /// The target accepts input that it should reject.
        SilentAcceptance = "silent-acceptance",
        /// Two implementations cannot work together.
        Interop = "interop",
        /// No known harm.
        None = "none",
    }
}

impl Harm {
    /// Returns whether the maintainers should know a violation before the public does.
    pub fn is_grave(self) -> bool {
        self <= Self::Dos
    }
}

/// Another statement of the same requirement, at another level or in other words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Also {
    /// The level of this statement.
    pub level: Level,
    /// The page and its anchor, relative to the specification's site.
    pub source: String,
    /// The words of the specification.
    pub quote: String,
    /// The condition under which the statement applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
}

/// One sentence of the specification that an implementation can violate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The id of the requirement.
    pub id: RequirementId,
    /// The level.
    pub level: Level,
    /// The roles that the requirement binds.
    pub roles: Vec<Role>,
    /// The revisions in which the requirement is in force.
    pub revisions: Revisions,
    /// The page and its anchor, relative to the specification's site.
    pub source: String,
    /// The words of the specification.
    pub quote: String,
    /// Other statements of the same requirement.
    pub also: Vec<Also>,
    /// The harm of a violation.
    pub harm: Harm,
    /// One sentence that explains why the requirement matters.
    pub why: String,
    /// The words for readers who see that the requirement does not hold: what happens instead.
    pub short: Option<String>,
    /// What to do where it does not hold, where that is the same in every implementation.
    pub fix: Option<String>,
    /// The reason why no test can observe the requirement, where none can.
    pub unobservable: Option<String>,
    /// For a requirement on pairs, the requirements that each side breaks if the pair fails because of this side.
    pub sides: Sides,
}

/// The requirements that the sides of a pair break.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// Those of the client.
    pub client: Vec<RequirementId>,
    /// Those of the server.
    pub server: Vec<RequirementId>,
    /// Those of the client about its answers to questions.
    pub answer: Vec<RequirementId>,
}

/// The words of a requirement and their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement<'r> {
    /// The page and its anchor, relative to the specification's site.
    pub source: &'r str,
    /// The words of the specification.
    pub quote: &'r str,
}

impl Statement<'_> {
    /// Returns a link to the quoted sentence on the specification's site.
    pub fn link(self) -> String {
        format!("https://modelcontextprotocol.io/{}", self.source)
    }

    /// States whether the sentence stands in the text of a revision.
    fn is_of(self, revision: Revision) -> bool {
        self.source.split('/').nth(1) == Some(revision.name())
    }
}

impl Also {
    /// The revisions for which the statement alone is the requirement: `until 2025-11-25`, `since 2026-07-28`.
    fn revisions(&self) -> Option<Revisions> {
        let (side, name) = self.when.as_deref()?.split_once(' ')?;
        let revision = Revision::all().find(|revision| revision.name() == name);
        match side {
            "until" => Some(Revisions { until: Some(revision?), ..Revisions::default() }),
            "since" => Some(Revisions { since: Some(revision?), ..Revisions::default() }),
            _ => None,
        }
    }

    fn statement(&self) -> Statement<'_> {
        Statement { source: &self.source, quote: &self.quote }
    }
}

impl Requirement {
    /// Returns the words that a revision has for the requirement, or else those of the newest one that has it.
    pub fn on(&self, revision: Revision) -> Statement<'_> {
        let main = Statement { source: &self.source, quote: &self.quote };
        if main.is_of(revision) {
            return main;
        }
        let of_range = |also: &&Also| also.revisions().is_some_and(|range| range.contains(revision));
        let of_page = |also: &&Also| also.when.is_none() && also.statement().is_of(revision);
        let also = self.also.iter().filter(of_range).min_by_key(|also| also.revisions().and_then(|range| range.until));
        also.or_else(|| self.also.iter().find(of_page)).map_or(main, Also::statement)
    }

    /// Returns a link to the quoted sentence on the specification's site.
    pub fn link(&self) -> String {
        Statement { source: &self.source, quote: &self.quote }.link()
    }
}

/// All requirements, by id.
pub type Catalogue = BTreeMap<RequirementId, Requirement>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_revision_has_its_own_words() {
        let also = |source: &str, when: Option<&str>| Also {
            level: Level::Must,
            source: source.to_owned(),
            quote: source.to_owned(),
            when: when.map(str::to_owned),
        };
        let mut requirement = Requirement {
            id: RequirementId::within("a", "b"),
            level: Level::Must,
            roles: vec![Role::Server],
            revisions: Revisions::default(),
            source: "specification/2026-07-28/page".to_owned(),
            quote: String::new(),
            also: vec![
                also("specification/2025-11-25/page", Some("until 2025-11-25")),
                also("specification/2025-06-18/page", Some("until 2025-06-18")),
            ],
            harm: Harm::None,
            why: String::new(),
            short: None,
            fix: None,
            unobservable: None,
            sides: Sides::default(),
        };
        for revision in Revision::all() {
            assert_eq!(requirement.on(revision).source, format!("specification/{revision}/page"));
        }
        requirement.also.remove(1);
        let oldest = Revision::all().next().expect("a revision");
        assert!(requirement.on(oldest).source.contains("2025-11-25"), "its words cover the older ones");
        // A condition that is no range says nothing about other tests.
        requirement.also = vec![also("specification/2025-06-18/page", Some("over stdio"))];
        assert!(requirement.on(oldest).source.contains("2026-07-28"));
        requirement.also = vec![also("specification/2025-06-18/page", None)];
        assert!(requirement.on(oldest).source.contains("2025-06-18"));
    }

    #[test]
    fn revision_range_includes_its_ends() {
        let all: Vec<_> = Revision::all().collect();
        let middle = Revisions { since: Some(all[1]), until: Some(all[1]), ..Revisions::default() };
        assert_eq!(all.iter().filter(|one| middle.contains(**one)).count(), 1);
        assert_eq!(middle.intersect(Revisions::default()), middle);
        let none = middle.intersect(Revisions { since: Some(all[2]), ..Revisions::default() });
        assert!(all.iter().all(|one| !none.contains(*one)));
    }
}
