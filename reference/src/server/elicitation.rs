//! Forms: the questions that a server may ask a user, and the validation of answers.
//!
//! The module takes a form as its author wrote it, and returns a form that may be sent in this revision, or the reason
//! why not. It must not know how a form is transmitted.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::edits::Hook;
use crate::forms::{allows_forms, check_root, composition, is_answer, strings, titled};
use crate::policy::Policy;
use crate::revision::Revision;
use crate::schema::{Schema, SchemaError};
use crate::server::seal::token;

/// A form that may be sent.
#[derive(Debug)]
pub(crate) struct Form {
    /// The parameters of `elicitation/create`.
    pub(crate) params: Value,
    /// The schema of a form; `None` for a URL.
    schema: Option<Schema>,
    revision: Revision,
    policy: &'static Policy,
}

/// The reason why a form may not be sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FormError {
    #[error(transparent)]
    Schema(#[from] SchemaError),
    #[error("{0} has no elicitation by URL")]
    Mode(&'static str),
    #[error("requestedSchema: {0}")]
    Root(String),
    #[error("requestedSchema: the field `{field}` {reason}")]
    Field { field: String, reason: String },
}

impl Form {
    /// Checks a form.
    ///
    /// # Errors
    /// A description of the part that the revision does not support.
    pub(crate) fn read(
        message: &str,
        requested: &str,
        revision: Revision,
        policy: &'static Policy,
    ) -> Result<Self, FormError> {
        let schema = Schema::read(requested, policy)?;
        check_root(schema.value()).map_err(FormError::Root)?;
        let fields = schema.value()["properties"].as_object().expect("the root was checked");
        if !policy.forms.may_be_empty && fields.is_empty() {
            return Err(FormError::Root("a form must have at least one field".to_owned()));
        }
        for (name, field) in fields.iter().filter(|_| policy.forms.fields_are_checked) {
            check_field(field, revision)
                .map_err(|reason| FormError::Field { field: name.clone(), reason: reason.to_owned() })?;
        }
        let mut params = json!({ "message": message, "requestedSchema": schema.value() });
        if revision.has_modes() {
            params["mode"] = json!("form");
        }
        policy.pass(Hook::Question, &mut params);
        Ok(Self { params, schema: Some(schema), revision, policy })
    }

    /// Makes an elicitation by URL.
    ///
    /// # Errors
    /// An error if the revision has none.
    pub(crate) fn of_url(
        message: &str,
        url: &str,
        id: Option<String>,
        revision: Revision,
        policy: &'static Policy,
    ) -> Result<Self, FormError> {
        if !revision.has_modes() {
            return Err(FormError::Mode(revision.name()));
        }
        let mut params = json!({ "mode": "url", "message": message, "url": url });
        if !revision.is_stateless() {
            params["elicitationId"] = json!(id.unwrap_or_else(token));
        }
        policy.pass(Hook::Question, &mut params);
        Ok(Self { params, schema: None, revision, policy })
    }

    /// The capability that the client must have.
    pub(crate) fn mode(&self) -> &'static str {
        if self.schema.is_some() { "form" } else { "url" }
    }

    /// Returns whether these client capabilities allow this elicitation.
    pub(crate) fn may_be_shown_to(&self, capabilities: &Value) -> bool {
        if self.schema.is_none() {
            return capabilities.pointer("/elicitation/url").is_some_and(Value::is_object);
        }
        let is_named = capabilities.pointer("/elicitation/form").is_some();
        allows_forms(capabilities, self.revision) && (is_named || self.policy.forms.empty_capability_counts)
    }

    /// Returns the value that the tool's code receives for an answer.
    ///
    /// # Errors
    /// The reason why the answer is invalid.
    pub(crate) async fn read_answer(&self, answer: &Value) -> Result<Value, String> {
        let answer = answer.as_object().ok_or("an answer must be an object")?;
        let action = answer.get("action").and_then(Value::as_str).ok_or("an answer must have an `action`")?;
        match action {
            "decline" | "cancel" => Ok((self.policy.forms.refusal)(self, action)),
            "accept" => self.read_content(answer).await,
            _ => Err("`action` must be accept, decline or cancel".to_owned()),
        }
    }

    /// Returns the defaults of all fields.
    pub(crate) fn defaults(&self) -> Map<String, Value> {
        let fields = self.schema.as_ref().and_then(|schema| schema.value()["properties"].as_object());
        let fields = fields.into_iter().flatten();
        fields.filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone()))).collect()
    }

    async fn read_content(&self, answer: &Map<String, Value>) -> Result<Value, String> {
        if !self.policy.forms.answers_are_checked {
            return Ok(Value::Object(answer.clone()));
        }
        let content = match answer.get("content") {
            None => None,
            Some(Value::Object(content)) => Some(content),
            Some(_) => return Err("`content` must be an object".to_owned()),
        };
        for (name, value) in content.into_iter().flatten() {
            if !is_answer(value, self.revision) {
                return Err(format!("the answer to `{name}` has a type that forms do not support"));
            }
        }
        let value = Arc::new(Value::Object(content.cloned().unwrap_or_default()));
        if !self.policy.forms.defaults_may_be_absent && self.defaults().keys().any(|name| value.get(name).is_none()) {
            return Err("a field with a default is missing".to_owned());
        }
        if let Some(schema) = &self.schema {
            schema.check(&value).await.map_err(|reason| format!("the answer is invalid: {reason}"))?;
        }
        Ok(match content {
            Some(content) => json!({ "action": "accept", "content": content }),
            None => json!({ "action": "accept" }),
        })
    }
}

type Reason = &'static str;

/// A rule for a keyword of a field: the types it applies to, the keyword, the check of its value, and the error text.
type Keyword = (&'static [&'static str], &'static str, fn(&Value) -> bool, Reason);

const KINDS: &[&str] = &["string", "number", "integer", "boolean", "array"];

const KEYWORDS: [Keyword; 17] = [
    (KINDS, "title", Value::is_string, "has a `title` that is not a string"),
    (KINDS, "description", Value::is_string, "has a `description` that is not a string"),
    (&["string"], "default", Value::is_string, "has a default that is not a string"),
    (&["string"], "enum", |value| strings(value).is_some(), "has an `enum` with items that are not strings"),
    (&["string"], "oneOf", |value| titled(value).is_some(), "has a `oneOf` that is not a list of `const` and `title`"),
    (&["string"], "enumNames", |value| strings(value).is_some(), "has `enumNames` with items that are not strings"),
    (&["string"], "minLength", is_count, "has a length that is not a natural number"),
    (&["string"], "maxLength", is_count, "has a length that is not a natural number"),
    (&["string"], "format", is_format, "has a format that forms do not support"),
    (&["number"], "default", Value::is_number, "has a default that is not a number"),
    (&["integer"], "default", is_whole, "has a default that is not an integer"),
    (&["number", "integer"], "minimum", Value::is_number, "has a bound that is not a number"),
    (&["number", "integer"], "maximum", Value::is_number, "has a bound that is not a number"),
    (&["boolean"], "default", Value::is_boolean, "has a default that is not a boolean"),
    (&["array"], "default", |value| strings(value).is_some(), "has a default that is not a list of strings"),
    (&["array"], "minItems", is_count, "has a number of choices that is not a natural number"),
    (&["array"], "maxItems", is_count, "has a number of choices that is not a natural number"),
];

fn check_field(field: &Value, revision: Revision) -> Result<(), Reason> {
    let members = field.as_object().ok_or("must be an object")?;
    let kind = match members.get("type").and_then(Value::as_str) {
        Some("array") if !revision.has_rich_forms() => {
            return Err("is a multiple choice, which this revision does not support");
        }
        Some(kind) if KINDS.contains(&kind) => kind,
        _ => return Err("must be a string, a number, a boolean or a choice"),
    };
    for (kinds, keyword, fits, reason) in KEYWORDS {
        if kinds.contains(&kind) && members.get(keyword).is_some_and(|value| !fits(value)) {
            return Err(reason);
        }
    }
    let default = members.get("default");
    if default.is_some() && kind != "boolean" && !revision.has_rich_forms() {
        return Err("has a default, which this revision supports only for booleans");
    }
    let options = match (kind, members.get("enum"), members.get("oneOf")) {
        ("array", ..) => choices(members.get("items"))?,
        ("string", Some(_), Some(_)) => return Err("has both `enum` and `oneOf`"),
        ("string", None, Some(_)) if !revision.has_rich_forms() => {
            return Err("has titled options, which this revision does not support");
        }
        ("string", options, titles) => options.and_then(strings).or_else(|| titles.and_then(titled)),
        ("number" | "integer", Some(_), _) => return Err("is a choice of numbers, which forms do not support"),
        _ => None,
    };
    let chosen = default.and_then(|default| strings(default).or_else(|| Some(vec![default.as_str()?])));
    if options.is_some_and(|options| chosen.iter().flatten().any(|choice| !options.contains(choice))) {
        return Err("has a default that is not one of its options");
    }
    check_flat(field, if kind == "string" { &["oneOf"] } else { &[] })
}

/// Returns the options of a multiple choice.
fn choices(items: Option<&Value>) -> Result<Option<Vec<&str>>, Reason> {
    let items = items.filter(|items| items.is_object()).ok_or("must define its options in `items`")?;
    check_flat(items, &["anyOf"])?;
    let options = match (items.get("enum"), items.get("anyOf")) {
        (Some(options), None) if items["type"] == "string" => strings(options),
        (None, Some(options)) => titled(options),
        _ => None,
    };
    options.map(Some).ok_or("must have `items` of type string with `enum`, or with `anyOf` of `const` and `title`")
}

fn check_flat(schema: &Value, allowed: &[&str]) -> Result<(), Reason> {
    match composition(schema) {
        Some(keyword) if !allowed.contains(&keyword) => Err("is composed of other schemas, but a form is flat"),
        _ => Ok(()),
    }
}

fn is_whole(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn is_count(value: &Value) -> bool {
    is_whole(value) && value.as_f64() >= Some(0.0)
}

fn is_format(value: &Value) -> bool {
    ["email", "uri", "date", "date-time"].iter().any(|format| value == format)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::policy;

    fn form(field: &Value, revision: Revision) -> Result<Form, FormError> {
        let schema = json!({ "type": "object", "properties": { "f": field }, "required": ["f"] });
        Form::read("?", &schema.to_string(), revision, policy(""))
    }

    fn titled_options() -> Value {
        json!([{ "const": "r", "title": "Red" }, { "const": "g", "title": "Green" }])
    }

    #[test]
    fn choice_of_each_kind_is_sent_where_the_revision_has_it() {
        let kinds = [
            (true, json!({ "type": "string", "enum": ["r", "g"] })),
            (true, json!({ "type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"] })),
            (false, json!({ "type": "string", "oneOf": titled_options() })),
            (false, json!({ "type": "array", "items": { "type": "string", "enum": ["r", "g"] }, "minItems": 1 })),
            (false, json!({ "type": "array", "items": { "anyOf": titled_options() }, "maxItems": 1 })),
        ];
        for (old, kind) in kinds {
            assert_eq!(form(&kind, Revision::June2025).is_ok(), old, "{kind}");
            form(&kind, Revision::November2025).expect("a choice");
            form(&kind, Revision::July2026).expect("a choice");
        }
    }

    #[test]
    fn form_with_unsupported_field_is_refused() {
        for field in [
            json!({ "type": "object", "properties": {} }),
            json!({ "type": "array", "items": { "type": "number" } }),
            json!({ "type": "array", "items": { "oneOf": titled_options() } }),
            json!({ "type": "string", "anyOf": titled_options() }),
            json!({ "type": "string", "format": "uuid" }),
            json!({ "type": ["string", "null"] }),
            json!({ "type": "number", "enum": [1, 2] }),
            json!({ "$ref": "#" }),
            json!(true),
        ] {
            assert!(form(&field, Revision::July2026).is_err(), "{field}");
        }
    }

    #[test]
    fn default_must_match_its_field() {
        for (right, field) in [
            (true, json!({ "type": "string", "default": "" })),
            (false, json!({ "type": "string", "default": 1 })),
            (true, json!({ "type": "integer", "default": 1.0 })),
            (false, json!({ "type": "integer", "default": 1.5 })),
            (false, json!({ "type": "boolean", "default": "true" })),
            (false, json!({ "type": "string", "enum": ["r"], "default": "Red" })),
            (false, json!({ "type": "string", "oneOf": titled_options(), "default": "Red" })),
            (true, json!({ "type": "array", "items": { "anyOf": titled_options() }, "default": ["g"] })),
            (false, json!({ "type": "array", "items": { "anyOf": titled_options() }, "default": ["Green"] })),
        ] {
            assert_eq!(form(&field, Revision::November2025).is_ok(), right, "{field}");
        }
        assert!(form(&json!({ "type": "boolean", "default": false }), Revision::June2025).is_ok());
        assert!(form(&json!({ "type": "string", "default": "x" }), Revision::June2025).is_err());
    }

    #[tokio::test]
    async fn only_valid_answers_reach_the_tool() {
        let form = form(&json!({ "type": "string", "enum": ["r"] }), Revision::July2026).expect("a form");
        let accepted = json!({ "action": "accept", "content": { "f": "r" } });
        assert_eq!(form.read_answer(&accepted).await, Ok(accepted));
        let declined = form.read_answer(&json!({ "action": "decline", "content": { "f": "r" } })).await;
        assert_eq!(declined, Ok(json!({ "action": "decline" })));
        for wrong in [
            json!({ "action": "accept" }),
            json!({ "action": "accept", "content": { "f": "Red" } }),
            json!({ "action": "accept", "content": { "f": "r", "x": {} } }),
            json!({ "action": "accept", "content": [] }),
            json!({ "action": "ACCEPT", "content": { "f": "r" } }),
            json!({ "content": { "f": "r" } }),
            json!("accept"),
        ] {
            assert!(form.read_answer(&wrong).await.is_err(), "{wrong}");
        }
    }

    #[test]
    fn forms_need_an_empty_or_a_form_capability() {
        let form = form(&json!({ "type": "boolean" }), Revision::November2025).expect("a form");
        for (allowed, capabilities) in [
            (true, json!({ "elicitation": {} })),
            (true, json!({ "elicitation": { "form": {} } })),
            (true, json!({ "elicitation": { "form": {}, "url": {} } })),
            (false, json!({ "elicitation": { "url": {} } })),
            (false, json!({ "elicitation": null })),
            (false, json!({})),
        ] {
            assert_eq!(form.may_be_shown_to(&capabilities), allowed, "{capabilities}");
        }
    }
}
