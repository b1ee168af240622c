//! Arguments that are derived from schemas, and schemas from which none can be derived.

use super::*;
use crate::fuzz::fuzz;

fn listed(schema: &Value) -> ListedSchema {
    ListedSchema::read(&schema.to_string(), Revision::newest()).expect("a schema that can be evaluated")
}

fn refused(schema: &Value, may_run: bool) -> Vec<Value> {
    let schema = listed(schema);
    let values = schema.refused(may_run, None);
    assert!(values.iter().all(|value| schema.violation(value).is_some()), "{values:?}");
    assert!(values.len() <= CALLS);
    values
}

/// The schema of a tool with an argument of each kind.
fn order() -> Value {
    json!({
        "type": "object",
        "properties": {
            "city": { "type": "string", "minLength": 2, "maxLength": 20 },
            "day": { "enum": ["Monday", "Tuesday"] },
            "hour": { "type": "integer", "minimum": 0, "maximum": 23 },
            "note": { "type": "string" }
        },
        "required": ["city", "day"],
        "additionalProperties": false
    })
}

#[test]
fn accepted_arguments_fit_the_schema() {
    for (schema, expected) in [
        (order(), json!({"city": "casebook", "day": "Monday"})),
        (json!({"type": "object"}), json!({})),
        (json!(true), json!({})),
        (
            json!({
                "$defs": {"point": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}},
                "type": "object",
                "properties": {"at": {"$ref": "#/$defs/point"}, "tags": {"type": "array", "minItems": 2}},
                "required": ["at", "tags"]
            }),
            json!({"at": {"x": 1}, "tags": ["casebook", "casebook"]}),
        ),
        (
            json!({"type": "object", "anyOf": [{"required": ["id"]}, {"required": ["name"]}],
                   "properties": {"id": {"type": "integer", "exclusiveMinimum": 4, "multipleOf": 5}}}),
            json!({"id": 5}),
        ),
        (
            json!({"type": "object", "required": ["a", "b", "c"], "properties": {
                "a": {"type": ["null", "boolean"]}, "b": {"const": 7},
                "c": {"anyOf": [{"type": "null"}, {"type": "string", "format": "date"}]}}}),
            json!({"a": false, "b": 7, "c": "2026-01-01"}),
        ),
    ] {
        assert_eq!(listed(&schema).accepted().first(), Some(&expected), "{schema}");
    }
    // A pattern that no example fits, a schema that nothing fits, and one that is too long to be met.
    for schema in [
        json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "pattern": "^[0-9]+$"}}}),
        json!({"type": "object", "required": ["a"], "properties": {"a": false}}),
        json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "minLength": 1_000_000}}}),
    ] {
        assert_eq!(listed(&schema).accepted(), Vec::<Value>::new(), "{schema}");
    }
}

#[test]
fn one_text_of_all_members_has_letters_beyond_ascii() {
    for (schema, expected) in [
        (order(), json!({"city": "zürich 世界", "day": "Monday", "hour": 1, "note": "casebook"})),
        (json!({"properties": {"a": {"type": "string", "maxLength": 3}}}), json!({"a": "zür"})),
        (json!({"properties": {"a": {"type": "string", "minLength": 11}}}), json!({"a": "zürich 世界cc"})),
        (
            json!({"properties": {"a": {"type": "string", "pattern": "^c"}, "b": {"type": "string"}}}),
            json!({"a": "casebook", "b": "zürich 世界"}),
        ),
        (json!({"properties": {"a": {"type": "string"}}, "propertyNames": false}), json!({})),
        (json!({"properties": {"a": {"allOf": [{"pattern": "^c"}], "type": "string"}}}), json!({"a": "casebook"})),
    ] {
        assert_eq!(listed(&schema).accepted().last(), Some(&expected), "{schema}");
    }
}

#[test]
fn each_kind_of_refused_arguments_is_made() {
    let base = json!({"city": "casebook", "day": "Monday", "hour": 1, "note": "casebook"});
    let with = |name: &str, value: Value| {
        let mut changed = base.clone();
        changed[name] = value;
        changed
    };
    let mut without = base.clone();
    without.as_object_mut().expect("an object").remove("city");
    let expected = [
        without,
        with("city", json!({"casebook": "refused"})),
        with("day", json!("casebook-not-offered")),
        with("hour", json!(-1)),
        with("city", json!("c")),
        with("casebook-additional", json!(1)),
        json!({}),
        json!({"city": {"casebook": "refused"}, "day": {"casebook": "refused"}}),
    ];
    assert_eq!(refused(&order(), true), expected);
}

#[test]
fn without_permission_no_arguments_can_be_of_use() {
    let hopeless = [json!({}), json!({"city": {"casebook": "refused"}, "day": {"casebook": "refused"}})];
    assert_eq!(refused(&order(), false), [&hopeless[..], &[json!(["casebook"])]].concat());
    // A tool without required members runs with anything, and a default replaces what is missing.
    for schema in [
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}),
        json!({"type": "object", "properties": {"a": {"type": "string", "default": "x"}}, "required": ["a"]}),
        json!({}),
    ] {
        assert_eq!(refused(&schema, false), Vec::<Value>::new(), "{schema}");
    }
    // An argument that accepts objects gets another type, and none if it accepts every type.
    let one = |property: Value| json!({"type": "object", "properties": {"a": property}, "required": ["a"]});
    let object = json!({"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]});
    for property in [object.clone(), json!({"anyOf": [{"type": "number"}, object]})] {
        assert_eq!(refused(&one(property), false)[1], json!({"a": ["casebook"]}));
    }
    assert_eq!(refused(&one(json!({})), false), [json!({}), json!(["casebook"])]);
    // A text, a number or a truth value could be of use, for example as a name, even if the schema refuses it.
    for property in [
        json!({"pattern": "^[0-9]+$"}),
        json!({"anyOf": [{"type": "object"}, {"type": "array"}]}),
        json!({"not": {"type": "string"}}),
    ] {
        assert_eq!(refused(&one(property), false), [json!({}), json!(["casebook"])]);
    }
}

#[test]
fn schema_that_cannot_be_evaluated_gives_no_arguments() {
    let deep = (0..LEVELS).fold(json!({}), |inner, _| json!({ "not": inner }));
    for schema in [
        json!({"type": "object", "properties": {"a": {"allOf": [{"$ref": "#/properties/a"}]}}, "required": ["a"]}),
        json!({"type": "object", "$ref": "https://example.com/schema"}),
        json!({"type": "object", "required": 7}),
        json!({"type": "object", "properties": {"a": {"pattern": "(a+)\\1"}}}),
        json!({"type": "object", "description": "x".repeat(BYTES)}),
        deep,
    ] {
        assert!(ListedSchema::read(&schema.to_string(), Revision::newest()).is_none(), "{schema}");
    }
    assert!(ListedSchema::read(r#"{"type":"object","type":"string"}"#, Revision::newest()).is_none());
    assert!(ListedSchema::read("{", Revision::newest()).is_none());
}

#[test]
fn fuzzed_schema_gives_only_arguments_that_it_refuses_or_accepts() {
    let chain = |length: usize| {
        let link = |index: usize| {
            let next = json!({"$ref": format!("#/$defs/d{}", index + 1)});
            (format!("d{index}"), json!({"type": "object", "properties": {"a": next}, "required": ["a"]}))
        };
        let mut defs: Map<_, _> = (0..length).map(link).collect();
        defs.insert(format!("d{length}"), json!({"type": "string"}));
        json!({"type": "object", "$defs": defs, "properties": {"a": {"$ref": "#/$defs/d0"}}, "required": ["a"]})
    };
    let wide: Map<_, _> = (0..500).map(|index| (format!("p{index}"), json!({"minLength": 2}))).collect();
    let seeds = [order(), chain(60), json!({"type": "object", "properties": wide, "required": ["p1"]})];
    fuzz("arguments", seeds.map(|seed| seed.to_string().into_bytes()), |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let Some(schema) = ListedSchema::read(text, Revision::newest()) else { return };
        for may_run in [false, true] {
            let refused = schema.refused(may_run, None);
            assert!(refused.len() <= CALLS && refused.iter().all(|value| !schema.accepts(value)));
        }
        assert!(schema.accepted().iter().all(|value| schema.accepts(value)));
    });
}

#[test]
fn without_a_dialect_only_what_both_dialects_say_is_said() {
    let oldest = Revision::all().next().expect("a revision");
    let check = |schema: &Value, value: Value, revision| {
        let schema = ListedSchema::read(&schema.to_string(), revision).expect("a schema");
        schema.check(&value).map(|violation| violation.is_none())
    };
    let beside =
        json!({"properties": {"n": {"$ref": "#/$defs/n", "maximum": 10}}, "$defs": {"n": {"type": "integer"}}});
    let wanted = [(json!(3), Ok(true)), (json!("x"), Ok(false)), (json!(11), Err(Undecided))];
    for (value, of_oldest) in wanted {
        let arguments = json!({ "n": value });
        assert_eq!(check(&beside, arguments.clone(), oldest), of_oldest);
        assert_eq!(check(&beside, arguments, Revision::newest()), Ok(value == 3));
    }
    let mut named = beside;
    named["$schema"] = json!("https://json-schema.org/draft/2019-09/schema");
    assert_eq!(check(&named, json!({"n": 11}), oldest), Ok(false));
}
