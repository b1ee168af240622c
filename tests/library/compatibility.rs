//! The compatibility matrix in Markdown, both views of reports, and the published state of the SDKs in
//! `docs/compatibility.md` and in the table of the README.
//!
//! `CASEBOOK_WRITE_COMPATIBILITY=RUN_LOG` writes both from the run log of a full run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};
use casebook::load::{Source as Cases, load, target};
use casebook::model::applicability::Applicability;
use casebook::model::capability::{Capability, CapabilityGroup, Decider};
use casebook::model::case::{Library, Test};
use casebook::model::reason::SkipReason;
use casebook::model::record::{Footer, Header, Record};
use casebook::model::spec::{Catalogue, Harm, Level, Requirement, Revisions, Role};
use casebook::model::{CaseId, RequirementId};
use casebook::report::markdown::{COMMENT, compatibility, markdown};
use casebook::report::{
    CaveatKind, Rate, Report, ReportContext, SentenceRates, Source, Status, Upgrade, UpgradeCause, View,
};
use casebook::run::{Replay, read_what_is_there, rejudge};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::counts::thousands;
use crate::{answers, typed};

const PAGE: &str = "docs/compatibility.md";
/// The page of typed tools, of the same run.
const TYPED: &str = "docs/typed-tools.md";
const README: &str = "README.md";
/// The head of the README's table.
const TABLE: &str = "\
| SDK | version | tests | MUSTs violated | SHOULDs violated | harmful |
| --- | --- | ---: | ---: | ---: | ---: |";
const COMMAND: &str = "CASEBOOK_WRITE_COMPATIBILITY=RUN_LOG cargo test --test library compatibility";

const HOSTILE: &str = "</text><script>alert(1)</script><img src=x>&\"'`*_[a](b)|@all\u{1b}[31m\u{202e}\u{0}";

fn root() -> &'static Utf8Path {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A record of the server case (`server/c`) or of the client case (`client/c`).
fn record(target: &str, role: Role, index: usize, kind: &str) -> Record {
    let requirement = if role == Role::Server { "f/arrays" } else { "f/fetch" };
    let mut verdict =
        json!({ "step": 0, "requirement": requirement, "level": "MUST", "kind": kind, "detail": [], "line": 7 });
    if kind == "known" {
        verdict["excuses"] = json!("fail");
        verdict["known"] = json!({ "test": "**", "reason": "it is slow" });
    }
    let record = json!({
        "index": index, "target": target, "test": format!("{role}/c/t{index}@2026-07-28+http"), "title": "A sentence",
        "hash": "0", "micros": 1_500, "verdicts": [verdict],
        "observation": { "steps": [{ "outcome": "success", "took": "instant", "size": "small" }] },
    });
    serde_json::from_value(record).expect("a record")
}

/// The run log of targets, each with the kinds of its verdicts as a server and as a client.
fn source(runs: &[(&str, &[&str], &[&str])], narrowed: Option<&str>) -> Source {
    let mut records = Vec::new();
    for (target, server, client) in runs {
        for (role, kinds) in [(Role::Server, server), (Role::Client, client)] {
            let of_role = kinds.iter().enumerate().map(|(index, kind)| record(target, role, index, kind));
            records.extend(of_role);
        }
    }
    let targets: Vec<_> = runs.iter().map(|(target, ..)| *target).collect();
    let about: Vec<Value> = runs
        .iter()
        .map(|(id, server, client)| {
            let planned = server.len() + client.len();
            json!({ "target": id, "title": "A", "version": "package of it 1.2.0", "planned": planned })
        })
        .collect();
    let skipped: Vec<Value> =
        targets.iter().map(|id| json!({ "target": id, "reason": "heavy", "tests": id.len() })).collect();
    let header: Header = serde_json::from_value(json!({
        "format": 3, "casebook": "0", "targets": targets, "planned": records.len(), "cases": "c0", "about": about,
        "skipped": skipped, "narrowed": narrowed,
    }))
    .expect("a header");
    let footer = Footer { ran: records.len(), micros: 1, ..Footer::default() };
    Source { name: "run.jsonl".into(), header, records, footer: Some(footer), cut: None, is_broken: false }
}

fn context() -> ReportContext {
    let requirement = |id: &str| Requirement {
        id: RequirementId::within("", id),
        level: Level::Must,
        roles: vec![Role::Server, Role::Client],
        revisions: Revisions::default(),
        source: "specification/page#anchor".into(),
        quote: "They must".into(),
        also: Vec::new(),
        harm: Harm::Interop,
        short: Some("text instead".into()),
        fix: None,
        why: "It matters.".into(),
        unobservable: None,
        sides: casebook::model::spec::Sides::default(),
    };
    let group =
        |id: &str, title: &str, role, capability: (&str, &str), right_is_yes, requirement: &str| CapabilityGroup {
            id: id.into(),
            title: title.into(),
            role,
            capabilities: vec![Capability {
                id: capability.0.into(),
                question: capability.1.into(),
                is_first: true,
                right_is_yes,
                absent: None,
                shows: None,
                unasked: None,
                since: None,
                decided_by: vec![Decider {
                    requirement: RequirementId::within("", requirement),
                    tests: Vec::new(),
                    short: None,
                }],
            }],
        };
    let returned = ("arrays", "Can a tool return `[1]`?");
    let fetched = ("refs", "Is a `$ref` ever fetched?");
    let capabilities = vec![
        group("results", "Results & references", Role::Server, returned, true, "f/arrays"),
        group("safety", "Safety", Role::Client, fetched, false, "f/fetch"),
    ];
    let catalogue: Catalogue =
        ["f/arrays", "f/fetch"].map(requirement).into_iter().map(|one| (one.id.clone(), one)).collect();
    let case = |role: &Role| record("a", *role, 0, "pass").test.case;
    let roles: BTreeMap<CaseId, Role> = Role::ALL.iter().map(|role| (case(role), *role)).collect();
    ReportContext { catalogue, capabilities, roles, ..ReportContext::default() }
}

fn report(source: Source) -> Report {
    Report::new(&[source], &context())
}

fn sample() -> Report {
    report(source(
        &[
            ("alpha-sdk:high", &["pass", "pass"], &["pass"]),
            ("alpha-sdk:low", &["fail"], &[]),
            ("beta-sdk", &["known", "pass", "known"], &["known"]),
            ("gamma-sdk", &["author"], &["cannot", "pass"]),
            ("reference", &["pass"], &["pass"]),
        ],
        None,
    ))
}

#[test]
fn conformance_report_opens_with_matrix_and_sentences() {
    insta::assert_snapshot!("compatibility-markdown", markdown(&sample(), COMMENT));
}

#[test]
fn view_decides_what_a_known_failure_is() {
    let runs: &[(&str, &[&str], &[&str])] = &[("beta-sdk", &["known", "pass"], &["pass"])];
    let mut report = report(source(runs, None));
    assert_eq!(report.view, View::Expectation);
    let text = markdown(&report, COMMENT);
    let first = text.lines().next().expect("a line");
    assert_eq!(first, "## MCP casebook: ✅ as expected (expectation view)");
    assert!(text.contains("🟡 Known failures: 1") && !text.contains("❌ 1"), "{text}");
    report.view = View::Conformance;
    let text = markdown(&report, COMMENT);
    assert_eq!(text.lines().next(), Some("## MCP casebook: 1 target (conformance view)"));
    assert!(text.contains("❌ 1 MUST violated") && !text.contains("as expected"), "{text}");
    assert!(text.contains("| target | version | MUST | SHOULD | tested | failed | passed |"), "{text}");
    for sign in ["✅ as", "🟡", "known |"] {
        assert!(!text.contains(sign), "{sign} in {text}");
    }
}

#[test]
fn target_that_was_hardly_asked_is_no_column() {
    let mut context = context();
    let group = &mut context.capabilities[0];
    let of = |id: usize| {
        // Only one question has a test that `small` was asked.
        let tests = if id == 0 { vec!["server/c/t0".to_owned()] } else { vec!["server/c/t1".to_owned()] };
        let decided_by = vec![Decider { tests, ..group.capabilities[0].decided_by[0].clone() }];
        Capability { id: format!("c{id}"), decided_by, ..group.capabilities[0].clone() }
    };
    group.capabilities = (0..30).map(of).collect();
    let both = &["pass", "pass"][..];
    let runs: &[(&str, &[&str], &[&str])] = &[("a-sdk", both, &[]), ("b-sdk", both, &[]), ("small", &["pass"], &[])];
    let report = Report::new(&[source(runs, None)], &context);
    let text = markdown(&report, COMMENT);
    assert!(text.contains("1 other target was asked at most 1 question&#58; small"), "{text}");
}

#[test]
fn same_remark_about_many_targets_is_one_line() {
    let names: Vec<_> = (10..31).map(|number| format!("sdk-{number}")).collect();
    let runs: Vec<_> = names.iter().map(|name| (name.as_str(), &["pass"][..], &["pass"][..])).collect();
    let report = report(source(&runs, Some("--transport http")));
    let remarks: Vec<_> = report.partial.iter().map(|caveat| (caveat.kind, caveat.text.as_str())).collect();
    let [(CaveatKind::Remark, only)] = remarks[..] else { panic!("{remarks:?}") };
    assert!(only.starts_with("21 targets were tested only in part, with --transport http: sdk-10, sdk-11, "), "{only}");
    let text = markdown(&report, COMMENT);
    let heavy: Vec<_> = text.lines().filter(|line| line.contains("runs only with --heavy")).collect();
    let [heavy] = heavy[..] else { panic!("{heavy:?}") };
    assert!(heavy.starts_with("- 21 targets: 6 skipped: ") && heavy.ends_with(" and 13 more)"), "{heavy}");
}

#[test]
fn matrix_of_hostile_and_many_targets_is_bounded_text() {
    let mut report = sample();
    for column in &mut report.targets {
        column.version = Some(HOSTILE.to_owned());
    }
    report.capabilities[0].title = HOSTILE.to_owned();
    for cell in &mut report.capabilities[0].capabilities[0].answers {
        cell.words = HOSTILE.to_owned();
    }
    report.capabilities[0].capabilities[0].question = HOSTILE.to_owned();
    let text = markdown(&report, COMMENT);
    for wrong in ["<script", "<img", "\u{1b}", "\u{202e}", "\u{0}", "](b)", "@all|"] {
        assert!(!text.contains(wrong), "{wrong} in {text}");
    }
    let names: Vec<_> = (1000..3000).map(|number| format!("sdk-{number}")).collect();
    let runs: Vec<_> = names.iter().map(|name| (name.as_str(), &["pass"][..], &["known"][..])).collect();
    let report = self::report(source(&runs, None));
    let text = markdown(&report, COMMENT);
    assert!(text.len() <= COMMENT && text.contains("1972 further targets are not in this table"), "{}", text.len());
}

/// The hash of all that the page depends on: the cases of single targets, the questions, the snapshots and the targets.
fn stamp() -> String {
    /// The cases of pairs, and the schemas for editors.
    const OTHERS: [&str; 2] = ["cases/pairs", "cases/schemas"];
    fn add(folder: &Utf8Path, extension: &str, hash: &mut Sha256) {
        let entries = folder.read_dir_utf8().expect("a folder").map(|entry| entry.expect("an entry").into_path());
        let mut paths: Vec<_> = entries.collect();
        paths.sort();
        for path in paths {
            if OTHERS.iter().any(|other| path == root().join(other)) {
                continue;
            }
            if path.is_dir() {
                add(&path, extension, hash);
            } else if path.extension() == Some(extension) {
                add_file(&path, hash);
            }
        }
    }
    fn add_file(path: &Utf8Path, hash: &mut Sha256) {
        let name = path.strip_prefix(root()).expect("below the root").as_str().replace('\\', "/");
        let text = fs::read(path).expect("a file");
        hash.update(format!("{name}\n{}\n", text.len()));
        hash.update(text);
    }
    let mut hash = Sha256::new();
    add(&root().join("cases"), "json", &mut hash);
    add(&root().join("snapshots"), "snap", &mut hash);
    let targets = root().join("targets").read_dir_utf8().expect("a folder");
    let files = targets.map(|entry| entry.expect("an entry").into_path().join("target.toml"));
    let files: BTreeSet<_> = files.filter(|file| file.is_file()).collect();
    for file in &files {
        add_file(file, &mut hash);
    }
    let first: [u8; 16] = hash.finalize()[..16].try_into().expect("16 bytes");
    format!("{:032x}", u128::from_be_bytes(first))
}

/// The line of the page by which the test finds out whether it is current.
fn stamp_line() -> String {
    format!("<!-- cases, questions, snapshots and targets {} -->", stamp())
}

#[test]
fn published_state_belongs_to_the_cases_and_snapshots() {
    let library = load(&[Cases::Embedded]).expect("the cases are sound");
    if let Some(paths) = std::env::var_os("CASEBOOK_WRITE_COMPATIBILITY") {
        let sources: Vec<_> = std::env::split_paths(&paths).map(|path| complete_source(path, &library)).collect();
        let records = sources.iter().flat_map(|source| &source.records);
        let recorded: BTreeSet<String> = records.map(|record| record.test.path()).collect();
        // The fixed targets of the run do not speak HTTP, as some cases for them do.
        let tests = library.cases.iter().filter(|case| case.role != Role::Pair).flat_map(|case| &case.tests);
        let is_asked = |test: &&Arc<Test>| !test.heavy && !matches!(test.reach, Applicability::FixedOnly(_));
        let tests = tests.filter(is_asked);
        let unseen: Vec<_> = tests.map(|test| test.path()).filter(|path| !recorded.contains(path)).collect();
        assert!(unseen.is_empty(), "no run log has the tests {unseen:?}");
        let context = ReportContext::of(&library);
        let (report, records) = Report::with_records(&sources, &context);
        let flaws = answers::flaws(&report);
        assert!(flaws.is_empty(), "{}", flaws.join("\n"));
        let upgrades = upgrades(&Upgrade::all(&report, &records, &context));
        let before = fs::read_to_string(root().join(PAGE)).unwrap_or_default();
        fs::write(root().join(PAGE), page(&report, &upgrades, &library.hash, &before)).expect("the page is written");
        let typed = format!("{}\n{}", stamp_line(), typed::page(&sources, &library));
        fs::write(root().join(TYPED), typed).expect("the page is written");
        let readme = fs::read_to_string(root().join(README)).expect("the README");
        let (before, rest) = readme.split_once(TABLE).expect("the head of the table");
        let after = rest.split_once("\n\n").expect("the end of the table").1;
        let readme = format!("{before}{TABLE}\n{}\n{after}", state(&report));
        fs::write(root().join(README), readme).expect("the README is written");
    }
    let current = stamp_line();
    for path in [PAGE, TYPED] {
        let page = fs::read_to_string(root().join(path)).expect("the page");
        assert!(
            page.lines().next() == Some(current.as_str()),
            "cases, snapshots or targets changed after {path} was written; run all targets, then: {COMMAND}\n{current}"
        );
    }
}

/// Each requirement that decides a question has the words for readers, and each known failure of the repository's SDKs.
#[test]
fn answers_have_words() {
    let library = load(&[Cases::Embedded]).expect("the cases are sound");
    let deciders = library.capabilities.iter().flat_map(|group| &group.capabilities).flat_map(|one| &one.decided_by);
    let requirements = deciders.filter_map(|one| library.requirements.get(&one.requirement));
    let mute: BTreeSet<_> = requirements.filter(|one| one.short.is_none()).map(|one| one.id.to_string()).collect();
    assert!(mute.is_empty(), "without `short`: {mute:?}");
    for entry in root().join("targets").read_dir_utf8().expect("a folder") {
        let file = entry.expect("an entry").into_path().join("target.toml");
        for target in if file.is_file() { target::read(&file).expect("a target") } else { Vec::new() } {
            let known = target.known.iter().filter(|known| known.short.is_none()).map(|known| &known.reason);
            let author = target.author.iter().filter(|left| left.short.is_none()).map(|left| &left.reason);
            let mute: Vec<_> = known.chain(author).collect();
            assert!(mute.is_empty(), "{} has entries without `short`: {mute:?}", target.id);
        }
    }
}

/// The rows of the README's table: each SDK of the run with the requirements that it violates, of both roles together.
fn state(report: &Report) -> String {
    let mut rows = String::new();
    for (index, column) in report.targets.iter().enumerate() {
        let Some(version) = column.version.as_deref().and_then(|version| version.split(' ').next_back()) else {
            continue;
        };
        let (name, id) = (&column.id.name, &column.id);
        if !column.is_main || column.skipped.iter().any(|one| one.reason == SkipReason::NoAdapter) {
            continue;
        }
        let sum = |rate: fn(&SentenceRates) -> Rate| violated(column.sentences.values().map(rate).sum());
        let (musts, shoulds) = (sum(|rates| rates.must), sum(|rates| rates.should));
        let harmful = harmful(report, index);
        let tests = thousands(column.planned);
        writeln!(rows, "| [`{id}`](targets/{name}) | {version} | {tests} | {musts} | {shoulds} | {harmful} |")
            .expect("text");
    }
    rows
}

fn violated(rate: Rate) -> String {
    format!("{} of {}", rate.asked - rate.held, rate.asked)
}

/// Returns the number of requirements that a target violates to the harm of its users.
fn harmful(report: &Report, target: usize) -> usize {
    let broken = report.cells.iter().filter(|cell| {
        let requirement = &report.requirements[cell.requirement];
        let mut statuses = cell.checks.keys().map(|kind| View::Conformance.status(*kind, requirement.level));
        cell.target == target && requirement.harm.is_some_and(Harm::is_grave) && statuses.any(Status::is_violation)
    });
    broken.map(|cell| cell.requirement).collect::<BTreeSet<_>>().len()
}

/// Reads the run log of a run that ended and was not narrowed, and judges it by the current cases. A case whose steps or
/// fixture changed needs a new run.
fn complete_source(path: PathBuf, library: &Library) -> Source {
    let path = Utf8PathBuf::from_path_buf(path).expect("a path in UTF-8");
    let (log, cut) = read_what_is_there(&path).expect("a run log");
    let is_whole = cut.is_none() && log.footer.as_ref().is_some_and(|footer| !footer.interrupted);
    assert!(is_whole && log.header.narrowed.is_none(), "{path} is not the run log of a complete run");
    let name = path.file_name().expect("a file").to_owned();
    let files = log.header.targets.iter().map(|id| format!("targets/{}/target.toml", id.name));
    let files: BTreeSet<_> = files.filter(|file| root().join(file).is_file()).collect();
    let targets = files.into_iter().flat_map(|file| target::read(&root().join(file)).expect("a target"));
    let targets: Vec<_> = targets.collect();
    let Replay { records, changed, gone, .. } = rejudge(library, &targets, log.records);
    assert!(changed.is_empty() && gone.is_empty(), "{path} has other tests than the cases: {changed:?} {gone:?}");
    let mut header = Header { cases: Some(library.hash.clone()), ..log.header };
    for about in &mut header.about {
        if let Some(target) = targets.iter().find(|target| target.id == about.target) {
            (about.language, about.api) = (target.language.clone(), target.api.clone());
            about.by_hand = target.by_hand.clone();
        }
    }
    Source { name, header, records, footer: log.footer, cut: None, is_broken: false }
}

/// The rows with the versions of the targets, and the differences to those of the page that stands here.
fn versions(report: &Report, before: &str) -> (String, String) {
    let old: BTreeMap<&str, &str> = before
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "))
        .filter(|(_, version)| !version.contains('|'))
        .collect();
    let (mut rows, mut changes) = (String::new(), Vec::new());
    for column in report.targets.iter().filter(|column| column.is_main) {
        let Some(version) = &column.version else { continue };
        let id = column.id.to_string();
        writeln!(rows, "| {id} | {version} |").expect("text");
        match old.get(id.as_str()) {
            Some(old) if old == version => {}
            Some(old) => changes.push(format!("{old} → {version}")),
            None => changes.push(format!("new: {version}")),
        }
    }
    let changes = if changes.is_empty() { "the same versions".to_owned() } else { changes.join(", ") };
    (rows, changes)
}

/// What changes for users who upgrade from one line of an SDK to the next.
fn upgrades(upgrades: &[Upgrade]) -> String {
    const CAUSES: usize = 20;
    let mut out = "### I upgrade\n\n".to_owned();
    for Upgrade { from, to, worse, better, compared, .. } in upgrades {
        writeln!(out, "#### From {from} to {to}\n").expect("text");
        let (does, did) = (format!("Worse. With {to}"), format!("Mended. What {from} did"));
        for (causes, title) in [(worse, does), (better, did)] {
            writeln!(out, "{title}:\n").expect("text");
            for UpgradeCause { role, words, tests, .. } in causes.iter().take(CAUSES) {
                let unit = if *tests == 1 { "test" } else { "tests" };
                writeln!(out, "- {role}s: {words} ({tests} {unit})").expect("text");
            }
            let more = causes.len().saturating_sub(CAUSES);
            out += &if more > 0 { format!("- and {more} causes of fewer tests\n") } else { String::new() };
            out += if causes.is_empty() { "- nothing\n\n" } else { "\n" };
        }
        let compared = thousands(*compared);
        writeln!(out, "Of {compared} tests that both versions decide, in any API; each counts once for an API.\n")
            .expect("text");
    }
    out
}

/// The versions of the packages that validate for the targets of a report, as a paragraph.
fn validators(report: &Report) -> String {
    let of = |package: &str| {
        let versions = report.targets.iter().filter_map(|column| column.dependencies.get(package));
        let versions: BTreeSet<_> = versions.map(String::as_str).collect();
        let versions = Vec::from_iter(versions).join(" and ");
        (!versions.is_empty()).then(|| format!("{package} {versions}"))
    };
    let named: Vec<_> = ["pydantic", "zod"].into_iter().filter_map(of).collect();
    if named.is_empty() { String::new() } else { format!("The SDKs ran with {}.\n", named.join(", and with ")) }
}

fn page(report: &Report, upgrades: &str, cases: &str, before: &str) -> String {
    let (versions, changes) = versions(report, before);
    let date = humantime::format_rfc3339(SystemTime::now()).to_string();
    let date = &date[..10];
    let (head, answers, casebook) = (stamp_line(), compatibility(report), &report.casebook);
    let validators = validators(report);
    format!(
        "{head}\n\
# Compatibility of the SDKs

What works in which SDK, for people who choose or upgrade one: {date}, casebook {casebook}. Since the page before: {changes}.
[Typed tools](typed-tools.md) has what becomes of each type that authors write, [clients with servers](pairs.md) which client
works with which server.

Applications (Claude, VS Code, Cursor) and the SDKs for C#, PHP and Swift are not tested; of applications only fast-agent is.
{validators}
**Views:** [I write a server](#i-write-a-server) · [I write a client](#i-write-a-client) · [I upgrade](#i-upgrade) ·
[this client with this server](pairs.md#results)

{answers}\
{upgrades}\
## How this page is made

casebook {casebook} ran its cases `{cases}` on these versions, each target in the variant that its documentation shows
first:

| target | version |
| --- | --- |
{versions}
These commands write this page; RUN_LOG is the absolute path of a file:

```sh
casebook run --all --run-log RUN_LOG
{COMMAND}
```

A test fails if the cases of single targets, the questions, the snapshots or a `target.toml` changes and this page does not.

**Where to read on:** [reports](reports.md), [the targets](targets.md), [the proof of the checks](proof.md).
"
    )
}
