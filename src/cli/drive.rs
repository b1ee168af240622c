//! `casebook drive`: a target's client, driven through a case's script against a server that isn't ours. The official
//! conformance suite can call it as its client.

use std::env;

use clap::Args;

use super::by_hand::Typed;
use super::run::prepare;
use super::serve::{SHOWN, problem, stopped};
use super::{CaseArgs, Exit, Problem, interrupt};
use crate::drive::{Cancel, Handed, Options, REVISION, SCENARIO, drive_to};
use crate::load;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::untrusted::escape_json;
use crate::report::Untrusted;
use crate::report::terminal::{eprint_line, print_line};

const AFTER: &str = "\
Standard output has two lines a step: what the client was to do, and what it
handed over.

Examples:
  casebook drive reference sep-1034/client-defaults/edited/string http://127.0.0.1:3000/mcp
  npx @modelcontextprotocol/conformance client --command 'casebook drive my-sdk:high' \\
      --scenario json-schema-ref-no-deref

Environment:  MCP_CONFORMANCE_SCENARIO names the case where CASE is left out:
              the test that needs `scenario:NAME`
              MCP_CONFORMANCE_PROTOCOL_VERSION is the revision where there is no
              --revision; the suite sets both

Exit status:  0  each step came to a result
              1  one did not, the client didn't connect, or the SDK can't do it
              2  wrong usage: CASE has more than one script, say; all are listed
              3  the target doesn't do this case
              4  the target could not be set up or started, or died
              5  interrupted";

/// `casebook drive`.
#[derive(Debug, Args)]
#[command(after_help = AFTER, override_usage = "casebook drive [OPTIONS] <TARGET> [CASE] <URL>")]
pub struct DriveArgs {
    /// A target, as `casebook run` takes it; NAME:VARIANT where it has variants
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// A test or case of clients, or its file; and, as the last argument, where the server is
    #[arg(value_name = "[CASE] URL", num_args = 1..=2, required = true)]
    pub case_and_url: Vec<String>,
    /// The revision to speak [default: the newest that the case and the target have]
    #[arg(long, value_name = "REVISION")]
    pub revision: Option<Revision>,
    /// Where cases come from.
    #[command(flatten)]
    pub cases: CaseArgs,
}

pub(super) fn drive(args: &DriveArgs) -> Result<Exit, Problem> {
    let (case, url) = match args.case_and_url.as_slice() {
        [case, url] => (case.clone(), url),
        [url] => (scenario(&args.cases)?, url),
        _ => return Err(Problem::new(Exit::Usage, "TARGET, CASE and URL are wanted")),
    };
    if !url.contains("://") {
        return Err(Problem::new(Exit::Usage, format!("`{url}` is no URL; it is the last argument")));
    }
    let revision = match args.revision {
        None => told(REVISION).map(|name| name.parse().map_err(|error| unusable(REVISION, &error))).transpose()?,
        given => given,
    };
    let (role, transport) = (Role::Client, Some(Transport::Http));
    let typed = Typed { target: &args.target, case: &case, role, revision, transport };
    let chosen = typed.choose(&args.cases)?;
    let runtime = interrupt::runtime()?;
    runtime.block_on(async {
        let mut cancel = interrupt::quietly();
        prepare(std::slice::from_ref(&chosen.target), &cancel).await?;
        eprint_line(&format!("{} is driven through {}", chosen.target.id, chosen.planned.id));
        let options = Options::default();
        let handed = tokio::select! {
            handed = drive_to(&chosen.target, &chosen.planned, url, &options) => handed,
            () = stopped(&mut cancel, Cancel::Finish) => return Ok(Exit::Interrupted),
        };
        let handed = handed.map_err(|error| problem(&chosen, &error))?;
        print(&handed);
        Ok(if handed.is_whole() { Exit::Fine } else { Exit::Unexpected })
    })
}

/// The case that the official suite asks for.
fn scenario(cases: &CaseArgs) -> Result<String, Problem> {
    let Some(name) = told(SCENARIO) else {
        return Err(Problem::new(Exit::Usage, format!("CASE is left out, and {SCENARIO} isn't set")));
    };
    let library = load::load(&cases.sources()?)?;
    let tests = library.cases.iter().flat_map(|case| &case.tests);
    let scenarios: Vec<_> = tests.filter_map(|test| Some((test.reach.scenario()?, test))).collect();
    if let Some((_, test)) = scenarios.iter().find(|(scenario, _)| *scenario == name) {
        return Ok(test.path());
    }
    let known: Vec<_> = scenarios.iter().map(|(scenario, _)| *scenario).collect();
    let hint = load::did_you_mean(&name, &known).map_or(String::new(), |question| format!("; {question}"));
    Err(Problem::new(Exit::Usage, format!("{SCENARIO} asks for `{name}`, which no case needs{hint}")))
}

fn told(variable: &str) -> Option<String> {
    env::var(variable).ok().filter(|value| !value.is_empty())
}

fn unusable(variable: &str, error: &impl std::fmt::Display) -> Problem {
    Problem::new(Exit::Usage, format!("{variable}: {error}"))
}

fn print(handed: &Handed) {
    for (place, step) in handed.steps.iter().enumerate() {
        print_line(&Untrusted(&format!("{}  {}", place + 1, step.asked)).line(SHOWN));
        // The adapter's answer is JSON, and stays JSON.
        print_line(&Untrusted(&format!("   {}", escape_json(&step.handed))).line(SHOWN));
    }
    if let Some(error) = &handed.error {
        eprint_line(&Untrusted(&format!("it went no further: {error}")).line(SHOWN));
    }
}
