//! `casebook issue`: prints the draft of an issue for a failed test of a run log.
//!
//! Takes a test and a target, prints Markdown. It runs and sends nothing. Must not know the text of a draft.

use std::cmp::Reverse;

use camino::Utf8PathBuf;
use clap::Args;

use super::base::caches;
use super::base::chosen::targets;
use super::base::exit::Exit;
use super::base::problem::Problem;
use super::base::sources::CaseArgs;
use super::base::values;
use crate::load::load;
use crate::load::target::ad_hoc::is_url;
use crate::model::case::Library;
use crate::model::record::{Header, Record, Verdict};
use crate::model::spec::{Harm, Role, Transport};
use crate::model::target::Target;
use crate::model::text::shell_line;
use crate::model::{Pattern, TargetId};
use crate::report::issue::Draft;
use crate::report::terminal::{eprint_line, show};
use crate::report::{Status, Untrusted};
use crate::run::{read_what_is_there, read_wire};

/// The most characters of a line that are shown.
const LINE: usize = 2000;

const AFTER: &str = "\
The first line of the draft is its title. Of several failed tests, the draft is
about the worst: a new failure before a known one, a MUST before a SHOULD, then
by harm. casebook sends it nowhere.

Examples:
  casebook run ./my-sdk
  casebook issue tools/arguments/rejects my-sdk > issue.md
  casebook issue tools/arguments my-sdk:low --run-log run.jsonl";

/// `casebook issue`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER)]
pub struct IssueArgs {
    /// Test as `casebook list` prints it, or a pattern
    #[arg(value_name = "TEST", value_parser = values::pattern)]
    pub test: Pattern,
    /// Target: a name, or the path of a target.toml or its folder; TARGET:VARIANT selects a variant
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// Read the result from this run log [default: the run log of the last run]
    #[arg(long, value_name = "RUN_LOG")]
    pub run_log: Option<Utf8PathBuf>,
    /// The sources of cases.
    #[command(flatten)]
    pub cases: CaseArgs,
}

pub(super) fn issue(args: &IssueArgs) -> Result<Exit, Problem> {
    let library = load(&args.cases.sources()?)?;
    let path = args.run_log.clone().map_or_else(last, Ok)?;
    let (run, cut) = read_what_is_there(&path)?;
    if let Some(error) = cut {
        let text = format!("{path} is incomplete: {error}; the tests after that are not considered");
        eprint_line(&Untrusted(&text).line(LINE));
    }
    // The target may be on another machine.
    let here = targets(std::slice::from_ref(&args.target), &Library::default()).unwrap_or_default();
    let Ok(typed) = args.target.parse::<TargetId>();
    let is_meant = |id: &TargetId| {
        here.iter().any(|target| target.id == *id) || *id == typed || typed.variant.is_none() && id.name == typed.name
    };
    let mut all = run.records.iter().filter(|record| is_meant(&record.target)).peekable();
    let problem = |exit, text: String| Problem::new(exit, Untrusted(&text).line(LINE));
    if all.peek().is_none() {
        let targets: Vec<_> = run.header.targets.iter().take(40).map(ToString::to_string).collect();
        let text = format!("{path} has no test of {}; its targets are {}", args.target, targets.join(", "));
        return Err(problem(Exit::Usage, text));
    }
    let mut selected = all.filter(|record| args.test.matches(&record.test)).peekable();
    if selected.peek().is_none() {
        let text = format!("{path} has no test of {} that `{}` matches", args.target, args.test.as_str());
        return Err(problem(Exit::Usage, text));
    }
    let violations = selected.flat_map(|record| record.verdicts.iter().map(move |verdict| (record, verdict)));
    let violations = violations.filter(|(_, verdict)| verdict.kind.is_broken());
    let Some((record, verdict)) = violations.min_by_key(|(record, verdict)| rank(&library, record, verdict)) else {
        let text = format!("nothing to report: no test of {} that `{}` matches fails", args.target, args.test.as_str());
        return Err(problem(Exit::Nothing, text));
    };
    let is_it = |one: &crate::model::transcript::Transcript| one.target == record.target && one.test == record.test;
    let transcript = read_wire(&path).ok().and_then(|all| all.flatten().find(is_it));
    let case = library.cases.iter().find(|case| case.id == record.test.case);
    let about = run.header.about.iter().find(|about| about.target == record.target);
    let target = here.iter().find(|target| target.id == record.target);
    let draft = Draft {
        record,
        verdict,
        transcript: transcript.as_ref(),
        requirement: library.requirements.get(&verdict.requirement),
        role: case.map_or(Role::Server, |case| case.role),
        package: about.and_then(|about| about.version.clone()).unwrap_or_else(|| record.target.to_string()),
        casebook: &run.header.casebook,
        command: command(args, &run.header, record),
        repro: target.and_then(|target| repro(target, record, verdict)),
    };
    show(&draft.markdown()).map_err(|error| Problem::unsaved("standard output".into(), &error))?;
    Ok(Exit::Fine)
}

/// The run log of the last run.
fn last() -> Result<Utf8PathBuf, Problem> {
    let usage = |text: String| Problem::new(Exit::Usage, Untrusted(&text).line(LINE));
    let cache = caches::folder().map_err(|why| usage(format!("{why}; name the run log with --run-log FILE")))?;
    let path = cache.join("last/run.jsonl");
    let is_there = path.exists();
    is_there.then_some(path).ok_or_else(|| usage("there is no last run; run `casebook run` first".to_owned()))
}

/// The order of violations: the one that says most comes first.
fn rank(library: &Library, record: &Record, verdict: &Verdict) -> impl Ord + use<> {
    let harm = library.requirements.get(&verdict.requirement).map_or(Harm::None, |requirement| requirement.harm);
    let is_quiet = record.test.transport != Transport::Http;
    (Reverse(Status::from(verdict.kind)), harm, is_quiet, Reverse(record.test.revision), record.index)
}

/// The command that runs the test.
fn command(args: &IssueArgs, header: &Header, record: &Record) -> String {
    let only = ["--only".to_owned(), record.test.to_string()];
    let words = |target: Option<String>| {
        let words = ["casebook".to_owned(), "run".to_owned()].into_iter().chain(target);
        shell_line(&words.chain(only.clone()).chain(args.cases.typed()).collect::<Vec<_>>())
    };
    let ad_hoc = header.about.iter().find(|about| about.target == record.target && about.ad_hoc);
    match (ad_hoc, &record.target.variant) {
        (Some(about), _) if is_url(&about.title) => words(Some(about.title.clone())),
        (Some(about), _) => format!("{} -- {}", words(None), about.title),
        (None, Some(variant)) if !args.target.ends_with(&format!(":{variant}")) => {
            words(Some(format!("{}:{variant}", args.target)))
        }
        (None, _) => words(Some(args.target.clone())),
    }
}

/// The command of a program that shows the failure with the SDK alone.
fn repro(target: &Target, record: &Record, verdict: &Verdict) -> Option<String> {
    let known = target.known.iter().filter(|known| known.requirement == verdict.requirement);
    let file = known.filter(|known| known.test.matches(&record.test)).find_map(|known| known.repro.as_ref())?;
    let words: Vec<_> = target.repro.iter().cloned().chain([format!("repro/{file}")]).collect();
    (words.len() > 1).then(|| shell_line(&words))
}
