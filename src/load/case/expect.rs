//! Expectations: the conditions in the `then` of a step, by requirement.
//!
//! Takes a `then` with the values of a row filled in, gives a [`Then`] that was checked against the requirement
//! catalogue. Must not know how a step is run.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;

use super::fixture::json_pointer;
use super::implied;
use super::lint;
use super::scope::Scope;
use super::vacuous;
use crate::load::catalogue::Entry;
use crate::load::source::is_embedded_folder;
use crate::load::text::diagnostic::{Lint, did_you_mean};
use crate::load::text::expand::{plain, template};
use crate::load::text::node::{Kind, Member, Node};
use crate::load::text::read::{Object, Reader};
use crate::model::RequirementId;
use crate::model::case::{
    Action, Advertised, Answered, CallMark, CanaryState, Check, Expectation, Flaw, Matcher, Outcome, TextState, Then,
    TimeClass,
};
use crate::model::schema::Schema;
use crate::model::spec::{Level, Requirement, Revision, Revisions, Role};

const KEYS: [&str; 19] = [
    "as",
    "allowed-by",
    "not-asked",
    "outcome",
    "code",
    "status",
    "canary",
    "advertised",
    "tools",
    "calls",
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

/// The number of alternatives that an expectation may have. Each is compared with all others.
const ALTERNATIVES: usize = 64;

/// The classes of time that can be an upper bound.
const BOUNDS: [TimeClass; 3] = [TimeClass::Instant, TimeClass::Quick, TimeClass::Slow];

/// Reads `then`.
pub(super) fn then(reader: &mut Reader, node: &Node, scope: &Scope<'_>) -> Option<Then> {
    if let Kind::String(text) = &node.kind {
        if &**text == "observe" {
            return Some(Then::Observe);
        }
        let unknown = reader.mistake(Lint::UnknownValue, format!("`then` cannot be `{text}`"));
        let help = "write `\"then\": \"observe\"`, or an object as in `\"then\": {\"inputs-validated\": {\"outcome\": \"success\"}}`";
        reader.push(unknown.at(node.span, "unknown value").help(help));
        return None;
    }
    let members = reader.members(node, "`then`")?;
    if members.is_empty() {
        let empty = reader.mistake(Lint::WrongCount, "`then` checks no requirement");
        let help = "add a requirement, or write `\"then\": \"observe\"` to record the step without a check";
        reader.push(empty.at(node.span, "no requirement in it").help(help));
    }
    let (mut checks, mut checked) = (Vec::new(), BTreeSet::new());
    for member in members {
        let Some(check) = check(reader, member, scope) else { continue };
        if !checked.insert(check.requirement.clone()) {
            let twice = reader.mistake(Lint::DuplicateKey, format!("one step checks `{}` twice", check.requirement));
            reader.push(twice.at(member.key_span, "again here").help("put both conditions into one expectation"));
        }
        checks.push(check);
    }
    Some(Then::Checks(checks))
}

fn check(reader: &mut Reader, member: &Member, scope: &Scope<'_>) -> Option<Check> {
    let id = RequirementId::within(scope.case.folder(), &member.key);
    if KEYS.contains(&&*member.key) && !matches!(scope.catalogue.entry(&id), Entry::Found(_)) {
        let message = format!("`{}` is a key of an expectation, not a requirement", member.key);
        let help = "put the expectation under the requirement that it checks, as in \
                    `\"then\": {\"inputs-validated\": {\"outcome\": \"success\"}}`";
        reader.push(reader.mistake(Lint::UnknownRequirement, message).at(member.key_span, "no requirement").help(help));
        return None;
    }
    if let Some(requirement) = requirement(reader, &member.key, member.key_span, scope) {
        applies(reader, member, scope, requirement);
    }
    let alternatives = if let Kind::Array(items) = &member.value.kind {
        alternatives(reader, &member.value, items, scope)
    } else {
        vec![alone(reader, &member.value, scope)?]
    };
    Some(Check { requirement: id, line: reader.line(member.key_span), alternatives })
}

/// Reports a check of a requirement that does not apply to the test.
fn applies(reader: &mut Reader, member: &Member, scope: &Scope<'_>, requirement: &Requirement) {
    let id = &requirement.id;
    if let Some(role) = scope.role.filter(|role| !requirement.roles.contains(role)) {
        let roles: Vec<_> = requirement.roles.iter().map(|role| role.word()).collect();
        let mismatch = reader.mistake(Lint::RoleMismatch, format!("`{id}` does not bind a {role}"));
        let mismatch = mismatch.at(member.key_span, format!("the {role} is under test"));
        let bound = if roles.is_empty() { "no role".into() } else { format!("the {}", roles.join(" and the ")) };
        reader
            .push(mismatch.help(format!("the requirement binds {bound}; change the `role` of the file or the check")));
    }
    if requirement.revisions.is_draft && !scope.revisions.is_draft {
        let early =
            reader.mistake(Lint::NeverApplies, format!("`{id}` is only proposed, and the test runs as released"));
        let early = early.at(member.key_span, "checked here");
        reader.push(early.help("write `\"since\": \"draft\"` in the file, the row or the test"));
    }
    let both = scope.revisions.intersect(requirement.revisions);
    let some = |range: Revisions| Revision::all().any(|revision| range.contains(revision));
    if some(scope.revisions) && !some(both) {
        let never = reader.mistake(Lint::NeverApplies, format!("`{id}` is in force on no revision of this test"));
        let help = format!("the test runs {}, the requirement is in force {}", scope.revisions, requirement.revisions);
        reader.push(never.at(member.key_span, "this check never applies").help(help));
    }
    if let Some(reason) = &requirement.unobservable {
        let observed = reader.mistake(Lint::UnobservableButChecked, format!("the catalogue calls `{id}` unobservable"));
        let help = format!("remove this check, or the `unobservable` of the requirement (\"{reason}\")");
        reader.push(observed.at(member.key_span, "checked here").help(help));
    }
}

/// Looks a requirement up, and reports one that is nowhere written. One with a mistake is reported where it is written.
fn requirement<'a>(
    reader: &mut Reader,
    written: &str,
    span: miette::SourceSpan,
    scope: &Scope<'a>,
) -> Option<&'a Requirement> {
    let id = RequirementId::within(scope.case.folder(), written);
    let folder = id.as_str().split('/').next().unwrap_or_default();
    match scope.catalogue.entry(&id) {
        Entry::Found(requirement) => return Some(requirement),
        Entry::NoFile => {
            let what = format!("the folder `{folder}` has no requirements.json");
            let missing = reader.mistake(Lint::UnknownRequirement, what).at(span, "a requirement of this folder");
            let folders: Vec<_> = scope.catalogue.folders().collect();
            let help = match folders.as_slice() {
                _ if is_embedded_folder(folder) => with_embedded(reader.file().name()),
                _ if folder == scope.case.folder() => "write the file, as `casebook new NAME` does".to_owned(),
                [] => "no folder has one".to_owned(),
                folders => format!("folders with requirements are: {}", folders.join(", ")),
            };
            reader.push_once(missing.help(help));
        }
        Entry::Missing if !reader.is_full() => {
            let ids = scope.catalogue.requirements.keys().map(RequirementId::as_str);
            let known: Vec<&str> = ids
                .filter_map(|id| {
                    let name = id.strip_prefix(folder)?.strip_prefix('/')?;
                    Some(if written.contains('/') { id } else { name })
                })
                .collect();
            let what =
                format!("the test `{}` checks `{written}`, which {folder}/requirements.json does not have", scope.test);
            let unknown = reader.mistake(Lint::UnknownRequirement, what).at(span, "unknown requirement");
            reader.push(unknown.known(written, "its requirements are", known));
        }
        Entry::Faulty | Entry::Missing => {}
    }
    None
}

/// The help for a requirement of the embedded cases, in a file of other cases.
fn with_embedded(file: &str) -> String {
    let root = Utf8Path::new(file).ancestors().nth(2).map_or("cases", Utf8Path::as_str);
    format!(
        "the embedded cases have it: add them, as in `casebook lint embedded {root}` or \
         `casebook run --cases embedded --cases {root}`"
    )
}

/// Reads the only expectation of a check.
fn alone(reader: &mut Reader, node: &Node, scope: &Scope<'_>) -> Option<Expectation> {
    let one = expectation(reader, node, scope)?;
    if one.not_asked {
        let alone = reader.mistake(Lint::WrongCount, "an expectation that is never asked checks nothing");
        let help = "add alternatives before it that can hold where there is something to check";
        reader.push(alone.at(node.span, "the only expectation").help(help));
    }
    Some(one)
}

fn alternatives(reader: &mut Reader, node: &Node, items: &[Node], scope: &Scope<'_>) -> Vec<Expectation> {
    if items.len() < 2 {
        let few = reader.mistake(Lint::WrongCount, "a list of alternatives must have two or more");
        reader.push(
            few.at(node.span, format!("{} in it", items.len())).help("write a single expectation without the list"),
        );
    }
    if items.len() > ALTERNATIVES {
        let many = reader.mistake(Lint::WrongCount, format!("a list of alternatives may have at most {ALTERNATIVES}"));
        reader.push(many.at(node.span, format!("{} in it", items.len())).help("split the test, or merge alternatives"));
        return Vec::new();
    }
    let read: Vec<(&Node, Expectation)> =
        items.iter().filter_map(|item| Some((item, expectation(reader, item, scope)?))).collect();
    for (index, (node, one)) in read.iter().enumerate() {
        if one.name.is_none() {
            reader.need(Object { node }, "the alternative", "as");
        }
        for (earlier, other) in &read[..index] {
            if one.name.is_some() && one.name == other.name {
                let twice = reader.mistake(Lint::ConflictingKeys, "two alternatives have the same name");
                reader.push(
                    twice
                        .at(node.span, "again here")
                        .at(earlier.span, "first here")
                        .help("give each alternative another `as`: reports show the name of the one that holds"),
                );
            } else if lint::overlap(one, other) {
                let overlap =
                    reader.mistake(Lint::AlternativesOverlap, "the same observation can satisfy two alternatives");
                let overlap = overlap.at(node.span, "this one").at(earlier.span, "and this one");
                reader.push(overlap.help("make their outcomes differ, so that only one of them can hold"));
            } else if vacuous::implies(one, other) {
                let message = "an alternative is never reported: an earlier one holds whenever it does";
                let overlap = reader.mistake(Lint::AlternativesOverlap, message);
                let overlap = overlap.at(node.span, "this one").at(earlier.span, "and this one is more general");
                reader.push(overlap.help("put the general alternative last, or remove one of them"));
            }
        }
    }
    let first = read.iter().position(|(_, one)| one.not_asked).unwrap_or(read.len());
    if first == 0 {
        let alone = reader.mistake(Lint::WrongCount, "all alternatives have `not-asked`, so that nothing is checked");
        reader.push(alone.at(node.span, "these").help("add alternatives before them that can hold"));
    } else if let Some((node, _)) = read[first..].iter().find(|(_, one)| !one.not_asked) {
        let late = reader.mistake(Lint::ConflictingKeys, "an alternative stands after one with `not-asked`");
        reader
            .push(late.at(node.span, "this one").help("put the alternatives with `not-asked` at the end of the list"));
    }
    read.into_iter().map(|(_, expectation)| expectation).collect()
}

fn expectation(reader: &mut Reader, node: &Node, scope: &Scope<'_>) -> Option<Expectation> {
    let object = reader.object(node, "the expectation", &KEYS)?;
    if !node.members().iter().any(|member| !matches!(&*member.key, "as" | "allowed-by" | "not-asked")) {
        let empty = reader.mistake(Lint::WrongCount, "the expectation has no condition, so that it always holds");
        let help = format!("add one or more of: {}", KEYS[3..].join(", "));
        reader.push(empty.at(node.span, "no condition in it").help(help));
    }
    let unseen = [("saw", Role::Client), ("answered", Role::Server), ("sent", Role::Server)];
    for (key, role) in unseen {
        // The user of a pair sees what the user of a client does.
        let is_unseen = scope.role == Some(role) || scope.role == Some(Role::Pair) && key == "saw";
        if let Some(member) = object.member(key).filter(|_| is_unseen) {
            let mismatch = reader.mistake(Lint::RoleMismatch, format!("`{key}` cannot be observed of a {role}"));
            let help = match key {
                "saw" => "use `sent` for the messages of the client, or `structured` for the result that its user got",
                "answered" => "use `asked` for the elicitations of the server",
                _ => "use `reply` for the messages of the server",
            };
            reader.push(mismatch.at(member.key_span, format!("the {role} is under test")).help(help));
        }
    }
    let canary = object.get("canary").and_then(|node| reader.word(node, "`canary`", CanaryState::ALL));
    let text = object.get("text").and_then(|node| reader.word(node, "`text`", TextState::ALL));
    let took = object.get("took").and_then(|node| reader.word(node, "`took`", &BOUNDS));
    let not_asked = object.get("not-asked").is_some_and(|node| reader.yes(node, "`not-asked`").is_some());
    if let Some(member) = object.member("not-asked").filter(|_| object.get("allowed-by").is_some()) {
        let both =
            reader.mistake(Lint::ConflictingKeys, "an alternative cannot have both `not-asked` and `allowed-by`");
        reader.push(
            both.at(member.key_span, "not asked").help("what a MAY allows is a result, so leave `not-asked` out"),
        );
    }
    Some(Expectation {
        not_asked,
        name: object.get("as").and_then(|node| name(reader, node)),
        allowed_by: object.get("allowed-by").and_then(|node| allowed_by(reader, node, scope)),
        outcome: object.get("outcome").map(|node| reader.words(node, "`outcome`", Outcome::ALL)).unwrap_or_default(),
        code: object.get("code").and_then(|node| code(reader, node)),
        status: object.get("status").map(|node| status(reader, node)).unwrap_or_default(),
        advertised: object.get("advertised").map(|node| advertised(reader, node, scope)).unwrap_or_default(),
        without: object.get("tools").map(|node| without(reader, node, "tools", Flaw::ALL)).unwrap_or_default(),
        calls: object.get("calls").map(|node| without(reader, node, "calls", CallMark::FLAWS)).unwrap_or_default(),
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
        let long = reader.mistake(Lint::TitleStyle, "the name of an alternative must have 1 to 40 characters");
        let long = long.at(node.span, format!("{} characters", name.chars().count()));
        reader.push(long.help("write a short name, as in `\"as\": \"refused\"`"));
    }
    Some(name.to_owned())
}

fn allowed_by(reader: &mut Reader, node: &Node, scope: &Scope<'_>) -> Option<RequirementId> {
    let written = reader.text(node, "`allowed-by`")?;
    let id = RequirementId::within(scope.case.folder(), written);
    if let Some(requirement) =
        requirement(reader, written, node.span, scope).filter(|requirement| requirement.level != Level::May)
    {
        let level = requirement.level;
        let no_may = reader.mistake(Lint::AllowedByNoMay, format!("`{id}` allows nothing: its level is {level}"));
        reader.push(no_may.at(node.span, "not a MAY").help("name a requirement of level MAY that gives this choice"));
    }
    Some(id)
}

fn code(reader: &mut Reader, node: &Node) -> Option<i64> {
    if matches!(node.kind, Kind::Array(_)) {
        let wrong = reader.mistake(Lint::WrongType, "`code` must be an integer, not a list");
        let help = "for several codes, write a list of alternatives, each with `as`, as in \
                    `[{\"as\": \"invalid\", \"code\": -32602}, {\"as\": \"unknown\", \"code\": -32601}]`";
        reader.push(wrong.at(node.span, "expected an integer").help(help));
        return None;
    }
    reader.integer(node, "`code`", i64::MIN, i64::MAX)
}

fn status(reader: &mut Reader, node: &Node) -> Vec<u16> {
    let items = reader.one_or_more(node, "`status`");
    let statuses = items.iter().filter_map(|item| reader.integer(item, "`status`", 100, 599));
    statuses.filter_map(|status| u16::try_from(status).ok()).collect()
}

fn advertised(reader: &mut Reader, node: &Node, scope: &Scope<'_>) -> BTreeMap<String, Advertised> {
    let mut by_tool = BTreeMap::new();
    for member in reader.members(node, "`advertised`").unwrap_or_default() {
        scope.tool(reader, &member.key, member.key_span, "the tools of the fixture are");
        let schema = match &member.value.kind {
            Kind::String(text) if &**text == "as given" => Some(Advertised::AsGiven),
            Kind::String(text) if &**text == "kept" => Some(Advertised::Kept),
            Kind::String(text) => {
                let unknown = reader.mistake(Lint::UnknownValue, format!("`advertised` cannot be `{text}`"));
                let help = "write `\"as given\"`, `\"kept\"`, or the parts that must stay, as in \
                            `{\"keeps\": [\"/inputSchema/anyOf\"]}`";
                reader.push(unknown.at(member.value.span, "unknown value").help(help));
                None
            }
            _ => keeps(reader, &member.value),
        };
        by_tool.extend(schema.map(|schema| ((*member.key).to_owned(), schema)));
    }
    by_tool
}

/// Reads `{"without": [WORD, …]}`.
fn without<W>(reader: &mut Reader, node: &Node, key: &str, all: &[W]) -> BTreeSet<W>
where
    W: Copy + AsRef<str> + Ord,
{
    let what = format!("`{key}` of an expectation");
    let Some(object) = reader.object(node, &what, &["without"]) else { return BTreeSet::new() };
    let words = reader.need(object, &what, "without");
    words.map(|node| reader.words(node, "`without`", all)).unwrap_or_default().into_iter().collect()
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
    const KEYS: [&str; 3] = ["equals", "contains", "absent"];
    let keys = reader.members(node, what)?.iter().map(|member| &*member.key);
    if !keys.clone().any(|key| KEYS.contains(&key) || did_you_mean(key, &KEYS).is_some()) {
        let message = format!("{what} must have one of the keys `equals`, `contains`, `absent`");
        let help = "to compare with a value, write `{\"equals\": VALUE}`; see also `contains` and `\"absent\": true`";
        reader.push(reader.mistake(Lint::MissingKey, message).at(node.span, "none of them").help(help));
        return None;
    }
    let object = reader.object(node, what, &KEYS)?;
    if keys_are_misspelt(reader, object, &KEYS) {
        return None;
    }
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
            let unclear = reader.mistake(Lint::ConflictingKeys, format!("{what} must have exactly one of its keys"));
            reader.push(
                unclear
                    .at(node.span, "none or several of them")
                    .help("write one of `{\"equals\": …}`, `{\"contains\": …}`, `{\"absent\": true}`"),
            );
            None
        }
    }
}

/// Returns whether an object has none of these keys, and one of them misspelt.
fn keys_are_misspelt(reader: &Reader, object: Object<'_>, keys: &[&str]) -> bool {
    keys.iter().all(|key| object.get(key).is_none()) && keys.iter().any(|key| reader.is_misspelt(object, key))
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
            let invalid = reader.mistake(Lint::InvalidSchema, format!("{what} is not a JSON Schema that can be used"));
            let help = "write JSON Schema 2020-12 with at most 64 levels and 5,000 values, `$ref` only to places within it, \
                        no cycles, and patterns without look-around or backreferences";
            reader.push(invalid.at(node.span, why).help(help));
        }
    }
    schema
}
