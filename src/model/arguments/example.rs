//! Examples of values that a schema accepts, made from its keywords.
//!
//! Takes a schema, gives a value that probably fits: the caller validates it. The work is bounded for any schema. Must
//! not know whether a value is sent.

use std::cell::Cell;

use serde_json::{Map, Number, Value, json};

/// The most values of an example.
const VALUES: usize = 512;
/// The most levels and references that lead to one value.
const LEVELS: usize = 24;
/// The longest text, in characters, and the longest list.
const LENGTH: u64 = 10_000;
const ITEMS: usize = 32;
/// A text whose letters have one, two and three bytes.
const FOREIGN: &str = "zürich 世界";
/// The keywords that leave no choice of letters.
const NARROWING: [&str; 4] = ["contentEncoding", "contentMediaType", "format", "pattern"];

/// A maker of examples of one schema.
pub(super) struct Examples<'s> {
    root: &'s Value,
    /// Set if an object has its optional members too.
    full: bool,
    /// Set until a text has letters beyond ASCII, if one is to have them.
    foreign: Cell<bool>,
    /// The number of values that may still be made.
    left: Cell<usize>,
}

impl<'s> Examples<'s> {
    pub(super) fn new(root: &'s Value, full: bool, foreign: bool) -> Self {
        Self { root, full, foreign: Cell::new(foreign), left: Cell::new(VALUES) }
    }

    /// An example of the arguments of a tool. The root may leave its type out.
    pub(super) fn arguments(&self) -> Option<Value> {
        match self.root {
            Value::Object(schema) => self.object(schema, 0).map(Value::Object),
            Value::Bool(true) => Some(json!({})),
            _ => None,
        }
    }

    fn value(&self, schema: &'s Value, level: usize) -> Option<Value> {
        self.left.set(self.left.get().checked_sub(1)?);
        if level > LEVELS {
            return None;
        }
        let schema = match schema {
            Value::Object(schema) => schema,
            Value::Bool(true) => return Some(json!("casebook")),
            _ => return None,
        };
        if let Some(Value::String(reference)) = schema.get("$ref") {
            let target = self.root.pointer(reference.strip_prefix('#')?)?;
            return self.value(target, level + 1);
        }
        let listed = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|values| values.first());
        let given = [listed("examples"), schema.get("default").filter(|value| !value.is_null()), schema.get("const")];
        if let Some(given) = given.into_iter().flatten().next().or_else(|| listed("enum")) {
            return Some(given.clone());
        }
        if !schema.contains_key("type")
            && let Some(choices) = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array())
        {
            let is_null = |choice: &&Value| choice.get("type") == Some(&json!("null"));
            let choices = choices.iter().filter(|choice| !is_null(choice)).take(ITEMS);
            return choices.map(|choice| self.value(choice, level + 1)).find(Option::is_some).flatten();
        }
        match type_of(schema) {
            "object" => self.object(schema, level).map(Value::Object),
            "array" => self.array(schema, level),
            "integer" => integer(schema).map(Value::from),
            "number" => number(schema),
            "boolean" => Some(json!(false)),
            "null" => Some(Value::Null),
            _ => text(schema, self.is_foreign(schema)).map(Value::String),
        }
    }

    /// Returns whether a text is to have letters beyond ASCII: the first one that may have any.
    fn is_foreign(&self, schema: &Map<String, Value>) -> bool {
        !NARROWING.iter().any(|key| schema.contains_key(*key)) && self.foreign.take()
    }

    fn object(&self, schema: &'s Map<String, Value>, level: usize) -> Option<Map<String, Value>> {
        let mut members = Map::new();
        self.members(schema, level, &mut members)?;
        Some(members)
    }

    /// Adds the members of a schema, of the schemas in its `allOf`, and of the first schema that it may choose.
    fn members(&self, schema: &'s Map<String, Value>, level: usize, members: &mut Map<String, Value>) -> Option<()> {
        if level > LEVELS {
            return None;
        }
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for name in required.iter().filter_map(Value::as_str) {
            if members.contains_key(name) {
                continue;
            }
            let value = match properties.and_then(|properties| properties.get(name)) {
                Some(property) => self.value(property, level + 1)?,
                None => json!("casebook"),
            };
            members.insert(name.to_owned(), value);
        }
        for (name, property) in properties.unwrap_or(&none).iter().filter(|_| self.full) {
            if !members.contains_key(name)
                && let Some(value) = self.value(property, level + 1)
            {
                members.insert(name.clone(), value);
            }
        }
        let all = schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let first = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array()?.first());
        for part in all.iter().take(ITEMS).chain(first) {
            self.left.set(self.left.get().checked_sub(1)?);
            if let Value::Object(part) = part {
                self.members(part, level + 1, members)?;
            }
        }
        Some(())
    }

    fn array(&self, schema: &'s Map<String, Value>, level: usize) -> Option<Value> {
        let least = usize::try_from(schema.get("minItems").and_then(Value::as_u64).unwrap_or(0)).ok()?;
        if least > ITEMS {
            return None;
        }
        let count = if self.full { least.max(1) } else { least };
        let item = |_| schema.get("items").map_or(Some(json!("casebook")), |items| self.value(items, level + 1));
        let items: Option<Vec<_>> = (0..count).map(item).collect();
        items.map(Value::Array)
    }
}

/// The first type of a schema other than `null`; without a type, that of its keywords.
fn type_of(schema: &Map<String, Value>) -> &str {
    match schema.get("type") {
        Some(Value::String(one)) => one,
        Some(Value::Array(several)) => {
            let mut names = several.iter().filter_map(Value::as_str);
            names.clone().find(|name| *name != "null").or_else(|| names.next()).unwrap_or("string")
        }
        _ if schema.contains_key("properties") => "object",
        _ if schema.contains_key("items") => "array",
        _ => "string",
    }
}

fn integer(schema: &Map<String, Value>) -> Option<i64> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let least = [bound("minimum"), bound("exclusiveMinimum").map(|least| least + 1.0)].into_iter().flatten();
    let most = [bound("maximum"), bound("exclusiveMaximum").map(|most| most - 1.0)].into_iter().flatten();
    let (least, most) = (least.fold(f64::MIN, f64::max).ceil(), most.fold(f64::MAX, f64::min).floor());
    let step = bound("multipleOf").filter(|step| *step > 0.0).unwrap_or(1.0);
    let near = 1.0_f64.max(least).min(most);
    let value = (near / step).ceil() * step;
    let is_exact = value.abs() <= 9_007_199_254_740_991.0;
    #[expect(clippy::cast_possible_truncation, reason = "the value is a whole number of at most 53 bits")]
    is_exact.then_some(value as i64)
}

fn number(schema: &Map<String, Value>) -> Option<Value> {
    match integer(schema) {
        Some(whole) => Some(whole.into()),
        None => Number::from_f64(1.5).map(Value::Number),
    }
}

fn text(schema: &Map<String, Value>, is_foreign: bool) -> Option<String> {
    let format = schema.get("format").and_then(Value::as_str);
    let text = match format {
        Some("date-time") => "2026-01-01T00:00:00Z",
        Some("date") => "2026-01-01",
        Some("time") => "00:00:00Z",
        Some("duration") => "P1D",
        Some("email" | "idn-email") => "casebook@example.com",
        Some("uri" | "iri" | "url" | "uri-reference") => "https://example.com/casebook",
        Some("uuid") => "123e4567-e89b-42d3-a456-426614174000",
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("hostname") => "example.com",
        _ if is_foreign => FOREIGN,
        _ => "casebook",
    };
    let count = |key: &str| schema.get(key).and_then(Value::as_u64);
    let (least, most) = (count("minLength").unwrap_or(0), count("maxLength").unwrap_or(LENGTH).min(LENGTH));
    if least > most {
        return None;
    }
    let mut text: String = text.chars().take(usize::try_from(most).ok()?).collect();
    let missing = usize::try_from(least).ok()?.saturating_sub(text.chars().count());
    text.extend(std::iter::repeat_n('c', missing));
    Some(text)
}
