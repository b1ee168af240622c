//! Schemas that came from outside: what is accepted, and what fits them.
//!
//! Takes text and the bounds, gives a compiled schema or the reason against it. Nothing is ever fetched (but by a
//! mutant), and checking a value is bounded in time. Must not know tools, methods or transports.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value};

use super::fetch::Fetch;
use super::mutant::Mutant;
use super::references;
use crate::model::nesting;

/// How long one value may take.
const BUDGET: Duration = Duration::from_secs(2);

/// How often a pattern with look-around or back-references may backtrack.
const BACKTRACKS: usize = 100_000;

/// Levels of a value times the longest chain of subschemas for each: what the stack of a thread must hold.
const STEPS: usize = 20_000;

/// How large a schema may be.
pub(super) struct Bounds {
    /// Levels of subschemas.
    pub(super) depth: usize,
    /// Subschemas.
    pub(super) count: usize,
    /// Ways through the subschemas that judge one value.
    pub(super) ways: usize,
    /// Subschemas in a row that judge one value.
    pub(super) chain: usize,
}

const BOUNDS: Bounds = Bounds { depth: 64, count: 10_000, ways: 100_000, chain: 1_024 };
const UNBOUNDED: Bounds = Bounds { depth: usize::MAX, count: usize::MAX, ways: usize::MAX, chain: usize::MAX };

/// Why a schema is not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum SchemaError {
    #[error("a schema must be an object")]
    NotAnObject,
    #[error("the schema can't be read: {reason}")]
    Unreadable { reason: String },
    #[error("the schema has more than {limit} levels of subschemas")]
    TooDeep { limit: usize },
    #[error("the schema has more than {limit} subschemas")]
    TooMany { limit: usize },
    #[error("one value would be judged in more than {limit} ways")]
    TooManyWays { limit: usize },
    #[error("more than {limit} subschemas in a row judge one value")]
    TooLong { limit: usize },
    #[error("the dialect `{uri}` is not supported")]
    Dialect { uri: String },
    #[error("the reference `{reference}` leads out of the document, and nothing is fetched")]
    External { reference: String },
    #[error("the reference `{reference}` leads nowhere: {reason}")]
    Dangling { reference: String, reason: String },
    #[error("a subschema refers to itself without taking anything off the value")]
    Endless,
    #[error("the schema is not valid: {reason}")]
    Invalid { reason: String },
}

/// A schema, ready for use. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Schema(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    value: Value,
    /// `None` accepts everything; only mutants have it.
    validator: Option<Validator>,
    chain: usize,
    /// How long one value may take.
    budget: Duration,
    /// A check outlived its budget. It can't be stopped, so there must not be a second one.
    is_exhausted: AtomicBool,
}

impl Schema {
    /// Reads and compiles a schema.
    ///
    /// # Errors
    /// The reason against it.
    pub(super) fn read(text: &str, mutant: Option<Mutant>) -> Result<Self, SchemaError> {
        let value = tree(text, mutant)?;
        let Value::Object(members) = value else { return Err(SchemaError::NotAnObject) };
        let value = mutated(members, mutant);
        let budget = if mutant == Some(Mutant::DepthUnlimited) { Duration::MAX } else { BUDGET };
        let (validator, chain) = match compile(&value, mutant) {
            Ok((validator, chain)) => (Some(validator), chain),
            Err(_) if mutant == Some(Mutant::ValidationSkippedWhenUncompilable) => (None, 1),
            Err(error) => return Err(error),
        };
        Ok(Self(Arc::new(Compiled { value, validator, chain, budget, is_exhausted: AtomicBool::new(false) })))
    }

    /// The schema itself.
    pub(super) fn value(&self) -> &Value {
        &self.0.value
    }

    /// Checks a value, away from the tasks that talk to others.
    ///
    /// # Errors
    /// The first thing that is wrong with the value, with its place.
    pub(super) async fn check(&self, value: &Arc<Value>) -> Result<(), String> {
        let too_long = || Err(format!("checking a value by this schema takes more than {} s", self.0.budget.as_secs()));
        if self.0.is_exhausted.load(Ordering::Relaxed) {
            return too_long();
        }
        let (schema, value) = (self.clone(), value.clone());
        let work = tokio::task::spawn_blocking(move || schema.check_now(&value));
        match tokio::time::timeout(self.0.budget, work).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err("the value could not be checked".to_owned()),
            Err(_) => {
                self.0.is_exhausted.store(true, Ordering::Relaxed);
                too_long()
            }
        }
    }

    /// Checks a value here and now.
    ///
    /// # Errors
    /// The first thing that is wrong with the value, with its place.
    pub(super) fn check_now(&self, value: &Value) -> Result<(), String> {
        let Some(validator) = &self.0.validator else { return Ok(()) };
        if levels(value).saturating_mul(self.0.chain) > STEPS {
            return Err("the value is nested too deeply for this schema".to_owned());
        }
        validator.validate(value).map_err(|error| {
            let place = match error.instance_path().as_str() {
                "" => "the root",
                place => place,
            };
            format!("at {place}: {}", shortened(&error.to_string()))
        })
    }
}

fn tree(text: &str, mutant: Option<Mutant>) -> Result<Value, SchemaError> {
    let unreadable = |reason: String| SchemaError::Unreadable { reason };
    if mutant == Some(Mutant::DepthUnlimited) {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        deserializer.disable_recursion_limit();
        return serde::Deserialize::deserialize(&mut deserializer)
            .map_err(|error: serde_json::Error| unreadable(error.to_string()));
    }
    nesting::read(text.as_bytes()).map_err(|error| unreadable(error.to_string()))
}

fn mutated(mut members: Map<String, Value>, mutant: Option<Mutant>) -> Value {
    if mutant == Some(Mutant::KeywordStripped) {
        members.shift_remove("anyOf");
    }
    let mut value = Value::Object(members);
    if mutant == Some(Mutant::ExternalRefIgnored) {
        ignore_external(&mut value);
    }
    value
}

fn ignore_external(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(ignore_external),
        Value::Object(members) => {
            for keyword in ["$ref", "$dynamicRef"] {
                if members.get(keyword).and_then(Value::as_str).is_some_and(|reference| !reference.starts_with('#')) {
                    members.shift_remove(keyword);
                }
            }
            members.values_mut().for_each(ignore_external);
        }
        _ => {}
    }
}

fn refuse_by_prefix(value: &Value) -> Result<(), SchemaError> {
    match value {
        Value::Array(items) => items.iter().try_for_each(refuse_by_prefix),
        Value::Object(members) => match members.get("$ref").and_then(Value::as_str) {
            Some(reference) if reference.starts_with("http:") || reference.starts_with("https:") => {
                Err(SchemaError::External { reference: reference.to_owned() })
            }
            _ => members.values().try_for_each(refuse_by_prefix),
        },
        _ => Ok(()),
    }
}

fn compile(schema: &Value, mutant: Option<Mutant>) -> Result<(Validator, usize), SchemaError> {
    let bounds = if mutant == Some(Mutant::DepthUnlimited) { &UNBOUNDED } else { &BOUNDS };
    let draft = references::dialect(schema, Draft::default())?;
    let options = jsonschema::options().with_draft(draft);
    let fetch = Fetch::of(mutant);
    if mutant == Some(Mutant::PrefixCheckOnRef) {
        refuse_by_prefix(schema)?;
    }
    let chain = match (references::survey(schema, draft, bounds), fetch) {
        (Err(SchemaError::External { .. }), Some(_)) => 1,
        (chain, _) => chain?,
    };
    let options = match fetch {
        Some(fetch) => options.with_retriever(fetch),
        None => options.offline(),
    };
    // The linear engine first; what it can't express falls to one that backtracks, with a limit.
    let validator = options.clone().with_pattern_options(PatternOptions::regex()).build(schema).or_else(|_| {
        options.with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS)).build(schema)
    });
    let validator = validator.map_err(|error| SchemaError::Invalid {
        reason: format!("at {}: {}", error.instance_path().as_str(), shortened(&error.to_string())),
    })?;
    Ok((validator, chain))
}

/// How deeply a value is nested; a scalar is one level.
fn levels(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(levels).max().unwrap_or(0),
        Value::Object(members) => members.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

/// Messages quote the value, which may be large.
fn shortened(text: &str) -> String {
    const MOST: usize = 300;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(schema: &Value) -> Result<Schema, SchemaError> {
        Schema::read(&schema.to_string(), None)
    }

    /// A schema whose property `v` is this one.
    fn with(v: &Value, definitions: &Value) -> Value {
        json!({ "$id": "https://example.com/root", "type": "object", "properties": { "v": v }, "$defs": definitions })
    }

    /// Each level refers twice to the next.
    fn doubling(levels: usize) -> Value {
        let level = |n: usize| {
            let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
            (format!("d{n}"), json!({ "allOf": [next, next] }))
        };
        let mut definitions: Map<_, _> = (0..levels).map(level).collect();
        definitions.insert(format!("d{levels}"), json!({ "type": "string" }));
        with(&json!({ "$ref": "#/$defs/d0" }), &Value::Object(definitions))
    }

    fn nested(levels: usize) -> String {
        let open = r#"{"type":"object","properties":{"p":"#.repeat(levels - 1);
        format!(r#"{open}{{"type":"string"}}{}"#, "}}".repeat(levels - 1))
    }

    #[test]
    fn references_within_the_document_are_enforced() {
        let string = json!({ "type": "string" });
        for (reference, definitions) in [
            (json!({ "$ref": "#/$defs/a~1b%20c" }), json!({ "a/b c": string })),
            (json!({ "$ref": "#name" }), json!({ "a": { "$anchor": "name", "type": "string" } })),
            (json!({ "$dynamicRef": "#name" }), json!({ "a": { "$dynamicAnchor": "name", "type": "string" } })),
            (json!({ "$ref": "inner" }), json!({ "a": { "$id": "https://example.com/inner", "type": "string" } })),
            (json!({ "$ref": "https://example.com/root#/$defs/a" }), json!({ "a": string })),
            (json!({ "$id": "x/y", "$ref": "z" }), json!({ "a": { "$id": "x/z", "type": "string" } })),
        ] {
            let schema = read(&with(&reference, &definitions)).unwrap_or_else(|error| panic!("{reference}: {error}"));
            assert_eq!(schema.check_now(&json!({ "v": "a" })), Ok(()), "{reference}");
            assert!(schema.check_now(&json!({ "v": 1 })).is_err(), "{reference}");
        }
    }

    #[test]
    fn references_out_of_the_document_are_refused_whatever_their_form() {
        for reference in [
            json!({ "$ref": "http://127.0.0.1:1/a" }),
            json!({ "$ref": "child.json" }),
            json!({ "$ref": "file:///etc/hostname" }),
            json!({ "$ref": "urn:example:a" }),
            json!({ "$dynamicRef": "other#name" }),
            json!({ "$id": "http://127.0.0.1:1/", "properties": { "a": { "$ref": "b" } } }),
            json!({ "$ref": "https://json-schema.org/draft/2020-12/schema" }),
        ] {
            let refused = read(&with(&reference, &json!({}))).expect_err("a reference out of the document");
            assert!(matches!(refused, SchemaError::External { .. }), "{reference}: {refused}");
            let unused = json!({ "type": "object", "$defs": { "unused": reference } });
            assert!(matches!(read(&unused), Err(SchemaError::External { .. })), "{reference}");
        }
    }

    #[test]
    fn data_and_names_of_properties_are_no_references() {
        let data = json!({ "$ref": "http://127.0.0.1:1/a", "$id": "http://127.0.0.1:1/b" });
        for v in [
            json!({ "const": data }),
            json!({ "enum": [data] }),
            json!({ "default": data, "examples": [data] }),
            json!({ "properties": { "$ref": { "type": "string" }, "$id": true, "$schema": true } }),
        ] {
            let schema = read(&with(&v, &json!({}))).unwrap_or_else(|error| panic!("{v}: {error}"));
            assert_eq!(schema.check_now(&json!({ "v": data })), Ok(()), "{v}");
        }
    }

    #[test]
    fn references_that_lead_nowhere_or_never_end_are_refused() {
        let dangling = |v| matches!(read(&with(&v, &json!({}))), Err(SchemaError::Dangling { .. }));
        assert!(dangling(json!({ "$ref": "#/$defs/missing" })));
        assert!(dangling(json!({ "$ref": "#missing" })));
        for endless in [
            json!({ "$ref": "#" }),
            json!({ "allOf": [{ "$ref": "#" }] }),
            json!({ "$ref": "#/$defs/a", "$defs": { "a": { "not": { "$ref": "#/$defs/b" } }, "b": { "$ref": "#/$defs/a" } } }),
        ] {
            assert!(matches!(read(&endless), Err(SchemaError::Endless)), "{endless}");
        }
        let tree = json!({ "type": "object", "properties": { "c": { "items": { "$ref": "#" } } } });
        let tree = read(&tree).expect("each round takes a level off the value");
        assert!(tree.check_now(&json!({ "c": [{ "c": [{ "c": [1] }] }] })).is_err());
    }

    #[test]
    fn schemas_are_bounded_in_depth_number_and_work() {
        assert!(Schema::read(&nested(64), None).is_ok());
        assert!(matches!(Schema::read(&nested(65), None), Err(SchemaError::TooDeep { .. })));
        assert!(matches!(Schema::read(&nested(20_000), None), Err(SchemaError::Unreadable { .. })));
        let wide = |count: usize| json!({ "anyOf": vec![json!({ "type": "string" }); count] });
        assert!(read(&wide(9_999)).is_ok());
        assert!(matches!(read(&wide(10_000)), Err(SchemaError::TooMany { .. })));
        assert!(read(&doubling(10)).is_ok());
        assert!(matches!(read(&doubling(28)), Err(SchemaError::TooManyWays { .. })));
    }

    #[test]
    fn large_data_is_no_large_schema() {
        let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
        assert!(read(&json!({ "const": deep, "enum": vec![deep.clone(); 200], "default": deep })).is_ok());
        assert!(read(&json!({ "enum": (0..20_000).collect::<Vec<_>>() })).is_ok());
    }

    #[test]
    fn the_declared_dialect_counts_and_an_unknown_one_is_named() {
        let tuple = json!({ "$schema": "http://json-schema.org/draft-07/schema#", "items": [{ "type": "string" }] });
        assert!(read(&tuple).expect("a tuple of draft-07").check_now(&json!([1])).is_err());
        assert!(read(&json!({ "items": [{ "type": "string" }] })).is_err());
        let own = "https://example.com/dialect";
        for schema in [json!({ "$schema": own }), json!({ "$defs": { "a": { "$id": "urn:a", "$schema": own } } })] {
            assert!(read(&schema).expect_err("a dialect of one's own").to_string().contains(own), "{schema}");
        }
        assert!(read(&json!({ "$schema": "https://json-schema.org/draft/2020-12/schema#" })).is_ok());
    }

    #[test]
    fn numbers_are_judged_by_value() {
        let schema = read(&json!({ "type": "integer", "enum": [1, 100] })).expect("a schema");
        assert_eq!(schema.check_now(&json!(1.0)), Ok(()));
        assert_eq!(schema.check_now(&json!(1e2)), Ok(()));
        assert!(schema.check_now(&json!("1")).is_err());
        assert!(schema.check_now(&json!(true)).is_err());
    }

    #[test]
    fn patterns_end() {
        let text = json!(format!("{}!", "a".repeat(40)));
        for pattern in ["^(a+)+$", "^(a|a)*$", r"^(a|a)*\1$"] {
            let schema = read(&json!({ "pattern": pattern })).expect("a pattern");
            assert!(schema.check_now(&text).is_err(), "{pattern}");
        }
        assert!(read(&json!({ "pattern": "(" })).is_err());
    }

    #[test]
    fn what_is_wrong_with_a_value_has_its_place() {
        let schema = read(&json!({ "properties": { "n": { "type": "integer" } } })).expect("a schema");
        let reason = schema.check_now(&json!({ "n": "x".repeat(10_000) })).expect_err("a text");
        assert!(reason.starts_with("at /n: ") && reason.len() < 400, "{reason}");
    }

    #[test]
    fn mutants_are_lax_where_their_names_say_so() {
        let external = json!({ "properties": { "v": { "$ref": "http://127.0.0.1:1/a" } } }).to_string();
        for mutant in [Mutant::ValidationSkippedWhenUncompilable, Mutant::ExternalRefIgnored] {
            let schema = Schema::read(&external, Some(mutant)).expect("anything goes");
            assert_eq!(schema.check_now(&json!({ "v": 1 })), Ok(()));
        }
        assert!(Schema::read(&nested(65), Some(Mutant::DepthUnlimited)).is_ok());
        let literal = Schema::read(&external, Some(Mutant::PrefixCheckOnRef));
        assert!(matches!(literal, Err(SchemaError::External { .. })));
    }
}
