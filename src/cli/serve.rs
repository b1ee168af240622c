//! `casebook serve`: a target serves the fixture of one case until a signal ends it.

use camino::Utf8Path;
use clap::Args;
use tokio::sync::watch;

use super::any_client;
use super::base::by_hand::{Chosen, SHOWN, Typed, problem, stopped};
use super::base::exit::Exit;
use super::base::heading;
use super::base::interrupt;
use super::base::limits::{Limit, limit};
use super::base::problem::Problem;
use super::base::set_up::prepare;
use super::base::sources::CaseArgs;
use super::base::values;
use crate::drive::{Cancel, Options, Standing, Waiting};
use crate::model::spec::{Revision, Role, Transport};
use crate::model::text::shell_word;
use crate::report::Untrusted;
use crate::report::terminal::{eprint_line, print_line};

const AFTER: &str = "\
The first line on standard output is the URL of the server, or the command that
serves the fixture over stdio. Everything else is on standard error.

Examples:
  casebook serve my-sdk:high sep-2106/composition/accepts/any-of
  casebook serve reference sep-2106/composition/accepts/any-of --revision 2025-11-25
  casebook serve path/to/folder cases/post/letter.json --transport stdio

With --case, casebook itself plays the servers of cases of clients, one after
the other. It starts COMMAND, or waits for any client, and then reports the
sentences that the messages of the client violate. COMMAND gets each call by
{tool} and {arguments}, or all steps of a test by {order}:
  casebook serve --case http/client-requests -- my-client {url} --list
  casebook serve --case tools/client-arguments --transport stdio -- my-client {server}
  casebook serve --case '**' -- my-client {url} call {tool} {arguments}
  casebook serve --case base/client-ids

Exit statuses:
  0  ended by Ctrl-C or SIGTERM; with --case: no MUST is violated
  1  the SDK refuses to serve the fixture or cannot express it; with --case: a
     MUST is violated
  2  usage error; for example, CASE has more than one fixture (all are listed)
  3  the target does not serve this case; with --case: nothing was decided
  4  the target or the client cannot be set up or started, or the target died";

/// `casebook serve`.
#[derive(Debug, Args)]
#[command(
    after_long_help = AFTER,
    override_usage = "casebook serve [OPTIONS] <TARGET> <CASE>\n       casebook serve [OPTIONS] --case <PATTERN> [-- <COMMAND>...]"
)]
pub struct ServeArgs {
    /// Target: a name, or the path of a target.toml or its folder; TARGET:VARIANT selects a variant
    #[arg(value_name = "TARGET", required_unless_present = "played")]
    pub target: Option<String>,
    /// Test as `casebook list` prints it, case with one fixture, or path of a case file
    #[arg(value_name = "CASE", required_unless_present = "played")]
    pub case: Option<String>,
    /// Play the servers of these cases of clients, without a target, and report the messages of the client
    #[arg(long = "case", value_name = "PATTERN", conflicts_with_all = ["target", "case"], help_heading = heading::CLIENT)]
    pub played: Option<String>,
    /// Command of the client; {url} or {server} is replaced by the address, which otherwise is added at the end
    #[arg(value_name = "COMMAND", last = true, requires = "played", help_heading = heading::CLIENT)]
    pub command: Vec<String>,
    /// Stop the client after a time in all, or since its last message; repeatable [default: run=10m and silence=30s]
    #[arg(long = "limit", value_name = "KIND=TIME", value_parser = limit(&["run", "silence"]), requires = "played")]
    #[arg(help_heading = heading::CLIENT)]
    pub limits: Vec<Limit>,
    /// Use this revision [default: the newest that case and target support; with --case, the client chooses]
    #[arg(long, value_name = "REVISION", value_parser = values::revision(), hide_possible_values = true)]
    #[arg(help_heading = heading::TESTS)]
    pub revision: Option<Revision>,
    /// Use this transport [default: http if the case and the target support it]
    #[arg(long, value_name = "http|stdio", value_parser = values::transport(), hide_possible_values = true)]
    #[arg(help_heading = heading::TESTS)]
    pub transport: Option<Transport>,
    /// The sources of cases.
    #[command(flatten)]
    pub cases: CaseArgs,
}

pub(super) fn serve(args: &ServeArgs) -> Result<Exit, Problem> {
    if let Some(case) = &args.played {
        return any_client::serve(args, case);
    }
    let ServeArgs { target: Some(target), case: Some(case), revision, transport, cases, .. } = args else {
        return Err(Problem::new(Exit::Usage, "expected TARGET CASE, or --case CASE"));
    };
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
        // Dropping the server kills its processes.
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
    eprint_line(&format!("{} serves {}; press Ctrl-C to stop", target.id, planned.id));
}

/// Returns a command as a line for a POSIX shell.
fn command_line(folder: &Utf8Path, env: &[(String, String)], command: &[String]) -> String {
    let mut words = vec!["cd".to_owned(), shell_word(folder.as_str()), "&&".to_owned()];
    words.extend(env.iter().map(|(name, value)| format!("{name}={}", shell_word(value))));
    words.extend(command.iter().map(|word| shell_word(word)));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_with_special_characters_is_quoted() {
        let env = [("LEVEL".to_owned(), "it's $HOME".to_owned())];
        let command = ["./a b", "--stdio-server", "/tmp/x.json", ""].map(str::to_owned);
        assert_eq!(
            command_line(Utf8Path::new("/a folder"), &env, &command),
            r"cd '/a folder' && LEVEL='it'\''s $HOME' './a b' --stdio-server /tmp/x.json ''"
        );
    }
}
