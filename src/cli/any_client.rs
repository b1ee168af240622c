//! `casebook serve --case CASE`: plays the server of a case for a client without an adapter, and reports its messages.
//!
//! Takes the options of the command, gives an exit status. Must not know how messages are judged.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use super::ServeArgs;
use super::base::by_hand::{Played, Plays, SHOWN, stopped};
use super::base::exit::Exit;
use super::base::interrupt;
use super::base::limits;
use super::base::problem::Problem;
use crate::drive::{AnyClient, Cancel, ClientEnd, ClientError, Leading, meet};
use crate::judge::{summaries, unscripted, withdraw_uncontrolled};
use crate::model::Untrusted;
use crate::model::case::{Library, Test};
use crate::model::encounter::SessionSummary;
use crate::model::record::Record;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::text::{count, shell_line};
use crate::model::transcript::Transcript;
use crate::plan::Planned;
use crate::report::step_in_words;
use crate::report::terminal::{EncounterView, Tally, eprint_line, keep_error, print_line, show_encounter};

/// What the client showed to all servers.
#[derive(Default)]
struct Shown {
    sessions: Vec<SessionSummary>,
    records: Vec<(Record, Transcript)>,
    /// The ends of the client.
    ends: Vec<String>,
    /// What it wrote before its first irregular end, which is that of the mistake that the others repeat.
    output: Option<Vec<(&'static str, String)>>,
    took: Duration,
}

pub(super) fn serve(args: &ServeArgs, case: &str) -> Result<Exit, Problem> {
    let leading = Leading::of(&args.command);
    let Plays { library, servers } = Plays::choose(case, args.revision, args.transport, &args.cases, leading)?;
    if servers.is_empty() {
        return Err(Problem::new(Exit::Nothing, "the messages of a client alone decide no check of these cases"));
    }
    let limits = limits::of_client(&args.limits);
    let runtime = interrupt::runtime()?;
    let mut shown = Shown::default();
    runtime.block_on(async {
        let mut cancel = interrupt::quietly();
        let mut entered = (args.command.is_empty() && servers.len() > 1).then(lines);
        for (index, played) in servers.iter().enumerate() {
            let announce = |address: &[String]| announce(played, (index + 1, servers.len()), args, address);
            let next = async {
                let line = match &mut entered {
                    Some(lines) => lines.recv().await,
                    None => None,
                };
                if line.is_none() {
                    std::future::pending::<()>().await;
                }
            };
            let stop = async {
                tokio::select! {
                    () = stopped(&mut cancel, Cancel::Finish) => {}
                    () = next => {}
                }
            };
            let met = meet(&played.tests, &played.revisions, &args.command, limits, announce, stop).await;
            shown.add(&library, played, met.map_err(|error| problem(&error))?);
            if *cancel.borrow() != Cancel::Go {
                break;
            }
        }
        Ok::<(), Problem>(())
    })?;
    let tests: Vec<(_, Arc<Test>)> =
        servers.iter().flat_map(|played| &played.all).map(|one| (one.id.clone(), Arc::clone(&one.test))).collect();
    withdraw_uncontrolled(&tests, &mut shown.records);
    Ok(report(&library, &servers, &shown))
}

/// The lines of standard input. The thread ends with the program, since nothing can interrupt its reading.
fn lines() -> mpsc::UnboundedReceiver<()> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let lines = std::io::stdin().lock().lines();
        lines.map_while(Result::ok).try_for_each(|_| sender.send(()))
    });
    receiver
}

/// Prints the address of a server: on standard output if the user starts the client.
fn announce(played: &Played, (number, servers): (usize, usize), args: &ServeArgs, address: &[String]) {
    let place = shell_line(address);
    let case = played.name();
    let which = if servers > 1 { format!(" ({number} of {servers})") } else { String::new() };
    if !args.command.is_empty() {
        eprint_line(&format!("casebook plays the server of {case}{which} for `{}`", shown(&args.command)));
        return;
    }
    print_line(&Untrusted(&place).line(SHOWN));
    let what = if played.transport() == Transport::Http { "at this URL" } else { "by this command" };
    let next = if servers > 1 { "press Enter for the next server, and Ctrl-C" } else { "press Ctrl-C to stop and" };
    eprint_line(&format!("casebook plays the server of {case} {what}{which}; {next} to see the report"));
    if servers > 1 {
        let mut steps: Vec<String> = Vec::new();
        for step in played.tests.iter().flat_map(|one| &one.test.steps) {
            let words = step_in_words(&step.when, Role::Client);
            if !steps.contains(&words) {
                steps.push(words);
            }
        }
        for step in steps {
            eprint_line(&format!("  {}", Untrusted(&step).line(SHOWN)));
        }
    }
}

fn shown(command: &[String]) -> String {
    Untrusted(&shell_line(command)).line(300)
}

impl Shown {
    /// Judges what the client showed to one server.
    fn add(&mut self, library: &Library, played: &Played, met: AnyClient) {
        let AnyClient { encounter: seen, end, took, stdout, stderr } = met;
        let tests: Vec<(_, Arc<Test>)> = played.all.iter().map(|one| (one.id.clone(), Arc::clone(&one.test))).collect();
        let sessions = summaries(&seen);
        let mut records = unscripted(&library.requirements, &tests, &played.tests[0].test.given, &seen);
        let selected: BTreeSet<_> = played.tests.iter().map(|one| &one.id).collect();
        records.retain(|(record, _)| selected.contains(&record.test));
        if !end.is_clean() || sessions.is_empty() {
            let written = [("stdout", stdout), ("stderr", stderr)].into_iter();
            self.output.get_or_insert_with(|| written.filter(|(_, text)| !text.trim().is_empty()).collect());
        }
        let never = if sessions.is_empty() { "; it never sent a message" } else { "" };
        self.ends.push(format!("{}{never}", ended(&end)));
        self.took += took;
        self.sessions.extend(sessions);
        self.records.extend(records);
    }

    /// How the client ended, and the time that it took.
    fn end(&self) -> String {
        let mut ends: Vec<(&str, usize)> = Vec::new();
        for end in &self.ends {
            match ends.iter_mut().find(|(known, _)| known == end) {
                Some((_, times)) => *times += 1,
                None => ends.push((end, 1)),
            }
        }
        let seconds = self.took.as_secs_f64();
        match ends.as_slice() {
            [(end, 1)] => format!("{end}, after {seconds:.1} s"),
            ends => {
                let ends: Vec<_> = ends.iter().map(|(end, times)| format!("{times}× {end}")).collect();
                format!("{}, after {seconds:.1} s", ends.join("; "))
            }
        }
    }

    /// The sessions: each of one server, or those of many by what distinguishes the client.
    fn sessions(&self) -> Vec<SessionSummary> {
        if self.ends.len() == 1 {
            return self.sessions.clone();
        }
        let mut different: Vec<SessionSummary> = Vec::new();
        for SessionSummary { revision, named, client, .. } in &self.sessions {
            let one = SessionSummary {
                revision: *revision,
                named: named.clone(),
                client: client.clone(),
                ..SessionSummary::default()
            };
            if !different.contains(&one) {
                different.push(one);
            }
        }
        different
    }
}

fn report(library: &Library, servers: &[Played], shown: &Shown) -> Exit {
    let tally = Tally::of(&shown.records);
    let first = &servers[0];
    let case = match shown.ends.len() {
        1 => first.name(),
        many => format!("{} of {}", count(many, "server"), servers.len()),
    };
    let (case, end) = (format!("{case} over {}", first.transport()), shown.end());
    let sessions = shown.sessions();
    let output = shown.output.as_deref().unwrap_or_default();
    let view = EncounterView { head: [&case, &end], sessions: &sessions, records: &shown.records, output };
    if let Err(error) = show_encounter(library, view) {
        keep_error(error);
    }
    let is_decided = !(tally.failed.is_empty() && tally.weaker.is_empty() && tally.held.is_empty());
    if !is_decided {
        eprint_line(&remedy(first, &shown.sessions));
    }
    match (tally.failed.is_empty(), is_decided) {
        (false, _) => Exit::Unexpected,
        (true, true) => Exit::Fine,
        (true, false) => Exit::Nothing,
    }
}

/// Describes the end of a client.
fn ended(end: &ClientEnd) -> String {
    match end {
        ClientEnd::NotStarted => "not started, because the test has no call".to_owned(),
        ClientEnd::Exited(how) => format!("ended with {how}"),
        ClientEnd::Silent => {
            "stopped by casebook, because it sent nothing for the time of --limit silence=TIME".to_owned()
        }
        ClientEnd::OutOfTime => "stopped by casebook after the time of --limit run=TIME".to_owned(),
        ClientEnd::Stopped => "stopped by the user".to_owned(),
    }
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
