//! Whatever in a case begins with `@`.
//!
//! Takes nodes as written, gives nodes with each `@row` replaced by the row's own text ([`fill`]), and of those the
//! [`Template`]s of everything that is only known when a test runs ([`template`]). The only place that knows `@`.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value;

use super::diagnostic::Lint;
use super::node::{Kind, Member, Node};
use super::read::{Object, Reader};
use crate::model::template::{Canary, CanaryKind, Generator, HostilePattern, Template, WideKeyword};

/// Everything that can stand behind an `@`.
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

/// The most that a generator is asked for; what is over the bounds of every day, but below this, is heavy.
const MOST: i64 = 1_000_000;
const MOST_CHARACTERS: i64 = 64 << 20;

/// The values that one row gives, as written.
#[derive(Debug)]
pub(super) struct RowNodes<'n> {
    pub(super) id: &'n str,
    pub(super) id_span: miette::SourceSpan,
    pub(super) bindings: Vec<&'n Member>,
}

/// Fills in one row, and keeps count of the values that were looked at.
pub(super) struct RowValues<'a> {
    pub(super) row: Option<&'a RowNodes<'a>>,
    /// Where in the file the keys stand of the values that were used.
    pub(super) used: &'a mut BTreeSet<usize>,
}

impl RowValues<'_> {
    /// A copy of the node, in which each `{"@row": KEY}` is the row's value.
    pub(super) fn fill(&mut self, reader: &mut Reader, node: &Node) -> Node {
        self.filled(reader, node).unwrap_or_else(|| node.clone())
    }

    /// `None` where nothing of the node is the row's.
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
            let rowless = reader.mistake(Lint::UnknownBinding, format!("`{key}` is no value: the file has no rows"));
            reader.push(
                rowless.at(place.value.span, "nothing to put here").help("give the file `rows`, or write the value"),
            );
            return missing;
        };
        if let Some(binding) = row.bindings.iter().find(|binding| &*binding.key == key) {
            self.used.insert(binding.key_span.offset());
            return binding.value.clone();
        }
        let unknown = reader.mistake(Lint::UnknownBinding, format!("the row `{}` has no value `{key}`", row.id));
        let unknown = unknown.at(place.value.span, "wanted here").at(row.id_span, "not in this row");
        reader.push(unknown.known(key, "the row has", row.bindings.iter().map(|binding| &*binding.key)));
        missing
    }
}

/// The parts with those that `change` gives in the place of others; `None` where it gives none. What stays is shared.
fn changed<T: Clone>(parts: &Rc<[T]>, mut change: impl FnMut(&T) -> Option<T>) -> Option<Rc<[T]>> {
    let mut own = Rc::clone(parts);
    for (place, part) in parts.iter().enumerate() {
        if let Some(other) = change(part) {
            Rc::make_mut(&mut own)[place] = other;
        }
    }
    (!Rc::ptr_eq(&own, parts)).then_some(own)
}

/// What a node says, with the places in it that are filled in when a test runs.
pub(super) fn template(reader: &mut Reader, node: &Node) -> Template {
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

/// The text behind an `@literal`: a name that is meant as it stands.
pub(super) fn literal_text(node: &Node) -> Option<&str> {
    let literal = place(node).filter(|place| &*place.key == "@literal" && node.members().len() == 1)?;
    match &literal.value.kind {
        Kind::String(text) => Some(text),
        _ => None,
    }
}

/// A plain value, in which nothing is filled in.
pub(super) fn plain(reader: &mut Reader, node: &Node, what: &str) -> Value {
    refuse_places(reader, node, what);
    node.value()
}

fn refuse_places(reader: &mut Reader, node: &Node, what: &str) {
    match &node.kind {
        Kind::Array(items) => items.iter().for_each(|item| refuse_places(reader, item, what)),
        Kind::Object(members) => {
            if let Some(place) = place(node) {
                let unknown =
                    reader.mistake(Lint::UnknownPlace, format!("`{}` isn't filled in within {what}", place.key));
                reader.push(unknown.at(place.key_span, "no place here").help("only `@row` can stand here"));
            }
            for member in members.iter() {
                refuse_places(reader, &member.value, what);
            }
        }
        _ => {}
    }
}

/// The member that makes an object a place.
fn place(node: &Node) -> Option<&Member> {
    node.members().iter().find(|member| member.key.starts_with('@'))
}

fn element(reader: &mut Reader, node: &Node) -> Template {
    let element = template(reader, node);
    if element == Template::Absent {
        let absent =
            reader.mistake(Lint::UnknownPlace, "`@absent` leaves out a member, and this is an element of a list");
        reader.push(absent.at(node.span, "can't be left out").help("take it out of the list"));
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
            let nested = reader.mistake(Lint::UnknownPlace, "a row's value can't take from a row");
            reader.push(nested.at(place.key_span, "inside of a row").help("write the value out"));
            None
        }
        _ if PLACES.contains(&name) => generator(reader, name, value).map(Template::Generated),
        _ => {
            let unknown = reader.mistake(Lint::UnknownPlace, format!("`{name}` stands for nothing"));
            let unknown = unknown.at(place.key_span, "no such place");
            reader.push(unknown.known(
                name,
                "a key that begins with `@` needs `@literal` around its object; places",
                PLACES,
            ));
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
        let wrong = reader.mistake(Lint::UnknownValue, format!("`{delay}` is no delay"));
        reader.push(wrong.at(node.span, "not a time").help("like `3s` or `500ms`, at most one minute"));
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

/// The members of a generator, each of which must be there.
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

    use super::super::diagnostic::File;
    use super::super::json::parse;
    use super::*;
    use crate::model::template::Bindings;

    /// The template of a text whose `@row`s are those of `row`, and what was said against it.
    fn read(text: &str) -> (Template, Vec<Lint>) {
        let mut reader = Reader::new(Arc::new(File::new("case.json", text.to_owned())));
        let root = parse(&mut reader).expect("JSON");
        let object = Object { node: &root };
        let bindings = object.get("row").map(|row| row.members().iter().collect()).unwrap_or_default();
        let row = RowNodes { id: "one", id_span: root.span, bindings };
        let value = object.get("value").expect("a value");
        let filled = RowValues { row: Some(&row), used: &mut BTreeSet::new() }.fill(&mut reader, value);
        let template = template(&mut reader, &filled);
        (template, reader.into_found().iter().map(super::super::Diagnostic::lint).collect())
    }

    fn rendered(text: &str) -> String {
        let (template, found) = read(text);
        assert_eq!(found, []);
        template.render(&Bindings { revision: "r".to_owned(), unique: "7".to_owned(), ..Bindings::default() })
    }

    #[test]
    fn a_row_s_value_stands_where_it_is_wanted_and_a_literal_stands_as_it_is() {
        let text = r#"{ "row": { "a": [1, { "@revision": true }] }, "value": { "x": { "@row": "a" }, "y": { "@literal": { "@row": "a" } } } }"#;
        assert_eq!(rendered(text), r#"{"x":[1,"r"],"y":{"@row":"a"}}"#);
    }

    #[test]
    fn places_are_filled_in_and_left_out() {
        let text = r#"{ "value": { "a": { "@absent": true }, "b": { "@unique": "u:" }, "c": { "@text": { "of": "ab", "length": 3 } } } }"#;
        assert_eq!(rendered(text), r#"{"b":"u:7","c":"aba"}"#);
        let (canary, _) = read(r#"{ "value": { "@canary": "http", "delay": "1500ms", "serves": true } }"#);
        let wanted = Canary { delay_ms: 1500, serves: Some(Value::Bool(true)), ..Canary::new(CanaryKind::Http) };
        assert_eq!(canary, Template::Canary(wanted));
    }

    #[test]
    fn a_row_s_value_can_t_take_from_the_row_again() {
        let text = r#"{ "row": { "a": { "@row": "a" } }, "value": { "@row": "a" } }"#;
        assert_eq!(read(text).1, [Lint::UnknownPlace]);
    }
}
