//! The servers that the smoke checks ask for, with one tool each.
//!
//! Takes a revision and a hello, gives fixtures. Must not know how a server is used.

use std::fmt;

use serde_json::{Value, json};

use super::marker;
use super::outcome::TOOL;
use crate::drive::adapter::hello::Hello;
use crate::model::case::Does;
use crate::model::feature::Feature;
use crate::model::spec::{Lifecycle, Revision};

/// A value that is no JSON Schema.
pub(super) const NO_SCHEMA: &str = "no schema";
/// A method that no revision knows.
pub(super) const METHOD: &str = "smoke/echo";

/// The fixture of a request: a server with one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probe {
    /// A plain tool with this behaviour.
    Plain(Does),
    /// A tool with a schema that allows everything, which returns the marker.
    Marker,
    /// A tool with the schema of the marker, which is only listed.
    Schema,
    /// A tool whose schema is no JSON Schema.
    NoSchema,
    /// A tool that asks in URL mode.
    Url,
    /// A tool that asks with a state.
    State,
    /// A tool, and a method that no revision knows.
    Methods,
}

/// The behaviours that every adapter must have.
const PLAIN: [Does; 4] = [Does::Echo, Does::Return, Does::Elicit, Does::Raise];

impl Probe {
    /// The plain tools first, because the others depend on them; then what the adapter says that it knows.
    pub(super) fn all(revision: Revision, hello: &Hello) -> impl Iterator<Item = Self> {
        let facts = revision.facts();
        let later = [
            (Feature::Log, Self::Plain(Does::Log), true),
            (Feature::Progress, Self::Plain(Does::Progress), true),
            (Feature::ElicitUrl, Self::Url, facts.elicitation_modes),
            (Feature::State, Self::State, facts.lifecycle == Lifecycle::Stateless),
            (Feature::Methods, Self::Methods, true),
        ];
        let later = later.into_iter().filter(|(feature, _, is_there)| *is_there && hello.has(*feature));
        let plain = PLAIN.iter().map(|does| Self::Plain(*does));
        plain.chain([Self::Marker, Self::Schema, Self::NoSchema]).chain(later.map(|(_, probe, _)| probe))
    }

    /// Returns whether the others depend on it.
    pub(super) fn is_plain(self) -> bool {
        matches!(self, Self::Plain(does) if PLAIN.contains(&does))
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(does) => does.fmt(f),
            Self::Marker => f.write_str("echo of unusual values"),
            Self::Schema => f.write_str("a schema with unusual values"),
            Self::NoSchema => f.write_str("a schema that is a string"),
            Self::Url => f.write_str("a question in URL mode"),
            Self::State => f.write_str("a question with a state"),
            Self::Methods => f.write_str("a method that no revision knows"),
        }
    }
}

/// The fixture of one tool.
pub(super) fn fixture(probe: Probe) -> String {
    let plain = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let (does, schema) = match probe {
        Probe::Plain(does) => (does, plain.clone()),
        Probe::Marker | Probe::Methods => (Does::Echo, json!({ "type": "object" })),
        Probe::Schema => (Does::Echo, marker::schema()),
        Probe::NoSchema => (Does::Echo, NO_SCHEMA.into()),
        Probe::Url | Probe::State => (Does::Elicit, plain.clone()),
    };
    let body: Value = match does {
        Does::Echo => json!(true),
        Does::Return => json!({
            "structuredContent": { "answer": 42 }, "content": [{ "type": "text", "text": "smoke" }]
        }),
        Does::Elicit if probe == Probe::Url => {
            json!({ "mode": "url", "message": "Visit it?", "url": "https://example.com/smoke", "elicitationId": "smoke" })
        }
        Does::Elicit if probe == Probe::State => {
            json!({ "message": "Your name?", "requestedSchema": plain, "state": { "value": "smoke" } })
        }
        Does::Elicit => json!({ "message": "Your name?", "requestedSchema": plain }),
        Does::Raise => json!("smoke"),
        Does::Log => json!({ "level": "info", "data": "smoke" }),
        Does::Progress => json!({ "progress": 1 }),
        Does::Wait => unreachable!("no probe"),
    };
    let tool = json!({ "name": TOOL, "description": "A tool.", "inputSchema": schema, "does": { does.word(): body } });
    let mut fixture = json!({ "server": { "name": "casebook", "version": "1" }, "tools": [tool] });
    if probe == Probe::Methods {
        fixture["methods"] = json!({ METHOD: [{ "echo": true }] });
    }
    fixture.to_string()
}
