//! The user: reading the server's questions, and sending the answers.
//!
//! The module takes the parameters of an elicitation and the answers in the script, and returns a valid answer or the
//! reason why none is sent. It must not know how questions and answers are transmitted.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::incoming::members;
use crate::fetch;
use crate::forms::{allows_forms, check_root, composition, is_answer, strings, titled};
use crate::nesting;
use crate::policy::{Policy, UserPolicy};
use crate::revision::Revision;
use crate::schema::{BUDGET, Schema};

/// The user's reaction to a question.
#[derive(Clone, Debug)]
pub(super) enum Reaction {
    Accept(Map<String, Value>),
    Decline,
    Cancel,
}

impl<'de> Deserialize<'de> for Reaction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        match (value.as_str(), value.get("accept")) {
            (Some("accept"), _) => Ok(Self::Accept(Map::new())),
            (Some("decline"), _) => Ok(Self::Decline),
            (Some("cancel"), _) => Ok(Self::Cancel),
            (_, Some(Value::String(how))) if how == "as presented" => Ok(Self::Accept(Map::new())),
            (_, Some(Value::Object(content))) => Ok(Self::Accept(content.clone())),
            _ => Err(D::Error::custom("a user accepts with content or \"as presented\", declines or cancels")),
        }
    }
}

/// The user.
#[derive(Debug, Default)]
pub(super) enum User {
    #[default]
    Nobody,
    /// A user who reacts to every question in the same way.
    Constant(Reaction),
    /// A user with one reaction for each of the first questions, and none for later ones.
    InTurn(VecDeque<Reaction>),
}

impl<'de> Deserialize<'de> for User {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |value| serde_json::from_value(value).map_err(D::Error::custom);
        Ok(match Value::deserialize(deserializer)? {
            Value::Null => Self::Nobody,
            Value::Array(reactions) => Self::InTurn(reactions.into_iter().map(read).collect::<Result<_, _>>()?),
            reaction => Self::Constant(read(reaction)?),
        })
    }
}

impl User {
    /// Returns the user's next reaction.
    ///
    /// # Errors
    /// If there is no user, or no reaction is left.
    pub(super) fn react(&mut self) -> Result<Reaction, Failure> {
        let reaction = match self {
            Self::Nobody => None,
            Self::Constant(reaction) => Some(reaction.clone()),
            Self::InTurn(reactions) => reactions.pop_front(),
        };
        reaction.ok_or_else(|| failure(-32603, "there is no user to answer"))
    }
}

/// The revision, capabilities and policy that determine which questions are accepted.
#[derive(Clone, Copy)]
pub(super) struct ClientTerms<'a> {
    pub(super) revision: Revision,
    pub(super) capabilities: &'a Value,
    pub(super) policy: &'static Policy,
}

/// A question that the user may be asked.
#[derive(Clone, Debug)]
pub(super) enum Question {
    Form(Form),
    /// A URL to visit, without fields to fill in.
    Visit(&'static Policy),
}

/// A form that the user may be shown.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    schema: Schema,
    revision: Revision,
    policy: &'static Policy,
}

#[derive(Deserialize)]
struct Params {
    mode: Option<Value>,
    message: Option<Value>,
    #[serde(rename = "requestedSchema")]
    requested_schema: Option<Box<RawValue>>,
    url: Option<Value>,
}

fn failure(code: i32, reason: impl Into<String>) -> Failure {
    Failure::Question { code, reason: reason.into() }
}

fn refused(reason: impl Into<String>) -> Failure {
    failure(-32602, reason)
}

impl Question {
    /// Reads a request of the server.
    ///
    /// # Errors
    /// The reason why the user is not asked.
    pub(super) async fn read(method: &str, params: Option<&RawValue>, terms: ClientTerms<'_>) -> Result<Self, Failure> {
        if method != "elicitation/create" {
            return Err(failure(-32601, format!("`{method}` was not declared")));
        }
        let params = params.ok_or_else(|| refused("`params` is missing"))?;
        if nesting::is_too_deep(params.get().as_bytes()) {
            return Err(refused("the request is nested too deeply"));
        }
        let params: Params = members(params).map_err(refused)?;
        let policy = &terms.policy.user;
        if policy.fetches_urls
            && let Some(url) = params.url.as_ref().and_then(Value::as_str).map(str::to_owned)
        {
            let _ignored = tokio::task::spawn_blocking(move || fetch::look_at(&url)).await;
        }
        let modes = terms.capabilities.get("elicitation");
        match params.mode.as_ref().map(Value::as_str) {
            None if policy.needs_mode => Err(refused("`mode` is missing")),
            _ if policy.answers_undeclared_modes => Form::read(&params, terms).await.map(Self::Form),
            None | Some(Some("form")) if allows_forms(terms.capabilities, terms.revision) => {
                Form::read(&params, terms).await.map(Self::Form)
            }
            Some(Some("url")) if modes.and_then(|modes| modes.get("url")).is_some_and(Value::is_object) => {
                if params.url.is_some_and(|url| url.is_string()) {
                    Ok(Self::Visit(terms.policy))
                } else {
                    Err(refused("`url` must be a string"))
                }
            }
            None => Err(refused("elicitation with forms was not declared")),
            Some(mode) => Err(refused(format!("the elicitation mode `{}` was not declared", mode.unwrap_or("?")))),
        }
    }

    /// Returns the answer for a reaction of the user.
    ///
    /// # Errors
    /// The reason why the answer cannot be sent.
    pub(super) async fn answer(&self, reaction: Reaction) -> Result<Value, Failure> {
        match self {
            Self::Visit(policy) => Ok(match reaction {
                Reaction::Accept(content) if policy.user.visit_has_content => {
                    json!({ "action": "accept", "content": content })
                }
                reaction => json!({ "action": reaction.action() }),
            }),
            Self::Form(form) => {
                let form = form.clone();
                let work = tokio::task::spawn_blocking(move || form.answer(reaction));
                match tokio::time::timeout(BUDGET, work).await {
                    Ok(Ok(answer)) => answer.map_err(|reason| failure(-32603, reason)),
                    _ => Err(failure(-32603, "the answer could not be validated in time")),
                }
            }
        }
    }
}

impl Reaction {
    fn action(&self) -> &'static str {
        match self {
            Self::Accept(_) => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }
}

impl Form {
    async fn read(params: &Params, terms: ClientTerms<'_>) -> Result<Self, Failure> {
        let is_lax = terms.policy.user.answers_undeclared_modes;
        if !is_lax && !params.message.as_ref().is_some_and(Value::is_string) {
            return Err(refused("`message` must be a string"));
        }
        let schema = match &params.requested_schema {
            Some(schema) => schema.get().to_owned(),
            None if is_lax => r#"{"type":"object","properties":{}}"#.to_owned(),
            None => return Err(refused("`requestedSchema` is missing")),
        };
        let schema = Schema::read_in_time(schema, terms.policy).await;
        let schema = schema.map_err(|error| refused(format!("requestedSchema: {error}")))?;
        let form = Self { schema, revision: terms.revision, policy: terms.policy };
        check_root(form.schema.value()).map_err(|reason| refused(format!("requestedSchema: {reason}")))?;
        if !terms.policy.forms.may_be_empty && form.fields().is_empty() {
            return Err(refused("a form must have at least one field"));
        }
        for (name, field) in form.fields() {
            check_field(field, terms.revision).map_err(|reason| refused(format!("the field `{name}` {reason}")))?;
        }
        Ok(form)
    }

    fn fields(&self) -> &Map<String, Value> {
        self.schema.value()["properties"].as_object().expect("the root was checked")
    }

    fn answer(&self, reaction: Reaction) -> Result<Value, String> {
        let action = reaction.action();
        let content = match reaction {
            Reaction::Accept(content) => Some(self.content(content)?),
            _ => (self.policy().refusal_content)(self),
        };
        Ok(match content {
            Some(content) => json!({ "action": action, "content": content }),
            None => json!({ "action": action }),
        })
    }

    fn policy(&self) -> &'static UserPolicy {
        &self.policy.user
    }

    fn content(&self, content: Map<String, Value>) -> Result<Map<String, Value>, String> {
        if !self.policy().defaults_are_checked {
            return self.check(content).map(|content| self.filled(content));
        }
        let entered: BTreeSet<String> = content.keys().cloned().collect();
        let mut content = self.check(self.filled(content))?;
        for (name, value) in &mut content {
            (self.policy().on_sent)(value, entered.contains(name));
        }
        Ok(content)
    }

    fn check(&self, content: Map<String, Value>) -> Result<Map<String, Value>, String> {
        if !self.policy().answers_are_checked {
            return Ok(content);
        }
        if let Some((name, _)) = content.iter().find(|(_, value)| !is_answer(value, self.revision)) {
            return Err(format!("the answer to `{name}` has a type that forms do not support"));
        }
        let value = Value::Object(content);
        self.schema.check_now(&value).map_err(|reason| format!("the answer is invalid: {reason}"))?;
        let Value::Object(content) = value else { unreachable!("it was made of an object") };
        Ok(content)
    }

    /// Fills in the fields that the user left out and that have a valid default.
    pub(crate) fn filled(&self, mut content: Map<String, Value>) -> Map<String, Value> {
        let policy = self.policy();
        for (name, field) in self.fields().iter().filter(|_| policy.fills_in_defaults) {
            if let Some(default) = field.get("default")
                && (policy.defaults_replace_answers || !content.contains_key(name))
                && self.is_usable(name, field, default)
            {
                content.insert(name.clone(), (policy.default)(field, default));
            }
        }
        content
    }

    fn is_usable(&self, name: &str, field: &Value, default: &Value) -> bool {
        if !self.policy().defaults_are_checked {
            return true;
        }
        if !(self.policy().is_filled_in)(default) {
            return false;
        }
        // Until 2025-06-18, only booleans had defaults.
        if !(self.revision.has_rich_forms() || default.is_boolean()) || !is_answer(default, self.revision) {
            return false;
        }
        let mut alone = json!({ "type": "object", "properties": { name: field } });
        for keyword in ["$schema", "$id"] {
            if let Some(value) = self.schema.value().get(keyword) {
                alone[keyword] = value.clone();
            }
        }
        let alone = Schema::read(&alone.to_string(), self.policy);
        alone.is_ok_and(|alone| alone.check_now(&json!({ name: default })).is_ok())
    }
}

/// Checks that a form can show a field. Unknown keywords are ignored here, and the schema validates them.
fn check_field(field: &Value, revision: Revision) -> Result<(), &'static str> {
    let is_flat =
        |schema: &Value, allowed: &[&str]| composition(schema).is_none_or(|keyword| allowed.contains(&keyword));
    match field.get("type").and_then(Value::as_str) {
        Some("string") => match field.get("enum") {
            Some(options) if strings(options).is_none() => Err("has an `enum` with items that are not strings"),
            _ if is_flat(field, &["oneOf", "anyOf"]) => Ok(()),
            _ => Err("is composed of other schemas, but a form is flat"),
        },
        Some("number" | "integer" | "boolean") if is_flat(field, &[]) => Ok(()),
        Some("array") if revision.has_rich_forms() && is_flat(field, &[]) => {
            let items = field.get("items").ok_or("must define its options in `items`")?;
            match (items.get("enum"), items.get("anyOf")) {
                (Some(options), None) if strings(options).is_some() => Ok(()),
                (None, Some(options)) if titled(options).is_some() => Ok(()),
                _ => Err("must have `items` with `enum`, or with `anyOf` of `const` and `title`"),
            }
        }
        _ => Err("has a type that forms do not support"),
    }
}

#[cfg(test)]
mod tests;
