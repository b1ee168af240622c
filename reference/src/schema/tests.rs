//! Tests of schemas: refused schemas, and valid and invalid values.

use super::*;
use crate::mutants::policy;
use serde_json::{Map, json};

fn read(schema: &Value) -> Result<Schema, SchemaError> {
    Schema::read(&schema.to_string(), policy(""))
}

/// Returns a schema whose property `v` is this one.
fn with(v: &Value, definitions: &Value) -> Value {
    json!({ "$id": "https://example.com/root", "type": "object", "properties": { "v": v }, "$defs": definitions })
}

/// Returns definitions that each refer to the next one twice.
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
fn reference_to_another_document_is_refused() {
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
fn data_and_property_names_are_not_references() {
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
fn dangling_or_endless_reference_is_refused() {
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
fn schema_over_a_limit_is_refused() {
    assert!(Schema::read(&nested(64), policy("")).is_ok());
    assert!(matches!(Schema::read(&nested(65), policy("")), Err(SchemaError::TooDeep { .. })));
    assert!(matches!(Schema::read(&nested(20_000), policy("")), Err(SchemaError::Unreadable { .. })));
    let wide = |count: usize| json!({ "anyOf": vec![json!({ "type": "string" }); count] });
    assert!(read(&wide(9_999)).is_ok());
    assert!(matches!(read(&wide(10_000)), Err(SchemaError::TooMany { .. })));
    assert!(read(&doubling(10)).is_ok());
    assert!(matches!(read(&doubling(28)), Err(SchemaError::TooManyWays { .. })));
}

#[test]
fn large_data_does_not_count_as_subschemas() {
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    assert!(read(&json!({ "const": deep, "enum": vec![deep.clone(); 200], "default": deep })).is_ok());
    assert!(read(&json!({ "enum": (0..20_000).collect::<Vec<_>>() })).is_ok());
}

#[test]
fn declared_dialect_is_used_and_unknown_one_reported() {
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
fn numbers_are_validated_by_value() {
    let schema = read(&json!({ "type": "integer", "enum": [1, 100] })).expect("a schema");
    assert_eq!(schema.check_now(&json!(1.0)), Ok(()));
    assert_eq!(schema.check_now(&json!(1e2)), Ok(()));
    assert!(schema.check_now(&json!("1")).is_err());
    assert!(schema.check_now(&json!(true)).is_err());
}

#[test]
fn hostile_pattern_finishes() {
    let text = json!(format!("{}!", "a".repeat(40)));
    for pattern in ["^(a+)+$", "^(a|a)*$", r"^(a|a)*\1$"] {
        let schema = read(&json!({ "pattern": pattern })).expect("a pattern");
        assert!(schema.check_now(&text).is_err(), "{pattern}");
    }
    assert!(read(&json!({ "pattern": "(" })).is_err());
}

#[test]
fn error_in_a_value_has_its_place() {
    let schema = read(&json!({ "properties": { "n": { "type": "integer" } } })).expect("a schema");
    let reason = schema.check_now(&json!({ "n": "x".repeat(10_000) })).expect_err("a text");
    assert!(reason.starts_with("at /n: ") && reason.len() < 400, "{reason}");
}

#[test]
fn mutants_accept_what_the_strict_policy_refuses() {
    let external = json!({ "properties": { "v": { "$ref": "http://127.0.0.1:1/a" } } }).to_string();
    for mutant in ["validation-skipped-when-uncompilable", "external-ref-ignored"] {
        let schema = Schema::read(&external, policy(mutant)).expect("anything goes");
        assert_eq!(schema.check_now(&json!({ "v": 1 })), Ok(()));
    }
    assert!(Schema::read(&nested(65), policy("depth-unlimited")).is_ok());
    assert!(Schema::read(&external, policy("prefix-check-on-ref")).is_err());
}
