//! `then`: what must hold after a step, by the requirement that says so.
//!
//! Takes a filled-in `then`, gives [`Then`], checked against the catalogue. Must not know how anything is run.

use std::collections::{BTreeMap, BTreeSet};

use super::diagnostic::Lint;
use super::expand::{plain, template};
use super::fixture::json_pointer;
use super::implied;
use super::lint;
use super::node::{Kind, Member, Node};
use super::read::{Object, Reader};
use super::step::Scope;
use crate::model::RequirementId;
use crate::model::case::{
    Action, Advertised, Answered, CanaryState, Check, Expectation, Flaw, Matcher, Outcome, TextState, Then, TimeClass,
};
use crate::model::schema::Schema;
use crate::model::spec::{Level, Requirement, Revision, Revisions, Role};

const KEYS: [&str; 17] = [
    "as",
    "allowed-by",
    "outcome",
    "code",
    "status",
    "canary",
    "advertised",
    "tools",
    "saw",
    "structured",
    "text",
    "asked",
    "answered",
    "took",
    "reply",
    "sent",
    "matches",
];

/// The number of alternatives that an expectation may have: each is compared with all others.
const ALTERNATIVES: usize = 64;

/// The classes of time that bound anything.
const BOUNDS: [TimeClass; 3] = [TimeClass::Instant, TimeClass::Quick, TimeClass::Slow];

/// Reads `then`.
pub(super) fn then(reader: &mut Reader, node: &Node, scope: &Scope<'_>) -> Option<Then> {
    if let Kind::String(text) = &node.kind {
        if &**text == "observe" {
            return Some(Then::Observe);
        }
        let unknown = reader.mistake(Lint::UnknownValue, format!("`then` can't be `{text}`"));
        reader.push(unknown.at(node.span, "no such word").help("`\"observe\"`, or an object of requirements"));
        return None;
    }
    let members = reader.members(node, "`then`")?;
    if members.is_empty() {
        let empty = reader.mistake(Lint::WrongCount, "`then` checks nothing");
        reader.push(
            empty.at(node.span, "no requirement in it").help("what is only remembered says `\"then\": \"observe\"`"),
        );
    }
    let (mut checks, mut checked) = (Vec::new(), BTreeSet::new());
    for member in members {
        let Some(check) = check(reader, member, scope) else { continue };
        if !checked.insert(check.requirement.clone()) {
            let twice =
                reader.mistake(Lint::DuplicateKey, format!("`{}` is checked twice in one step", check.requirement));
            reader.push(twice.at(member.key_span, "again here").help("put both conditions into one expectation"));
        }
        checks.push(check);
    }
    Some(Then::Checks(checks))
}

fn check(reader: &mut Reader, member: &Member, scope: &Scope<'_>) -> Option<Check> {
    let id = RequirementId::within(scope.case.folder(), &member.key);
    match scope.requirements.get(&id) {
        Some(requirement) => applies(reader, member, scope, requirement),
        None => unknown_requirement(reader, &member.key, member.key_span, scope),
    }
    let alternatives = match &member.value.kind {
        Kind::Array(items) => alternatives(reader, &member.value, items, scope),
        _ => vec![expectation(reader, &member.value, scope)?],
    };
    Some(Check { requirement: id, line: reader.line(member.key_span), alternatives })
}

/// Whether the requirement speaks of what is under test.
fn applies(reader: &mut Reader, member: &Member, scope: &Scope<'_>, requirement: &Requirement) {
    let id = &requirement.id;
    if let Some(role) = scope.role.filter(|role| !requirement.roles.contains(role)) {
        let roles: Vec<_> = requirement.roles.iter().map(|role| role.word()).collect();
        let mismatch = reader.mistake(Lint::RoleMismatch, format!("`{id}` doesn't bind the {role}"));
        let mismatch = mismatch.at(member.key_span, format!("the {role} is under test"));
        reader.push(
            mismatch.help(format!("it binds: {}", if roles.is_empty() { "nobody".into() } else { roles.join(", ") })),
        );
    }
    let both = scope.revisions.intersect(requirement.revisions);
    let some = |range: Revisions| Revision::all().any(|revision| range.contains(revision));
    if some(scope.revisions) && !some(both) {
        let never = reader.mistake(Lint::NeverApplies, format!("`{id}` is in force on no revision of this test"));
        let help = format!("the test runs {}, the requirement is in force {}", scope.revisions, requirement.revisions);
        reader.push(never.at(member.key_span, "never checked").help(help));
    }
    if let Some(reason) = &requirement.unobservable {
        let observed =
            reader.mistake(Lint::UnobservableButChecked, format!("`{id}` is checked, and called unobservable"));
        let help = format!("the catalogue says: {reason} Take that away, or this check.");
        reader.push(observed.at(member.key_span, "checked here").help(help));
    }
}

fn unknown_requirement(reader: &mut Reader, written: &str, span: miette::SourceSpan, scope: &Scope<'_>) {
    let folder = scope.case.folder();
    if reader.is_full() {
        return;
    }
    let known: Vec<&str> = scope
        .requirements
        .keys()
        .filter_map(|id| {
            if written.contains('/') { Some(id.as_str()) } else { id.as_str().strip_prefix(folder)?.strip_prefix('/') }
        })
        .collect();
    let what = format!("the test `{}` checks `{written}`, which nobody wrote down", scope.test);
    let unknown = reader.mistake(Lint::UnknownRequirement, what).at(span, "no such requirement");
    let place =
        if written.contains('/') { "written down are".to_owned() } else { format!("{folder}/requirements.json has") };
    reader.push(unknown.known(written, &place, known));
}

fn alternatives(reader: &mut Reader, node: &Node, items: &[Node], scope: &Scope<'_>) -> Vec<Expectation> {
    if items.len() < 2 {
        let few = reader.mistake(Lint::WrongCount, "a list of alternatives has two or more");
        reader.push(
            few.at(node.span, format!("{} in it", items.len())).help("write a single expectation without the list"),
        );
    }
    if items.len() > ALTERNATIVES {
        let many = reader.mistake(Lint::WrongCount, format!("a list of alternatives has at most {ALTERNATIVES}"));
        reader.push(many.at(node.span, format!("{} in it", items.len())).help("split the test, or merge alternatives"));
        return Vec::new();
    }
    let read: Vec<(&Node, Expectation)> =
        items.iter().filter_map(|item| Some((item, expectation(reader, item, scope)?))).collect();
    for (index, (node, one)) in read.iter().enumerate() {
        if one.name.is_none() {
            reader.need(Object { node }, "an alternative", "as");
        }
        for (earlier, other) in &read[..index] {
            if one.name.is_some() && one.name == other.name {
                let twice = reader.mistake(Lint::ConflictingKeys, "two alternatives have one name");
                reader.push(
                    twice
                        .at(node.span, "again here")
                        .at(earlier.span, "first here")
                        .help("reports tell by `as` which one held"),
                );
            } else if lint::overlap(one, other) {
                let overlap =
                    reader.mistake(Lint::AlternativesOverlap, "one observation would satisfy two alternatives");
                let overlap = overlap.at(node.span, "this one").at(earlier.span, "and this one");
                reader.push(overlap.help("`as` would be arbitrary: make their outcomes differ"));
            }
        }
    }
    read.into_iter().map(|(_, expectation)| expectation).collect()
}

fn expectation(reader: &mut Reader, node: &Node, scope: &Scope<'_>) -> Option<Expectation> {
    let object = reader.object(node, "an expectation", &KEYS)?;
    if !node.members().iter().any(|member| !matches!(&*member.key, "as" | "allowed-by")) {
        let empty = reader.mistake(Lint::WrongCount, "an expectation without a condition always holds");
        reader.push(empty.at(node.span, "nothing must hold").help(format!("conditions: {}", KEYS[2..].join(", "))));
    }
    let unseen = [("saw", Role::Client), ("reply", Role::Client), ("answered", Role::Server), ("sent", Role::Server)];
    for (key, role) in unseen {
        if let Some(member) = object.member(key).filter(|_| scope.role == Some(role)) {
            let mismatch = reader.mistake(Lint::RoleMismatch, format!("`{key}` can't be seen of a {role} under test"));
            reader.push(mismatch.at(member.key_span, format!("the {role} is under test")));
        }
    }
    let canary = object.get("canary").and_then(|node| reader.word(node, "`canary`", CanaryState::ALL));
    let text = object.get("text").and_then(|node| reader.word(node, "`text`", TextState::ALL));
    let took = object.get("took").and_then(|node| reader.word(node, "`took`", &BOUNDS));
    Some(Expectation {
        name: object.get("as").and_then(|node| name(reader, node)),
        allowed_by: object.get("allowed-by").and_then(|node| allowed_by(reader, node, scope)),
        outcome: object.get("outcome").map(|node| reader.words(node, "`outcome`", Outcome::ALL)).unwrap_or_default(),
        code: object.get("code").and_then(|node| reader.integer(node, "`code`", i64::MIN, i64::MAX)),
        status: object.get("status").map(|node| status(reader, node)).unwrap_or_default(),
        advertised: object.get("advertised").map(|node| advertised(reader, node, scope)).unwrap_or_default(),
        without: object.get("tools").map(|node| tools(reader, node)).unwrap_or_default(),
        saw: object.get("saw").and_then(|node| matcher(reader, node, "`saw`")),
        structured: object.get("structured").and_then(|node| matcher(reader, node, "`structured`")),
        asked: object.get("asked").and_then(|node| matcher(reader, node, "`asked`")),
        answered: object.get("answered").and_then(|node| answered(reader, node)),
        reply: object.get("reply").map(|node| schema(reader, node, "`reply`").into()),
        sent: object.get("sent").map(|node| schema(reader, node, "`sent`").into()),
        matches: object.get("matches").map(|node| schema(reader, node, "`matches`").into()),
        canary,
        text,
        took,
    })
}

fn name(reader: &mut Reader, node: &Node) -> Option<String> {
    let name = reader.text(node, "`as`")?;
    if name.is_empty() || name.chars().count() > 40 {
        let long = reader.mistake(Lint::TitleStyle, "the name of an alternative has 1 to 40 characters");
        reader.push(long.at(node.span, format!("{} characters", name.chars().count())));
    }
    Some(name.to_owned())
}

fn allowed_by(reader: &mut Reader, node: &Node, scope: &Scope<'_>) -> Option<RequirementId> {
    let written = reader.text(node, "`allowed-by`")?;
    let id = RequirementId::within(scope.case.folder(), written);
    match scope.requirements.get(&id) {
        None => unknown_requirement(reader, written, node.span, scope),
        Some(requirement) if requirement.level != Level::May => {
            let level = requirement.level;
            let no_may = reader.mistake(Lint::AllowedByNoMay, format!("`{id}` allows nothing: it is a {level}"));
            reader.push(no_may.at(node.span, "not a MAY").help("name the sentence that gives the choice"));
        }
        Some(_) => {}
    }
    Some(id)
}

fn status(reader: &mut Reader, node: &Node) -> Vec<u16> {
    let items = reader.one_or_more(node, "`status`");
    let statuses = items.iter().filter_map(|item| reader.integer(item, "`status`", 100, 599));
    statuses.filter_map(|status| u16::try_from(status).ok()).collect()
}

fn advertised(reader: &mut Reader, node: &Node, scope: &Scope<'_>) -> BTreeMap<String, Advertised> {
    let mut by_tool = BTreeMap::new();
    for member in reader.members(node, "`advertised`").unwrap_or_default() {
        scope.tool(reader, &member.key, member.key_span);
        let schema = match &member.value.kind {
            Kind::String(text) if &**text == "as given" => Some(Advertised::AsGiven),
            Kind::String(_) => reader.word(&member.value, "`advertised`", &["as given"]).map(|_| Advertised::AsGiven),
            _ => keeps(reader, &member.value),
        };
        by_tool.extend(schema.map(|schema| ((*member.key).to_owned(), schema)));
    }
    by_tool
}

fn tools(reader: &mut Reader, node: &Node) -> BTreeSet<Flaw> {
    let Some(object) = reader.object(node, "`tools`", &["without"]) else { return BTreeSet::new() };
    let flaws = reader.need(object, "`tools`", "without");
    flaws.map(|node| reader.words(node, "`without`", Flaw::ALL)).unwrap_or_default().into_iter().collect()
}

fn keeps(reader: &mut Reader, node: &Node) -> Option<Advertised> {
    let object = reader.object(node, "`advertised`", &["keeps"])?;
    let list = reader.need(object, "`advertised`", "keeps")?;
    let pointers = reader.items(list, "`keeps`")?;
    if pointers.is_empty() {
        reader.one_or_more(list, "`keeps`");
    }
    Some(Advertised::Keeps(pointers.iter().filter_map(|item| json_pointer(reader, item, "`keeps`")).collect()))
}

fn matcher(reader: &mut Reader, node: &Node, what: &str) -> Option<Matcher> {
    let object = reader.object(node, what, &["equals", "contains", "absent"])?;
    match (object.get("equals"), object.get("contains"), object.get("absent")) {
        (Some(value), None, None) => Some(Matcher::Equals(template(reader, value))),
        (None, Some(value), None) => {
            if !matches!(value.kind, Kind::Object(_) | Kind::Array(_)) {
                reader.members(value, "`contains`");
            }
            Some(Matcher::Contains(template(reader, value)))
        }
        (None, None, Some(value)) => reader.yes(value, "`absent`").map(|()| Matcher::Absent),
        _ => {
            let unclear = reader.mistake(Lint::ConflictingKeys, format!("{what} says one thing"));
            reader.push(
                unclear
                    .at(node.span, "not one")
                    .help("one of `{\"equals\": …}`, `{\"contains\": …}`, `{\"absent\": true}`"),
            );
            None
        }
    }
}

fn answered(reader: &mut Reader, node: &Node) -> Option<Answered> {
    let object = reader.object(node, "`answered`", &["action", "content"])?;
    let action = reader.need(object, "`answered`", "action")?;
    let action = reader.word(action, "`action`", Action::ALL)?;
    Some(Answered { action, content: object.get("content").and_then(|node| matcher(reader, node, "`content`")) })
}

fn schema(reader: &mut Reader, node: &Node, what: &str) -> serde_json::Value {
    let mut schema = plain(reader, node, what);
    implied::objects(&mut schema);
    if reader.is_known_schema(node.span, &schema) {
        return schema;
    }
    match Schema::new(&schema) {
        Ok(_) => reader.know_schema(node.span, &schema),
        Err(why) => {
            let invalid = reader.mistake(Lint::InvalidSchema, format!("{what} is no JSON Schema that stands alone"));
            let help = "JSON Schema 2020-12 of at most 64 levels and 5,000 values, with `$ref` only to a place within it, \
                        and no cycles; patterns without look-around or backreferences";
            reader.push(invalid.at(node.span, why).help(help));
        }
    }
    schema
}
