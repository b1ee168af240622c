//! Flaws of a listed tool that show without a fixture: in the dialects, roots, references and sizes of its schemas.
//!
//! Takes a tool as it was received, gives its [`Flaw`]s. Opens no connection. Must not know which flaws a requirement
//! forbids.

use std::collections::BTreeSet;

use jsonschema::error::ValidationErrorKind;
use jsonschema::meta::MetaValidator;
use jsonschema::{ValidationError, draft4, draft6, draft7, draft201909, draft202012};
use serde_json::Value;
use serde_json::value::RawValue;

use super::marks;
use super::messages;
use crate::jsonrpc::envelope::{self, Members};
use crate::jsonrpc::nesting;
use crate::model::case::Flaw;
use crate::model::observation::Observed;

/// The keywords whose values are no schemas.
const DATA: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// The levels of a schema that is checked.
const LEVELS: usize = 64;
/// The bytes of a schema that is checked.
const BYTES: usize = 64_000;

/// The flaws of a tool.
#[derive(Default)]
pub(super) struct Flaws {
    pub(super) found: BTreeSet<Flaw>,
    /// The flaws that the tool could have, by what its schemas contain.
    pub(super) possible: BTreeSet<Flaw>,
}

/// Finds the flaws of a tool.
pub(super) fn flaws(tool: &Members<'_>) -> Flaws {
    let mut flaws = Flaws::default();
    let schemas = [("inputSchema", Flaw::InvalidInputSchema), ("outputSchema", Flaw::InvalidOutputSchema)];
    for (name, invalid) in schemas {
        if let Some(raw) = tool.get(name) {
            flaws.possible.insert(invalid);
            flaws.look_into(raw.get(), invalid);
        }
    }
    let root =
        tool.get("inputSchema").and_then(|raw| envelope::members(raw)).and_then(|root| root.get("type").copied());
    flaws.possible.insert(Flaw::NoObjectRoot);
    if root.and_then(envelope::scalar::<String>).as_deref() != Some("object") {
        flaws.found.insert(Flaw::NoObjectRoot);
    }
    flaws
}

/// Returns whether a schema of a list of tools is invalid.
pub(super) fn has_invalid_schema(tools: &RawValue) -> bool {
    let tools = envelope::items(tools).unwrap_or_default().into_iter().filter_map(envelope::members);
    let invalid = [Flaw::InvalidInputSchema, Flaw::InvalidOutputSchema];
    tools.map(|tool| flaws(&tool)).any(|flaws| invalid.iter().any(|flaw| flaws.found.contains(flaw)))
}

impl Flaws {
    fn look_into(&mut self, text: &str, invalid: Flaw) {
        let size = (text.len() > BYTES).then_some(Flaw::Large);
        let depth = (nesting::depth(text.as_bytes()) > LEVELS).then_some(Flaw::Deep);
        self.found.extend(size.into_iter().chain(depth));
        if size.or(depth).is_some() {
            return;
        }
        let Observed::Value(root) = messages::kept_text(text) else {
            self.found.insert(Flaw::Unreadable);
            return;
        };
        self.found.extend(match is_valid(&root) {
            None => Some(Flaw::UnknownDialect),
            Some(true) => None,
            Some(false) => Some(invalid),
        });
        if root.get("$schema").is_some() {
            self.possible.insert(Flaw::UnknownDialect);
        }
        if invalid == Flaw::InvalidInputSchema
            && let Some(flaws) = marks::flaws(&root)
        {
            self.possible.extend([Flaw::IllegalHeaderMark, Flaw::RepeatedHeaderMark, Flaw::UnreachableHeaderMark]);
            self.found.extend(flaws);
        }
        let mut document = Document { root: &root, names: BTreeSet::new(), has_parts: false, references: Vec::new() };
        document.walk(&root);
        if !document.references.is_empty() {
            self.possible.insert(Flaw::ExternalReference);
        }
        if document.references.iter().any(|reference| reference.starts_with('#')) {
            self.possible.extend([Flaw::DanglingReference, Flaw::UncheckedReference]);
        }
        self.found.extend(document.references.iter().filter_map(|reference| document.astray(reference)));
    }
}

/// Returns whether a schema is valid in the dialect that it declares, by default 2020-12; `None` for an unknown dialect.
/// Each part with a `$schema` of its own is valid in its own dialect.
fn is_valid(schema: &Value) -> Option<bool> {
    let (mut whole, mut parts) = (schema.clone(), Vec::new());
    take_parts(&mut whole, &mut parts);
    let valid: Vec<_> = std::iter::once(&whole).chain(&parts).map(is_valid_alone).collect();
    if valid.contains(&Some(false)) || names_dialect_inside(schema) {
        Some(false)
    } else {
        valid.into_iter().collect::<Option<Vec<_>>>().map(|_| true)
    }
}

/// Returns whether a part names a dialect, which only the root of a document or a part with an `$id` may do.
fn names_dialect_inside(schema: &Value) -> bool {
    let Value::Object(members) = schema else { return false };
    let all =
        marks::parts(members).flat_map(|(_, part)| part.as_array().map_or(std::slice::from_ref(part), Vec::as_slice));
    let is_misplaced = |part: &Value| part.get("$schema").is_some_and(Value::is_string) && part.get("$id").is_none();
    all.into_iter().any(|part| is_misplaced(part) || names_dialect_inside(part))
}

/// Takes the parts of a schema that declare a dialect, which leaves schemas that allow everything.
fn take_parts(schema: &mut Value, parts: &mut Vec<Value>) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| take_parts(schema, parts)),
        Value::Object(members) => {
            for (_, value) in members.iter_mut().filter(|(key, _)| !DATA.contains(&key.as_str())) {
                take_parts(value, parts);
                if value.get("$id").is_some_and(Value::is_string) && value.get("$schema").is_some_and(Value::is_string)
                {
                    parts.push(std::mem::replace(value, Value::Bool(true)));
                }
            }
        }
        _ => {}
    }
}

fn is_valid_alone(schema: &Value) -> Option<bool> {
    let Some(dialect) = schema.get("$schema") else { return Some(draft202012::meta::is_valid(schema)) };
    let Some(dialect) = dialect.as_str() else { return Some(false) };
    let name = dialect.trim_end_matches('#');
    let name = name.strip_prefix("https://").or(name.strip_prefix("http://")).unwrap_or(name);
    Some(match name {
        "json-schema.org/draft/2020-12/schema" => draft202012::meta::is_valid(schema),
        "json-schema.org/draft/2019-09/schema" => draft201909::meta::is_valid(schema),
        "json-schema.org/draft-07/schema" => is_valid_but_for_formats(&draft7::meta::validator(), schema),
        "json-schema.org/draft-06/schema" => is_valid_but_for_formats(&draft6::meta::validator(), schema),
        "json-schema.org/draft-04/schema" => is_valid_but_for_formats(&draft4::meta::validator(), schema),
        _ => return None,
    })
}

/// Validates a schema by a metaschema whose dialect lets a program ignore formats.
fn is_valid_but_for_formats(metaschema: &MetaValidator<'_>, schema: &Value) -> bool {
    fn is_of_format(error: &ValidationError<'_>) -> bool {
        match error.kind() {
            ValidationErrorKind::Format { .. } => true,
            ValidationErrorKind::AnyOf { context } => {
                context.iter().any(|branch| !branch.is_empty() && branch.iter().all(is_of_format))
            }
            _ => false,
        }
    }
    metaschema.is_valid(schema) || metaschema.iter_errors(schema).all(|error| is_of_format(&error))
}

/// A schema with the names of its parts and its references.
struct Document<'a> {
    root: &'a Value,
    /// The anchors with their `#`, and the ids.
    names: BTreeSet<String>,
    /// `true` if a part other than the root has an id.
    has_parts: bool,
    references: Vec<&'a str>,
}

impl<'a> Document<'a> {
    /// Collects the names and references of a schema and all that are in it.
    fn walk(&mut self, schema: &'a Value) {
        match schema {
            Value::Array(schemas) => schemas.iter().for_each(|schema| self.walk(schema)),
            Value::Object(members) => {
                for (key, value) in members {
                    match (key.as_str(), value) {
                        ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(text)) => self.references.push(text),
                        ("$anchor" | "$dynamicAnchor", Value::String(text)) => {
                            self.names.insert(format!("#{text}"));
                        }
                        ("$id" | "id", Value::String(text)) => {
                            self.has_parts |= !std::ptr::eq(schema, self.root);
                            self.names.insert(text.clone());
                        }
                        _ => {}
                    }
                }
                marks::parts(members).for_each(|(_, schema)| self.walk(schema));
            }
            _ => {}
        }
    }

    /// The flaw of a reference that leads out of the document, or to no place within it.
    fn astray(&self, reference: &str) -> Option<Flaw> {
        if self.names.contains(reference) {
            return None;
        }
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if !document.is_empty() && !self.names.contains(document) {
            return Some(Flaw::ExternalReference);
        }
        if fragment.is_empty() {
            return None;
        }
        // An id within the document changes what a fragment is of; the root's own does not.
        let root = ["$id", "id"].into_iter().find_map(|key| self.root.get(key)?.as_str());
        let is_root = document.is_empty() || root == Some(document);
        if !is_root || self.has_parts {
            return Some(Flaw::UncheckedReference);
        }
        let is_schema = |target: &Value| target.is_object() || target.is_boolean();
        let is_there = self.root.pointer(&decoded(fragment)).is_some_and(is_schema)
            || self.names.contains(&format!("#{fragment}"));
        (!is_there).then_some(Flaw::DanglingReference)
    }
}

/// A fragment without its percent signs.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = fragment.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(input: &Value) -> Vec<Flaw> {
        let tool = json!({ "inputSchema": input }).to_string();
        flaws(&serde_json::from_str(&tool).expect("an object")).found.into_iter().collect()
    }

    #[test]
    fn valid_schema_has_no_flaw_in_any_dialect() {
        assert_eq!(of(&json!({"type": "object"})), []);
        assert_eq!(of(&json!({"type": "object", "$defs": {"a": {"$anchor": "b"}}, "$ref": "#b"})), []);
        assert_eq!(of(&json!({"type": "object", "$ref": "#/$defs/a%20b", "$defs": {"a b": {}}})), []);
        assert_eq!(of(&json!({"type": "object", "properties": {"$ref": {"const": {"$ref": "http://x/"}}}})), []);
        let seven = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "items": [{}]});
        assert_eq!(of(&seven), []);
        // Each part with a dialect of its own is valid in it.
        let with_part = |dialect: &str| {
            let part = json!({"$id": "https://e.example/part", "$schema": dialect, "items": [{}]});
            of(&json!({"type": "object", "$defs": {"part": part}}))
        };
        assert_eq!(with_part("http://json-schema.org/draft-07/schema#"), []);
        assert_eq!(with_part("https://json-schema.org/draft/2020-12/schema"), [Flaw::InvalidInputSchema]);
    }

    #[test]
    fn flaw_is_possible_if_the_schema_has_what_it_is_about() {
        let of = |input: Value| {
            let tool = json!({ "inputSchema": input }).to_string();
            flaws(&serde_json::from_str(&tool).expect("an object")).possible
        };
        let plain = BTreeSet::from([Flaw::NoObjectRoot, Flaw::InvalidInputSchema]);
        assert_eq!(of(json!({"type": "object", "default": {"$ref": "#", "x-mcp-header": "A"}})), plain);
        let marked = of(json!({"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}));
        assert!(marked.contains(&Flaw::UnreachableHeaderMark) && !marked.contains(&Flaw::DanglingReference));
        assert!(of(json!({"not": {"$ref": "#"}})).contains(&Flaw::DanglingReference));
    }

    #[test]
    fn each_flaw_is_found() {
        assert_eq!(of(&json!({"type": "object", "required": "a"})), [Flaw::InvalidInputSchema]);
        assert_eq!(of(&json!({"type": "object", "items": [{}]})), [Flaw::InvalidInputSchema]);
        let inside = json!({"type": "array", "$schema": "https://json-schema.org/draft/2020-12/schema"});
        assert_eq!(of(&json!({"type": "object", "properties": {"a": inside}})), [Flaw::InvalidInputSchema]);
        assert_eq!(of(&json!({"type": "object", "properties": {"$schema": {"type": "string"}}})), []);
        assert_eq!(of(&json!({"properties": {}})), [Flaw::NoObjectRoot]);
        assert_eq!(of(&json!(null)), [Flaw::NoObjectRoot, Flaw::InvalidInputSchema]);
        assert_eq!(of(&json!({"type": "object", "$schema": "banana"})), [Flaw::UnknownDialect]);
        assert_eq!(of(&json!({"type": "object", "$ref": "#/$defs/a"})), [Flaw::DanglingReference]);
        assert_eq!(of(&json!({"type": "object", "not": {"$ref": "https://x/y#/z"}})), [Flaw::ExternalReference]);
        assert_eq!(of(&json!({"type": "object", "description": "x".repeat(BYTES)})), [Flaw::Large]);
        let deep = (0..LEVELS).fold(json!({}), |inner, _| json!({ "not": inner }));
        assert_eq!(of(&json!({"type": "object", "not": deep})), [Flaw::Deep]);
        let output =
            flaws(&serde_json::from_str(r#"{"inputSchema":{"type":"object"},"outputSchema":7}"#).expect("one"));
        assert_eq!(output.found, BTreeSet::from([Flaw::InvalidOutputSchema]));
        assert_eq!(flaws(&Members::new()).found, BTreeSet::from([Flaw::NoObjectRoot]));
    }
}
