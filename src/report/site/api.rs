//! `api/v1`: the facts of the pages as JSON, each file with a JSON Schema.
//!
//! Within one version, members are only added. Takes editions, gives text. Must not know pages.

use std::collections::BTreeMap;
use std::io;

use serde_json::{Map, Value, json};

use super::super::filters::external;
use super::super::{Answer, CapabilityCell, Rate, Report, Sentence, SentenceRates, TestEntry};
use super::Put;
use super::address;
use super::edition::Edition;
use super::page::number;
use crate::model::RequirementId;
use crate::model::text::shortened;
use crate::model::untrusted::escape_json;

/// The version of the formats.
const FORMAT: u32 = 1;
/// The length of a name and of a note, in bytes.
const NOTE: usize = 300;

/// The schemas, by the names of the files that they describe.
pub(super) const SCHEMAS: [(&str, &str); 6] = [
    ("index", include_str!("schemas/index.json")),
    ("targets", include_str!("schemas/targets.json")),
    ("capabilities", include_str!("schemas/capabilities.json")),
    ("requirements", include_str!("schemas/requirements.json")),
    ("results", include_str!("schemas/results.json")),
    ("compat", include_str!("schemas/compat.json")),
];

fn text(value: &Value) -> String {
    escape_json(&value.to_string()).into_owned() + "\n"
}

fn file(members: Value) -> String {
    let mut all = Map::new();
    all.insert("format".into(), FORMAT.into());
    all.insert("casebook".into(), env!("CARGO_PKG_VERSION").into());
    if let Value::Object(members) = members {
        all.extend(members);
    }
    text(&Value::Object(all))
}

fn rate(rate: Rate) -> Value {
    json!({ "held": rate.held, "asked": rate.asked })
}

fn sentences(rates: &SentenceRates) -> Value {
    json!({ "must": rate(rates.must), "should": rate(rates.should), "author": rates.author })
}

/// The names that lead to one edition.
fn edition_members(edition: &Edition) -> Map<String, Value> {
    let Edition { column, place, .. } = edition;
    let mut members = Map::new();
    members.insert("target".into(), json!(column.id));
    members.insert("version".into(), json!(column.version.as_deref().map(|version| shortened(version, NOTE))));
    members.insert("page".into(), json!(place.page()));
    members
}

/// The results of all tests of an edition.
pub(super) fn results(edition: &Edition, tests: &[&TestEntry], report: &Report) -> String {
    let test = |test: &&TestEntry| {
        let mut broken: Vec<&str> = test
            .checks
            .iter()
            .filter(|check| check.kind.is_broken())
            .map(|check| report.requirements[check.requirement].id.as_str())
            .collect();
        broken.dedup();
        let mut members = Map::new();
        members.insert("test".into(), json!(test.test.to_string()));
        members.insert("status".into(), json!(test.status));
        if !broken.is_empty() {
            members.insert("broken".into(), json!(broken));
        }
        Value::Object(members)
    };
    let mut members = edition_members(edition);
    members.insert("cases".into(), json!(edition.column.cases));
    members.insert("results".into(), json!(format!("results/{}", edition.place.path())));
    members.insert("tests".into(), tests.iter().map(test).collect());
    file(Value::Object(members))
}

/// Writes all files but the results of editions.
pub(super) fn write(
    report: &Report,
    editions: &[Edition],
    requirements: &BTreeMap<RequirementId, Sentence>,
    put: &mut Put<'_>,
) -> io::Result<()> {
    put("api/v1/index.json", &index(editions))?;
    put("api/v1/targets.json", &targets(editions))?;
    put("api/v1/capabilities.json", &capabilities(report, editions))?;
    put("api/v1/requirements.json", &requirements_of(requirements, editions))?;
    put("api/v1/compat.json", &compat(report, editions, requirements))?;
    SCHEMAS.iter().try_for_each(|(name, schema)| put(&format!("api/v1/schemas/{name}.json"), schema))
}

fn index(editions: &[Edition]) -> String {
    let named = ["targets", "capabilities", "requirements", "compat"];
    let files: Map<String, Value> = named
        .iter()
        .map(|name| {
            let schema = format!("api/v1/schemas/{name}.json");
            ((*name).to_owned(), json!({ "file": format!("api/v1/{name}.json"), "schema": schema }))
        })
        .collect();
    let results: Vec<_> = editions
        .iter()
        .map(|edition| {
            let mut members = edition_members(edition);
            members.insert("file".into(), json!(format!("api/v1/results/{}.json", edition.place.path())));
            Value::Object(members)
        })
        .collect();
    file(json!({ "files": files, "results": { "schema": "api/v1/schemas/results.json", "files": results } }))
}

fn targets(editions: &[Edition]) -> String {
    let target = |edition: &Edition| {
        let Edition { column, place, .. } = edition;
        let mut members = edition_members(edition);
        let roles: Map<String, Value> =
            column.sentences.iter().map(|(role, rates)| (role.to_string(), sentences(rates))).collect();
        let mut revisions: Map<String, Value> = Map::new();
        for ((role, revision), rates) in &edition.revisions {
            let of_role = revisions.entry(role.to_string()).or_insert_with(|| json!({}));
            of_role[revision.name()] = sentences(rates);
        }
        let statuses: Map<String, Value> =
            column.statuses.iter().map(|(status, tests)| (status.to_string(), json!(tests))).collect();
        members.insert("title".into(), json!(shortened(&column.title, NOTE)));
        members.insert("main".into(), json!(column.is_main));
        members.insert("newest".into(), json!(edition.is_newest));
        members.insert("history".into(), json!(place.history()));
        members.insert("cases".into(), json!(column.cases));
        members.insert("planned".into(), json!(column.planned));
        members.insert("missing".into(), json!(column.missing));
        members.insert("statuses".into(), Value::Object(statuses));
        members.insert("sentences".into(), Value::Object(roles));
        members.insert("revisions".into(), Value::Object(revisions));
        Value::Object(members)
    };
    file(json!({ "targets": editions.iter().map(target).collect::<Vec<_>>() }))
}

fn cell(cell: &CapabilityCell) -> Value {
    json!({
        "answer": cell.answer, "words": cell.words, "by": cell.by, "held": cell.held, "decided": cell.decided,
        "author": cell.author, "cannot": cell.cannot,
    })
}

fn capabilities(report: &Report, editions: &[Edition]) -> String {
    let mut at = 0;
    let mut groups = Vec::new();
    for group in &report.capabilities {
        let mut rows = Vec::new();
        for row in &group.capabilities {
            let answers: Vec<_> = editions.iter().map(|edition| cell(&edition.answers[at])).collect();
            rows.push(json!({
                "id": row.id, "question": row.question, "first": row.first, "right": row.right,
                "requirements": row.requirements, "page": address::capability(&row.id), "answers": answers,
            }));
            at += 1;
        }
        groups.push(json!({ "id": group.id, "title": group.title, "role": group.role, "capabilities": rows }));
    }
    let columns: Vec<_> = editions.iter().map(|edition| Value::Object(edition_members(edition))).collect();
    file(json!({ "agreement": rate(report.agreement()), "columns": columns, "groups": groups }))
}

fn requirements_of(requirements: &BTreeMap<RequirementId, Sentence>, editions: &[Edition]) -> String {
    let one = |sentence: &Sentence| {
        let results = editions.iter().enumerate().filter_map(|(column, edition)| {
            let tally = edition.requirements.get(&sentence.id)?;
            Some(json!({
                "column": column, "answer": tally.answer(), "held": tally.held, "broken": tally.broken,
                "author": tally.author, "cannot": tally.cannot,
            }))
        });
        json!({
            "id": sentence.id, "level": sentence.level, "roles": sentence.roles, "quote": sentence.quote,
            "url": sentence.url, "harm": sentence.harm, "why": sentence.why, "fix": sentence.fix,
            "page": address::requirement(&sentence.id), "results": results.collect::<Vec<_>>(),
        })
    };
    let columns: Vec<_> = editions.iter().map(|edition| Value::Object(edition_members(edition))).collect();
    file(json!({ "columns": columns, "requirements": requirements.values().map(one).collect::<Vec<_>>() }))
}

/// The feed in the shape of MDN's browser-compat-data: a tree of features, each with `__compat`.
fn compat(report: &Report, editions: &[Edition], requirements: &BTreeMap<RequirementId, Sentence>) -> String {
    let mains: Vec<&[Edition]> = editions
        .chunk_by(|one, other| one.column.id == other.column.id)
        .filter(|chunk| chunk.iter().all(|edition| edition.column.is_main && !edition.is_reference()))
        .collect();
    let mut browsers = Map::new();
    for chunk in &mains {
        let releases: Map<String, Value> = chunk
            .iter()
            .filter_map(|edition| {
                let status = if edition.is_newest { "current" } else { "retired" };
                edition.column.version.as_ref().map(|_| (number(&edition.column), json!({ "status": status })))
            })
            .collect();
        let column = &chunk[0].column;
        browsers
            .insert(column.id.name.clone(), json!({ "name": shortened(&column.title, NOTE), "releases": releases }));
    }
    let mut features = Map::new();
    let mut at = 0;
    for group in &report.capabilities {
        let mut rows = Map::new();
        for row in &group.capabilities {
            let support: Map<String, Value> =
                mains.iter().filter_map(|chunk| Some((chunk[0].column.id.name.clone(), support(at, chunk)?))).collect();
            let urls: Vec<&String> =
                row.requirements.iter().filter_map(|id| requirements.get(id)?.url.as_ref()).collect();
            let mut urls: Vec<_> = urls.into_iter().filter_map(|url| external(url)).collect();
            urls.sort();
            urls.dedup();
            rows.insert(
                row.id.clone(),
                json!({ "__compat": {
                "description": row.question, "right": row.right, "role": group.role, "spec_url": urls, "support": support,
                "status": { "experimental": false, "standard_track": true, "deprecated": false },
            } }),
            );
            at += 1;
        }
        features.insert(group.id.clone(), Value::Object(rows));
    }
    text(&json!({
        "__meta": { "format": FORMAT, "version": env!("CARGO_PKG_VERSION") },
        "browsers": browsers, "capabilities": features,
    }))
}

/// The support of a capability by a target, as far as its versions tell; `None` if no version was asked.
///
/// `version_added` is the first version that answers right or partly, if an older one was asked and does not; `true` if
/// all versions do, because older ones are unknown; `false` if the newest does not.
fn support(at: usize, versions: &[Edition]) -> Option<Value> {
    let decided: Vec<(&Edition, &CapabilityCell)> = versions
        .iter()
        .map(|edition| (edition, &edition.answers[at]))
        .filter(|(_, cell)| cell.answer.is_decided())
        .collect();
    let works = |cell: &CapabilityCell| matches!(cell.answer, Answer::Right | Answer::Nearly | Answer::Partly);
    let version = |edition: &Edition| {
        edition.column.version.as_ref().map_or(Value::Bool(true), |_| number(&edition.column).into())
    };
    let Some((_, newest)) = decided.last() else {
        let cell = &versions.last()?.answers[at];
        let is_known = matches!(cell.answer, Answer::Author | Answer::Absent);
        return is_known.then(|| json!({ "version_added": null, "notes": [cell.words] }));
    };
    if !works(newest) {
        let worked = decided.iter().rposition(|(_, cell)| works(cell));
        return Some(match worked {
            Some(last) => {
                let first = decided[..last].iter().rposition(|(_, cell)| !works(cell));
                let added = first.map_or(Value::Bool(true), |before| version(decided[before + 1].0));
                json!({ "version_added": added, "version_removed": version(decided[last + 1].0) })
            }
            None => json!({ "version_added": false }),
        });
    }
    let before = decided.iter().rposition(|(_, cell)| !works(cell));
    let added = before.map_or(Value::Bool(true), |before| version(decided[before + 1].0));
    let mut members = Map::new();
    members.insert("version_added".into(), added);
    if matches!(newest.answer, Answer::Nearly | Answer::Partly) {
        members.insert("partial_implementation".into(), Value::Bool(true));
        let note = newest.words.clone();
        let causes = decided.last().map_or(&[][..], |(edition, _)| edition.evidence[at].as_slice());
        let reason = causes.iter().find_map(|cause| cause.tests.first());
        let mut notes = vec![note];
        notes.extend(reason.map(|(test, _, reason)| shortened(&format!("{test}: {reason}"), NOTE).into_owned()));
        members.insert("notes".into(), json!(notes));
    }
    Some(Value::Object(members))
}
