//! `casebook drive`: a target's client runs the steps of a case against the user's own server. The official conformance
//! suite can call this command as its client.

use std::env;

use clap::Args;

use super::base::by_hand::{SHOWN, Typed, problem, stopped};
use super::base::exit::Exit;
use super::base::heading;
use super::base::interrupt;
use super::base::problem::Problem;
use super::base::set_up::prepare;
use super::base::sources::CaseArgs;
use super::base::values;
use crate::drive::{Cancel, Handed, Options, REVISION, SCENARIO, drive_to};
use crate::load;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::untrusted::escape_json;
use crate::report::Untrusted;
use crate::report::terminal::{eprint_line, print_line};

const AFTER: &str = "\
Standard output has two lines per step: the action of the client, and the result
that the client gave to its application.

Examples:
  casebook drive reference sep-1034/client-defaults/edited/string http://127.0.0.1:3000/mcp
  npx @modelcontextprotocol/conformance client --command 'casebook drive my-sdk:high' \\
      --scenario json-schema-ref-no-deref

Environment, as the official conformance suite sets it:
  MCP_CONFORMANCE_SCENARIO          used without CASE: the test that needs
                                    `scenario:NAME`
  MCP_CONFORMANCE_PROTOCOL_VERSION  used without --revision

Exit statuses:
  0  each step has a result
  1  a step has no result, the client did not connect, or the SDK cannot do it
  2  usage error; for example, CASE has more than one script (all are listed)
  3  the target does not run this case
  4  the target cannot be set up or started, or it died
  5  interrupted";

/// `casebook drive`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER, override_usage = "casebook drive [OPTIONS] <TARGET> [CASE] <URL>")]
pub struct DriveArgs {
    /// Target: a name, or the path of a target.toml or its folder; TARGET:VARIANT selects a variant
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// Test or case of clients, or path of a case file; and, as the last argument, the URL of the server
    #[arg(value_name = "[CASE] URL", num_args = 1..=2, required = true)]
    pub case_and_url: Vec<String>,
    /// Use this revision [default: the newest that the case and the target support]
    #[arg(long, value_name = "REVISION", value_parser = values::revision(), hide_possible_values = true)]
    #[arg(help_heading = heading::TESTS)]
    pub revision: Option<Revision>,
    /// The sources of cases.
    #[command(flatten)]
    pub cases: CaseArgs,
}

pub(super) fn drive(args: &DriveArgs) -> Result<Exit, Problem> {
    let Some((url, case)) = args.case_and_url.split_last() else {
        return Err(Problem::new(Exit::Usage, "expected TARGET [CASE] URL"));
    };
    if !url.contains("://") {
        let text = format!("the last argument, `{url}`, is not a URL; expected one such as http://127.0.0.1:3000/mcp");
        return Err(Problem::new(Exit::Usage, text));
    }
    let case = case.first().map_or_else(|| scenario(&args.cases), |case| Ok(case.clone()))?;
    let revision = match args.revision {
        None => variable(REVISION).map(|name| name.parse().map_err(|error| unusable(REVISION, &error))).transpose()?,
        given => given,
    };
    let (role, transport) = (Role::Client, Some(Transport::Http));
    let typed = Typed { target: &args.target, case: &case, role, revision, transport };
    let chosen = typed.choose(&args.cases)?;
    let runtime = interrupt::runtime()?;
    runtime.block_on(async {
        let mut cancel = interrupt::quietly();
        prepare(std::slice::from_ref(&chosen.target), &cancel).await?;
        eprint_line(&format!("{} runs {}", chosen.target.id, chosen.planned.id));
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

/// Finds the case of the scenario that the official suite names in the environment.
fn scenario(cases: &CaseArgs) -> Result<String, Problem> {
    let Some(name) = variable(SCENARIO) else {
        return Err(Problem::new(Exit::Usage, format!("expected TARGET CASE URL; without CASE, set {SCENARIO}")));
    };
    let library = load::load(&cases.sources()?)?;
    let tests = library.cases.iter().flat_map(|case| &case.tests);
    let scenarios: Vec<_> = tests.filter_map(|test| Some((test.reach.scenario()?, test))).collect();
    if let Some((_, test)) = scenarios.iter().find(|(scenario, _)| *scenario == name) {
        return Ok(test.path());
    }
    let known: Vec<_> = scenarios.iter().map(|(scenario, _)| *scenario).collect();
    let hint = load::did_you_mean(&name, &known).map_or(String::new(), |question| format!("; {question}"));
    Err(Problem::new(Exit::Usage, format!("{SCENARIO} is `{name}`, and no case needs this scenario{hint}")))
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn unusable(variable: &str, error: &impl std::fmt::Display) -> Problem {
    Problem::new(Exit::Usage, format!("{variable}: {error}"))
}

fn print(handed: &Handed) {
    for (place, step) in handed.steps.iter().enumerate() {
        print_line(&Untrusted(&format!("{}  {}", place + 1, step.asked)).line(SHOWN));
        // The answer of the adapter is JSON, and is shown as JSON.
        print_line(&Untrusted(&format!("   {}", escape_json(&step.handed))).line(SHOWN));
    }
    if let Some(error) = &handed.error {
        eprint_line(&Untrusted(&format!("stopped after this step: {error}")).line(SHOWN));
    }
}
