//! Placeholders: objects of a case with a key that begins with `@`.
//!
//! Takes nodes as they are written. [`RowValues::fill`] replaces each `@row` by the value of the row; [`template`] makes
//! [`Template`]s of the other placeholders, whose values are known only when a test runs. No other module knows `@`.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use miette::SourceSpan;
use serde_json::Value;

use super::diagnostic::{Lint, nearest};
use super::node::{Kind, Member, Node};
use super::read::{Object, Reader};
use crate::model::template::{Canary, CanaryKind, Generator, HostilePattern, Template, WideKeyword};

/// All placeholders.
const PLACES: [&str; 15] = [
    "@row",
    "@literal",
    "@absent",
    "@canary",
    "@unique",
    "@revision",
    "@nested",
    "@nested-value",
    "@wide",
    "@ref-chain",
    "@ref-doubling",
    "@ref-cycle",
    "@pattern",
    "@pattern-value",
    "@text",
];

/// The upper limits of the generators' numbers. A test that asks for less, but for much, is marked as heavy.
const MOST: i64 = 1_000_000;
const MOST_CHARACTERS: i64 = 64 << 20;

/// The values of one row, as they are written.
#[derive(Debug)]
pub(in crate::load) struct RowNodes<'n> {
    pub(in crate::load) id: &'n str,
    pub(in crate::load) id_span: SourceSpan,
    pub(in crate::load) bindings: Vec<&'n Member>,
}

/// The use that the tests of a file make of its rows.
#[derive(Default)]
pub(in crate::load) struct Uses {
    /// The places of the keys of all values that were used.
    pub(in crate::load) used: BTreeSet<usize>,
    /// The values that some rows do not have, by the place of the placeholder.
    missing: BTreeMap<usize, MissingValue>,
}

/// A value that a placeholder asks for, and that some rows do not have.
struct MissingValue {
    key: String,
    span: SourceSpan,
    /// The rows without it, with their places.
    rows: Vec<(String, SourceSpan)>,
    /// The keys of the first of these rows.
    known: Vec<String>,
}

impl Uses {
    /// Adds the use that a test makes of rows that it does not name, and the values that none of these rows has.
    pub(in crate::load) fn add_common(&mut self, other: Self, rows: usize) {
        self.used.extend(other.used);
        self.missing.extend(other.missing.into_iter().filter(|(_, missing)| missing.rows.len() == rows));
    }

    /// Reports each placeholder whose value some rows do not have, once for all of these rows.
    pub(in crate::load) fn report_missing(&mut self, reader: &mut Reader, rows: &[&RowNodes<'_>]) {
        for MissingValue { key, span, rows: without, known } in std::mem::take(&mut self.missing).into_values() {
            let names: Vec<_> = without.iter().map(|(id, _)| format!("`{id}`")).collect();
            let message = match names.as_slice() {
                [only] => format!("the row {only} has no value `{key}`"),
                all if all.len() == rows.len() => format!("no row has a value `{key}`"),
                [some @ .., last] if some.len() < 4 => {
                    format!("the rows {} and {last} have no value `{key}`", some.join(", "))
                }
                many => {
                    format!("the rows {} and {} others have no value `{key}`", many[..3].join(", "), many.len() - 3)
                }
            };
            let unknown = reader.mistake(Lint::UnknownBinding, message).at(span, "unknown value");
            let has_key = |row: &&RowNodes<'_>| row.bindings.iter().any(|binding| *binding.key == *key);
            let known_keys: Vec<_> = known.iter().map(String::as_str).collect();
            // If another row has the value, this row has misspelt it, and the placeholder is right.
            if let Some(near) = nearest(&key, &known_keys).filter(|_| rows.iter().any(has_key)) {
                let (row, place) = &without[0];
                let help = format!("the row `{row}` has `{near}`; did you mean `{key}`?");
                reader.push(unknown.at(*place, "in this row").help(help));
                continue;
            }
            reader.push(unknown.known(&key, "the values of the row are", known.iter().map(String::as_str)));
        }
    }
}

/// Fills in the values of one row, and notes which of them were used.
pub(in crate::load) struct RowValues<'a> {
    pub(in crate::load) row: Option<&'a RowNodes<'a>>,
    pub(in crate::load) uses: &'a mut Uses,
}

impl RowValues<'_> {
    /// Returns a copy of the node with the row's value in place of each `{"@row": KEY}`.
    pub(in crate::load) fn fill(&mut self, reader: &mut Reader, node: &Node) -> Node {
        self.filled(reader, node).unwrap_or_else(|| node.clone())
    }

    /// Returns `None` if the node has no value of the row.
    fn filled(&mut self, reader: &mut Reader, node: &Node) -> Option<Node> {
        let kind = match &node.kind {
            Kind::Array(items) => changed(items, |item| self.filled(reader, item)).map(Kind::Array),
            Kind::Object(members) => match place(node) {
                Some(place) if &*place.key == "@row" => return Some(self.value(reader, node, place)),
                Some(place) if &*place.key == "@literal" => None,
                _ => {
                    let filled = |member: &Member| {
                        let value = self.filled(reader, &member.value)?;
                        Some(Member { value, ..member.clone() })
                    };
                    changed(members, filled).map(Kind::Object)
                }
            },
            _ => None,
        };
        kind.map(|kind| Node { span: node.span, kind })
    }

    fn value(&mut self, reader: &mut Reader, node: &Node, place: &Member) -> Node {
        let missing = Node { span: node.span, kind: Kind::Missing };
        alone(reader, node, &["@row"]);
        let Some(key) = reader.text(&place.value, "`@row`") else { return missing };
        let Some(row) = self.row else {
            let rowless =
                reader.mistake(Lint::UnknownBinding, format!("`@row` asks for `{key}`, and the file has no rows"));
            let help = format!(
                "add `rows` to the file, as in `\"rows\": {{\"one\": {{\"{key}\": …}}}}`, or write the value here"
            );
            reader.push(rowless.at(place.value.span, "no row to take it from").help(help));
            return missing;
        };
        if let Some(binding) = row.bindings.iter().find(|binding| &*binding.key == key) {
            self.uses.used.insert(binding.key_span.offset());
            return binding.value.clone();
        }
        let span = place.value.span;
        let known = || row.bindings.iter().map(|binding| (*binding.key).to_owned()).collect();
        let new = || MissingValue { key: key.to_owned(), span, rows: Vec::new(), known: known() };
        let rows = &mut self.uses.missing.entry(span.offset()).or_insert_with(new).rows;
        if !rows.iter().any(|(_, place)| *place == row.id_span) {
            rows.push((row.id.to_owned(), row.id_span));
        }
        missing
    }
}

/// Replaces the parts for which `change` gives another; `None` if it gives none. The other parts are shared.
fn changed<T: Clone>(parts: &Rc<[T]>, mut change: impl FnMut(&T) -> Option<T>) -> Option<Rc<[T]>> {
    let mut own = Rc::clone(parts);
    for (place, part) in parts.iter().enumerate() {
        if let Some(other) = change(part) {
            Rc::make_mut(&mut own)[place] = other;
        }
    }
    (!Rc::ptr_eq(&own, parts)).then_some(own)
}

/// Reads a node as a template, with the placeholders that are filled in when a test runs.
pub(in crate::load) fn template(reader: &mut Reader, node: &Node) -> Template {
    match &node.kind {
        Kind::Null | Kind::Missing => Template::Null,
        Kind::Bool(value) => Template::Bool(*value),
        Kind::Number(number) => Template::Number(number.clone()),
        Kind::String(text) => Template::String((**text).to_owned()),
        Kind::Array(items) => Template::Array(items.iter().map(|item| element(reader, item)).collect()),
        Kind::Object(members) => match place(node) {
            Some(place) => placed(reader, node, place).unwrap_or(Template::Null),
            None => Template::Object(
                members.iter().map(|member| ((*member.key).to_owned(), template(reader, &member.value))).collect(),
            ),
        },
    }
}

/// The text of an `@literal`.
pub(in crate::load) fn literal_text(node: &Node) -> Option<&str> {
    let literal = place(node).filter(|place| &*place.key == "@literal" && node.members().len() == 1)?;
    match &literal.value.kind {
        Kind::String(text) => Some(text),
        _ => None,
    }
}

/// Reads a node as a plain value, in which placeholders are mistakes.
pub(in crate::load) fn plain(reader: &mut Reader, node: &Node, what: &str) -> Value {
    refuse_places(reader, node, what);
    node.value()
}

fn refuse_places(reader: &mut Reader, node: &Node, what: &str) {
    match &node.kind {
        Kind::Array(items) => items.iter().for_each(|item| refuse_places(reader, item, what)),
        Kind::Object(members) => {
            if let Some(place) = place(node) {
                let unknown =
                    reader.mistake(Lint::UnknownPlace, format!("`{}` is not allowed within {what}", place.key));
                reader.push(unknown.at(place.key_span, "not filled in here").help("only `@row` is allowed here"));
            }
            for member in members.iter() {
                refuse_places(reader, &member.value, what);
            }
        }
        _ => {}
    }
}

/// The member that makes an object a placeholder.
fn place(node: &Node) -> Option<&Member> {
    node.members().iter().find(|member| member.key.starts_with('@'))
}

fn element(reader: &mut Reader, node: &Node) -> Template {
    let element = template(reader, node);
    if element == Template::Absent {
        let absent =
            reader.mistake(Lint::UnknownPlace, "`@absent` leaves out a member of an object, not an item of a list");
        reader.push(absent.at(node.span, "an item of a list").help("remove the item"));
    }
    element
}

fn placed(reader: &mut Reader, node: &Node, place: &Member) -> Option<Template> {
    let (name, value) = (&*place.key, &place.value);
    if name == "@canary" {
        return canary(reader, node).map(Template::Canary);
    }
    if PLACES.contains(&name) {
        alone(reader, node, &[name]);
    }
    match name {
        "@literal" => Some(Template::from(&value.value())),
        "@absent" => reader.yes(value, "`@absent`").map(|()| Template::Absent),
        "@revision" => reader.yes(value, "`@revision`").map(|()| Template::Revision),
        "@unique" => reader.text(value, "`@unique`").map(|prefix| Template::Unique(prefix.to_owned())),
        "@row" => {
            let nested = reader.mistake(Lint::UnknownPlace, "`@row` is not allowed within the value of a row");
            reader.push(nested.at(place.key_span, "within a row").help("write the value in its place"));
            None
        }
        _ if PLACES.contains(&name) => generator(reader, name, value).map(Template::Generated),
        _ => {
            let unknown = reader.mistake(Lint::UnknownPlace, format!("unknown placeholder `{name}`"));
            let unknown = unknown.at(place.key_span, "unknown placeholder");
            let list =
                "to write a key that begins with `@`, put its object into `{\"@literal\": …}`; the placeholders are";
            reader.push(unknown.known(name, list, PLACES));
            None
        }
    }
}

fn alone(reader: &mut Reader, node: &Node, known: &[&str]) {
    reader.object(node, &format!("an object with `{}`", known[0]), known);
}

fn canary(reader: &mut Reader, node: &Node) -> Option<Canary> {
    const KEYS: [&str; 6] = ["@canary", "path", "fragment", "serves", "redirects", "delay"];
    let object = reader.object(node, "`@canary`", &KEYS)?;
    let kind = reader.need(object, "`@canary`", "@canary")?;
    let mut canary = Canary::new(reader.word(kind, "`@canary`", CanaryKind::ALL)?);
    let mut text =
        |key: &str| object.get(key).and_then(|node| reader.text(node, &format!("`{key}`"))).map(str::to_owned);
    canary.path = text("path");
    canary.fragment = text("fragment");
    let delay = text("delay");
    canary.serves = object.get("serves").map(|node| plain(reader, node, "`serves`"));
    canary.redirects = object.get("redirects").and_then(|node| reader.flag(node, "`redirects`")).unwrap_or(false);
    if let (Some(delay), Some(node)) = (delay, object.get("delay")) {
        canary.delay_ms = milliseconds(reader, node, &delay)?;
    }
    Some(canary)
}

fn milliseconds(reader: &mut Reader, node: &Node, delay: &str) -> Option<u64> {
    let parsed = humantime::parse_duration(delay).ok().and_then(|delay| u64::try_from(delay.as_millis()).ok());
    let parsed = parsed.filter(|milliseconds| *milliseconds <= 60_000);
    if parsed.is_none() {
        let wrong = reader.mistake(Lint::UnknownValue, format!("`delay` cannot be `{delay}`"));
        reader.push(wrong.at(node.span, "not a time").help("write a time such as `3s` or `500ms`, at most one minute"));
    }
    parsed
}

fn generator(reader: &mut Reader, name: &str, value: &Node) -> Option<Generator> {
    let keys: &[&str] = match name {
        "@nested" | "@nested-value" => &["depth"],
        "@wide" => &["keyword", "count"],
        "@ref-chain" | "@ref-cycle" => &["length"],
        "@ref-doubling" => &["levels"],
        "@pattern" => &["kind"],
        "@pattern-value" => &["kind", "length"],
        _ => &["of", "length"],
    };
    let what = format!("`{name}`");
    let mut members = Members { object: reader.object(value, &what, keys)?, reader, what: &what };
    Some(match name {
        "@nested" => Generator::Nested { depth: members.count("depth", MOST)? },
        "@nested-value" => Generator::NestedValue { depth: members.count("depth", MOST)? },
        "@wide" => Generator::Wide {
            keyword: members.word("keyword", WideKeyword::ALL)?,
            count: members.count("count", MOST)?,
        },
        "@ref-chain" => Generator::RefChain { length: members.count("length", MOST)? },
        "@ref-doubling" => Generator::RefDoubling { levels: members.count("levels", MOST)? },
        "@ref-cycle" => Generator::RefCycle { length: members.count("length", MOST)? },
        "@pattern" => Generator::Pattern { kind: members.word("kind", HostilePattern::ALL)? },
        "@pattern-value" => Generator::PatternValue {
            kind: members.word("kind", HostilePattern::ALL)?,
            length: members.count("length", MOST_CHARACTERS)?,
        },
        _ => Generator::Text { of: members.text("of")?, length: members.count("length", MOST_CHARACTERS)? },
    })
}

/// The members of a generator, all of them required.
struct Members<'a, 'n> {
    reader: &'a mut Reader,
    object: Object<'n>,
    what: &'a str,
}

impl Members<'_, '_> {
    fn count(&mut self, key: &str, most: i64) -> Option<usize> {
        let node = self.reader.need(self.object, self.what, key)?;
        self.reader.count(node, &format!("`{key}`"), most)
    }

    fn word<W: Copy + AsRef<str>>(&mut self, key: &str, all: &[W]) -> Option<W> {
        let node = self.reader.need(self.object, self.what, key)?;
        self.reader.word(node, &format!("`{key}`"), all)
    }

    fn text(&mut self, key: &str) -> Option<String> {
        let node = self.reader.need(self.object, self.what, key)?;
        self.reader.text(node, &format!("`{key}`")).map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::load::text::diagnostic::File;
    use crate::load::text::json::parse;
    use crate::model::template::Bindings;

    /// Reads the member `value` of a text as a template with the values of its `row`; gives the lints too.
    fn read(text: &str) -> (Template, Vec<Lint>) {
        let mut reader = Reader::new(Arc::new(File::new("case.json", text.to_owned())));
        let root = parse(&mut reader).expect("JSON");
        let object = Object { node: &root };
        let bindings = object.get("row").map(|row| row.members().iter().collect()).unwrap_or_default();
        let row = RowNodes { id: "one", id_span: root.span, bindings };
        let value = object.get("value").expect("a value");
        let filled = RowValues { row: Some(&row), uses: &mut Uses::default() }.fill(&mut reader, value);
        let template = template(&mut reader, &filled);
        (template, reader.into_found().iter().map(crate::load::Diagnostic::lint).collect())
    }

    fn rendered(text: &str) -> String {
        let (template, found) = read(text);
        assert_eq!(found, []);
        template.render(&Bindings { revision: "r".to_owned(), unique: "7".to_owned(), ..Bindings::default() })
    }

    #[test]
    fn row_values_are_filled_in_and_literals_are_kept() {
        let text = r#"{ "row": { "a": [1, { "@revision": true }] }, "value": { "x": { "@row": "a" }, "y": { "@literal": { "@row": "a" } } } }"#;
        assert_eq!(rendered(text), r#"{"x":[1,"r"],"y":{"@row":"a"}}"#);
    }

    #[test]
    fn placeholders_are_filled_in_or_left_out() {
        let text = r#"{ "value": { "a": { "@absent": true }, "b": { "@unique": "u:" }, "c": { "@text": { "of": "ab", "length": 3 } } } }"#;
        assert_eq!(rendered(text), r#"{"b":"u:7","c":"aba"}"#);
        let (canary, _) = read(r#"{ "value": { "@canary": "http", "delay": "1500ms", "serves": true } }"#);
        let wanted = Canary { delay_ms: 1500, serves: Some(Value::Bool(true)), ..Canary::new(CanaryKind::Http) };
        assert_eq!(canary, Template::Canary(wanted));
    }

    #[test]
    fn placeholder_in_a_row_value_is_refused() {
        let text = r#"{ "row": { "a": { "@row": "a" } }, "value": { "@row": "a" } }"#;
        assert_eq!(read(text).1, [Lint::UnknownPlace]);
    }
}
