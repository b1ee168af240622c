//! Tests of users and forms: the questions, the values that are filled in, and the answers that are refused.

use super::*;
use crate::mutants::policy;

const REVISION: Revision = Revision::November2025;

fn question_in(
    params: &Value,
    capabilities: &Value,
    revision: Revision,
    mutant: &str,
) -> Result<Question, (i32, String)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let params = serde_json::value::to_raw_value(params).expect("parameters");
    let terms = ClientTerms { revision, capabilities, policy: policy(mutant) };
    runtime.block_on(Question::read("elicitation/create", Some(&params), terms)).map_err(|failure| match failure {
        Failure::Question { code, reason } => (code, reason),
        other => panic!("{other}"),
    })
}

fn form(fields: &Value, required: &Value, mutant: &str) -> Form {
    let schema = json!({ "type": "object", "properties": fields, "required": required });
    let params = json!({ "message": "?", "requestedSchema": schema });
    match question_in(&params, &json!({ "elicitation": {} }), REVISION, mutant) {
        Ok(Question::Form(form)) => form,
        other => panic!("{other:?}"),
    }
}

fn accept(fields: &Value, content: &Value, mutant: &str) -> Result<Value, String> {
    let content = content.as_object().expect("content").clone();
    form(fields, &json!([]), mutant).answer(Reaction::Accept(content)).map(|answer| answer["content"].clone())
}

#[test]
fn only_declared_modes_are_answered() {
    let form = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
    let with = |mode: &str| {
        let mut params = form.clone();
        params["mode"] = json!(mode);
        params["url"] = json!("http://127.0.0.1:1/");
        params
    };
    for (is_asked, params, capabilities) in [
        (true, form.clone(), json!({ "elicitation": {} })),
        (true, with("form"), json!({ "elicitation": { "form": {}, "url": {} } })),
        (true, with("url"), json!({ "elicitation": { "url": {} } })),
        (false, form.clone(), json!({ "elicitation": { "url": {} } })),
        (false, form.clone(), json!({})),
        (false, with("url"), json!({ "elicitation": { "form": {} } })),
        (false, with("url"), json!({ "elicitation": {} })),
        (false, with("voice"), json!({ "elicitation": { "voice": {} } })),
    ] {
        let question = question_in(&params, &capabilities, REVISION, "");
        assert_eq!(question.is_ok(), is_asked, "{params} {capabilities}");
        assert!(question.is_ok() || question.is_err_and(|(code, _)| code == -32602));
        assert!(question_in(&params, &capabilities, REVISION, "undeclared-mode-answered").is_ok());
    }
}

#[test]
fn forms_are_flat_and_nothing_is_fetched() {
    let titled = json!([{ "const": "r", "title": "Red" }]);
    for (is_shown, field) in [
        (true, json!({ "type": "string", "pattern": "^a", "x-own": 1, "format": "uuid" })),
        (true, json!({ "type": "string", "enum": ["r", "g"], "enumNames": ["Red"] })),
        (true, json!({ "type": "string", "oneOf": titled })),
        (true, json!({ "type": "string", "anyOf": titled })),
        (true, json!({ "type": "array", "items": { "type": "string", "enum": ["r"] } })),
        (true, json!({ "type": "array", "items": { "anyOf": titled } })),
        (true, json!({ "type": "integer", "minimum": 1.5, "multipleOf": 2, "default": "wrong" })),
        (false, json!({ "type": "array", "items": { "oneOf": titled } })),
        (false, json!({ "type": "array", "items": { "type": "string" } })),
        (false, json!({ "type": "object" })),
        (false, json!({ "type": "string", "$ref": "http://127.0.0.1:1/" })),
        (false, json!({ "type": "string", "$ref": "#" })),
        (false, json!({ "type": "string", "enum": [1] })),
        (false, json!(true)),
    ] {
        let schema = json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": { "f": field } });
        let question = json!({ "message": "?", "requestedSchema": schema });
        let question = question_in(&question, &json!({ "elicitation": {} }), REVISION, "");
        assert_eq!(question.is_ok(), is_shown, "{field}: {question:?}");
    }
    let array = json!({ "type": "object", "properties": { "f": { "type": "array", "items": { "type": "string", "enum": ["r"] } } } });
    let question = json!({ "message": "?", "requestedSchema": array });
    assert!(question_in(&question, &json!({ "elicitation": {} }), Revision::June2025, "").is_err());
}

#[test]
fn defaults_fill_in_only_absent_answers() {
    let fields = json!({
        "s": { "type": "string", "default": "" },
        "n": { "type": "number", "default": 1.5 },
        "i": { "type": "integer", "default": 0 },
        "b": { "type": "boolean", "default": false },
        "e": { "type": "string", "enum": ["r", "g"], "default": "g" },
        "m": { "type": "array", "items": { "type": "string", "enum": ["r", "g"] }, "default": ["g"] },
        "none": { "type": "string" },
        "wrong": { "type": "integer", "default": "1" },
        "stranger": { "type": "string", "oneOf": [{ "const": "r", "title": "Red" }], "default": "Red" },
    });
    let all = json!({ "s": "", "n": 1.5, "i": 0, "b": false, "e": "g", "m": ["g"] });
    assert_eq!(accept(&fields, &json!({}), ""), Ok(all));
    let entered = json!({ "s": "x", "n": 0, "i": 7, "b": true, "e": "r", "m": [] });
    assert_eq!(accept(&fields, &entered, ""), Ok(entered.clone()));
    for reaction in [Reaction::Decline, Reaction::Cancel] {
        let action = reaction.action();
        assert_eq!(form(&fields, &json!([]), "").answer(reaction), Ok(json!({ "action": action })));
    }
    let required = form(&fields, &json!(["i"]), "").answer(Reaction::Accept(Map::new()));
    assert!(required.is_ok(), "defaults count before the answer is checked");
}

#[test]
fn only_booleans_have_defaults_in_2025_06_18() {
    let fields = json!({ "s": { "type": "string", "default": "a" }, "b": { "type": "boolean", "default": true } });
    let params = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": fields } });
    let Ok(Question::Form(form)) = question_in(&params, &json!({ "elicitation": {} }), Revision::June2025, "") else {
        panic!("a form");
    };
    let answer = form.answer(Reaction::Accept(Map::new())).expect("an answer");
    assert_eq!(answer["content"], json!({ "b": true }));
}

#[test]
fn invalid_answer_is_not_sent() {
    let fields = json!({
        "e": { "type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"] },
        "m": { "type": "array", "items": { "anyOf": [{ "const": "r", "title": "Red" }] }, "minItems": 1 },
        "i": { "type": "integer", "maximum": 9 },
    });
    for content in [
        json!({ "e": "Red" }),
        json!({ "m": [] }),
        json!({ "m": ["Red"] }),
        json!({ "m": "r" }),
        json!({ "i": 1.5 }),
        json!({ "i": 10 }),
        json!({ "other": null }),
        json!({ "other": {} }),
    ] {
        assert!(accept(&fields, &content, "").is_err(), "{content}");
        assert_eq!(accept(&fields, &content, "invalid-answer-sent"), Ok(content));
    }
    let content = json!({ "e": "g", "m": ["r"], "i": 1.0, "other": "kept" });
    assert_eq!(accept(&fields, &content, ""), Ok(content));
}

#[test]
fn each_mutant_deviates_as_described() {
    let fields = json!({
        "i": { "type": "integer", "default": 7 },
        "z": { "type": "integer", "default": 0 },
        "m": { "type": "array", "items": { "type": "string", "enum": ["r", "g"] } },
        "wrong": { "type": "integer", "default": "1" },
    });
    let entered = json!({ "i": 1, "m": ["r", "g"] });
    for (mutant, content) in [
        ("defaults-ignored", json!({ "i": 1, "m": ["r", "g"] })),
        ("defaults-overwrite-user", json!({ "i": 7, "m": ["r", "g"], "z": 0 })),
        ("defaults-falsy-lost", json!({ "i": 1, "m": ["r", "g"] })),
        ("defaults-unchecked", json!({ "i": 1, "m": ["r", "g"], "z": 0, "wrong": "1" })),
        ("defaults-as-text", json!({ "i": 1, "m": ["r", "g"], "z": "0" })),
        ("multi-select-flattened", json!({ "i": 1, "m": "r,g", "z": 0 })),
    ] {
        assert_eq!(accept(&fields, &entered, mutant), Ok(content), "{mutant:?}");
    }
    assert_eq!(accept(&fields, &json!({}), "default-wrong-value"), Ok(json!({ "i": 0, "z": 0 })));
    let declined = |mutant| form(&fields, &json!([]), mutant).answer(Reaction::Decline);
    assert_eq!(declined("defaults-on-decline"), Ok(json!({ "action": "decline", "content": { "i": 7, "z": 0 } })));
    assert_eq!(declined("content-with-decline"), Ok(json!({ "action": "decline", "content": {} })));
}

#[test]
fn user_reacts_as_scripted() {
    let user = |answers: Value| serde_json::from_value::<User>(answers);
    let mut steady = user(json!("decline")).expect("a user");
    assert!((0..3).all(|_| matches!(steady.react(), Ok(Reaction::Decline))));
    let mut leaving = user(json!([{ "accept": { "a": 1 } }, "cancel", { "accept": "as presented" }])).expect("a user");
    assert!(matches!(leaving.react(), Ok(Reaction::Accept(content)) if content.len() == 1));
    assert!(matches!(leaving.react(), Ok(Reaction::Cancel)));
    assert!(matches!(leaving.react(), Ok(Reaction::Accept(content)) if content.is_empty()));
    assert!(leaving.react().is_err());
    assert!(user(json!("Accept")).is_err());
    assert!(user(json!({ "accept": 1 })).is_err());
}
