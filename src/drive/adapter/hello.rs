//! What an adapter says of itself: the SDK, what it supports, and the parts of the protocol that it knows.
//!
//! Takes the JSON of an adapter, gives a [`Hello`]. Must not know processes.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::model::case::Test;
use crate::model::feature::{Feature, features};
use crate::model::spec::Role;
use crate::model::target::{Claims, Package};

/// The number of dependencies of an SDK that are kept.
const MAX_DEPENDENCIES: usize = 8;

/// The adapter's description of itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Hello {
    /// The name of the SDK's package.
    pub sdk: String,
    /// The version of the package.
    pub version: String,
    /// The programming language.
    pub language: String,
    /// The public API that the adapter uses.
    pub api: String,
    /// The roles that the adapter supports.
    pub roles: Vec<String>,
    /// The transports that the adapter supports.
    pub transports: Vec<String>,
    /// The protocol revisions that the SDK supports.
    pub revisions: Vec<String>,
    /// The API tiers and engines that the adapter offers.
    pub variants: Vec<String>,
    /// The versions of the packages that write schemas and validate for the SDK.
    pub dependencies: BTreeMap<String, String>,
    /// The parts of the protocol beyond its first version that the adapter knows: words of [`Feature`].
    pub knows: Vec<String>,
    /// Set if the adapter serves over stdio by streams on loopback.
    pub streams: bool,
}

impl Hello {
    /// The package that the hello names.
    pub(crate) fn package(&self, is_dev: bool) -> Package {
        let dependencies = self.dependencies.clone().into_iter().take(MAX_DEPENDENCIES).collect();
        Package { name: self.sdk.clone(), version: self.version.clone(), is_dev, dependencies }
    }

    /// Returns whether the adapter knows a part of the protocol.
    pub(crate) fn has(&self, feature: Feature) -> bool {
        self.knows.iter().any(|known| known == feature.word())
    }

    /// Returns why the adapter cannot run a test in a role: it would overlook a part of it.
    pub(crate) fn overlooks(&self, test: &Test, role: Role) -> Option<String> {
        let unknown = features(test, role).into_iter().find(|feature| !self.has(*feature))?;
        Some(format!("the adapter does not know `{unknown}`: its hello does not have the word in `knows`"))
    }

    /// Returns the claims without the roles, transports and revisions that the hello does not have.
    pub(crate) fn confirmed(&self, claims: &Claims) -> Claims {
        let has = |all: &[String], word: &str| all.iter().any(|one| one == word);
        let mut claims = claims.clone();
        claims.roles.retain(|role| has(&self.roles, role.word()));
        claims.transports.retain(|transport| has(&self.transports, transport.word()));
        claims.revisions.retain(|revision| has(&self.revisions, revision.name()));
        claims
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::CaseId;
    use crate::model::case::{Answer, Does, Fixture, Step, Tool, When};
    use crate::model::template::Template;

    fn test(role: Role, does: Does, body: &serde_json::Value, answers: Vec<Answer>) -> Test {
        let definition = Template::from(&json!({ "name": "t", "does": { does.word(): body } }));
        let tool = Tool { name: "t".to_owned(), definition, does };
        let steps = vec![Step::observe(When::call("t", None, answers))];
        Test::new(CaseId::new("f", "c"), "t", role, Fixture { tools: vec![tool], ..Fixture::default() }, steps)
    }

    #[test]
    fn part_that_an_adapter_would_overlook_is_named() {
        let server = |does, body| test(Role::Server, does, &body, Vec::new());
        let form = json!({ "message": "", "requestedSchema": {} });
        for (test, needed) in [
            (server(Does::Echo, json!(true)), None),
            (server(Does::Elicit, form.clone()), None),
            (server(Does::Log, json!({})), Some("log")),
            (server(Does::Wait, json!({})), Some("wait")),
            (server(Does::Elicit, json!({ "mode": "url" })), Some("elicit-url")),
            (server(Does::Elicit, json!({ "state": {} })), Some("state")),
            (test(Role::Client, Does::Log, &json!({}), vec![Answer::AcceptAlone]), None),
            (test(Role::Client, Does::Elicit, &form, vec![Answer::AcceptAsPresented]), Some("as-presented")),
        ] {
            let older = Hello::default().overlooks(&test, test.role);
            assert_eq!(older.as_deref().and_then(|reason| reason.split('`').nth(1)), needed);
            let knows = Feature::ALL.iter().map(|feature| feature.word().to_owned()).collect();
            assert_eq!(Hello { knows, ..Hello::default() }.overlooks(&test, test.role), None);
        }
        let limited = Test { request_timeout: Some(1), ..test(Role::Client, Does::Echo, &json!(true), vec![]) };
        assert!(Hello::default().overlooks(&limited, Role::Client).is_some_and(|why| why.contains("requestTimeout")));
        assert_eq!(Hello::default().overlooks(&limited, Role::Server), None, "the client has the limit");
    }
}
