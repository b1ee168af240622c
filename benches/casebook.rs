//! Benchmarks of loading, judging, replaying, a message of a megabyte, and a whole run.
//!
//! The judged answers come from the reference at the start of the benchmarks. `cargo bench` shows times and asserts
//! none.

use std::sync::Arc;

use camino::Utf8Path;
use casebook::drive::{Cancel, Options};
use casebook::judge::{Judge, observe};
use casebook::load::{Here, Source, load, target};
use casebook::model::case::{Library, Test};
use casebook::model::record::{Footer, Header, Record};
use casebook::model::spec::Transport;
use casebook::model::target::Target;
use casebook::model::transcript::Transcript;
use casebook::plan::{Plan, Selection, plan};
use casebook::run::{RunLog, Seen, conduct, rejudge};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use tokio::runtime::Runtime;
use tokio::sync::watch;

const PROGRAM: &str = env!("CARGO_BIN_EXE_casebook");

fn main() {
    divan::main();
}

/// The values that all runs share.
struct Bench {
    library: Library,
    target: Arc<Target>,
    plan: Arc<Plan>,
    runtime: Runtime,
}

impl Bench {
    /// Plans some cases, which are run on the reference over HTTP.
    fn of(source: Source, only: &str) -> Self {
        let library = load(&[source]).expect("the cases are right");
        let here = Here::new(Utf8Path::new(env!("CARGO_MANIFEST_DIR")));
        let target = Arc::new(target::reference(Utf8Path::new(PROGRAM), &here, None, &library));
        let only = vec![only.parse().expect("a pattern")];
        let selection = Selection { only, transport: vec![Transport::Http], ..Selection::default() };
        let plan = plan(&library, &[Arc::clone(&target)], &selection).expect("there are such tests");
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        Self { library, target, plan: Arc::new(plan), runtime }
    }

    fn judge(&self) -> Judge {
        Judge::new(&self.library.requirements, [self.target.as_ref()])
    }

    /// Runs the plan; returns the end of the run, the records and the transcripts.
    fn run(&self) -> (Footer, Vec<Record>, Vec<Transcript>) {
        let mut records = Vec::with_capacity(self.plan.len());
        let mut transcripts = Vec::with_capacity(self.plan.len());
        let see = |seen: Seen<'_>| {
            if let Seen::Judged(record, transcript) = seen {
                records.push(record.clone());
                transcripts.push(transcript.clone());
            }
        };
        let (_go, cancel) = watch::channel(Cancel::Go);
        let options = Options { program: PROGRAM.into(), ..Options::default() };
        let conducting = conduct(Arc::clone(&self.plan), self.judge(), options, cancel, None, see);
        let conducted = self.runtime.block_on(conducting);
        assert_eq!(records.len(), self.plan.len());
        (conducted.footer, records, transcripts)
    }

    fn tests(&self) -> Vec<Arc<Test>> {
        self.plan.tests().map(|(_, planned)| Arc::clone(&planned.test)).collect()
    }
}

#[divan::bench]
fn load_all_embedded_cases() -> Library {
    load(&[Source::Embedded]).expect("they are right")
}

#[divan::bench]
fn plan_all_tests(bencher: Bencher<'_, '_>) {
    let bench = Bench::of(Source::Embedded, "**");
    let targets = [Arc::clone(&bench.target)];
    let all = Selection::default();
    bencher.bench_local(|| plan(&bench.library, black_box(&targets), &all));
}

#[divan::bench]
fn observe_and_judge(bencher: Bencher<'_, '_>) {
    let bench = Bench::of(Source::Embedded, "sep-2106/composition");
    let (.., transcripts) = bench.run();
    let tests = bench.tests();
    bencher.counter(ItemsCount::new(tests.len())).bench_local(|| {
        let mut judge = bench.judge();
        for (test, transcript) in tests.iter().zip(&transcripts) {
            let observation = observe(test, transcript);
            black_box(judge.judge(&bench.target.id, test, &transcript.test, &observation));
        }
    });
}

#[divan::bench]
fn replay(bencher: Bencher<'_, '_>) {
    let bench = Bench::of(Source::Embedded, "sep-2106/composition");
    let (footer, records, _) = bench.run();
    let header = Header { planned: records.len(), targets: vec![bench.target.id.clone()], ..Header::default() };
    let count = records.len();
    let log = RunLog { header, records, footer: Some(footer) };
    let known = [Target::clone(&bench.target)];
    bencher
        .counter(ItemsCount::new(count))
        .bench_local(|| rejudge(&bench.library, &known, black_box(log.records.clone())));
}

/// The time includes the start of the adapter and the answers of the client: a server of the stateful lifecycle sends
/// its requests in the event stream of a call.
#[divan::bench(sample_count = 20)]
fn a_question_of_a_megabyte_in_a_stream_of_events(bencher: Bencher<'_, '_>) {
    let folder = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/cases");
    let bench = Bench::of(Source::Folder(folder), "stream/question/long@2025-11-25+http");
    let (.., transcripts) = bench.run();
    let longest = transcripts.iter().flat_map(|one| &one.steps).flat_map(|step| &step.messages);
    assert!(longest.map(|message| message.cut_from.unwrap_or_default()).max() > Some(1_000_000), "it was asked");
    bencher.bench_local(|| bench.run());
}

#[divan::bench(sample_count = 10)]
fn a_run_of_a_case_file_against_the_reference(bencher: Bencher<'_, '_>) {
    let bench = Bench::of(Source::Embedded, "sep-2106/composition");
    bencher.counter(ItemsCount::new(bench.plan.len())).bench_local(|| bench.run());
}
