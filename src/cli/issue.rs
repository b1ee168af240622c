//! `casebook issue`: writes the draft of an issue for a failed test, which it runs now or finds in a run log.
//!
//! Takes a test, a target and maybe a run log, prints Markdown. It sends nothing anywhere. Must not know the text of a
//! draft.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::dev::{replace_targets, with_installed};
use super::run::{plan_problem, targets, with_known};
use super::set_up::prepare;
use super::{CaseArgs, Exit, Problem, heading, interrupt, values};
use crate::drive::Options;
use crate::judge::Judge;
use crate::load::load;
use crate::load::target::is_path;
use crate::model::applicability::Applicability;
use crate::model::case::{Library, Test};
use crate::model::record::{About, Header, Record};
use crate::model::spec::Role;
use crate::model::target::{Target, TargetKind};
use crate::model::transcript::Transcript;
use crate::model::{Pattern, TargetId};
use crate::plan::{Plan, Selection, plan};
use crate::report::issue::{
    Audience, Choice, Chosen, Evidence, Others, Program, Remaining, draft, grave_harm, issue_of, violations,
};
use crate::report::terminal::{eprint_line, show};
use crate::report::{Status, Untrusted};
use crate::run::{Seen, conduct, hash, read_what_is_there, read_wire, read_wire_file};

/// The most characters of a line that are shown.
const LINE: usize = 1000;
/// The most bytes of a program that are read.
const PROGRAM: usize = 64 << 10;

const AFTER: &str = "\
The first line of the draft is its title. casebook sends it nowhere. If a
[[known]] entry has the issue, the text is a comment for that issue.

If the violated requirement has the harm ssrf, data-loss, crash or dos, and no
public issue is known, the draft is for the maintainers alone; --public writes it
for a public tracker.

Examples:
  casebook issue tools/arguments/rejects ./my-sdk
  casebook issue 'tools/arguments/rejects@2026-07-28+http' ./my-sdk --out issue.md
  casebook issue tools/arguments my-sdk:low --run-log run.jsonl

Exit statuses:
  0  the draft was written
  2  usage error
  3  there is nothing to report: the tests pass, were not asked, are left to the
     author, could not be decided, or cannot be expressed
  4  the target cannot be set up or started, or it was given up
  5  interrupted
  6  the draft cannot be written";

/// `casebook issue`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER)]
pub struct IssueArgs {
    /// Test as `casebook list` prints it, or a pattern; of several tests that fail, the draft is about one
    #[arg(value_name = "TEST", value_parser = values::pattern)]
    pub test: Pattern,
    /// Target: a name, or the path of a target.toml or its folder; TARGET:VARIANT selects a variant
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// Use the result in this run log, and run nothing
    #[arg(long, value_name = "FILE")]
    pub run_log: Option<Utf8PathBuf>,
    /// Read the messages from this file [default: the .wire.jsonl beside the run log]
    #[arg(long, value_name = "FILE", requires = "run_log")]
    pub wire: Option<Utf8PathBuf>,
    /// Test a development build: accept another version than target.toml names
    #[arg(long, conflicts_with = "run_log")]
    pub dev: bool,
    /// Write the draft to FILE [default: standard output]
    #[arg(long, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub out: Option<Utf8PathBuf>,
    /// Write for a public tracker, whatever the harm is
    #[arg(long, conflicts_with = "private", help_heading = heading::OUTPUT)]
    pub public: bool,
    /// Write for the maintainers alone, whatever the harm is
    #[arg(long, help_heading = heading::OUTPUT)]
    pub private: bool,
    /// The sources of cases.
    #[command(flatten)]
    pub cases: CaseArgs,
}

/// The result of looking for a failed test.
struct Found {
    chosen: Option<Chosen>,
    others: Others,
    remaining: Remaining,
    /// The package and version of each target.
    about: Vec<About>,
    /// The version of casebook that ran the test.
    casebook: String,
    /// The targets, as far as they are here.
    targets: Vec<Arc<Target>>,
    is_interrupted: bool,
}

pub(super) fn issue(args: &IssueArgs) -> Result<Exit, Problem> {
    let library = load(&args.cases.sources()?)?;
    let found = match &args.run_log {
        Some(log) => recorded(args, &library, log)?,
        None => run(args, &library)?,
    };
    let Some(chosen) = &found.chosen else { return Err(nothing(args, &found)) };
    let audience = audience(args, &library, &chosen.record);
    let broken = violations(&chosen.record, &library.requirements);
    let issues: Option<Vec<_>> = broken.iter().map(|verdict| issue_of(verdict)).collect();
    if let Some([issue, ..]) = issues.as_deref() {
        let text = format!("already reported: {issue}; the text is a comment for this issue");
        eprint_line(&Untrusted(&text).line(LINE));
    }
    let text = draft(&evidence(args, &library, &found, chosen), audience);
    match &args.out {
        Some(path) => {
            std::fs::write(path, text).map_err(|error| Problem::unsaved(path, &error))?;
            eprint_line(&format!("draft: {path}"));
        }
        None => show(&text).map_err(|error| Problem::unsaved("standard output".into(), &error))?,
    }
    Ok(Exit::Fine)
}

/// Looks for the test in a run log. The target may be on another machine.
fn recorded(args: &IssueArgs, library: &Library, log: &Utf8Path) -> Result<Found, Problem> {
    let (run, cut) = read_what_is_there(log)?;
    if let Some(error) = cut {
        let text = format!("{log} is incomplete: {error}; the tests after that are not considered");
        eprint_line(&Untrusted(&text).line(LINE));
    }
    let here = targets(std::slice::from_ref(&args.target));
    let names: Vec<TargetId> = match &here {
        Ok(here) => here.iter().map(|target| target.id.clone()).collect(),
        Err(_) if !is_path(&args.target) => Vec::new(),
        Err(_) => return here.map(|_| unreachable!("it is an error")),
    };
    let Ok(typed) = args.target.parse::<TargetId>();
    let is_meant =
        |id: &TargetId| names.contains(id) || *id == typed || typed.variant.is_none() && id.name == typed.name;
    let mut choice = Choice::new(&args.test, &library.requirements);
    let mut has_target = false;
    for record in run.records.iter().filter(|record| is_meant(&record.target)) {
        has_target = true;
        choice.add(record, None);
    }
    if !has_target {
        let targets: Vec<_> = run.header.targets.iter().take(40).map(ToString::to_string).collect();
        let text = format!("{log} has no test of {}; its targets are {}", args.target, targets.join(", "));
        return Err(Problem::new(Exit::Usage, Untrusted(&text).line(2 * LINE)));
    }
    let (mut chosen, others, remaining) = choice.finish();
    if let Some(chosen) = &mut chosen {
        let is_it = |one: &Transcript| one.target == chosen.record.target && one.test == chosen.record.test;
        let wire = args.wire.as_ref().map_or_else(
            || read_wire(log).map(|all| all.flatten().find(is_it)),
            |path| read_wire_file(path).map(|all| all.flatten().find(is_it)),
        );
        match wire {
            Ok(None) => eprint_line("the messages of the test are not beside the run log; the draft has none"),
            Err(error) if args.wire.is_some() => return Err(error.into()),
            Err(error) => {
                eprint_line(&Untrusted(&format!("the draft has no messages: {error}")).line(LINE));
            }
            Ok(Some(transcript)) => chosen.transcript = Some(transcript),
        }
    }
    let Header { about, casebook, .. } = run.header;
    let targets = here.unwrap_or_default();
    Ok(Found { chosen, others, remaining, about, casebook, targets, is_interrupted: false })
}

/// Runs the test.
fn run(args: &IssueArgs, library: &Library) -> Result<Found, Problem> {
    let mut targets = with_known(targets(std::slice::from_ref(&args.target))?, &args.cases, library);
    let selection =
        Selection { only: vec![args.test.clone()], heavy: true, every_transport: true, ..Selection::default() };
    let problem = |error| args.cases.with_hint(plan_problem(&error), library, error.unmatched());
    let mut planned: Plan = plan(library, &targets, &selection).map_err(problem)?;
    let runtime = interrupt::runtime()?;
    runtime.block_on(async {
        let cancel = interrupt::listen();
        prepare(&targets, &cancel).await?;
        let options = Options::default();
        if args.dev {
            targets = with_installed(targets, options.start_limit).await;
            replace_targets(&mut planned, &targets);
        }
        let mut choice = Choice::new(&args.test, &library.requirements);
        let judge = Judge::new(&library.requirements, targets.iter().map(Arc::as_ref));
        let see = |seen: Seen<'_>| {
            if let Seen::Judged(record, transcript) = seen {
                choice.add(record, Some(transcript));
            }
        };
        let conducted = conduct(Arc::new(planned), judge, options, cancel, None, see).await;
        if let Some(error) = conducted.broken {
            return Err(error.into());
        }
        let (chosen, others, remaining) = choice.finish();
        let about = targets.iter().map(|target| About {
            target: target.id.clone(),
            title: target.title.clone(),
            version: target.package.as_ref().map(ToString::to_string),
            unverified: None,
            ad_hoc: false,
            pair: None,
            planned: 0,
        });
        Ok(Found {
            chosen,
            others,
            remaining,
            about: about.collect(),
            casebook: env!("CARGO_PKG_VERSION").to_owned(),
            targets: targets.clone(),
            is_interrupted: conducted.footer.interrupted,
        })
    })
}

/// Chooses the readers of a draft.
fn audience(args: &IssueArgs, library: &Library, record: &Record) -> Audience {
    if args.private {
        return Audience::Private;
    }
    let Some(harm) = grave_harm(record, &library.requirements).filter(|_| !args.public) else {
        return Audience::Public;
    };
    eprint_line(&format!(
        "the harm of this failure is {harm}: the text is for the maintainers alone; --public writes one for a public \
         tracker"
    ));
    Audience::Private
}

/// The problem of a selection without a failure.
fn nothing(args: &IssueArgs, found: &Found) -> Problem {
    let (test, target) = (args.test.as_str(), &args.target);
    let Remaining { selected, status, reason, has_bug } = &found.remaining;
    let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let (exit, text) = match status {
        None if found.is_interrupted => (Exit::Interrupted, "interrupted before the test ended".to_owned()),
        None => {
            let log = args.run_log.as_ref().map(|log| format!("{log} has")).unwrap_or_default();
            let text = format!("{log} no test of {target} that `{test}` matches; list tests with `casebook list`");
            (Exit::Usage, text.trim_start().to_owned())
        }
        Some(Status::Error) => {
            let exit = if *has_bug { Exit::Bug } else { Exit::Target };
            (exit, format!("`{test}` has no result on {target}{reason}"))
        }
        Some(status) => {
            let words = status.meaning();
            let which = match selected {
                1 => format!("the result of `{test}`"),
                several => format!("the gravest result of the {several} tests of `{test}`"),
            };
            let text = format!("nothing to report: {which} on {target} is `{status}`: {words}{reason}");
            (Exit::Nothing, text)
        }
    };
    Problem::new(exit, Untrusted(&text).line(2 * LINE))
}

fn evidence<'a>(args: &'a IssueArgs, library: &'a Library, found: &'a Found, chosen: &'a Chosen) -> Evidence<'a> {
    let record = &chosen.record;
    let target = found.targets.iter().find(|target| target.id == record.target);
    let case = library.cases.iter().find(|case| case.id == record.test.case);
    let same = |test: &&Arc<Test>| test.path() == record.test.path() && hash(test) == record.hash;
    let test = case.and_then(|case| case.tests.iter().find(same)).map(AsRef::as_ref);
    let about = found.about.iter().find(|about| about.target == record.target);
    let name = typed(args, record);
    let cases = args.cases.typed();
    let line = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).chain(cases.clone()).collect();
    let id = record.test.to_string();
    let mut command: Vec<String> = line(&["casebook", "run", &name, "--only", &id]);
    command.extend(test.filter(|test| test.heavy).map(|_| "--heavy".to_owned()));
    command.extend(args.dev.then(|| "--dev".to_owned()));
    let is_for_adapters = test.is_none_or(|test| !matches!(test.reach, Applicability::FixedOnly(_)));
    let has_adapter = target.map_or(is_for_adapters, |target| matches!(target.drives, TargetKind::Adapter(_)));
    Evidence {
        record,
        transcript: chosen.transcript.as_ref(),
        test,
        role: case.map_or(Role::Server, |case| case.role),
        catalogue: &library.requirements,
        package: about.and_then(|about| about.version.as_deref()),
        casebook: &found.casebook,
        repository: env!("CARGO_PKG_REPOSITORY"),
        programs: target.map(|target| programs(target, record, library)).unwrap_or_default(),
        others: found.others.of(record, &library.requirements),
        command,
        serve: has_adapter.then(|| line(&["casebook", "serve", &name, &id])),
    }
}

/// The target as the user typed it, with the variant of the record.
fn typed(args: &IssueArgs, record: &Record) -> String {
    match &record.target.variant {
        Some(variant) if !args.target.ends_with(&format!(":{variant}")) => format!("{}:{variant}", args.target),
        _ => args.target.clone(),
    }
}

/// The programs of the known failures of a test.
fn programs(target: &Target, record: &Record, library: &Library) -> Vec<Program> {
    let broken = violations(record, &library.requirements);
    let is_broken = |known: &&crate::model::target::Known| {
        known.test.matches(&record.test) && broken.iter().any(|verdict| verdict.requirement == known.requirement)
    };
    let mut programs: Vec<Program> = Vec::new();
    for path in target.known.iter().filter(is_broken).filter_map(|known| known.repro.as_ref()) {
        let file = Utf8Path::new("repro").join(path);
        if target.repro.is_empty() || programs.iter().any(|known| known.path == file.as_str()) {
            continue;
        }
        let command = target.repro.iter().cloned().chain([file.to_string()]).collect();
        let text = crate::file::read_text(target.folder.join(&file), PROGRAM).ok();
        programs.push(Program { path: file.into_string(), command, text });
    }
    programs
}
