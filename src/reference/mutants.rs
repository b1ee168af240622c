//! The mutants: policies that break a few requirements on purpose, in the way that real servers and clients break them.
//!
//! Gives the names and, for each, the requirements that it breaks: no more and no fewer, as `casebook prove` checks.

mod deviations;
mod table;

use crate::policy::Policy;

/// A description of a mutant.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name.
    pub name: &'static str,
    /// The role in which it is wrong: `server` or `client`. In the other role it is the strict target.
    pub role: &'static str,
    /// The way in which it is wrong.
    pub does: &'static str,
    /// The requirements that it breaks. Empty where it does only what the specification leaves open.
    pub breaks: &'static [&'static str],
    /// For a mutant that refuses everything: the only requirements that it can be seen to keep.
    pub keeps: Option<&'static [&'static str]>,
}

/// A mutant.
struct Mutant {
    about: About,
    change: fn(&mut Policy),
}

/// The requirements that no mutant breaks, by the side that is checked, and why.
pub const UNBROKEN: [(&str, &str, &str); 2] = [
    ("client", "elicitation/odd-forms-survived", "its one case is heavy, and no proof takes what is heavy"),
    ("server", "sep-2106/output-schema-is-object", "only fixed servers are asked; tests/cli/fixed.rs breaks it"),
];

/// The mutant that is only slow, and proves nothing.
const SLOW: &str = "sleeps-1s";

/// Returns every mutant that can prove something.
pub fn mutants() -> impl Iterator<Item = &'static About> {
    table::ALL.iter().map(|mutant| &mutant.about).filter(|about| about.name != SLOW)
}

/// Returns whether there is a mutant of that name, whether it proves something or not.
pub fn is_mutant(name: &str) -> bool {
    named(name).is_some()
}

fn named(name: &str) -> Option<&'static Mutant> {
    table::ALL.iter().find(|mutant| mutant.about.name == name)
}

/// Where no server is built, nobody is asked, and nothing is left out of a list.
const fn kept(name: &str) -> Option<&'static [&'static str]> {
    match name.as_bytes() {
        b"refuses-everything" => Some(&["elicitation/only-declared-modes", "tools/sibling-survives"]),
        _ => None,
    }
}

/// A target: the policies of its two roles, of which a mutant changes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant {
    pub(crate) name: Option<&'static str>,
    pub(crate) server: &'static Policy,
    pub(crate) client: &'static Policy,
}

impl Variant {
    /// Makes the strict target, or the mutant of that name. `None` where there is no such mutant.
    pub(crate) fn named(name: Option<&str>) -> Option<Self> {
        static STRICT: Policy = Policy::STRICT;
        let strict = Self { name: None, server: &STRICT, client: &STRICT };
        let Some(name) = name else { return Some(strict) };
        let Mutant { about, change } = named(name)?;
        let mut policy = Policy::STRICT;
        change(&mut policy);
        // A process is one variant from its start to its end.
        let policy = &*Box::leak(Box::new(policy));
        let name = Some(about.name);
        Some(match about.role {
            "client" => Self { name, client: policy, ..strict },
            _ => Self { name, server: policy, ..strict },
        })
    }
}

/// The policy of a mutant in its own role; the strict one for an empty name.
#[cfg(test)]
pub(crate) fn policy(name: &str) -> &'static Policy {
    let variant = Variant::named((!name.is_empty()).then_some(name)).expect("a mutant");
    if named(name).is_some_and(|mutant| mutant.about.role == "client") { variant.client } else { variant.server }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_that_of_one_mutant() {
        for (index, mutant) in table::ALL.iter().enumerate() {
            let About { name, does, .. } = mutant.about;
            assert!(table::ALL[..index].iter().all(|other| other.about.name != name), "two mutants are named {name}");
            assert!(does.ends_with('.') && !does.starts_with(' '), "{name}");
        }
        assert!(!is_mutant("none-of-them"));
    }

    #[test]
    fn each_mutant_differs_from_the_strict_policy() {
        for mutant in table::ALL {
            let mut policy = Policy::STRICT;
            (mutant.change)(&mut policy);
            assert_ne!(format!("{policy:?}"), format!("{:?}", Policy::STRICT), "{}", mutant.about.name);
        }
    }
}
