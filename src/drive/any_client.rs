//! A client that nobody wrote an adapter for, and that nobody drives.
//!
//! Takes the tests of one fixture and a command, gives the messages between the client and a mock server, and the end of
//! the client. Must not know retries or the expected behaviour.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::pin::{Pin, pin};
use std::time::{Duration, Instant};

use tokio::time::timeout;

use crate::drive::bind::{bind_all, canaries_of};
use crate::drive::canary::{Canaries, CanaryError};
use crate::drive::client::driving;
use crate::drive::client::mock::{Listeners, Mock};
use crate::drive::fault::{Bugs, is_no_room};
use crate::drive::fixed::{REVISION, SCENARIO};
use crate::drive::options::Options;
use crate::drive::process::launch::{Launch, Process, StopReason};
use crate::drive::process::lines::{BoundedText, LineEvent, Lines};
use crate::model::case::{Test, When};
use crate::model::encounter::{Encounter, Led};
use crate::model::spec::{Revision, Transport};
use crate::model::template::{Bindings, Template};
use crate::model::transcript::Phase;
use crate::plan::Planned;

/// The argument that is replaced by the URL of the server.
const URL: &str = "{url}";
/// The argument that is replaced by the command of the server.
const SERVER: &str = "{server}";
/// The word that is replaced by the `drive` object of an adapter: the steps of a test.
const ORDER: &str = "{order}";
/// The words that are replaced by the name and the arguments of a call.
const TOOL: &str = "{tool}";
const ARGUMENTS: &str = "{arguments}";

/// The time for the last lines of a client that has ended.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The limits of an encounter.
#[derive(Clone, Copy, Debug)]
pub struct ClientLimits {
    /// The time after which it ends.
    pub run: Duration,
    /// The time without a message after which it ends, once the client has sent its first message.
    pub silence: Duration,
}

/// An encounter, and the end of the client.
#[derive(Debug)]
pub struct AnyClient {
    /// The recording.
    pub encounter: Encounter,
    /// The reason for which the encounter ended.
    pub end: ClientEnd,
    /// The duration.
    pub took: Duration,
    /// The output of the client, bounded.
    pub stdout: String,
    /// The error output of the client, bounded.
    pub stderr: String,
}

/// The reason for which an encounter ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEnd {
    /// The client was not started, because its command performs calls, and the test has none.
    NotStarted,
    /// The client exited: its exit status in words.
    Exited(String),
    /// The client sent no message for too long.
    Silent,
    /// The time was over.
    OutOfTime,
    /// The caller asked to stop.
    Stopped,
}

impl ClientEnd {
    /// Returns whether the client exited without an error.
    pub fn is_clean(&self) -> bool {
        matches!(self, Self::Exited(how) if how == "exit status 0")
    }
}

/// The reason why there is no encounter.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// There are no canaries for the fixture, or they may have missed a request.
    #[error(transparent)]
    Canary(#[from] CanaryError),
    /// The mock server cannot open a port, or write the file for its relay.
    #[error("cannot start the server: {0}")]
    Server(io::Error),
    /// The client cannot be started.
    #[error("cannot start `{command}`: {source}")]
    Spawn {
        /// The program.
        command: String,
        /// The error of the system.
        source: io::Error,
    },
    /// This machine has no room for the process of the client.
    #[error("cannot start a process: {0}")]
    NoRoom(io::Error),
    /// casebook failed because of a bug of its own.
    #[error("an error in casebook: {0}")]
    Bug(String),
}

/// What a command says about the steps that its client performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leading {
    /// Nothing: the client performs the same steps each time.
    Itself,
    /// It starts the client once for each call.
    ByCall,
    /// It hands the client all steps of a test.
    ByTest,
}

impl Leading {
    /// Reads a command.
    pub fn of(command: &[String]) -> Self {
        let has = |name: &str| command.iter().any(|word| word.contains(name));
        if has(ORDER) {
            Self::ByTest
        } else if has(TOOL) || has(ARGUMENTS) {
            Self::ByCall
        } else {
            Self::Itself
        }
    }
}

/// Plays the server of the first test until the client ends, a limit passes, or `stop` is ready. `revisions` are those of
/// the server, the preferred one first. `announce` gets the address of the server: its URL, or its command over stdio.
/// A client that is led performs the steps of the first test.
///
/// # Errors
/// [`ClientError`] if the server or the client cannot be started.
pub async fn meet(
    tests: &[Planned],
    revisions: &[Revision],
    command: &[String],
    limits: ClientLimits,
    announce: impl FnOnce(&[String]),
    stop: impl Future<Output = ()>,
) -> Result<AnyClient, ClientError> {
    let bugs = Bugs::default();
    let met = bugs.scope(met(tests, revisions, command, limits, announce, stop)).await;
    bugs.take().map_or(met, |words| Err(ClientError::Bug(words)))
}

async fn met(
    tests: &[Planned],
    revisions: &[Revision],
    command: &[String],
    limits: ClientLimits,
    announce: impl FnOnce(&[String]),
    stop: impl Future<Output = ()>,
) -> Result<AnyClient, ClientError> {
    let (first, all): (&Planned, Vec<&Test>) = (&tests[0], tests.iter().map(|one| &*one.test).collect());
    let (mut canaries, mut listeners) = (Canaries::default(), Listeners::default());
    let bindings = bind_all(&all, revisions[0], &mut canaries)?;
    canaries.phase(Phase::Step);
    let mock = Mock::serve_all(&mut listeners, &first.test, &bindings, revisions).map_err(ClientError::Server)?;
    let transport = first.id.transport;
    let mut address = driving::place(&mock, transport, &Options::default().program).map_err(ClientError::Server)?;
    if transport == Transport::Http {
        address[0] += "/mcp";
    }
    let began = Instant::now();
    let mut env = BTreeMap::from([(REVISION.to_owned(), first.id.revision.name().to_owned())]);
    let scenario = tests.iter().find_map(|one| one.test.reach.scenario());
    env.extend(scenario.map(|name| (SCENARIO.to_owned(), name.to_owned())));
    announce(&address);
    let mut written = [String::new(), String::new()];
    let end = if command.is_empty() {
        stop.await;
        ClientEnd::Stopped
    } else {
        let order = driving::order(first, None, &bindings, driving::address(transport, &address));
        let mut stop = pin!(stop);
        let mut end = ClientEnd::NotStarted;
        for words in starts(&addressed(command, &address), &first.test, &order, &bindings) {
            let client = Client::start(&words, &env)?;
            let ended = client.during(&mock, limits, stop.as_mut(), &mut written).await;
            // The first irregular end tells more than those after it.
            let is_over = ended == ClientEnd::Stopped;
            if end == ClientEnd::NotStarted || end.is_clean() || is_over {
                end = ended;
            }
            if is_over {
                break;
            }
        }
        end
    };
    let messages = mock.take_messages();
    drop(mock);
    let kinds: BTreeSet<_> = all.iter().flat_map(|test| canaries_of(test)).map(|canary| canary.kind).collect();
    let hits = canaries.hits();
    canaries.check(kinds).await?;
    let leading = Leading::of(command);
    let has_answers = leading == Leading::ByTest;
    let led = (leading != Leading::Itself).then(|| Led { test: first.test.path(), has_answers });
    let encounter = Encounter { messages, hits, bindings, offered: revisions.to_vec(), led };
    let [stdout, stderr] = written;
    Ok(AnyClient { encounter, end, took: began.elapsed(), stdout, stderr })
}

/// Returns the commands that perform the steps of a test: one, or one for each call.
fn starts(command: &[String], test: &Test, order: &str, bindings: &Bindings) -> Vec<Vec<String>> {
    let filled = |pairs: &[(&str, &str)]| {
        let fill = |word: &String| pairs.iter().fold(word.clone(), |word, (name, text)| word.replace(name, text));
        command.iter().map(fill).collect()
    };
    match Leading::of(command) {
        Leading::Itself => vec![command.to_vec()],
        Leading::ByTest => vec![filled(&[(ORDER, order)])],
        Leading::ByCall => {
            let calls = test.steps.iter().filter_map(|step| match &step.when {
                When::Call { tool, arguments, .. } => Some((tool, arguments)),
                _ => None,
            });
            let arguments = |arguments: &Option<Template>| match arguments {
                Some(arguments) if *arguments != Template::Absent => arguments.render(bindings),
                _ => "{}".to_owned(),
            };
            // The arguments come last, because they may contain the name of a placeholder.
            calls.map(|(tool, sent)| filled(&[(TOOL, tool.as_str()), (ARGUMENTS, &arguments(sent))])).collect()
        }
    }
}

/// Returns the command with the address of the server in the place of `{url}` or `{server}`. Otherwise it is added at the
/// end, unless `{order}` has it.
fn addressed(command: &[String], address: &[String]) -> Vec<String> {
    let mut is_named = false;
    let mut words = Vec::new();
    for word in command {
        if word == SERVER {
            words.extend(address.iter().cloned());
        } else {
            words.push(word.replace(URL, &address.join(" ")));
        }
        is_named |= word == SERVER || word.contains(URL) || word.contains(ORDER);
    }
    if !is_named {
        words.extend(address.iter().cloned());
    }
    words
}

/// The running process of a client.
struct Client {
    process: Process,
    lines: Lines,
    written: BoundedText,
}

impl Client {
    /// Starts a client in the current folder, without an input.
    fn start(command: &[String], env: &BTreeMap<String, String>) -> Result<Self, ClientError> {
        let launch = Launch { command, folder: Path::new("."), env };
        let (process, input, lines) = Process::spawn(launch).map_err(|source| {
            if is_no_room(&source) {
                return ClientError::NoRoom(source);
            }
            ClientError::Spawn { command: command.first().cloned().unwrap_or_default(), source }
        })?;
        drop(input);
        Ok(Self { process, lines, written: BoundedText::default() })
    }

    /// Waits until the client exits by itself, a limit passes, or `stop` is ready. Adds what it wrote to its standard output
    /// and error.
    async fn during(
        mut self,
        mock: &Mock,
        limits: ClientLimits,
        stop: Pin<&mut impl Future<Output = ()>>,
        written: &mut [String; 2],
    ) -> ClientEnd {
        let quiet = async {
            mock.begun().await;
            mock.silence(limits.silence).await;
        };
        let end = tokio::select! {
            end = self.exited() => end,
            () = quiet => ClientEnd::Silent,
            () = tokio::time::sleep(limits.run) => ClientEnd::OutOfTime,
            () = stop => ClientEnd::Stopped,
        };
        let (how, own) = self.end(&end).await;
        for (all, text) in written.iter_mut().zip(own) {
            // Each text is bounded, and so is the number of calls in a test.
            all.push_str(&text);
        }
        if matches!(end, ClientEnd::Exited(_)) { ClientEnd::Exited(how) } else { end }
    }

    /// Waits until the client exits by itself.
    async fn exited(&mut self) -> ClientEnd {
        let Self { process, lines, written } = self;
        tokio::select! {
            () = process.ended() => {}
            () = keep(lines, written) => process.ended().await,
        }
        ClientEnd::Exited(String::new())
    }

    /// Stops the client; returns its exit status in words, and what it wrote.
    async fn end(self, end: &ClientEnd) -> (String, [String; 2]) {
        let Self { process, mut lines, written } = self;
        let stderr = process.stderr().clone();
        let reason = if matches!(end, ClientEnd::Exited(_)) { StopReason::Broken } else { StopReason::Hung };
        let (mut stopping, mut reading) = (pin!(process.end(reason, async {})), pin!(keep(&mut lines, &written)));
        let stopped = tokio::select! {
            () = &mut reading => stopping.await,
            stopped = &mut stopping => {
                // What a process wrote last is read after its end. Another process may keep its pipe open.
                _ = timeout(LAST_LINES, reading).await;
                stopped
            }
        };
        (stopped.how, [written.take(), stderr.take()])
    }
}

/// Keeps the lines of a client's output, to its end.
async fn keep(lines: &mut Lines, written: &BoundedText) {
    loop {
        match lines.next().await {
            LineEvent::Line(line) | LineEvent::Unended(line) => {
                written.push(&line);
                written.push(b"\n");
            }
            LineEvent::Oversized => written.push(b"[a line that is too long]\n"),
            LineEvent::Eof => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_replaces_its_word_or_is_the_last_argument() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let of = |command: &[&str], address: &[&str]| addressed(&words(command), &words(address)).join("|");
        assert_eq!(of(&["c", "list"], &["http://x/"]), "c|list|http://x/");
        assert_eq!(of(&["c", "--url={url}", "list"], &["http://x/"]), "c|--url=http://x/|list");
        assert_eq!(of(&["c", "{server}", "--", "list"], &["p", "__relay", "f"]), "c|p|__relay|f|--|list");
        assert_eq!(of(&["c"], &["p", "__relay", "f"]), "c|p|__relay|f");
    }
}
