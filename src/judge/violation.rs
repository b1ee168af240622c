//! Violations of the JSON Schemas in `reply`, `sent` and `matches`, as sentences.
//!
//! Takes the error of the validator with the schema and the value, gives a sentence that names the place and both the
//! expected and the observed value. Must not know requirements, nor whether the expectation is right.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

use crate::jsonrpc::pointer::tokens;
use crate::model::schema::Schema;
use crate::model::text::{count, shortened};

/// The bytes of one value that are shown.
const SHOWN: usize = 120;
/// The alternatives of an `anyOf` that are described.
const ALTERNATIVES: usize = 4;

/// A value that violates a schema of an expectation.
#[derive(Clone, Copy)]
pub(super) struct Violation<'a> {
    /// The key of the expectation: `reply`, `sent` or `matches`.
    pub(super) key: &'a str,
    pub(super) schema: &'a Value,
    pub(super) value: &'a Value,
}

/// The key for an item of a list, which has no place of its own.
const ITEM: &str = "item";
/// The key for the name of a member.
const NAME: &str = "name";

impl Violation<'_> {
    /// The sentence for an error of the validator.
    pub(super) fn sentence(self, error: &ValidationError<'_>) -> String {
        let path: Vec<_> = tokens(error.instance_path().as_str()).collect();
        let keyword = error.schema_path().as_str();
        let expected = self.schema.pointer(keyword);
        let observed: &Value = error.instance();
        let place = || self.place(&path);
        let is = |wanted: String| format!("{} is {}, expected {wanted}", self.place(&path), shown(observed));
        let has = |wanted: String, noun| format!("{} has {}, expected {wanted}", place(), count(size(observed), noun));
        match error.kind() {
            Kind::Required { property } => self.absent(&with(&path, property.as_str().unwrap_or_default())),
            Kind::FalseSchema => format!("{}, which is not allowed", self.present(&path)),
            Kind::Not { schema } => {
                let mut facts = Vec::new();
                self.facts(schema, &path, Some(observed), &mut facts);
                if facts.is_empty() {
                    facts.push(format!("{} is {}", place(), shown(observed)));
                }
                format!("{}, which is not allowed", facts.join(" and "))
            }
            Kind::Constant { expected_value } => is(shown(expected_value)),
            Kind::Enum { options } => is(any_of(options)),
            Kind::Type { .. } => is(expected.map(types).unwrap_or_default()),
            Kind::MinItems { limit } => has(format!("at least {limit}"), "item"),
            Kind::MaxItems { limit } => has(format!("at most {limit}"), "item"),
            Kind::MinProperties { limit } => has(format!("at least {limit}"), "member"),
            Kind::MaxProperties { limit } => has(format!("at most {limit}"), "member"),
            Kind::MinLength { limit } => is(format!("at least {}", count(small(*limit), "character"))),
            Kind::MaxLength { limit } => is(format!("at most {}", count(small(*limit), "character"))),
            Kind::Minimum { limit } => is(format!("at least {limit}")),
            Kind::Maximum { limit } => is(format!("at most {limit}")),
            Kind::ExclusiveMinimum { limit } => is(format!("more than {limit}")),
            Kind::ExclusiveMaximum { limit } => is(format!("less than {limit}")),
            Kind::Pattern { pattern } => is(format!("a text that matches `{pattern}`")),
            Kind::Contains => self.contains(keyword, &place()),
            Kind::PropertyNames { error } => {
                let name = error.instance();
                let inner = Violation { key: NAME, schema: self.schema, value: name };
                format!("{} has the member {}; {}", place(), shown(name), inner.sentence(error))
            }
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                let names: Vec<_> = unexpected.iter().map(|name| format!("`{name}`")).collect();
                format!("{} has {}, which is not allowed", place(), names.join(" and "))
            }
            Kind::UniqueItems => format!("{} has equal items", place()),
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                if let Some(meant) = self.meant(expected, observed, context) {
                    return self.sentence(meant);
                }
                let first = context.iter().filter_map(|errors| errors.first()).take(ALTERNATIVES);
                let each: Vec<_> = first.map(|error| self.sentence(error)).collect();
                format!("no alternative holds: {}", each.join("; or "))
            }
            kind => {
                let expected = expected.map(shown).unwrap_or_default();
                format!("{} is {}, which violates `{}` {expected}", place(), shown(observed), kind.keyword())
            }
        }
    }

    /// The first error of the one alternative that a constant member of the value names, such as its `type`.
    fn meant<'e>(
        self,
        alternatives: Option<&Value>,
        value: &Value,
        context: &'e [Vec<ValidationError<'static>>],
    ) -> Option<&'e ValidationError<'static>> {
        let is_named = |alternative: &Value| {
            let reference = alternative.get("$ref").and_then(Value::as_str).and_then(|one| one.strip_prefix('#'));
            let alternative = reference.and_then(|place| self.schema.pointer(place)).unwrap_or(alternative);
            let mut members = alternative.get("properties").and_then(Value::as_object).into_iter().flatten();
            members.any(|(name, member)| member.get("const").is_some_and(|wanted| value.get(name) == Some(wanted)))
        };
        let alternatives = alternatives?.as_array()?.iter();
        let mut named = alternatives.zip(context).filter(|(alternative, _)| is_named(alternative));
        let (_, errors) = named.next()?;
        errors.first().filter(|_| named.next().is_none())
    }

    /// The sentence for a list with too few or too many items that fit the schema at `contains`.
    fn contains(self, keyword: &str, place: &str) -> String {
        let (parent, keyword) = keyword.rsplit_once('/').unwrap_or_default();
        let at = |name: &str| self.schema.pointer(&format!("{parent}/{name}"));
        let limit = at(keyword).and_then(Value::as_u64).unwrap_or(1);
        let number = match keyword {
            "maxContains" => format!("more than {}", count(small(limit), "item")),
            "minContains" => format!("fewer than {}", count(small(limit), "item")),
            _ => "no item".to_owned(),
        };
        let mut facts = Vec::new();
        let item = Violation { key: ITEM, ..self };
        if let Some(schema) = at("contains") {
            item.facts(schema, &[], None, &mut facts);
        }
        if facts.is_empty() {
            facts.push(format!("it fits {}", at("contains").map(shown).unwrap_or_default()));
        }
        format!("{place} has {number} of which this holds: {}", facts.join(" and "))
    }

    /// Collects the conditions of a schema: of a value that fits it, or, without a value, of those that would.
    fn facts(self, schema: &Value, path: &[String], value: Option<&Value>, into: &mut Vec<String>) {
        let Value::Object(keywords) = schema else { return };
        if let Some(value) = value.filter(|value| !value.is_object() && !value.is_array()) {
            into.push(format!("{} is {}", self.place(path), shown(value)));
            return;
        }
        let mut described = Vec::new();
        for (name, schema) in keywords.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let member = value.map(|value| value.get(name));
            let before = into.len();
            if member != Some(None) {
                self.facts(schema, &with(path, name), member.flatten(), into);
            }
            if into.len() > before {
                described.push(name.as_str());
            }
        }
        let required = keywords.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str).filter(|name| !described.contains(name)) {
            into.push(self.present(&with(path, name)));
        }
        let branches = |keyword: &str| keywords.get(keyword).and_then(Value::as_array).into_iter().flatten();
        branches("allOf").for_each(|branch| self.facts(branch, path, value, into));
        let holds = |branch: &&Value| {
            let schema = Schema::new(branch).ok();
            value.is_some_and(|value| schema.is_some_and(|schema| matches!(schema.violation(value), Ok(None))))
        };
        if let Some(branch) = branches("anyOf").chain(branches("oneOf")).find(holds) {
            self.facts(branch, path, value, into);
        }
        if value.is_none() {
            self.wishes(keywords, path, into);
        }
    }

    /// Collects the conditions of a schema that are about the value itself.
    fn wishes(self, keywords: &serde_json::Map<String, Value>, path: &[String], into: &mut Vec<String>) {
        let place = || self.place(path);
        for (keyword, wanted) in keywords {
            match (keyword.as_str(), wanted) {
                ("const", wanted) => into.push(format!("{} is {}", place(), shown(wanted))),
                ("enum", wanted) => into.push(format!("{} is {}", place(), any_of(wanted))),
                ("pattern", Value::String(pattern)) => into.push(format!("{} matches `{pattern}`", place())),
                ("type", wanted) if wanted != "object" => into.push(format!("{} is {}", place(), types(wanted))),
                ("not", Value::Object(not)) => {
                    let names = not.get("required").and_then(Value::as_array).into_iter().flatten();
                    into.extend(names.filter_map(Value::as_str).map(|name| self.absent(&with(path, name))));
                }
                _ => {}
            }
        }
    }

    /// The name of a place, for people.
    fn place(self, path: &[String]) -> String {
        match self.key {
            ITEM => if_empty(&dotted(path), "the item"),
            NAME => "the name".to_owned(),
            "matches" => observed(path),
            _ => self.in_message(path),
        }
    }

    /// A place of a reply, or of a message that a client sent.
    fn in_message(self, path: &[String]) -> String {
        let method = self.value.pointer("/message/method").and_then(Value::as_str);
        let owner = match (self.key, method) {
            ("reply", _) => "the reply".to_owned(),
            (_, Some(method)) => format!("the `{method}` message"),
            _ => "the message of the client".to_owned(),
        };
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        match names.as_slice() {
            [] => owner,
            ["message"] => format!("the JSON of {owner}"),
            ["message", ..] => format!("{} of {owner}", dotted(&path[1..])),
            ["headers"] => format!("the list of headers of {owner}"),
            ["headers", header] => format!("the header `{header}` of {owner}"),
            ["status"] => format!("the HTTP status of {owner}"),
            ["method"] => format!("the HTTP method of {owner}"),
            _ => format!("{} of {owner}", dotted(path)),
        }
    }

    fn absent(self, path: &[String]) -> String {
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let known = match names.as_slice() {
            _ if self.key != "matches" => None,
            ["advertised", tool] => return format!("the tool `{tool}` is not listed"),
            ["advertised"] => Some("no tool of the fixture is listed"),
            ["tools"] => Some("no tool is listed"),
            ["asked"] => Some("the server sent no elicitation"),
            ["answered"] => Some("the client answered no elicitation"),
            ["rounds"] => Some("the client sent `tools/call` at most once, and without a state"),
            ["sent"] => Some("the client sent no message"),
            ["get-stream"] => Some("the server sent no message of the request on the GET stream"),
            ["varies"] => Some("the list is the same as the list before it"),
            ["repeated-id"] => Some("each request of the session has another id"),
            ["cancelled-unknown"] => Some("each cancelled request was running"),
            ["split"] => Some("each message was on one line"),
            ["mistyped"] => Some("each message has the types of its revision's schema"),
            _ => None,
        };
        known.map_or_else(|| format!("{} is missing", self.place(path)), str::to_owned)
    }

    fn present(self, path: &[String]) -> String {
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let known = match names.as_slice() {
            _ if self.key != "matches" => None,
            ["advertised", tool] => return format!("the tool `{tool}` is listed"),
            ["advertised" | "tools"] => Some("tools are listed"),
            ["asked"] => Some("the server sent an elicitation"),
            ["answered"] => Some("the client answered an elicitation"),
            ["rounds"] => Some("the client sent `tools/call` again, or with a state"),
            ["sent"] => Some("the client sent a message"),
            ["get-stream"] => Some("the server sent a message of the request on the GET stream"),
            ["varies"] => Some("the list differs from the list before it"),
            ["repeated-id"] => Some("a request has the id of an earlier request of the session"),
            ["cancelled-unknown"] => Some("a notification cancels a request that was not running"),
            ["split"] => Some("a message was on several lines"),
            ["mistyped"] => self.value["mistyped"].as_str(),
            _ => None,
        };
        known.map_or_else(|| format!("{} is present", self.place(path)), str::to_owned)
    }
}

/// A place of the observation.
fn observed(path: &[String]) -> String {
    let (first, rest) = path.split_first().map_or(("", path), |(first, rest)| (first.as_str(), rest));
    let number = |rest: &[String]| rest.first().and_then(|index| index.parse::<usize>().ok()).map(|index| index + 1);
    let (owner, rest) = match (first, number(rest)) {
        ("", _) => return "the observation".to_owned(),
        ("advertised" | "tools", _) if !rest.is_empty() => (format!("the tool `{}`", rest[0]), &rest[1..]),
        ("advertised" | "tools", _) => ("the list of tools".to_owned(), rest),
        ("asked", Some(number)) => (format!("elicitation {number}"), &rest[1..]),
        ("asked", None) => ("the list of elicitations".to_owned(), rest),
        ("answered", Some(number)) => (format!("the client's answer {number}"), &rest[1..]),
        ("answered", None) => ("the list of the client's answers".to_owned(), rest),
        ("rounds", Some(number)) => (format!("`tools/call` request {number}"), &rest[1..]),
        ("rounds", None) => ("the list of `tools/call` requests".to_owned(), rest),
        ("sent", Some(number)) => (format!("message {number} of the client"), &rest[1..]),
        ("sent", None) => ("the list of the client's messages".to_owned(), rest),
        ("replies", Some(number)) => (format!("reply {number}"), &rest[1..]),
        ("code", _) => ("the error code".to_owned(), rest),
        ("status", _) => ("the HTTP status".to_owned(), rest),
        ("structured", _) => ("the structured content".to_owned(), rest),
        ("text", _) => ("the text content".to_owned(), rest),
        ("saw", _) => ("the value that the tool received".to_owned(), rest),
        ("outcome" | "canary", _) => (format!("the {first}"), rest),
        _ => (format!("`{first}` of the observation"), rest),
    };
    let rest = if first == "sent" && rest.first().is_some_and(|name| name == "message") { &rest[1..] } else { rest };
    if rest.is_empty() { owner } else { format!("{} of {owner}", dotted(rest)) }
}

fn with(path: &[String], name: &str) -> Vec<String> {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

/// The path as code, such as `` `result.tools[0].name` ``; nothing for the root.
fn dotted(path: &[String]) -> String {
    let mut out = String::new();
    for segment in path {
        if segment.parse::<usize>().is_ok() {
            out += &format!("[{segment}]");
        } else if segment.contains(|one: char| !one.is_ascii_alphanumeric() && !"_-$".contains(one)) {
            out += &format!("[{}]", Value::from(segment.as_str()));
        } else {
            out += if out.is_empty() { "" } else { "." };
            out += segment;
        }
    }
    if out.is_empty() { out } else { format!("`{out}`") }
}

fn if_empty(text: &str, other: &str) -> String {
    if text.is_empty() { other } else { text }.to_owned()
}

/// The value or values of a `type`, with articles.
fn types(wanted: &Value) -> String {
    let one = |name: &Value| match name.as_str().unwrap_or_default() {
        "null" => "null".to_owned(),
        name @ ("array" | "integer" | "object") => format!("an {name}"),
        name => format!("a {name}"),
    };
    match wanted {
        Value::Array(names) => names.iter().map(one).collect::<Vec<_>>().join(" or "),
        name => one(name),
    }
}

fn any_of(options: &Value) -> String {
    let shown = options.as_array().into_iter().flatten().map(shown);
    shortened(&shown.collect::<Vec<_>>().join(" or "), SHOWN).into_owned()
}

fn shown(value: &Value) -> String {
    shortened(&value.to_string(), SHOWN).into_owned()
}

/// The number of items or members.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    }
}

fn small(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sentence(key: &str, schema: &Value, value: &Value) -> String {
        let validator = jsonschema::validator_for(schema).expect("a schema");
        let error = validator.validate(value).expect_err("a violation");
        Violation { key, schema, value }.sentence(&error)
    }

    #[test]
    fn observation_is_described_by_its_known_parts() {
        let listed = json!({"properties": {"advertised": {"required": ["marked"]}}, "required": ["advertised"]});
        let observed = json!({"outcome": "success", "advertised": {"marked": {}, "plain": {}}});
        let of = |schema: Value, value: Value| sentence("matches", &schema, &value);
        assert_eq!(of(json!({"not": listed}), observed), "the tool `marked` is listed, which is not allowed");
        assert_eq!(of(listed, json!({"advertised": {}})), "the tool `marked` is not listed");
        assert_eq!(of(json!({"required": ["asked"]}), json!({})), "the server sent no elicitation");
        let code = json!({"properties": {"code": {"not": {"const": -32020}}}});
        assert_eq!(of(code, json!({"code": -32020})), "the error code is -32020, which is not allowed");
        let state =
            json!({"properties": {"rounds": {"prefixItems": [{}, {"properties": {"state": {"const": "echoed"}}}]}}});
        assert_eq!(
            of(state, json!({"rounds": [{}, {"state": "dropped"}]})),
            "`state` of `tools/call` request 2 is \"dropped\", expected \"echoed\""
        );
        let few = json!({"properties": {"answered": {"minItems": 2}}});
        assert_eq!(
            of(few, json!({"answered": [1]})),
            "the list of the client's answers has 1 item, expected at least 2"
        );
        let either = json!({"not": {"anyOf": [
            {"properties": {"outcome": {"const": "tool-error"}}},
            {"properties": {"code": {"const": 7}}, "required": ["code"]}
        ]}});
        assert_eq!(of(either, json!({"outcome": "x", "code": 7})), "the error code is 7, which is not allowed");
    }

    #[test]
    fn alternative_that_the_value_names_is_the_one_that_is_described() {
        let text = json!({"properties": {"type": {"const": "text"}}, "required": ["type", "text"]});
        let link = json!({"properties": {"type": {"const": "link"}, "uri": {"type": "string"}}});
        let block =
            json!({"properties": {"message": {"anyOf": [{"$ref": "#/$defs/text"}, link]}}, "$defs": {"text": text}});
        let of = |value: Value| sentence("reply", &block, &json!({ "message": value }));
        assert_eq!(of(json!({"type": "text"})), "`text` of the reply is missing");
        assert_eq!(of(json!({"type": "link", "uri": 1})), "`uri` of the reply is 1, expected a string");
        assert!(of(json!({"type": "other"})).starts_with("no alternative holds: "));
    }

    #[test]
    fn message_is_described_by_its_members_and_headers() {
        let reply = |schema: Value, value: Value| sentence("reply", &schema, &value);
        let name = json!({"properties": {"message": {"properties": {"result": {"properties": {"tools": {
            "items": {"properties": {"name": {"type": "string", "pattern": "^a"}}}}}}}}}});
        let tools = |name: Value| json!({"message": {"result": {"tools": [{"name": name}]}}});
        assert_eq!(reply(name.clone(), tools(json!(7))), "`result.tools[0].name` of the reply is 7, expected a string");
        assert_eq!(
            reply(name, tools(json!("b"))),
            "`result.tools[0].name` of the reply is \"b\", expected a text that matches `^a`"
        );
        let header = json!({"properties": {"headers": {"required": ["mcp-name"]}}});
        assert_eq!(
            sentence("sent", &header, &json!({"message": {"method": "tools/call"}, "headers": {}})),
            "the header `mcp-name` of the `tools/call` message is missing"
        );
        let forbidden = json!({"properties": {"headers": {"properties": {"x-evil": false}}}});
        assert_eq!(
            reply(forbidden, json!({"headers": {"x-evil": "1"}})),
            "the header `x-evil` of the reply is present, which is not allowed"
        );
        let either = json!({"anyOf": [{"required": ["message"]}, {"properties": {"status": {"const": 202}}}]});
        assert_eq!(
            reply(either, json!({"status": 400})),
            "no alternative holds: the JSON of the reply is missing; or the HTTP status of the reply is 400, expected 202"
        );
        let names = json!({"propertyNames": {"const": "_meta"}});
        assert_eq!(
            reply(names, json!({"text": 1})),
            "the reply has the member \"text\"; the name is \"text\", expected \"_meta\""
        );
    }

    #[test]
    fn list_without_a_fitting_item_is_described_by_the_conditions() {
        let initialized = json!({"properties": {"sent": {"contains": {
            "properties": {"message": {"properties": {"method": {"const": "ping"}}, "required": ["method"]}},
            "required": ["message"]}}}});
        assert_eq!(
            sentence("matches", &initialized, &json!({"sent": [{"message": {"method": "x"}}]})),
            "the list of the client's messages has no item of which this holds: `message.method` is \"ping\""
        );
        let few = json!({"contains": {"properties": {"params": {"not": {"required": ["cursor"]}}}}, "maxContains": 1});
        assert_eq!(
            sentence("matches", &few, &json!([{}, {}])),
            "the observation has more than 1 item of which this holds: `params.cursor` is missing"
        );
    }

    #[test]
    fn unknown_keyword_is_shown_with_both_values() {
        let schema = json!({"properties": {"status": {"multipleOf": 7}}});
        assert_eq!(
            sentence("reply", &schema, &json!({"status": 200})),
            "the HTTP status of the reply is 200, which violates `multipleOf` 7"
        );
    }
}
