//! Where a schema of the suite leads: to itself, to the suite's remote files, or to somebody else.
//!
//! Takes a schema, gives a [`Leads`], and of one that leads to remote files a copy that leads to canaries.
//! Must not know what a target does with it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::remotes::Remotes;

/// Where the suite supposes its remote files to be.
pub(super) const HOST: &str = "http://localhost:1234/";
/// The dialects' own names: nobody needs to go there.
const DIALECTS: [&str; 2] = ["https://json-schema.org/", "http://json-schema.org/"];
/// Keywords whose values are data.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];
/// Keywords whose values are addresses.
const REFERENCES: [&str; 4] = ["$ref", "$dynamicRef", "$recursiveRef", "$schema"];

/// Where the references of a schema lead that don't lead to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// There is none.
    Nowhere,
    /// To a remote file of the suite, by a `$ref`, or only by other keywords.
    ToRemotes {
        /// Whether a `$ref` does.
        by_ref: bool,
    },
    /// To an address that the suite has no file for.
    Elsewhere,
}

/// Where a schema leads.
pub(super) fn leads(schema: &Value) -> Leads {
    let found = Found::of(schema);
    let leaving: Vec<_> = found.leaving().collect();
    let remote = |one: &&&Reference| one.to.starts_with(HOST);
    let by_ref = leaving.iter().any(|one| one.keyword == "$ref" && one.to.starts_with(HOST));
    match (leaving.len(), leaving.iter().filter(remote).count()) {
        (0, _) => Leads::Nowhere,
        (_, 0) => Leads::Elsewhere,
        _ => Leads::ToRemotes { by_ref },
    }
}

/// The schema as one that a tool may have as its `inputSchema`, where objects fit it as they did before.
pub(super) fn with_object_root(schema: &Value) -> Option<Value> {
    let members = schema.as_object()?;
    // What refers to the root would be told of a type too.
    let is_referred_to = |one: &Reference| !one.is_below_root && one.keyword != "$schema";
    match members.get("type") {
        None => (!Found::of(schema).references.iter().any(is_referred_to)).then(|| typed(members)),
        Some(said) => (said == "object").then(|| schema.clone()),
    }
}

/// The schema with `type: object`, whatever it says of references.
pub(super) fn forced_object_root(schema: &Value) -> Option<Value> {
    let members = schema.as_object()?;
    match members.get("type") {
        None => Some(typed(members)),
        Some(said) => (said == "object").then(|| schema.clone()),
    }
}

fn typed(members: &Map<String, Value>) -> Value {
    let (dialect, others): (Vec<_>, Vec<_>) = members.clone().into_iter().partition(|(key, _)| key == "$schema");
    let of_type = [("type".to_owned(), Value::from("object"))];
    Value::Object(dialect.into_iter().chain(of_type).chain(others).collect())
}

/// The schema with canaries in the place of the addresses of remote files, each of which serves what is behind it.
pub(super) fn with_canaries(schema: &Value, remotes: &mut Remotes) -> Value {
    let found = Found::of(schema);
    let mut canary = |keyword: &str, at: &str| {
        let (address, fragment) = at.split_once('#').map_or((at, None), |(address, part)| (address, Some(part)));
        // What stands below an `$id` of the schema's own is what its references lead to.
        let behind = match keyword {
            "$id" => found.leaving().find(|one| one.base == address).map_or(address, |one| one.to.as_str()),
            _ => address,
        };
        let mut canary = json!({ "@canary": "http", "path": address.strip_prefix(HOST) });
        let members = canary.as_object_mut().expect("it is one");
        members.extend(fragment.map(|part| ("fragment".to_owned(), part.into())));
        let served = behind.strip_prefix(HOST).and_then(|path| remotes.document(path));
        members.extend(served.map(|document| ("serves".to_owned(), document)));
        canary
    };
    replaced(schema, &mut |keyword, text| text.starts_with(HOST).then(|| canary(keyword, text)))
}

/// A copy in which other values stand where addresses stood.
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

/// One reference, by the document that it leads to.
struct Reference {
    keyword: String,
    base: String,
    to: String,
    is_below_root: bool,
}

/// The documents that a schema consists of, and its references.
struct Found {
    documents: BTreeSet<String>,
    references: Vec<Reference>,
}

impl Found {
    fn of(schema: &Value) -> Self {
        let mut found = Self { documents: BTreeSet::from([String::new()]), references: Vec::new() };
        found.look(schema, "");
        found
    }

    fn look(&mut self, schema: &Value, base: &str) {
        match schema {
            Value::Array(items) => items.iter().for_each(|item| self.look(item, base)),
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
                        None => self.look(value, &base),
                    }
                }
            }
            _ => {}
        }
    }

    /// The references that lead out of the schema.
    fn leaving(&self) -> impl Iterator<Item = &Reference> {
        self.references.iter().filter(|one| {
            let is_dialect = one.keyword == "$schema" && DIALECTS.iter().any(|host| one.to.starts_with(host));
            !is_dialect && !self.documents.contains(&one.to)
        })
    }
}

/// The address of the document that a reference means, seen from a base.
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
    fn references_are_resolved_against_the_ids_around_them() {
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
    fn a_schema_leads_out_only_where_it_doesn_t_have_what_it_names() {
        let remote = format!("{HOST}x/tree.json");
        let at = |schema: Value| leads(&schema);
        assert_eq!(at(json!({ "$id": remote, "$ref": "#/$defs/a", "$defs": { "a": {} } })), Leads::Nowhere);
        assert_eq!(at(json!({ "$ref": remote, "$defs": { "a": { "$id": remote } } })), Leads::Nowhere);
        assert_eq!(at(json!({ "enum": [{ "$ref": remote }] })), Leads::Nowhere);
        assert_eq!(at(json!({ "$schema": "https://json-schema.org/draft/2020-12/schema" })), Leads::Nowhere);
        assert_eq!(at(json!({ "$id": remote, "$ref": "other.json" })), Leads::ToRemotes { by_ref: true });
        assert_eq!(at(json!({ "$schema": remote })), Leads::ToRemotes { by_ref: false });
        assert_eq!(at(json!({ "$ref": "https://json-schema.org/draft/2020-12/schema" })), Leads::Elsewhere);
    }

    #[test]
    fn a_root_becomes_an_object_s_where_nothing_refers_to_it() {
        let typed = with_object_root(&json!({ "$schema": "s", "required": ["a"] })).expect("a schema");
        assert_eq!(typed.to_string(), r#"{"$schema":"s","type":"object","required":["a"]}"#);
        let as_given = json!({ "type": "object", "properties": { "a": { "$ref": "#" } } });
        assert_eq!(with_object_root(&as_given), Some(as_given.clone()));
        for other in [json!({ "type": "string" }), json!({ "properties": { "a": { "$ref": "#" } } }), json!(true)] {
            assert_eq!(with_object_root(&other), None, "{other}");
        }
    }
}
