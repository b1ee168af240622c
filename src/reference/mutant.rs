//! The mutants: each breaks a few sentences on purpose, in the way that real servers and clients break them.
//!
//! Takes nothing, gives names and, for each, the sentences that it breaks: no more and no fewer, as `casebook prove`
//! checks. Must not know where a mutant is consulted; each is at one place only.

#[macro_use]
mod client;
#[macro_use]
mod server;

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
        pub(crate) enum Mutant { $($(#[doc = $does] $mutant,)+)+ }

        const ALL: &[(Mutant, About)] = &[$($((Mutant::$mutant, About {
            name: $name,
            role: $role,
            does: $does.trim_ascii_start(),
            breaks: &[$($broken),*],
            keeps: kept(Mutant::$mutant),
        }),)+)+];
    };
}

// The servers, then the clients, then what is made of both.
server_mutants! { client_mutants! mutants! }

/// Nobody is asked, and nothing is left out of a list, where no server is built.
const fn kept(mutant: Mutant) -> Option<&'static [&'static str]> {
    match mutant {
        Mutant::RefusesEverything => Some(&["elicitation/only-declared-modes", "tools/sibling-survives"]),
        _ => None,
    }
}

impl Mutant {
    /// The mutant of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        ALL.iter().find(|(_, about)| about.name == name).map(|(mutant, _)| *mutant)
    }

    fn about(self) -> &'static About {
        ALL.iter().find(|(mutant, _)| *mutant == self).map(|(_, about)| about).expect("every mutant is listed")
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        self.about().name
    }

    /// What a client does to schemas as a server does it.
    pub(crate) fn of_schemas(self) -> Self {
        match self {
            Self::ClientFetchesRef => Self::RefFetched,
            Self::ClientFetchesDynamicRef => Self::DynamicRefFetched,
            Self::ClientFetchesDialect => Self::DialectFetched,
            Self::ClientFetchesId => Self::IdFetched,
            Self::ClientReadsFile => Self::FileRead,
            Self::ValidationSkippedByClient => Self::ValidationSkippedWhenUncompilable,
            Self::ExternalRefIgnoredByClient => Self::ExternalRefIgnored,
            Self::DialectIgnoredByClient => Self::DialectIgnored,
            Self::DraftSevenAssumedByClient => Self::DraftSevenAssumed,
            Self::OwnDialectUnknownToClient => Self::OwnDialectUnknown,
            Self::DepthUnlimitedInClient => Self::DepthUnlimited,
            Self::DepthOfTwelveInClient => Self::DepthOfTwelve,
            Self::ValueUnboundedInClient => Self::ValueUnbounded,
            other => other,
        }
    }

    /// Whether it is a client that this mutant makes wrong.
    pub(crate) fn is_client(self) -> bool {
        self.about().role == "client"
    }
}

/// Every mutant that can prove something; the one that is only slow can't.
pub fn mutants() -> impl Iterator<Item = &'static About> {
    ALL.iter().filter(|(mutant, _)| *mutant != Mutant::SleepsOneSecond).map(|(_, about)| about)
}

/// The requirements that no mutant breaks, by the side that is checked, and why.
pub const UNBROKEN: [(&str, &str, &str); 2] = [
    ("client", "elicitation/odd-forms-survived", "its one case is heavy, and no proof takes what is heavy"),
    ("server", "sep-2106/output-schema-is-object", "only fixed servers are asked; tests/cli/fixed.rs breaks it"),
];

/// Whether there is such a mutant, proof or not.
pub fn is_mutant(name: &str) -> bool {
    Mutant::named(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_its_own_mutant() {
        for (mutant, about) in ALL {
            assert_eq!(Mutant::named(about.name), Some(*mutant), "two mutants are named {}", about.name);
            assert!(about.does.ends_with('.') && !about.does.starts_with(' '), "{}", about.name);
        }
        assert_eq!(Mutant::named("none-of-them"), None);
    }
}
