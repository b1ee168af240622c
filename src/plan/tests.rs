//! Tests of plans for small libraries, one target and different selections.

use super::*;
use crate::judge::samples;
use crate::model::applicability::{Inside, Listed};
use crate::model::callable::{Callable, Permitted};
use crate::model::case::Need;
use crate::model::case::{Check, Fixture, Step, Then, When};
use crate::model::endpoint::Endpoint;
use crate::model::spec::{Harm, Level, Requirement, Revisions, Sides};
use crate::model::survey::{Declared, Survey};
use crate::model::target::{Claims, Fixed, Known, LeftToAuthor, Setup};

fn test(name: &str, row: Option<&str>, control: Option<Control>, given: &Arc<Fixture>) -> Test {
    let given = Arc::clone(given);
    let plain = Test::new(CaseId::new("a", "b"), name, Role::Server, Fixture::default(), Vec::new());
    Test { row: row.map(str::to_owned), control, given, ..plain }
}

fn fixture(name: &str) -> Arc<Fixture> {
    let definition = crate::model::template::Template::Null;
    let tool = crate::model::case::Tool { name: name.to_owned(), definition, does: crate::model::case::Does::Echo };
    Arc::new(Fixture { tools: vec![tool], ..Fixture::default() })
}

fn library(tests: Vec<Test>) -> Library {
    let tests = tests.into_iter().map(Arc::new).collect();
    let (id, title) = (CaseId::new("a", "b"), String::new());
    let case = Case { id, path: String::new(), title, note: vec![], role: Role::Server, rows: vec![], tests };
    Library { cases: vec![case], ..Library::default() }
}

fn target() -> Target {
    Target {
        id: TargetId { name: "some".to_owned(), variant: None },
        title: String::new(),
        file: None,
        folder: ".".into(),
        setup: Setup::default(),
        callable: Callable::default(),
        drives: TargetKind::Adapter(Vec::new()),
        env: BTreeMap::new(),
        secrets: Vec::new(),
        announced: Claims::default(),
        claims: Claims {
            roles: vec![Role::Server],
            transports: vec![Transport::Http],
            revisions: Revision::all().collect(),
            lacks: Vec::new(),
            implements: Vec::new(),
        },
        known: Vec::new(),
        repro: Vec::new(),
        author: Vec::new(),
        snapshots: None,
        language: None,
        api: None,
        by_hand: BTreeMap::new(),
        unverified: None,
        needs: Vec::new(),
        package: None,
        survey: None,
    }
}

fn names(plan: &Plan) -> Vec<String> {
    plan.tests().map(|(_, planned)| planned.id.to_string()).collect()
}

fn newest() -> Selection {
    Selection { revision: vec![Revision::newest()], ..Selection::default() }
}

#[test]
fn controls_come_first_and_equal_fixtures_are_adjacent() {
    let (one, two) = (fixture("one"), fixture("two"));
    let tests = vec![
        test("first", Some("x"), None, &one),
        test("first", Some("y"), None, &two),
        test("second", Some("x"), None, &two),
        test("third", Some("x"), None, &fixture("one")),
        test("control", Some("x"), Some(Control::Row), &two),
        test("control", Some("y"), Some(Control::Row), &two),
        test("all", Some("y"), Some(Control::File), &one),
    ];
    let plan = plan(&library(tests), &[Arc::new(target())], &newest()).expect("a plan");
    let order = ["all/y", "control/x", "first/x", "third/x", "second/x", "control/y", "first/y"];
    assert_eq!(names(&plan), order.map(|name| format!("a/b/{name}@2026-07-28+http")));
    assert!(plan.tests().map(|(_, planned)| planned.index).eq(0..7));
}

#[test]
fn waiting_test_runs_beside_others_unless_a_control_decides_about_it() {
    let given = fixture("f");
    let waiting = |name, control| {
        let when = When::Cancel { tool: "f".to_owned(), arguments: None, hangs_up: true };
        let step = Step { when, then: Then::Observe, declares: None, initialized: true };
        Test { steps: vec![step], ..test(name, None, control, &given) }
    };
    let groups = |waits: Test, control: Option<Control>| {
        let tests = vec![test("control", None, control, &given), waits, test("other", None, None, &given)];
        let plan = plan(&library(tests), &[Arc::new(target())], &newest()).expect("a plan");
        plan.groups.iter().map(|group| group.tests.len()).collect::<Vec<_>>()
    };
    let of = |name: &str| Some(Control::Tests(vec![name.to_owned()]));
    assert_eq!(groups(waiting("waits", None), None), [1, 1, 1]);
    assert_eq!(groups(waiting("waits", None), of("other")), [1, 1, 1]);
    // The control is judged first.
    assert_eq!(groups(waiting("waits", None), of("waits")), [3]);
    assert_eq!(groups(waiting("waits", None), Some(Control::File)), [3]);
    assert_eq!(groups(waiting("waits", of("other")), None), [3]);
}

#[test]
fn selected_test_brings_its_controls() {
    let one = fixture("one");
    let tests = vec![
        test("asked", Some("x"), None, &one),
        test("other", Some("x"), None, &one),
        test("control", Some("x"), Some(Control::Row), &one),
        test("control", Some("y"), Some(Control::Row), &one),
        test("all", Some("y"), Some(Control::File), &one),
    ];
    let only = |pattern: &str| Selection { only: vec![pattern.parse().expect("a pattern")], ..newest() };
    let library = library(tests);
    let asked = plan(&library, &[Arc::new(target())], &only("a/b/asked")).expect("a plan");
    assert_eq!(names(&asked), ["all/y", "control/x", "asked/x"].map(|name| format!("a/b/{name}@2026-07-28+http")));
    let skip = vec!["a/b/control".parse().expect("a pattern")];
    let without = Selection { skip, ..only("a/b/asked") };
    assert_eq!(plan(&library, &[Arc::new(target())], &without).expect("a plan").len(), 2);
}

#[test]
fn control_brings_its_own_controls() {
    let given = fixture("f");
    let all = vec![
        test("asked", Some("x"), None, &given),
        test("needed", Some("y"), Some(Control::Tests(vec!["asked".to_owned()])), &given),
        test("control", Some("x"), Some(Control::Row), &given),
        test("control", Some("y"), Some(Control::Row), &given),
    ];
    let selection = Selection { only: vec!["a/b/asked".parse().expect("a pattern")], ..newest() };
    let asked = plan(&library(all), &[Arc::new(target())], &selection).expect("a plan");
    let expected = ["control/y", "needed/y", "control/x", "asked/x"];
    assert_eq!(names(&asked), expected.map(|name| format!("a/b/{name}@2026-07-28+http")));
}

#[test]
fn unsupported_test_is_skipped_with_its_reason() {
    let lacking = Test { needs: vec![Need::ElicitationForm], ..test("form", None, None, &fixture("f")) };
    let client = Test { role: Role::Client, ..test("client", None, None, &fixture("f")) };
    let both = vec![test("plain", None, None, &fixture("f")), lacking, client];
    let mut target = target();
    target.claims.lacks = vec![Need::ElicitationForm];
    let plan = plan(&library(both), &[Arc::new(target)], &newest()).expect("a plan");
    assert_eq!(names(&plan), ["a/b/plain@2026-07-28+http"]);
    let skipped: Vec<_> = plan.skipped.iter().map(|one| (one.reason, one.tests)).collect();
    let expected = [
        (SkipReason::Role(Role::Client), 2),
        (SkipReason::Transport(Transport::Stdio), 2),
        (SkipReason::Lacks(Need::ElicitationForm), 1),
    ];
    assert_eq!(skipped, expected);
}

#[test]
fn adapter_skips_fixed_only_and_fixed_skips_adapter_only() {
    let reaching = |name: &str, reach| Test { reach, ..test(name, None, None, &fixture("f")) };
    let alike = Applicability::AlsoFixed(Inside::Tools(vec![Listed::Named("f".to_owned())]));
    let tests = vec![
        reaching("built", Applicability::AdapterOnly),
        reaching("alike", alike),
        reaching("found", Applicability::FixedOnly(vec![Listed::Any])),
    ];
    let library = library(tests);
    let asked = |drives| {
        let plan = plan(&library, &[Arc::new(Target { drives, ..target() })], &newest()).expect("a plan");
        let mut skipped: Vec<_> = plan.skipped.iter().map(|one| one.reason).collect();
        skipped.retain(|reason| matches!(reason, SkipReason::NoAdapter | SkipReason::NoFixture));
        (names(&plan), skipped)
    };
    let both = |one: &str, other: &str| [one, other].map(|name| format!("a/b/{name}@2026-07-28+http")).to_vec();
    let (adapter, why) = asked(TargetKind::Adapter(Vec::new()));
    assert_eq!((adapter, why), (both("built", "alike"), vec![SkipReason::NoFixture]));
    let (fixed, why) = asked(TargetKind::Fixed(Fixed::Running(Endpoint::new("http://127.0.0.1:1/"))));
    assert_eq!((fixed, why), (both("alike", "found"), vec![SkipReason::NoAdapter]));
}

#[test]
fn surveyed_server_gets_no_call_that_nobody_permits() {
    let call = || When::call("f", None, Vec::new());
    let of = |name: &str, when, reach| Test {
        steps: vec![Step::observe(when)],
        reach,
        ..test(name, None, None, &fixture("f"))
    };
    let tests = vec![
        of("calls", call(), Applicability::FixedOnly(Vec::new())),
        of("needs", When::List, Applicability::FixedOnly(vec![Listed::Any])),
        of("lists", When::List, Applicability::FixedOnly(Vec::new())),
        of("serves", When::Serve, Applicability::FixedOnly(Vec::new())),
    ];
    let library = library(tests);
    let asked = |capabilities: &[&str], tools: Option<&[&str]>, callable: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let declared = Declared { capabilities: owned(capabilities), tools: tools.map(owned) };
        let revisions = [(Revision::newest(), declared)].into();
        let survey = Some(Survey { revisions, ..Survey::default() });
        let drives = TargetKind::Fixed(Fixed::Running(Endpoint::new("http://127.0.0.1:1/")));
        let named = owned(callable).into_iter().map(|tool| Permitted { tool, arguments: None }).collect();
        let target = Target { drives, survey, callable: Callable { every: false, named }, ..target() };
        let plan = plan(&library, &[Arc::new(target)], &newest()).expect("a plan");
        let tests = plan.tests().map(|(_, planned)| planned.id.test.clone()).collect::<Vec<_>>();
        (tests.join(" "), plan.skipped.iter().map(|one| one.reason).collect::<Vec<_>>())
    };
    let transport = SkipReason::Transport(Transport::Stdio);
    for (capabilities, tools, callable, tests, reasons) in [
        (&["tools"][..], Some(&["f"][..]), &["f"][..], "calls needs lists serves", &[][..]),
        (&["tools"], Some(&["f"]), &[], "needs lists serves", &[SkipReason::NotCallable]),
        (&["tools"], Some(&["g"]), &[], "calls needs lists serves", &[]),
        (&["tools"], Some(&[]), &[], "calls lists serves", &[SkipReason::ToolsNotListed]),
        // The list could not be read, so that a tool of this name may exist.
        (&["tools"], None, &[], "needs lists serves", &[SkipReason::NotCallable]),
        (&["tools"], None, &["f"], "calls needs lists serves", &[]),
        (&[], None, &["f"], "serves", &[SkipReason::NoTools]),
    ] {
        let (planned, skipped) = asked(capabilities, tools, callable);
        let skipped: Vec<_> = skipped.into_iter().filter(|reason| *reason != transport).collect();
        assert_eq!((planned.as_str(), skipped.as_slice()), (tests, reasons), "{capabilities:?} {tools:?} {callable:?}");
    }
}

#[test]
fn test_applies_where_one_requirement_is_in_force() {
    let all: Vec<_> = Revision::all().collect();
    let requirement = |name: &str, since, until| Requirement {
        short: None,
        fix: None,
        id: RequirementId::within("a", name),
        level: Level::Must,
        roles: vec![Role::Server],
        revisions: Revisions { since, until, is_draft: false },
        source: String::new(),
        quote: String::new(),
        also: Vec::new(),
        harm: Harm::None,
        why: String::new(),
        unobservable: None,
        sides: Sides::default(),
    };
    let check = |name: &str| Check { requirement: RequirementId::within("a", name), line: 1, alternatives: vec![] };
    let then = Then::Checks(vec![check("old"), check("new")]);
    let step = Step { when: When::List, then, declares: None, initialized: true };
    let mut library = library(vec![Test { steps: vec![step], ..test("t", None, None, &fixture("f")) }]);
    for one in [requirement("old", None, Some(all[0])), requirement("new", Some(all[2]), None)] {
        library.requirements.insert(one.id.clone(), one);
    }
    let plan = plan(&library, &[Arc::new(target())], &Selection::default()).expect("a plan");
    assert_eq!(names(&plan), ["a/b/t@2025-06-18+http", "a/b/t@2026-07-28+http"]);
}

#[test]
fn draft_is_asked_on_the_newest_revision_that_a_target_speaks() {
    let all: Vec<_> = Revision::all().collect();
    let revisions = Revisions { is_draft: true, ..Revisions::default() };
    let library = library(vec![Test { revisions, ..test("t", None, None, &fixture("f")) }]);
    let mut older = target();
    older.claims.revisions = vec![all[1], all[0]];
    let planned = |target: Target, revision: Vec<Revision>| {
        let selection = Selection { revision, ..Selection::default() };
        names(&plan(&library, &[Arc::new(target)], &selection).expect("a plan"))
    };
    assert_eq!(planned(target(), Vec::new()), ["a/b/t@2026-07-28+http"]);
    assert_eq!(planned(older, Vec::new()), ["a/b/t@2025-11-25+http"]);
    assert_eq!(planned(target(), vec![all[0]]), ["a/b/t@2025-06-18+http"]);
}

#[test]
fn thin_plan_omits_tests_that_only_observe() {
    let check = Check { requirement: RequirementId::within("a", "r"), line: 1, alternatives: vec![] };
    let step = Step { when: When::List, then: Then::Checks(vec![check]), declares: None, initialized: true };
    let checks = Test { steps: vec![step], ..test("checks", None, None, &fixture("f")) };
    let mut library = library(vec![checks, test("observes", None, None, &fixture("f"))]);
    let requirement = samples::requirement("r", Level::Must);
    let requirement = Requirement { id: RequirementId::within("a", "r"), ..requirement };
    library.requirements.insert(requirement.id.clone(), requirement);
    let selection = Selection { is_thin: true, ..Selection::default() };
    let thin = plan(&library, &[Arc::new(target())], &selection).expect("a plan");
    assert_eq!(names(&thin), ["a/b/checks@2025-11-25+http", "a/b/checks@2026-07-28+http"]);
    let of_shard = |part: u32| {
        let shard = Some(format!("{part}/9").parse().expect("a shard"));
        let in_each_shard = vec![RequirementId::within("a", "r")];
        plan(&library, &[Arc::new(target())], &Selection { shard, in_each_shard, ..selection.clone() }).expect("a plan")
    };
    assert!((1..=9).all(|part| names(&of_shard(part)) == names(&thin)), "each shard has the tests of the requirement");
}

#[test]
fn heavy_test_runs_once_and_only_on_request() {
    let heavy = || library(vec![Test { heavy: true, ..test("t", None, None, &fixture("f")) }]);
    let mut target = target();
    target.claims.transports.push(Transport::Stdio);
    let targets = [Arc::new(target)];
    let error = plan(&heavy(), &targets, &Selection::default()).expect_err("nothing is left");
    assert!(matches!(&error, PlanError::Nothing { skipped } if skipped[0].tests == 6), "{error}");
    let selection = Selection { heavy: true, ..Selection::default() };
    let plan = plan(&heavy(), &targets, &selection).expect("a plan");
    assert_eq!(names(&plan), ["a/b/t@2026-07-28+http"]);
}

#[test]
fn unmatched_pattern_is_an_error_with_suggestions() {
    let library = library(vec![test("external-ref", None, None, &fixture("f"))]);
    let selection = Selection { only: vec!["a/b/external-rev".parse().expect("a pattern")], ..Selection::default() };
    let error = plan(&library, &[Arc::new(target())], &selection).expect_err("no such test");
    assert_eq!(error.to_string(), "`a/b/external-rev` matches no test; the nearest: a/b/external-ref");
    let hint = |pattern: &str| unmatched(&pattern.parse().expect("a pattern"), &library).to_string();
    for (pattern, words) in [
        ("a/**@2026-07-28+htp", "; `htp` is not a transport: expected stdio or http"),
        ("a/**@2025-11", "; `2025-11` is not a revision: expected one of 2025-06-18, 2025-11-25, 2026-07-28"),
        ("a/**@http", "; `http` is not a revision: write `@*+http` for every revision"),
        ("a/**@2025-06-18+st?io", "; `a/**` matches tests, but none on 2025-06-18+st?io"),
        ("a/b/external-rev@2025-06-18", "; the nearest: a/b/external-ref"),
    ] {
        assert!(hint(pattern).ends_with(words), "{}", hint(pattern));
    }
    let known = Known {
        short: None,
        test: "a/c".parse().expect("a pattern"),
        requirement: RequirementId::within("a", "r"),
        reason: String::new(),
        issue: None,
        repro: None,
        is_shared: false,
    };
    let target = Target { known: vec![known], ..target() };
    let error = plan(&library, &[Arc::new(target)], &Selection::default()).expect_err("no such test");
    assert!(matches!(error, PlanError::UnmatchedKnown { .. }));
}

#[test]
fn known_failure_of_an_unchecked_requirement_is_an_error() {
    let check = Check { requirement: RequirementId::within("a", "kept"), line: 1, alternatives: vec![] };
    let step = Step { when: When::List, then: Then::Checks(vec![check]), declares: None, initialized: true };
    let mut library = library(vec![Test { steps: vec![step], ..test("t", None, None, &fixture("f")) }]);
    let requirement = samples::requirement("kept", Level::Must);
    let requirement = Requirement { id: RequirementId::within("a", "kept"), ..requirement };
    library.requirements.insert(requirement.id.clone(), requirement);
    let plan_with = |requirement: &str| {
        let known = Known {
            short: None,
            test: "a/b".parse().expect("a pattern"),
            requirement: RequirementId::within("a", requirement),
            reason: String::new(),
            issue: None,
            repro: None,
            is_shared: false,
        };
        let target = Target { known: vec![known], ..target() };
        plan(&library, &[Arc::new(target)], &Selection::default())
    };
    assert!(plan_with("kept").is_ok());
    let error = plan_with("kepd").expect_err("no test checks it");
    assert!(
        matches!(&error, PlanError::UncheckedKnown { hint: Some(hint), .. } if hint == "the nearest: a/kept"),
        "{error}"
    );
}

#[test]
fn verdict_excused_twice_is_an_error_that_names_both() {
    let check = |name: &str| Check { requirement: RequirementId::within("a", name), line: 1, alternatives: vec![] };
    let step = Step {
        when: When::List,
        then: Then::Checks(vec![check("r"), check("other")]),
        declares: None,
        initialized: true,
    };
    let mut library = library(vec![Test { steps: vec![step], ..test("t", None, None, &fixture("f")) }]);
    let requirement = samples::requirement("r", Level::Must);
    let requirement = Requirement { id: RequirementId::within("a", "r"), ..requirement };
    library.requirements.insert(requirement.id.clone(), requirement);
    let known = |test: &str, requirement: &str| Known {
        short: None,
        test: test.parse().expect("a pattern"),
        requirement: RequirementId::within("a", requirement),
        reason: "so".to_owned(),
        issue: None,
        repro: None,
        is_shared: false,
    };
    let planned = |known: Vec<Known>| {
        plan(&library, &[Arc::new(Target { known, ..target() })], &Selection::default()).map_err(|it| it.to_string())
    };
    let error = planned(vec![known("a/**", "r"), known("a/b/t", "r")]).expect_err("both match");
    assert!(error.ends_with("twice: [[known]] `a/**` (\"so\") and [[known]] `a/b/t` (\"so\")"), "{error}");
    let left = |test: &str| LeftToAuthor {
        short: None,
        test: test.parse().expect("a pattern"),
        requirement: RequirementId::within("a", "r"),
        reason: "so".to_owned(),
        url: "https://example.com".to_owned(),
        is_shared: false,
    };
    let planned_with = |known: Vec<Known>, author: Vec<LeftToAuthor>| {
        plan(&library, &[Arc::new(Target { known, author, ..target() })], &Selection::default())
            .map_err(|it| it.to_string())
    };
    for (known, author) in
        [(vec![known("a/**", "r")], vec![left("a/b/t")]), (vec![], vec![left("a/**"), left("a/b/t")])]
    {
        let error = planned_with(known, author).expect_err("both match");
        assert!(error.ends_with("and [[author]] `a/b/t` (\"so\")"), "{error}");
    }
    let error = planned_with(vec![], vec![left("a/c")]).expect_err("no such test");
    assert!(error.contains("excuses failures in `a/c`, but it matches no test"), "{error}");
    for apart in [known("a/b/t", "other"), known("a/b/t@2025-06-18", "r")] {
        planned(vec![known("a/b/t@2026-07-28", "r"), apart]).expect("no test in common");
    }
}

/// Returns the tests that are served over stdio in this way, by case file and revision.
fn served(plan: &Plan, mode: StdioMode) -> Vec<String> {
    let served = plan.tests().filter(|(_, planned)| planned.stdio == Some(mode));
    served.map(|(_, planned)| planned.id.to_string()).collect()
}

/// A library of twelve files with two tests each, for a target over both transports.
fn over_stdio() -> (Library, [Arc<Target>; 1]) {
    let one = fixture("one");
    let cases = (0..12).map(|number| {
        let id = CaseId::new("a", &format!("f{number}"));
        // Otherwise their questions would not depend on the transport.
        let timed = Some(1000);
        let of_file =
            |name| Arc::new(Test { case: id.clone(), request_timeout: timed, ..test(name, None, None, &one) });
        Case { id: id.clone(), tests: vec![of_file("first"), of_file("second")], ..library(Vec::new()).cases.remove(0) }
    });
    let library = Library { cases: cases.collect(), ..Library::default() };
    let claims = Claims { transports: Transport::ALL.to_vec(), ..target().claims };
    (library, [Arc::new(Target { claims, ..target() })])
}

#[test]
fn sample_of_stdio_servers_is_the_same_in_each_run() {
    let (library, targets) = over_stdio();
    let planned = |selection| plan(&library, &targets, &selection).expect("a plan");
    let sample = served(&planned(Selection::default()), StdioMode::Both);
    assert_eq!(sample.len(), 8);
    assert!(sample.iter().all(|test| test.contains("/first@") && test.ends_with("+stdio")), "{sample:?}");
    let files: BTreeSet<_> = sample.iter().map(|test| test.split('/').nth(1)).collect();
    assert_eq!(files.len(), 8, "in different case files");
    let stdio = Selection { transport: vec![Transport::Stdio], ..Selection::default() };
    assert_eq!(served(&planned(stdio), StdioMode::Both), sample);
}

#[test]
fn questions_about_content_are_repeated_over_stdio_for_a_sample_of_files() {
    let case = |number: u8, role| {
        let id = CaseId::new("a", &format!("f{number}"));
        let one = Arc::new(Test { case: id.clone(), role, ..test("t", None, None, &fixture("one")) });
        Case { id, role, tests: vec![one], ..library(Vec::new()).cases.remove(0) }
    };
    let cases = (0..64).map(|number| case(number, if number % 2 == 0 { Role::Server } else { Role::Client }));
    let library = Library { cases: cases.collect(), ..Library::default() };
    let claims = |transports: &[Transport]| Claims {
        transports: transports.to_vec(),
        roles: vec![Role::Server, Role::Client],
        revisions: vec![Revision::newest()],
        ..target().claims
    };
    let both = Arc::new(Target { claims: claims(Transport::ALL), ..target() });
    let files = |target: &Arc<Target>, selection: Selection| {
        let plan = plan(&library, &[Arc::clone(target)], &selection).expect("a plan");
        let count = |over| plan.groups.iter().filter(|group| group.transport == over).count();
        (count(Transport::Http), count(Transport::Stdio), plan.skipped)
    };
    let (http, stdio, skipped) = files(&both, Selection::default());
    assert_eq!((http, stdio), (64, 8));
    let left_out = skipped.iter().find(|one| one.reason == SkipReason::AskedOver(Transport::Http)).expect("a reason");
    assert_eq!(left_out.tests, 56);
    let over = |transport| Selection { transport: vec![transport], ..Selection::default() };
    assert_eq!(files(&both, over(Transport::Stdio)).1, 64);
    assert_eq!(files(&both, Selection { every_transport: true, ..Selection::default() }).1, 64);
    let named = |pattern: &str| Selection { only: vec![pattern.parse().expect("a pattern")], ..Selection::default() };
    assert_eq!(files(&both, named("a/f1@*+stdio")).1, 1);
    let only_stdio = Arc::new(Target { claims: claims(&[Transport::Stdio]), ..target() });
    assert_eq!(files(&only_stdio, Selection::default()).1, 64);
}

#[test]
fn selected_stdio_mode_applies_except_to_process_tests() {
    let (mut library, targets) = over_stdio();
    let case = library.cases[0].id.clone();
    let special = |name| Test { case: case.clone(), ..test(name, None, None, &fixture("one")) };
    let only_stdio = Test { transports: Some(vec![Transport::Stdio]), ..special("only") };
    library.cases[0].tests.push(Arc::new(only_stdio));
    let revisions = Revision::all().count();
    for mode in [StdioMode::Stream, StdioMode::Both, StdioMode::Process] {
        let plan = plan(&library, &targets, &Selection { stdio: Some(mode), ..Selection::default() }).expect("a plan");
        let (chosen, processes) = (served(&plan, mode), served(&plan, StdioMode::Process));
        let about_processes = processes.iter().filter(|test| test.contains("/only@"));
        assert_eq!(about_processes.count(), revisions, "{mode}");
        let all = 25 * revisions;
        assert_eq!(chosen.len(), if mode == StdioMode::Process { all } else { all - revisions }, "{mode}");
    }
    let elsewhere = plan(&library, &targets, &Selection::default()).expect("a plan");
    let elsewhere = elsewhere.tests().filter(|(group, _)| group.transport == Transport::Http);
    assert!(elsewhere.map(|(_, planned)| planned.stdio).all(|stdio| stdio.is_none()), "nothing is chosen over HTTP");
}
