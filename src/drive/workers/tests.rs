//! Whole runs against targets that are short shell scripts, each with another mistake.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use serde_json::json;

use super::*;
use crate::drive::adapter::protocol::{Adapter, Order};
use crate::drive::clock::Deadline;
use crate::drive::process::launch::StopReason;
use crate::drive::smoke::check::smoke;
use crate::drive::smoke::outcome::SmokeOutcome;
use crate::model::callable::Callable;
use crate::model::case::{Does, Fixture, Step, Test, Then, Tool, When};
use crate::model::endpoint::Endpoint;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::TargetPair;
use crate::model::target::{Claims, Fixed, Setup, Target, TargetKind};
use crate::model::template::{Generator, Template};
use crate::model::transcript::{End, Party, Served};
use crate::model::{CaseId, TargetId, TestId};

/// An adapter that runs `$ON_HELLO` before it follows the protocol. As `--stdio-server` it runs `$ON_START`, and then
/// answers every line with its process id, unless the line requests a failure.
const TARGET: &str = r#"
if [ "$1" = --stdio-server ]; then
    eval "$ON_START"
    while read -r line; do
        case $line in
            *please-abort*) echo dying >&2; kill -ABRT $$ ;;
            *please-hang*) exec sleep 1000 ;;
            *please-leave*) sleep 1000 & exit 7 ;;
        esac
        echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"complete\",\"pid\":$$}}"
    done
    exit 0
fi
eval "$ON_HELLO"
while read -r line; do
    id=${line#*'"id":"'}; id=${id%%'"'*}
    case $line in
        *'"hello"'*) echo "{\"id\":\"$id\",\"hello\":{\"roles\":[\"server\"],\"transports\":[\"stdio\"],\"revisions\":[\"2026-07-28\"]}}" ;;
        *'"serve"'*) echo "{\"id\":\"$id\",\"serving\":{\"url\":\"${URL:-http://127.0.0.1:9/}\"}}"; echo "$line" >&2 ;;
        *'"drive"'*) eval "$ON_DRIVE" ;;
        *'"stop"'*) echo "{\"id\":\"$id\",\"stopped\":true}" ;;
        *) echo "{\"id\":\"$id\",\"unsupported\":\"what\"}" ;;
    esac
done
"#;

pub(crate) fn target(env: &[(&str, &str)]) -> Target {
    let claims = Claims {
        roles: vec![Role::Server],
        transports: vec![Transport::Stdio],
        revisions: vec![Revision::newest()],
        lacks: Vec::new(),
        implements: Vec::new(),
    };
    Target {
        id: TargetId { name: "shell".to_owned(), variant: None },
        title: String::new(),
        file: None,
        folder: ".".into(),
        setup: Setup::default(),
        callable: Callable::default(),
        drives: TargetKind::Adapter(["sh", "-c", TARGET, "shell"].map(str::to_owned).into()),
        env: env.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect::<BTreeMap<_, _>>(),
        secrets: Vec::new(),
        announced: claims.clone(),
        claims,
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

fn test(id: &str, when: When) -> Test {
    let steps = vec![Step { when, then: Then::Observe, declares: None, initialized: true }];
    Test::new(CaseId::new("a", "b"), id, Role::Server, Fixture::default(), steps)
}

/// A test that sends a request with this method.
fn send(method: &str) -> Test {
    let message = Template::from(&json!({ "jsonrpc": "2.0", "id": 1, "method": method }));
    test(method, When::Send { message, headers: Vec::new() })
}

fn plan(target: Target, tests: Vec<Test>) -> Arc<Plan> {
    plan_of(target, Transport::Stdio, vec![tests])
}

/// A plan of several groups, which different workers can take.
fn plan_of(target: Target, transport: Transport, groups: Vec<Vec<Test>>) -> Arc<Plan> {
    let (revision, target, mut index) = (Revision::newest(), Arc::new(target), 0..);
    let mut planned = |test: Test| {
        let id = TestId { case: test.case.clone(), test: test.id.clone(), row: None, revision, transport };
        Planned { index: index.next().expect("endless"), id, test: Arc::new(test), stdio: None }
    };
    let mut group = |tests: Vec<Test>| {
        let tests = tests.into_iter().map(&mut planned).collect();
        Group { target: Arc::clone(&target), case: CaseId::new("a", "b"), revision, transport, tests }
    };
    Arc::new(Plan { groups: groups.into_iter().map(&mut group).collect(), ..Plan::default() })
}

fn quick() -> Options {
    let (step_limit, start_limit) = (Duration::from_millis(300), Duration::from_millis(500));
    Options { step_limit, start_limit, ..Options::default() }
}

async fn run(target: Target, tests: Vec<Test>) -> Vec<Transcript> {
    run_with(quick(), target, tests).await
}

async fn run_with(options: Options, target: Target, tests: Vec<Test>) -> Vec<Transcript> {
    carried_out(options, plan(target, tests)).await
}

async fn carried_out(options: Options, plan: Arc<Plan>) -> Vec<Transcript> {
    carried_out_in(&Arc::new(Turns::new(0, |_, _| true)), options, plan).await
}

async fn carried_out_in(turns: &Arc<Turns>, options: Options, plan: Arc<Plan>) -> Vec<Transcript> {
    let (_go, cancel) = watch::channel(Cancel::Go);
    let (events, mut received) = mpsc::channel(8);
    let finish: Finish<Box<Transcript>> = Arc::new(|_, seen| (Next::On, Some(seen)));
    let driving = tokio::spawn(drive(Arc::clone(turns), plan, options, cancel, finish, events));
    let mut transcripts = Vec::new();
    while let Some(event) = received.recv().await {
        match event {
            Event::Finished { seen, .. } => transcripts.push(*seen),
            Event::Slow { .. } => {}
        }
    }
    assert_eq!(driving.await.expect("no bug"), Ended::Whole);
    transcripts
}

fn reply(transcript: &Transcript) -> &str {
    let mut messages = transcript.steps.iter().flat_map(|step| &step.messages);
    &messages.rfind(|message| message.from == Party::Target).expect("a reply").text
}

#[tokio::test]
async fn tests_with_same_fixture_share_process() {
    let transcripts = run(target(&[]), vec![send("one"), send("two")]).await;
    assert_eq!(reply(&transcripts[0]), reply(&transcripts[1]));
}

#[tokio::test]
async fn tests_with_one_generated_fixture_share_a_process() {
    let definition = Template::Generated(Generator::Nested { depth: 3 });
    let given = || Fixture {
        tools: vec![Tool { name: "t".to_owned(), definition: definition.clone(), does: Does::Echo }],
        ..Fixture::default()
    };
    let large = |method| Test { given: Arc::new(given()), ..send(method) };
    let transcripts = run(target(&[]), vec![large("one"), large("two")]).await;
    assert_eq!(reply(&transcripts[0]), reply(&transcripts[1]));
}

#[tokio::test]
async fn crash_fails_one_test_and_names_signal() {
    let transcripts = run(target(&[]), vec![send("one"), send("please-abort"), send("three")]).await;
    let crash = &transcripts[1];
    assert_eq!(crash.steps[0].end, End::Crash { how: "killed by signal 6 (SIGABRT)".to_owned() });
    assert!(crash.stderr.contains("dying"), "{}", crash.stderr);
    assert!(matches!(transcripts[2].steps[0].end, End::Replied { .. }));
}

#[tokio::test]
async fn process_that_leaves_child_with_pipes_is_leaky() {
    let transcripts = run(target(&[]), vec![send("please-leave"), send("two")]).await;
    assert!(transcripts[0].leaky && !transcripts[1].leaky);
}

#[tokio::test]
async fn step_limit_of_test_shortens_hang() {
    let options = Options { step_limit: Duration::from_secs(5), ..quick() };
    let hang = Test { step_limit: Some(1), ..send("please-hang") };
    let transcripts = run_with(options.clone(), target(&[]), vec![hang]).await;
    assert_eq!(transcripts[0].steps[0].end, End::Timeout);
    assert!(u128::from(transcripts[0].micros) < options.step_limit.as_micros());
}

#[tokio::test(start_paused = true)]
async fn notices_become_rarer_and_begin_after_the_wait_by_design() {
    let (events, mut received) = mpsc::channel::<Event<()>>(8);
    let hangs_up = When::Cancel { tool: "t".into(), arguments: None, hangs_up: true };
    for (test, expected) in [(send("any"), [2, 4, 8, 16]), (test("waits", hangs_up), [5, 7, 11, 19])] {
        let plan = plan_of(target(&[]), Transport::Http, vec![vec![test]]);
        watched(&events, &plan.groups[0].tests[0], Box::pin(tokio::time::sleep(Duration::from_secs(30)))).await;
        let seen = expected.map(|_| match received.try_recv() {
            Ok(Event::Slow { after, .. }) => after.as_secs(),
            other => panic!("{other:?}"),
        });
        assert_eq!((seen, received.try_recv().is_err()), (expected, true));
    }
}

#[test]
fn workers_take_groups_that_their_process_can_serve() {
    let fixed = || Target { drives: TargetKind::Fixed(Fixed::Server(Vec::new())), ..target(&[]) };
    let of = |target: fn() -> Target| {
        let groups = (0..5).map(|_| Vec::new()).collect();
        let mut plan = Arc::into_inner(plan_of(target(), Transport::Stdio, groups)).expect("one owner");
        for group in &mut plan.groups[3..] {
            group.revision = Revision::all().next().expect("a revision");
        }
        plan
    };
    let taken = |plan: &Plan| {
        let queue = Queue::new(&[0, 1, 2, 3, 4], |_| Lane::Plain);
        let [one, other] = [(); 2].map(|()| queue.next(plan, Lane::Plain, None).expect("a group"));
        let mut taken = vec![one, other];
        for last in [one, other, one, one, other] {
            taken.extend(queue.next(plan, Lane::Plain, Some(&plan.groups[last])));
        }
        taken
    };
    assert_eq!(taken(&of(fixed)), [0, 3, 1, 4, 2]);
    assert_eq!(taken(&of(|| target(&[]))), [0, 1, 2, 3, 4]);
}

#[test]
fn workers_keep_the_server_of_a_pair_and_help_with_others_at_the_end() {
    let named = |name: &str| Arc::new(Target { id: TargetId { name: name.to_owned(), variant: None }, ..target(&[]) });
    let mut plan = Arc::into_inner(plan_of(target(&[]), Transport::Http, (0..6).map(|_| Vec::new()).collect()));
    let groups = &mut plan.as_mut().expect("one owner").groups;
    for (group, server) in groups.iter_mut().zip(["one", "one", "one", "one", "other", "other"]) {
        let pair = TargetPair { client: named("client"), server: named(server) };
        let revisions = pair.revisions();
        group.target = Arc::new(pair.target(revisions));
    }
    let plan = plan.expect("one owner");
    let queue = Queue::new(&[0, 1, 2, 3, 4, 5], |_| Lane::Plain);
    let next = |last: Option<usize>| queue.next(&plan, Lane::Plain, last.map(|last| &plan.groups[last]));
    assert_eq!([next(None), next(None)], [Some(0), Some(4)]);
    assert_eq!([next(Some(0)), next(Some(4)), next(Some(5))], [Some(1), Some(5), Some(2)]);
    assert_eq!([next(Some(2)), next(Some(1))], [Some(3), None]);
}

#[test]
fn groups_that_wait_have_workers_of_their_own_and_come_last_for_others() {
    let late = |id| Test { request_timeout: Some(400), ..send(id) };
    let groups = vec![vec![late("a")], vec![send("b")], vec![late("c"), send("d")], vec![late("e")]];
    let plan = plan_of(target(&[]), Transport::Http, groups);
    let two = Options { jobs: NonZeroUsize::new(2).expect("two"), ..quick() };
    let queue = Queue::new(&[0, 1, 2, 3], |place| two.lane(&plan.groups[place]));
    assert_eq!(queue.next(&plan, Lane::Waiting, None), Some(0));
    assert_eq!([(); 3].map(|()| queue.next(&plan, Lane::Plain, None)), [Some(1), Some(2), Some(3)]);
    assert_eq!(queue.next(&plan, Lane::Waiting, None), None);
    assert_eq!((two.workers(&plan), two.waiting_workers(&plan)), (5, 3));
    let one = Options { jobs: NonZeroUsize::MIN, ..quick() };
    assert_eq!((one.workers(&plan), one.waiting_workers(&plan)), (1, 0));
    let fixed = Target { drives: TargetKind::Fixed(Fixed::Server(Vec::new())), ..target(&[]) };
    let plan = plan_of(fixed, Transport::Http, vec![vec![late("a")], vec![late("b")]]);
    assert_eq!((two.workers(&plan), two.waiting_workers(&plan)), (2, 0));
}

#[test]
fn hard_groups_have_few_workers_which_take_them_first() {
    let hard = |id| Test { step_limit: Some(3), ..send(id) };
    let heavy = Test { heavy: true, ..send("f") };
    let groups = vec![vec![send("a")], vec![send("b"), hard("c")], vec![send("d")], vec![hard("e")], vec![heavy]];
    let plan = plan_of(target(&[]), Transport::Http, groups);
    let jobs = |number| Options { jobs: NonZeroUsize::new(number).expect("some"), ..quick() };
    assert_eq!((jobs(2).hard_workers(), jobs(8).hard_workers()), (1, 2));
    let queue = Queue::new(&jobs(8).order(&plan), |place| jobs(8).lane(&plan.groups[place]));
    assert_eq!([(); 3].map(|()| queue.next(&plan, Lane::Plain, None)), [Some(0), Some(2), None]);
    assert_eq!([(); 4].map(|()| queue.next(&plan, Lane::Hard, None)), [Some(1), Some(3), Some(4), None]);
}

#[tokio::test]
async fn target_is_given_up_after_three_consecutive_hangs() {
    let hangs = (0..3).map(|_| send("please-hang"));
    let tests = [send("please-hang"), send("well")].into_iter().chain(hangs).chain([send("late")]).collect();
    let transcripts = run(target(&[]), tests).await;
    assert_eq!(transcripts[0].steps[0].end, End::Timeout);
    assert!(matches!(transcripts[1].steps[0].end, End::Replied { .. }));
    assert!(matches!(&transcripts[5].served, Served::Unavailable { reason } if reason.contains("3 hangs")));
}

#[tokio::test]
async fn slow_process_is_repeated_alone_and_its_second_result_counts() {
    let options = Options { jobs: NonZeroUsize::new(3).expect("three"), ..quick() };
    let folder = tempfile::tempdir().expect("a folder");
    // The first process of the target is slow.
    let first = r#"mkdir "$FOLDER/first" 2>/dev/null && sleep 1"#;
    let late = target(&[("ON_START", first), ("FOLDER", folder.path().to_str().expect("UTF-8"))]);
    let groups = ["one", "two", "three"].map(|id| vec![send(id)]);
    let turns = Arc::new(Turns::new(5, |_, _| true));
    let transcripts = carried_out_in(&turns, options, plan_of(late, Transport::Stdio, groups.into())).await;
    assert!(transcripts.iter().all(|one| matches!(one.steps[0].end, End::Replied { .. })), "{transcripts:?}");
    assert_eq!((transcripts.len(), turns.left()), (3, 4));
}

#[tokio::test]
async fn hang_is_repeated_once_and_counts_unless_test_is_hard() {
    let hard = Test { step_limit: Some(10), ..send("please-hang") };
    let tests = vec![send("please-hang"), send("well"), hard, send("well"), send("please-hang"), send("please-hang")];
    let turns = Arc::new(Turns::new(2, |_, _| true));
    let transcripts = carried_out_in(&turns, quick(), plan(target(&[]), tests)).await;
    let hung: Vec<_> = transcripts.iter().map(|one| one.steps[0].end == End::Timeout).collect();
    assert_eq!((hung, turns.left()), (vec![true, false, true, false, true, true], 0));
}

#[tokio::test]
async fn hang_of_pair_is_repeated_once() {
    let client = Target { id: TargetId { name: "client".to_owned(), variant: None }, ..target(&[]) };
    let pair = TargetPair { client: Arc::new(client), server: Arc::new(target(&[])) };
    let revisions = pair.revisions();
    let test = Test { role: Role::Pair, ..connecting("connect") };
    let plan = plan_of(pair.target(revisions), Transport::Http, vec![vec![test]]);
    let turns = Arc::new(Turns::new(5, |_, _| true));
    let transcripts = carried_out_in(&turns, quick(), plan).await;
    assert!(matches!(&transcripts[0].served, Served::Failed { end: End::Timeout, .. }), "{:?}", transcripts[0]);
    assert_eq!(turns.left(), 4);
}

/// The reasons for which tests were unavailable.
fn given_up(transcripts: &[Transcript]) -> Vec<&str> {
    let served = transcripts.iter().map(|transcript| &transcript.served);
    served
        .filter_map(|served| if let Served::Unavailable { reason } = served { Some(reason.as_str()) } else { None })
        .collect()
}

#[tokio::test]
async fn hanging_target_of_each_kind_is_given_up_after_three_hangs() {
    type Way = (&'static str, Target, Transport, fn(usize) -> Test);
    // A client of this listener waits forever.
    let deaf = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/mcp", deaf.local_addr().expect("an address"));
    let sleeper = || ["sh", "-c", "exec sleep 1000"].map(str::to_owned).to_vec();
    let fixed = |fixed: Fixed| Target { drives: TargetKind::Fixed(fixed), ..target(&[]) };
    let server = |id: usize| send(&format!("please-hang-{id}"));
    let client = |id: usize| connecting(&format!("connect-{id}"));
    let (http, stdio) = (Transport::Http, Transport::Stdio);
    let ways: [Way; 6] = [
        ("a server over stdio", target(&[]), stdio, server),
        ("a server over HTTP", target(&[("URL", &url)]), http, server),
        ("a client", target(&[("ON_DRIVE", "exec sleep 1000")]), http, client),
        ("a fixed server over stdio", fixed(Fixed::Server(sleeper())), stdio, server),
        ("a fixed server over HTTP", fixed(Fixed::Running(Endpoint::new(url.clone()))), http, server),
        ("a fixed client", fixed(Fixed::Client(sleeper())), http, client),
    ];
    for (what, target, transport, test) in ways {
        let groups = (0..2).map(|group| (0..8).map(|one| test(group * 8 + one)).collect()).collect();
        let options = Options { jobs: NonZeroUsize::new(2).expect("two"), ..quick() };
        let began = std::time::Instant::now();
        let transcripts = carried_out(options, plan_of(target, transport, groups)).await;
        let reasons = given_up(&transcripts);
        // Each of the two workers may be running a test when the other one gives up.
        assert!((16 - 2 * 3..=16).contains(&reasons.len()), "{what}: {reasons:?}");
        assert!(reasons.iter().all(|reason| *reason == reasons[0]), "{what}: {reasons:?}");
        assert!(began.elapsed() < Duration::from_secs(30), "{what}: {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn stdio_server_without_server_gives_line_and_exit_status() {
    let refusing = |line: &str| format!("echo a greeting; echo some warning >&2; echo '{line}' >&2; exit 3");
    let refused = refusing(r#"{"refused":{"type":"ValueError","message":"no","tool":"t"}}"#);
    for when in [When::Serve, When::List] {
        let transcripts = run(target(&[("ON_START", &refused)]), vec![test("t", when)]).await;
        let served = Served::Refused { r#type: "ValueError".to_owned(), message: "no (tool `t`)".to_owned() };
        assert_eq!(transcripts[0].served, served);
        assert!(transcripts[0].steps.is_empty());
    }
    let cannot = refusing(r#"{"cannot":"no such thing"}"#);
    let transcripts = run(target(&[("ON_START", &cannot)]), vec![test("t", When::List)]).await;
    assert_eq!(transcripts[0].served, Served::Cannot { reason: "no such thing".to_owned() });
}

#[tokio::test]
async fn process_that_refuses_is_started_once_beside_an_adapter() {
    let starts = tempfile::NamedTempFile::new().expect("a file");
    let refused = r#"echo start >> "$STARTS"; echo '{"refused":{"type":"ValueError","message":"no"}}' >&2; exit 3"#;
    let env = [("ON_START", refused), ("STARTS", starts.path().to_str().expect("UTF-8"))];
    let transcripts = run(target(&env), vec![test("t", When::List)]).await;
    assert!(matches!(transcripts[0].served, Served::Refused { .. }));
    assert_eq!(std::fs::read_to_string(starts.path()).expect("text"), "start\n");
}

#[tokio::test]
async fn start_of_a_process_does_not_count_for_its_first_step() {
    let options = Options { start_limit: Duration::from_secs(20), ..quick() };
    let transcripts = run_with(options, target(&[("ON_START", "sleep 1")]), vec![send("one")]).await;
    assert!(matches!(transcripts[0].steps[0].end, End::Replied { .. }), "{:?}", transcripts[0]);
}

#[tokio::test]
async fn missing_hello_makes_tests_unavailable_with_reason() {
    for (on_hello, reason) in [
        ("exec sleep 1000", "sent no answer within the time limit"),
        ("echo broken >&2; exit 1", "exit status 1; it wrote: broken"),
        ("yes", "1000 lines that are no answer"),
        (r#"read -r line; echo '{"id":"1","hello":"there"}'"#, "it sent an invalid answer: `hello` must be an object"),
        (r#"read -r line; echo '{"id":"1","hello":{"roles":["server"]}}'"#, "the transport `stdio`"),
    ] {
        let transcripts = run(target(&[("ON_HELLO", on_hello)]), vec![send("one"), send("two")]).await;
        for transcript in transcripts {
            let Served::Unavailable { reason: told } = &transcript.served else { panic!("{transcript:?}") };
            assert!(told.contains(reason), "{told}");
        }
    }
}

#[tokio::test]
async fn noise_is_kept_and_deep_fixture_is_sent_as_text() {
    let deadline = Deadline::within(Duration::from_secs(10));
    let target = target(&[("ON_HELLO", "echo Listening on port 8080")]);
    let mut adapter = Adapter::start(&target, deadline).await.expect("a hello");
    assert_eq!(adapter.stderr().take(), "[noise on stdout] Listening on port 8080\n");
    let fixture = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let order = Order { variant: Some("low"), ..Order::new(&target, Revision::newest(), Transport::Http, &fixture) };
    let (serving, url) = adapter.serve(order, deadline).await.expect("it serves");
    assert_eq!(url, "http://127.0.0.1:9/");
    adapter.stop(serving, deadline).await.expect("it stops");
    adapter.send_unknown_request(deadline).await.expect("it says that it knows no such thing");
    let kept = adapter.stderr().clone();
    assert_eq!(adapter.end(StopReason::Finished).await.how, "exit status 0");
    assert!(kept.take().contains(r#""variant":"low","fixture":[[[["#));
}

#[tokio::test]
async fn smoke_names_expected_answer() {
    let report = smoke(&target(&[("ON_START", "echo broken >&2; exit 1")])).await;
    assert_eq!(report.checks.len(), 2 + 4 + 2);
    let wrong: Vec<_> =
        report.checks.iter().filter(|check| matches!(check.outcome, SmokeOutcome::Wrong { .. })).collect();
    assert_eq!(wrong.len(), 4, "{wrong:?}");
    let SmokeOutcome::Wrong { got, wanted, stderr } = &wrong[0].outcome else { panic!("{wrong:?}") };
    assert_eq!(wrong[0].asked, "serve: echo over stdio on 2026-07-28");
    assert!(got.ends_with("exit status 1") && wanted.contains("`tools/list`"), "{got} {wanted}");
    assert_eq!(stderr, "broken\n");
    let silent = smoke(&target(&[("ON_HELLO", "exit 1")])).await;
    assert!(!silent.is_good() && silent.hello.is_none());
}

#[tokio::test]
async fn smoke_shows_standard_error_of_adapter_that_died() {
    let claims = Claims { roles: vec![Role::Client], ..target(&[]).claims };
    let dying = Target { announced: claims.clone(), claims, ..target(&[("ON_DRIVE", "echo broken >&2; exit 1")]) };
    let report = smoke(&dying).await;
    let drives: Vec<_> = report.checks.iter().filter(|check| check.asked.starts_with("drive")).collect();
    assert_eq!(drives.len(), 3);
    for check in drives {
        let SmokeOutcome::Wrong { got, stderr, .. } = &check.outcome else { panic!("{check:?}") };
        assert_eq!(got, "it ended with exit status 1");
        assert_eq!(stderr, "broken\n", "no standard error of an earlier process");
    }
}

#[tokio::test]
async fn cancelled_run_begins_no_further_test() {
    let (cancelling, cancel) = watch::channel(Cancel::Go);
    let (events, mut received) = mpsc::channel(8);
    let finish = Arc::new(move |planned: &Planned, _| {
        cancelling.send_replace(Cancel::Finish);
        (Next::On, Some(planned.index))
    });
    let plan = plan(target(&[]), vec![send("one"), send("two")]);
    let driving = tokio::spawn(drive(Arc::new(Turns::new(0, |_, _| true)), plan, quick(), cancel, finish, events));
    assert!(matches!(received.recv().await, Some(Event::Finished { index: 0, seen: 0 })));
    assert!(received.recv().await.is_none());
    assert_eq!(driving.await.expect("no bug"), Ended::Interrupted);
}

#[tokio::test]
async fn run_cancelled_now_ends_at_once() {
    let (cancelling, cancel) = watch::channel(Cancel::Go);
    let (events, _received) = mpsc::channel(8);
    let options = Options { step_limit: Duration::from_secs(60), ..quick() };
    let finish: Finish<()> = Arc::new(|_, _| (Next::On, None));
    let driving = tokio::spawn(drive(
        Arc::new(Turns::new(0, |_, _| true)),
        plan(target(&[]), vec![send("please-hang")]),
        options,
        cancel,
        finish,
        events,
    ));
    cancelling.send_replace(Cancel::Now);
    let ended = tokio::time::timeout(Duration::from_secs(2), driving).await.expect("at once");
    assert_eq!(ended.expect("no bug"), Ended::Interrupted);
}

/// A test of a client that only connects.
fn connecting(id: &str) -> Test {
    Test { role: Role::Client, ..test(id, When::Serve) }
}

#[tokio::test]
async fn silent_client_times_out_and_next_test_gets_new_adapter() {
    let hang = r#"case $line in *please-hang*) exec sleep 1000 ;; esac
        echo "{\"id\":\"$id\",\"drove\":{\"connected\":true,\"steps\":[{\"result\":{}}]}}""#;
    let calling = |tool: &str| Test { role: Role::Client, ..test(tool, When::call(tool, None, Vec::new())) };
    let transcripts = run(target(&[("ON_DRIVE", hang)]), vec![calling("please-hang"), calling("works")]).await;
    assert!(matches!(&transcripts[0].served, Served::Failed { end: End::Timeout, .. }), "{:?}", transcripts[0].served);
    assert!(transcripts[0].micros < 1_000_000);
    assert_eq!(transcripts[1].steps[0].end, End::Handed);
    assert_eq!(transcripts[1].steps[0].handed.as_deref(), Some(r#"{"result":{}}"#));
}

#[tokio::test]
async fn adapter_failure_during_drive_is_observed() {
    let end_of =
        async |how: &str| match run(target(&[("ON_DRIVE", how)]), vec![connecting("one")]).await.remove(0).served {
            Served::Failed { end, .. } => end,
            served => panic!("{served:?}"),
        };
    assert_eq!(end_of("exit 7").await, End::Crash { how: "exit status 7".to_owned() });
    let silly = r#"echo "{\"id\":\"$id\",\"drove\":7}""#;
    assert!(matches!(end_of(silly).await, End::Invalid { .. }));
}

#[tokio::test]
async fn panic_in_harness_fails_one_test_and_run_continues() {
    // The sum overflows the clock and panics, in each test anew.
    let options = Options { test_limit: Duration::MAX, ..quick() };
    let transcripts = run_with(options, target(&[]), vec![send("one"), send("two")]).await;
    for transcript in transcripts {
        assert!(
            matches!(&transcript.served, Served::Broken { reason } if reason.contains("overflow")),
            "{transcript:?}"
        );
    }
}

#[tokio::test]
async fn panic_in_background_task_is_error_of_its_test() {
    // The message of the client makes the mock server's task panic, while the client waits.
    let trips = r#"case $line in *'"steps-on-it"'*)
        file=${line##*'"__relay","'}; file=${file%%'"'*}
        exec bash -c '{ read -r address; read -r word; } < "$1"; exec 3<>"/dev/tcp/${address%:*}/${address#*:}"
            printf "%s\n" "$word" please-panic >&3; sleep 1000' trip "$file" ;;
        esac
        echo "{\"id\":\"$id\",\"drove\":{\"connected\":true,\"steps\":[{\"result\":{}}]}}""#;
    let calling = |tool: &str| Test { role: Role::Client, ..test(tool, When::call(tool, None, Vec::new())) };
    let options = Options { step_limit: Duration::from_secs(30), ..quick() };
    let tests = vec![calling("steps-on-it"), calling("well")];
    let transcripts = run_with(options, target(&[("ON_DRIVE", trips)]), tests).await;
    let Served::Broken { reason } = &transcripts[0].served else { panic!("{:?}", transcripts[0]) };
    assert!(reason.contains("tripped over please-panic"), "{reason}");
    assert!(transcripts[0].steps.is_empty());
    assert_eq!((&transcripts[1].served, &transcripts[1].steps[0].end), (&Served::Serving, &End::Handed));
}
