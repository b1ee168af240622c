//! JSON Schemas of case files, compiled and evaluated with a limit on the work that they cause.
//!
//! The module takes a schema from any source, and returns a [`Schema`] or the reason why the schema is refused. It
//! fetches nothing. It must not know who wrote a schema, nor which values are validated.

use std::sync::OnceLock;

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use super::premise;
use crate::jsonrpc::nesting;

/// The deepest nesting of a schema.
const LEVELS: usize = 64;
/// The longest chain of references.
const HOPS: usize = 64;
/// The largest number of values in a schema after each reference is replaced by its target.
const VALUES: usize = 5_000;
/// The number of values that a regular expression counts as.
const PATTERN: usize = 100;
/// The memory limit of a compiled regular expression, in bytes.
const PATTERN_BYTES: usize = 64 << 10;
/// The limit of the product of a schema's values and an instance's values.
const WORK: usize = 200_000_000;
/// The largest instance that is matched against regular expressions, in bytes of text.
const TEXT: usize = 4 << 20;
/// The errors of one value that are looked at.
const ERRORS: usize = 256;
/// The keywords whose values are data, which contains no references.
const DATA: [&str; 4] = ["const", "default", "enum", "examples"];
/// The keywords whose values are schemas by name.
const MAPS: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
/// The keywords whose schemas are for the parts of a value.
const PARTS: [&str; 9] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "items",
    "patternProperties",
    "prefixItems",
    "properties",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// The levels of a value that a schema which refers to itself is evaluated for.
const RECURSION: usize = 8;

/// A schema that can be evaluated in bounded time.
#[derive(Debug)]
pub struct Schema {
    validator: Validator,
    values: usize,
    has_patterns: bool,
    is_recursive: bool,
}

/// A schema of a case, shared by all tests that use it, and compiled when it is first needed.
#[derive(Debug)]
pub struct SharedSchema {
    value: Value,
    compiled: OnceLock<Result<Schema, String>>,
    premise: OnceLock<Option<Box<SharedSchema>>>,
    text: OnceLock<String>,
    /// `true` for a schema of casebook's own, which is no one's input.
    is_own: bool,
}

impl SharedSchema {
    /// A schema of casebook's own, whose size after its references are resolved is not limited.
    pub fn own(value: Value) -> Self {
        Self { is_own: true, ..Self::from(value) }
    }

    /// Returns the schema as written.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns what a value must have so that the schema demands anything of it; `None` if it demands nothing.
    pub fn premise(&self) -> Option<&Self> {
        let derive = || premise::of(&self.value).map(|premise| Box::new(Self::from(premise)));
        self.premise.get_or_init(derive).as_deref()
    }

    /// Returns whether the text of the schema has a part.
    pub fn mentions(&self, part: &str) -> bool {
        self.text.get_or_init(|| self.value.to_string()).contains(part)
    }

    /// Returns the compiled schema.
    ///
    /// # Errors
    /// The errors of [`Schema::new`].
    pub fn compiled(&self) -> Result<&Schema, &str> {
        let compile = || if self.is_own { Schema::build(&self.value, 1, false) } else { Schema::new(&self.value) };
        self.compiled.get_or_init(compile).as_ref().map_err(String::as_str)
    }
}

impl From<Value> for SharedSchema {
    fn from(value: Value) -> Self {
        let (compiled, premise, text) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { value, compiled, premise, text, is_own: false }
    }
}

impl PartialEq for SharedSchema {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// The error for an instance that is too large to be validated.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the schema and the value together are too large to be validated")]
pub struct TooMuch;

impl Schema {
    /// Compiles a schema of JSON Schema 2020-12, or of the dialect that it declares.
    ///
    /// # Errors
    /// A description, if the schema is invalid or can cause too much work.
    pub fn new(schema: &Value) -> Result<Self, String> {
        let levels = nesting::depth(schema.to_string().as_bytes());
        if levels > LEVELS {
            return Err(format!("nested {levels} levels deep, and the limit is {LEVELS}"));
        }
        let mut measure = Measure::of(schema);
        measure.add(schema)?;
        let Measure { values, has_patterns, is_recursive, .. } = measure;
        Ok(Self { is_recursive, ..Self::build(schema, values, has_patterns)? })
    }

    /// Compiles a schema of this size.
    fn build(schema: &Value, values: usize, has_patterns: bool) -> Result<Self, String> {
        // This engine takes linear time.
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES);
        // As in 2020-12, formats and encoded content are annotations: in the older drafts, a program may check them.
        let options = jsonschema::options().with_pattern_options(patterns).should_validate_formats(false);
        let options = options.without_content_encoding_support("base64");
        let validator = options.without_content_media_type_support("application/json").build(schema);
        Ok(Self { validator: validator.map_err(|error| error.to_string())?, values, has_patterns, is_recursive: false })
    }

    /// Validates a value. Returns the JSON Pointer and the message of the first error, or `None` if the value is valid.
    ///
    /// # Errors
    /// [`TooMuch`] if the validation would take too long.
    pub fn violation(&self, value: &Value) -> Result<Option<(String, String)>, TooMuch> {
        self.first_error(value, |error| (error.instance_path().to_string(), error.to_string()))
    }

    /// Describes the first error of the validator; `None` if the value fits.
    ///
    /// # Errors
    /// [`TooMuch`] if the evaluation would take too long.
    pub fn first_error<T>(
        &self,
        value: &Value,
        describe: impl FnOnce(&ValidationError<'_>) -> T,
    ) -> Result<Option<T>, TooMuch> {
        self.check_work(value)?;
        Ok(self.validator.validate(value).err().map(|error| describe(&error)))
    }

    /// Returns whether one of the validator's first errors is at this JSON Pointer.
    pub fn refuses_at(&self, value: &Value, pointer: &str) -> bool {
        let mut errors = self.validator.iter_errors(value).take(ERRORS);
        self.check_work(value).is_ok() && errors.any(|error| error.instance_path().to_string() == pointer)
    }

    fn check_work(&self, value: &Value) -> Result<(), TooMuch> {
        let (values, bytes) = size(value);
        let is_too_much = self.values.saturating_mul(values) > WORK
            || self.has_patterns && bytes > TEXT
            || self.is_recursive && levels(value) > RECURSION;
        if is_too_much { Err(TooMuch) } else { Ok(()) }
    }
}

/// Returns the number of values inside a value, and the number of bytes of text.
fn size(value: &Value) -> (usize, usize) {
    let add = |(values, bytes): (usize, usize), (more, text): (usize, usize)| (values + more, bytes + text);
    match value {
        Value::String(text) => (1, text.len()),
        Value::Array(items) => items.iter().map(size).fold((1, 0), add),
        Value::Object(members) => members.iter().map(|(key, value)| add((0, key.len()), size(value))).fold((1, 0), add),
        _ => (1, 0),
    }
}

/// Returns the number of levels of a value.
fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(levels).max().unwrap_or(0),
        _ => 1,
    }
}

/// Walks through a schema and the targets of its references, as a validator does.
struct Measure<'s> {
    root: &'s Value,
    /// The targets of the references that the walk is inside of, outermost first, each with its level in the value.
    hops: Vec<(&'s Value, usize)>,
    /// The level of the part of a value that the schema at hand is for.
    level: usize,
    values: usize,
    has_patterns: bool,
    is_recursive: bool,
}

impl<'s> Measure<'s> {
    fn of(root: &'s Value) -> Self {
        Self { root, hops: Vec::new(), level: 0, values: 0, has_patterns: false, is_recursive: false }
    }

    fn add(&mut self, schema: &'s Value) -> Result<(), String> {
        self.count(1)?;
        match schema {
            Value::Array(schemas) => schemas.iter().try_for_each(|schema| self.add(schema)),
            Value::Object(members) => {
                let is_again = |key: &str| matches!(key, "unevaluatedProperties" | "unevaluatedItems");
                // A validator finds the evaluated parts by evaluating the schema a second time.
                let times = if members.keys().any(|key| is_again(key)) { 2 } else { 1 };
                (0..times).try_for_each(|_| members.iter().try_for_each(|(key, value)| self.keyword(key, value)))
            }
            _ => Ok(()),
        }
    }

    fn keyword(&mut self, key: &str, value: &'s Value) -> Result<(), String> {
        let deeper = usize::from(PARTS.contains(&key));
        self.level += deeper;
        let added = self.schemas(key, value);
        self.level -= deeper;
        added
    }

    /// Adds the schemas in the value of a keyword.
    fn schemas(&mut self, key: &str, value: &'s Value) -> Result<(), String> {
        match (key, value) {
            ("$ref", Value::String(reference)) => self.follow(reference),
            ("$dynamicRef" | "$recursiveRef" | "$id" | "id", Value::String(_)) => {
                Err(format!("`{key}` is not supported here"))
            }
            ("pattern", _) => self.pattern(1),
            (key, Value::Object(by_name)) if MAPS.contains(&key) => {
                if key == "patternProperties" {
                    self.pattern(by_name.len())?;
                }
                self.count(1)?;
                by_name.values().try_for_each(|schema| self.add(schema))
            }
            (key, data) if DATA.contains(&key) => self.count(size(data).0),
            (_, value) => self.add(value),
        }
    }

    fn pattern(&mut self, patterns: usize) -> Result<(), String> {
        self.has_patterns = true;
        self.count(patterns.saturating_mul(PATTERN))
    }

    fn follow(&mut self, reference: &str) -> Result<(), String> {
        let target = reference.strip_prefix('#').filter(|way| way.is_empty() || way.starts_with('/'));
        let target = target.filter(|way| !way.contains('%')).and_then(|way| self.root.pointer(way));
        let target =
            target.ok_or_else(|| format!("`$ref` does not point to a place within the schema: {reference}"))?;
        let same = || self.hops.iter().filter(|(hop, _)| std::ptr::eq(*hop, target));
        if same().any(|(_, level)| *level == self.level) {
            return Err("the schema refers to itself".to_owned());
        }
        if same().count() == RECURSION {
            self.is_recursive = true;
            return Ok(());
        }
        if self.hops.len() == HOPS {
            return Err(format!("a chain of more than {HOPS} references"));
        }
        self.hops.push((target, self.level));
        let added = self.add(target);
        self.hops.pop();
        added
    }

    fn count(&mut self, values: usize) -> Result<(), String> {
        self.values = self.values.saturating_add(values);
        if self.values > VALUES {
            Err(format!("more than {VALUES} values after its references are resolved"))
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn formats_and_encodings_are_annotations_in_each_dialect() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#", "format": "date-time", "contentEncoding": "base64",
            "contentMediaType": "application/json", "minLength": 2
        });
        let schema = Schema::new(&schema).expect("a schema");
        assert_eq!(schema.violation(&json!("2026-01-01T00:00:00")), Ok(None));
        assert!(schema.violation(&json!("x")).is_ok_and(|found| found.is_some()));
    }

    fn refused(schema: &Value) -> String {
        Schema::new(schema).expect_err("a schema that is refused")
    }

    fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
        let next = |index: usize| json!({ "$ref": format!("#/$defs/d{index}") });
        let mut defs: Map<_, _> = (0..length).map(|index| (format!("d{index}"), link(next(index + 1)))).collect();
        defs.insert(format!("d{length}"), json!({}));
        json!({ "$defs": defs, "$ref": "#/$defs/d0" })
    }

    #[test]
    fn schema_that_expands_beyond_the_limit_is_refused() {
        assert!(refused(&chain(60, |next| json!({ "allOf": [next, next] }))).contains("more than 5000 values"));
        assert!(refused(&chain(65, |next| next)).contains("more than 64 references"));
        let unevaluated = |inner| json!({ "allOf": [inner], "unevaluatedProperties": {} });
        assert!(refused(&(0..25).fold(json!({}), |inner, _| unevaluated(inner))).contains("more than 5000 values"));
        assert!(refused(&json!({ "enum": (0..6_000).collect::<Vec<_>>() })).contains("more than 5000 values"));
        assert!(refused(&json!({ "allOf": vec![json!({ "pattern": "a" }); 60] })).contains("more than 5000 values"));
    }

    #[test]
    fn schema_that_refers_to_itself_for_the_same_value_is_refused() {
        for schema in [
            json!({ "$ref": "#" }),
            json!({ "properties": { "a": { "allOf": [{ "$ref": "#/properties/a" }] } } }),
            json!({ "properties": { "const": { "$ref": "#/properties/const" } } }),
            json!({ "$defs": { "items": { "not": { "$ref": "#/$defs/items" } } } }),
            json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "not": { "$ref": "#/$defs/a" } } } }),
        ] {
            assert!(refused(&schema).contains("itself"), "{schema}");
        }
        assert!(refused(&json!({ "$dynamicRef": "#a" })).contains("not supported"));
        assert!(refused(&json!({ "$ref": "http://127.0.0.1:9/x" })).contains("point to a place"));
    }

    #[test]
    fn schema_that_refers_to_itself_for_the_parts_of_a_value_is_validated() {
        let node = json!({ "type": "object", "additionalProperties": { "$ref": "#" } });
        let node = Schema::new(&node).expect("a schema");
        assert_eq!(node.violation(&json!({ "a": { "b": {} } })), Ok(None));
        assert_eq!(node.violation(&json!({ "a": { "b": 7 } })).map(|wrong| wrong.is_some()), Ok(true));
        let deep = (0..RECURSION).fold(json!({}), |inner, _| json!({ "a": inner }));
        assert_eq!(node.violation(&deep), Err(TooMuch));
        let part = || json!({ "items": { "$ref": "#" } });
        assert!(refused(&json!({ "anyOf": [part(), part(), part()] })).contains("more than 5000 values"));
    }

    #[test]
    fn pattern_that_needs_much_memory_or_backtracking_is_refused() {
        for pattern in ["((a{0,900}){0,900}){0,900}b", "(a+)\\1", "(?=a)b"] {
            Schema::new(&json!({ "pattern": pattern })).expect_err(pattern);
        }
    }

    #[test]
    fn value_too_large_for_the_schema_is_not_validated() {
        let every = Schema::new(&json!({ "items": { "enum": (0..4_900).collect::<Vec<_>>() } })).expect("a schema");
        assert_eq!(every.violation(&json!([-1])).map(|wrong| wrong.is_some()), Ok(true));
        assert_eq!(every.violation(&json!(vec![-1; 50_000])), Err(TooMuch));
        let pattern = Schema::new(&json!({ "pattern": "^(a|b)*$" })).expect("a schema");
        assert_eq!(pattern.violation(&json!("ab")), Ok(None));
        assert_eq!(pattern.violation(&json!("a".repeat(TEXT + 1))), Err(TooMuch));
    }

    #[test]
    fn schema_with_local_references_is_validated() {
        let schema = json!({ "$defs": { "a/b": { "type": "string" } }, "items": { "$ref": "#/$defs/a~1b" } });
        let schema = Schema::new(&schema).expect("a schema");
        assert_eq!(schema.violation(&json!(["a"])), Ok(None));
        let wrong = schema.violation(&json!(["a", 7])).expect("judged").expect("wrong");
        assert_eq!(wrong.0, "/1");
    }
}
