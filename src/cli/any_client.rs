//! `casebook serve --case CASE`: plays the server of a case for a client without an adapter, and reports its messages.
//!
//! Takes the options of the command, gives an exit status. Must not know how messages are judged.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::by_hand::Played;
use super::serve::{SHOWN, stopped};
use super::{Exit, Problem, ServeArgs, interrupt, limits};
use crate::drive::{AnyClient, Cancel, ClientEnd, ClientError, meet};
use crate::judge::{summaries, unscripted};
use crate::model::Untrusted;
use crate::model::case::Test;
use crate::model::encounter::SessionSummary;
use crate::model::spec::{Revision, Transport};
use crate::model::text::shell_line;
use crate::plan::Planned;
use crate::report::terminal::{EncounterView, Tally, eprint_line, keep_error, print_line, show_encounter};

pub(super) fn serve(args: &ServeArgs, case: &str) -> Result<Exit, Problem> {
    let played = Played::choose(case, args.revision, args.transport, &args.cases)?;
    let limits = limits::of_client(&args.limits);
    let runtime = interrupt::runtime()?;
    let met = runtime.block_on(async {
        let mut cancel = interrupt::quietly();
        let announce = |address: &[String]| announce(&played, args, address);
        meet(&played.tests, &played.revisions, &args.command, limits, announce, stopped(&mut cancel, Cancel::Finish))
            .await
    });
    let met = met.map_err(|error| problem(&error))?;
    Ok(report(&played, &met))
}

/// Prints the address of the server: on standard output if the user starts the client.
fn announce(played: &Played, args: &ServeArgs, address: &[String]) {
    let place = shell_line(address);
    let case = played.name();
    if args.command.is_empty() {
        print_line(&Untrusted(&place).line(SHOWN));
        let what = if played.transport() == Transport::Http { "at this URL" } else { "by this command" };
        eprint_line(&format!("casebook plays the server of {case} {what}; press Ctrl-C to stop and to see the report"));
    } else {
        eprint_line(&format!("casebook plays the server of {case} for `{}`", shown(&args.command)));
    }
}

fn shown(command: &[String]) -> String {
    Untrusted(&shell_line(command)).line(300)
}

fn report(played: &Played, met: &AnyClient) -> Exit {
    let AnyClient { encounter: seen, end, took, stdout, stderr } = met;
    let tests: Vec<(_, Arc<Test>)> = played.all.iter().map(|one| (one.id.clone(), Arc::clone(&one.test))).collect();
    let sessions = summaries(seen);
    let mut records = unscripted(&played.library.requirements, &tests, &played.tests[0].test.given, seen);
    let selected: BTreeSet<_> = played.tests.iter().map(|one| &one.id).collect();
    records.retain(|(record, _)| selected.contains(&record.test));
    let tally = Tally::of(&records);
    let words = [format!("{} over {}", played.name(), played.transport()), ended(end, *took, &sessions)];
    let is_clean = matches!(end, ClientEnd::Exited(how) if how == "exit status 0") && !sessions.is_empty();
    let output: Vec<_> = [("stdout", stdout), ("stderr", stderr)]
        .into_iter()
        .filter(|(_, text)| !text.trim().is_empty() && !is_clean)
        .map(|(label, text)| (label, text.clone()))
        .collect();
    let view = EncounterView { head: [&words[0], &words[1]], sessions: &sessions, records: &records, output: &output };
    if let Err(error) = show_encounter(&played.library, view) {
        keep_error(error);
    }
    let is_decided = !(tally.failed.is_empty() && tally.weaker.is_empty() && tally.held.is_empty());
    if !is_decided {
        eprint_line(&remedy(played, &sessions));
    }
    match (tally.failed.is_empty(), is_decided) {
        (false, _) => Exit::Unexpected,
        (true, true) => Exit::Fine,
        (true, false) => Exit::Nothing,
    }
}

/// Describes the end of the encounter.
fn ended(end: &ClientEnd, took: std::time::Duration, sessions: &[SessionSummary]) -> String {
    let how = match end {
        ClientEnd::Exited(how) => format!("ended with {how}"),
        ClientEnd::Silent => {
            "stopped by casebook, because it sent nothing for the time of --limit silence=TIME".to_owned()
        }
        ClientEnd::OutOfTime => "stopped by casebook after the time of --limit run=TIME".to_owned(),
        ClientEnd::Stopped => "stopped by a signal".to_owned(),
    };
    let never = if sessions.is_empty() { "; it never sent a message" } else { "" };
    format!("{how}, after {:.1} s{never}", took.as_secs_f64())
}

/// Explains why nothing was decided.
fn remedy(played: &Played, sessions: &[SessionSummary]) -> String {
    if sessions.is_empty() {
        let place = if played.transport() == Transport::Http { "{url}" } else { "{server}" };
        return format!(
            "nothing was decided: the client did not connect; casebook puts the address of its server in the place of \
             `{place}` in the command, or else at its end"
        );
    }
    let spoken = sessions.iter().any(|session| session.revision.is_some());
    if !spoken {
        let known: Vec<_> = played.revisions.iter().map(Revision::to_string).collect();
        let known = known.join(", ");
        return format!("nothing was decided: client and case have no revision in common; the case has {known}");
    }
    let case = played.case();
    format!("nothing was decided: the client must send the requests of the case; `casebook explain {case}` lists them")
}

fn problem(error: &ClientError) -> Problem {
    let exit = match error {
        ClientError::Canary(_) | ClientError::Server(_) | ClientError::NoRoom(_) => Exit::System,
        ClientError::Spawn { .. } => Exit::Target,
        ClientError::Bug(_) => Exit::Bug,
    };
    Problem::new(exit, Untrusted(&error.to_string()).block(SHOWN))
}

impl Played {
    /// The name of the served tests: that of the only one, or of their case.
    fn name(&self) -> String {
        let mut paths: BTreeSet<_> = self.tests.iter().map(|one: &Planned| one.test.path()).collect();
        match (paths.len(), paths.pop_first()) {
            (1, Some(only)) => only,
            _ => self.case(),
        }
    }

    fn case(&self) -> String {
        self.tests[0].id.case.to_string()
    }

    fn transport(&self) -> Transport {
        self.tests[0].id.transport
    }
}
