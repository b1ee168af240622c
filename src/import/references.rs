//! The targets of a schema's references: the schema itself, a remote document of the suite, or another address.
//!
//! The module takes a schema and returns [`ReferenceTargets`], and for a schema with references to remote documents a
//! copy with canaries in their place. It must not know how a target handles the schema.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The address at which the suite expects its remote documents.
pub(super) const HOST: &str = "http://localhost:1234/";
/// The addresses of the dialects, which no validator needs to fetch.
const DIALECTS: [&str; 2] = ["https://json-schema.org/", "http://json-schema.org/"];
/// The keywords whose values are data.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];
/// The keywords whose values are addresses.
const REFERENCES: [&str; 4] = ["$ref", "$dynamicRef", "$recursiveRef", "$schema"];

/// The targets of a schema's references to other documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReferenceTargets {
    /// The schema has no such references.
    Nowhere,
    /// At least one reference points to a remote document of the suite.
    ToRemotes {
        /// `true` if one of these references is a `$ref`.
        by_ref: bool,
    },
    /// All references point to addresses for which the suite has no document.
    Elsewhere,
}

/// Finds the targets of a schema's references to other documents.
pub(super) fn reference_targets(schema: &Value) -> ReferenceTargets {
    let found = SchemaReferences::of(schema);
    let external: Vec<_> = found.external().collect();
    let remote = |one: &&&Reference| one.to.starts_with(HOST);
    let by_ref = external.iter().any(|one| one.keyword == "$ref" && one.to.starts_with(HOST));
    match (external.len(), external.iter().filter(remote).count()) {
        (0, _) => ReferenceTargets::Nowhere,
        (_, 0) => ReferenceTargets::Elsewhere,
        _ => ReferenceTargets::ToRemotes { by_ref },
    }
}

/// Returns the schema with `type: object` added, as an `inputSchema` requires, if this does not change which objects
/// are valid.
pub(super) fn with_object_root(schema: &Value) -> Option<Value> {
    let members = schema.as_object()?;
    // A reference to the root would be affected by the added type.
    let is_referred_to = |one: &Reference| !one.is_below_root && one.keyword != "$schema";
    match members.get("type") {
        None => (!SchemaReferences::of(schema).references.iter().any(is_referred_to)).then(|| typed(members)),
        Some(declared) => (declared == "object").then(|| schema.clone()),
    }
}

/// Returns the schema with `type: object` added, even if references to the root are affected.
pub(super) fn forced_object_root(schema: &Value) -> Option<Value> {
    let members = schema.as_object()?;
    match members.get("type") {
        None => Some(typed(members)),
        Some(declared) => (declared == "object").then(|| schema.clone()),
    }
}

fn typed(members: &Map<String, Value>) -> Value {
    let (dialect, others): (Vec<_>, Vec<_>) = members.clone().into_iter().partition(|(key, _)| key == "$schema");
    let of_type = [("type".to_owned(), Value::from("object"))];
    Value::Object(dialect.into_iter().chain(of_type).chain(others).collect())
}

/// Returns the schema with canaries in place of the addresses of remote documents. Each canary serves the document at its
/// path.
pub(super) fn with_canaries(schema: &Value, mut document: impl FnMut(&str) -> Option<Value>) -> Value {
    let found = SchemaReferences::of(schema);
    let mut canary = |keyword: &str, at: &str| {
        let (address, fragment) = at.split_once('#').map_or((at, None), |(address, part)| (address, Some(part)));
        // The references below an `$id` of the schema itself are resolved against that `$id`.
        let behind = match keyword {
            "$id" => found.external().find(|one| one.base == address).map_or(address, |one| one.to.as_str()),
            _ => address,
        };
        let mut canary = json!({ "@canary": "http", "path": address.strip_prefix(HOST) });
        let members = canary.as_object_mut().expect("it is one");
        members.extend(fragment.map(|part| ("fragment".to_owned(), part.into())));
        let served = behind.strip_prefix(HOST).and_then(&mut document);
        members.extend(served.map(|document| ("serves".to_owned(), document)));
        canary
    };
    replaced(schema, &mut |keyword, text| text.starts_with(HOST).then(|| canary(keyword, text)))
}

/// Returns a copy of the schema with some of its addresses replaced.
pub(super) fn replaced(schema: &Value, other: &mut impl FnMut(&str, &str) -> Option<Value>) -> Value {
    match schema {
        Value::Array(items) => Value::Array(items.iter().map(|item| replaced(item, other)).collect()),
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| {
                let is_address = key == "$id" || REFERENCES.contains(&key.as_str());
                let value = match value.as_str().filter(|_| is_address).and_then(|text| other(key, text)) {
                    Some(other) => other,
                    None if DATA.contains(&key.as_str()) => value.clone(),
                    None => replaced(value, other),
                };
                (key.clone(), value)
            };
            Value::Object(members.iter().map(member).collect())
        }
        scalar => scalar.clone(),
    }
}

/// One reference, with the document that it points to.
struct Reference {
    keyword: String,
    base: String,
    to: String,
    is_below_root: bool,
}

/// The documents inside a schema, and its references.
struct SchemaReferences {
    documents: BTreeSet<String>,
    references: Vec<Reference>,
}

impl SchemaReferences {
    fn of(schema: &Value) -> Self {
        let mut found = Self { documents: BTreeSet::from([String::new()]), references: Vec::new() };
        found.collect(schema, "");
        found
    }

    fn collect(&mut self, schema: &Value, base: &str) {
        match schema {
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, base)),
            Value::Object(members) => {
                let id = members.get("$id").and_then(Value::as_str);
                let base = id.map_or_else(|| base.to_owned(), |id| resolve(base, id));
                self.documents.insert(base.clone());
                for (key, value) in members.iter().filter(|(key, _)| !DATA.contains(&key.as_str())) {
                    match value.as_str().filter(|_| REFERENCES.contains(&key.as_str())) {
                        Some(text) => self.references.push(Reference {
                            keyword: key.clone(),
                            base: base.clone(),
                            to: resolve(&base, text),
                            is_below_root: text.starts_with("#/"),
                        }),
                        None => self.collect(value, &base),
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the references to other documents.
    fn external(&self) -> impl Iterator<Item = &Reference> {
        self.references.iter().filter(|one| {
            let is_dialect = one.keyword == "$schema" && DIALECTS.iter().any(|host| one.to.starts_with(host));
            !is_dialect && !self.documents.contains(&one.to)
        })
    }
}

/// Resolves a reference against a base, and returns the address of the document.
fn resolve(base: &str, reference: &str) -> String {
    let reference = reference.split('#').next().unwrap_or_default();
    let has_scheme = reference.split(['/', '?']).next().is_some_and(|first| first.contains(':'));
    if reference.is_empty() {
        return base.to_owned();
    }
    let Some((scheme, rest)) = base.split_once("://").filter(|_| !has_scheme) else { return reference.to_owned() };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let whole = match reference.strip_prefix('/') {
        Some(absolute) => absolute.to_owned(),
        None => format!("{folder}/{reference}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.trim_start_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("{scheme}://{host}/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_is_resolved_against_the_enclosing_ids() {
        for (base, reference, wanted) in [
            ("http://h/a/b", "c", "http://h/a/c"),
            ("http://h/a/b", "c/#x", "http://h/a/c/"),
            ("http://h/a/", "../c", "http://h/c"),
            ("http://h", "/c", "http://h/c"),
            ("http://h/a", "urn:x", "urn:x"),
            ("http://h/a", "#/$defs/a", "http://h/a"),
            ("urn:x", "c", "c"),
            ("", "c", "c"),
        ] {
            assert_eq!(resolve(base, reference), wanted, "{base} {reference}");
        }
    }

    #[test]
    fn only_references_to_other_documents_lead_out() {
        let remote = format!("{HOST}x/tree.json");
        let at = |schema: Value| reference_targets(&schema);
        assert_eq!(at(json!({ "$id": remote, "$ref": "#/$defs/a", "$defs": { "a": {} } })), ReferenceTargets::Nowhere);
        assert_eq!(at(json!({ "$ref": remote, "$defs": { "a": { "$id": remote } } })), ReferenceTargets::Nowhere);
        assert_eq!(at(json!({ "enum": [{ "$ref": remote }] })), ReferenceTargets::Nowhere);
        assert_eq!(at(json!({ "$schema": "https://json-schema.org/draft/2020-12/schema" })), ReferenceTargets::Nowhere);
        assert_eq!(at(json!({ "$id": remote, "$ref": "other.json" })), ReferenceTargets::ToRemotes { by_ref: true });
        assert_eq!(at(json!({ "$schema": remote })), ReferenceTargets::ToRemotes { by_ref: false });
        assert_eq!(at(json!({ "$ref": "https://json-schema.org/draft/2020-12/schema" })), ReferenceTargets::Elsewhere);
    }

    #[test]
    fn object_type_is_added_only_if_nothing_refers_to_root() {
        let typed = with_object_root(&json!({ "$schema": "s", "required": ["a"] })).expect("a schema");
        assert_eq!(typed.to_string(), r#"{"$schema":"s","type":"object","required":["a"]}"#);
        let as_given = json!({ "type": "object", "properties": { "a": { "$ref": "#" } } });
        assert_eq!(with_object_root(&as_given), Some(as_given.clone()));
        for other in [json!({ "type": "string" }), json!({ "properties": { "a": { "$ref": "#" } } }), json!(true)] {
            assert_eq!(with_object_root(&other), None, "{other}");
        }
    }
}
