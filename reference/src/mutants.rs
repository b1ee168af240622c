//! The mutants: policies that violate a few requirements on purpose, in the ways that real servers and clients do.
//!
//! The module provides the mutants' names and the requirements that each violates: exactly these, as `casebook prove`
//! checks.

mod client_deviations;
mod deviations;
mod table;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::edits::{Change, Hook};
use crate::message::present;
use crate::policy::Policy;

/// A description of a mutant.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The name.
    pub name: &'static str,
    /// The role in which the mutant deviates: `server` or `client`. In the other role it is the strict target.
    pub role: &'static str,
    /// A description of the deviation.
    pub does: &'static str,
    /// The violated requirements. Empty if the mutant only does what the specification permits.
    pub breaks: &'static [&'static str],
    /// For a mutant that refuses everything: the only requirements whose checks can still pass.
    pub keeps: Option<&'static [&'static str]>,
}

/// A mutant.
struct Mutant {
    about: About,
    change: fn(&mut Policy),
}

/// The requirements that no mutant violates, by role, with the reason.
pub const UNBROKEN: [(&str, &str, &str); 11] = [
    ("client", "elicitation/odd-forms-survived", "its one case is heavy, and no proof takes what is heavy"),
    ("server", "tools/header-marks-legal", "only fixed servers are asked; tests/cli/fixed.rs breaks it"),
    ("server", "tools/header-marks-unique", "only fixed servers are asked; tests/cli/fixed.rs breaks it"),
    ("server", "tools/header-marks-reachable", "only fixed servers are asked; tests/cli/fixed.rs breaks it"),
    ("server", "tools/names-characters", "only fixed servers are asked; tests/cli/fixed.rs breaks it"),
    ("server", "tools/names-length", "only fixed servers are asked; tests/cli/fixed.rs breaks it"),
    ("server", "tools/content-present", "only fixed servers are asked; tests/cli/called.rs breaks it"),
    ("server", "tools/content-blocks", "only fixed servers are asked; tests/cli/called.rs breaks it"),
    ("server", "sep-1330/older-enums-only", "only fixed servers are asked; tests/cli/called.rs breaks it"),
    ("server", "sep-2106/listed-references-resolve", "only fixed servers are asked; tests/cli/fixed.rs breaks it"),
    ("server", "sep-2106/output-schema-is-object", "only fixed servers are asked; tests/cli/fixed.rs breaks it"),
];

/// The name of the mutant that is only slow, and proves nothing.
const SLOW: &str = "sleeps-1s";

/// Returns every mutant that can prove a check.
pub fn mutants() -> impl Iterator<Item = &'static About> {
    table::ALL.iter().map(|mutant| &mutant.about).filter(|about| about.name != SLOW)
}

/// Returns whether there is a mutant with this name, including mutants that prove nothing.
pub fn is_mutant(name: &str) -> bool {
    named(name).is_some()
}

fn named(name: &str) -> Option<&'static Mutant> {
    table::ALL.iter().find(|mutant| mutant.about.name == name)
}

/// Returns the requirements whose checks pass even if no server is built: these only require that nobody is asked, or
/// that nothing is missing from a list.
const fn kept(name: &str) -> Option<&'static [&'static str]> {
    match name.as_bytes() {
        b"refuses-everything" => Some(&["elicitation/only-declared-modes", "tools/sibling-survives"]),
        _ => None,
    }
}

/// The policies of the target's two roles. A mutant changes one of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant {
    pub(crate) name: Option<&'static str>,
    pub(crate) server: &'static Policy,
    pub(crate) client: &'static Policy,
}

impl Variant {
    /// Returns the target with the changes of a mutant that is written as data.
    ///
    /// # Errors
    /// The mistake in the JSON text.
    pub(crate) fn changed(name: Option<&str>, text: &str) -> Result<Self, serde_json::Error> {
        let Changes { role, changes } = serde_json::from_str(text)?;
        let mut policy = Policy::STRICT;
        for change in changes {
            change.add_to(&mut policy, &role);
        }
        // A process has one variant for its whole lifetime.
        let policy = &*Box::leak(Box::new(policy));
        let strict = Self { name: name.map(leaked), ..Self::strict() };
        Ok(if role == "client" { Self { client: policy, ..strict } } else { Self { server: policy, ..strict } })
    }

    fn strict() -> Self {
        static STRICT: Policy = Policy::STRICT;
        Self { name: None, server: &STRICT, client: &STRICT }
    }

    /// Returns the strict target, or the mutant with this name; `None` if there is no such mutant.
    pub(crate) fn named(name: Option<&str>) -> Option<Self> {
        let strict = Self::strict();
        let Some(name) = name else { return Some(strict) };
        let Mutant { about, change } = named(name)?;
        let mut policy = Policy::STRICT;
        change(&mut policy);
        // A process has one variant for its whole lifetime.
        let policy = &*Box::leak(Box::new(policy));
        let name = Some(about.name);
        Some(match about.role {
            "client" => Self { name, client: policy, ..strict },
            _ => Self { name, server: policy, ..strict },
        })
    }
}

/// A mutant as data: its role, and the changes to the messages that it sends.
#[derive(Deserialize)]
struct Changes {
    role: String,
    changes: Vec<DataChange>,
}

/// A change to the replies to a method or, of a client, to its requests; or to a notification that is no request's reply.
#[derive(Deserialize)]
struct DataChange {
    r#in: String,
    /// The places in the request, and the values that must be there.
    #[serde(default)]
    r#if: Map<String, Value>,
    at: String,
    #[serde(default, deserialize_with = "present")]
    set: Option<Value>,
}

impl DataChange {
    fn add_to(self, policy: &mut Policy, role: &str) {
        let (hook, request) = match role {
            "client" => (Hook::Request, ""),
            _ if self.r#in.starts_with("notifications/") => (Hook::Notice, ""),
            _ => (Hook::Reply, "/request"),
        };
        let method = ("/method".to_owned(), Value::from(self.r#in));
        let conditions = [method].into_iter().chain(self.r#if);
        let when =
            conditions.map(|(place, value)| (leaked(&(request.to_owned() + &place)), leaked(&value.to_string())));
        let change = self.set.map_or(Change::Remove, |value| Change::Set(leaked(&value.to_string())));
        policy.edit_where(hook, when.collect(), leaked(&self.at), change);
    }
}

/// A text that lives as long as the process, as the policy of its one variant does.
fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// Returns the policy of a mutant in its own role, or the strict policy for an empty name.
#[cfg(test)]
pub(crate) fn policy(name: &str) -> &'static Policy {
    let variant = Variant::named((!name.is_empty()).then_some(name)).expect("a mutant");
    if named(name).is_some_and(|mutant| mutant.about.role == "client") { variant.client } else { variant.server }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_mutants_are_unique() {
        for (index, mutant) in table::ALL.iter().enumerate() {
            let About { name, does, .. } = mutant.about;
            assert!(table::ALL[..index].iter().all(|other| other.about.name != name), "two mutants are named {name}");
            assert!(does.ends_with('.') && !does.starts_with(' '), "{name}");
        }
        assert!(!is_mutant("none-of-them"));
    }

    #[test]
    fn mutant_as_data_changes_the_messages_of_its_role() {
        let change = r#"{"role":"ROLE","changes":[{"in":"a/b","at":"/params/x","set":null},{"in":"a/b","at":"/y","remove":true}]}"#;
        let variant = Variant::changed(Some("m"), &change.replace("ROLE", "client")).expect("changes");
        let mut message = serde_json::json!({ "method": "a/b", "params": { "x": 1 }, "y": 1 });
        let other = serde_json::json!({ "method": "a/c", "params": { "x": 1 } });
        variant.client.pass(Hook::Request, &mut message);
        assert_eq!(message, serde_json::json!({ "method": "a/b", "params": { "x": null } }));
        let mut kept = other.clone();
        variant.client.pass(Hook::Request, &mut kept);
        variant.server.pass(Hook::Request, &mut kept);
        assert_eq!((kept, variant.name), (other, Some("m")));
        assert!(Variant::changed(None, "{}").is_err());
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
