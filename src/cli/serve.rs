//! `casebook serve`: a case's fixture, served by a target until somebody says that it is enough.

use camino::Utf8Path;
use clap::Args;
use tokio::sync::watch;

use super::by_hand::{Chosen, Typed};
use super::run::prepare;
use super::{CaseArgs, Exit, Problem, interrupt};
use crate::drive::{Cancel, HandError, Options, Standing, Waiting};
use crate::model::spec::{Revision, Role, Transport};
use crate::report::Untrusted;
use crate::report::terminal::{eprint_line, print_line};

/// The most that is shown of what a target says, in characters.
pub(super) const SHOWN: usize = 16_000;

const AFTER: &str = "\
The first line on standard output is the URL, or the command that serves the
fixture over stdio; all else is on standard error.

Examples:
  casebook serve my-sdk:high sep-2106/composition/accepts/any-of
  casebook serve reference sep-2106/composition/accepts/any-of --revision 2025-11-25
  casebook serve path/to/folder cases/post/letter.json --transport stdio

Exit status:  0  Ctrl-C or SIGTERM came
              1  the SDK refuses to serve the fixture, or can't express it
              2  wrong usage: CASE has more than one fixture, say; all are listed
              3  the target doesn't serve this case
              4  the target could not be set up or started, or died";

/// `casebook serve`.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub struct ServeArgs {
    /// A target, as `casebook run` takes it; NAME:VARIANT where it has variants
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// A test as `casebook list` prints it, the case it is in where all have one fixture, or a case file
    #[arg(value_name = "CASE")]
    pub case: String,
    /// The revision to speak [default: the newest that the case and the target have]
    #[arg(long, value_name = "REVISION")]
    pub revision: Option<Revision>,
    /// What to serve over [default: http where both can be had]
    #[arg(long, value_name = "http|stdio")]
    pub transport: Option<Transport>,
    /// Where cases come from.
    #[command(flatten)]
    pub cases: CaseArgs,
}

pub(super) fn serve(args: &ServeArgs) -> Result<Exit, Problem> {
    let ServeArgs { target, case, revision, transport, cases } = args;
    let typed = Typed { target, case, role: Role::Server, revision: *revision, transport: *transport };
    let chosen = typed.choose(cases)?;
    let runtime = interrupt::runtime()?;
    runtime.block_on(async {
        let cancel = interrupt::quietly();
        prepare(std::slice::from_ref(&chosen.target), &cancel).await?;
        match chosen.planned.id.transport {
            Transport::Http => over_http(&chosen, cancel).await,
            Transport::Stdio => over_stdio(&chosen, cancel).await,
        }
    })
}

async fn over_http(chosen: &Chosen, mut cancel: watch::Receiver<Cancel>) -> Result<Exit, Problem> {
    let Chosen { target, planned } = chosen;
    let options = Options::default();
    let mut standing = tokio::select! {
        standing = Standing::start(target, planned, &options) => standing.map_err(|error| problem(chosen, &error))?,
        () = stopped(&mut cancel, Cancel::Finish) => return Ok(Exit::Fine),
    };
    announce(chosen, standing.url());
    tokio::select! {
        () = stopped(&mut cancel, Cancel::Finish) => {}
        (how, stderr) = standing.gone() => {
            let words = format!("{} ended with {how}; it wrote: {}", target.id, stderr.trim_end());
            return Err(Problem::new(Exit::Target, Untrusted(&words).block(SHOWN)));
        }
    }
    tokio::select! {
        () = standing.stop() => {}
        // Dropped, it kills what it holds.
        () = stopped(&mut cancel, Cancel::Now) => {}
    }
    Ok(Exit::Fine)
}

async fn over_stdio(chosen: &Chosen, mut cancel: watch::Receiver<Cancel>) -> Result<Exit, Problem> {
    let waiting = Waiting::start(&chosen.target, &chosen.planned).map_err(|error| problem(chosen, &error))?;
    announce(chosen, &command_line(&waiting.folder, &waiting.env, &waiting.command));
    stopped(&mut cancel, Cancel::Finish).await;
    Ok(Exit::Fine)
}

fn announce(chosen: &Chosen, place: &str) {
    let Chosen { target, planned } = chosen;
    print_line(&Untrusted(place).line(SHOWN));
    eprint_line(&format!("{} serves {}; Ctrl-C ends it", target.id, planned.id));
}

/// Waits until at least that much is to be stopped.
pub(super) async fn stopped(cancel: &mut watch::Receiver<Cancel>, wanted: Cancel) {
    let is_reached = |cancel: &Cancel| *cancel == wanted || *cancel == Cancel::Now;
    if cancel.wait_for(is_reached).await.is_err() {
        std::future::pending::<()>().await;
    }
}

pub(super) fn problem(chosen: &Chosen, error: &HandError) -> Problem {
    let exit = match error {
        HandError::Declined(_) => Exit::Unexpected,
        HandError::Start(_) | HandError::Broke(_) => Exit::Target,
        HandError::Canary(_) => Exit::System,
    };
    let words = format!("{} on {}: {error}", chosen.target.id, chosen.planned.id);
    Problem::new(exit, Untrusted(&words).block(SHOWN))
}

/// A line for a shell.
fn command_line(folder: &Utf8Path, env: &[(String, String)], command: &[String]) -> String {
    let mut words = vec!["cd".to_owned(), quoted(folder.as_str()), "&&".to_owned()];
    words.extend(env.iter().map(|(name, value)| format!("{name}={}", quoted(value))));
    words.extend(command.iter().map(|word| quoted(word)));
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "-_./:=@%+,".contains(one);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_taken_by_a_shell_as_it_is_meant() {
        let env = [("LEVEL".to_owned(), "it's $HOME".to_owned())];
        let command = ["./a b", "--stdio-server", "/tmp/x.json", ""].map(str::to_owned);
        assert_eq!(
            command_line(Utf8Path::new("/a folder"), &env, &command),
            r"cd '/a folder' && LEVEL='it'\''s $HOME' './a b' --stdio-server /tmp/x.json ''"
        );
    }
}
