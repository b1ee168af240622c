//! The adapter protocol: one JSON object per line, over the standard streams of an untrusted process.
//!
//! Takes fixtures as text, gives the adapter's answers. Must not know MCP or the content of a fixture.

use std::fmt::Write as _;
use std::time::Duration;

use camino::Utf8PathBuf;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;

use crate::drive::adapter::hello::Hello;
use crate::drive::adapter::mistake::{self, is_addressed, wrong_id, wrong_type};
use crate::drive::adapter::stream::{Place, Stream, Streams};
use crate::drive::clock::Deadline;
use crate::drive::fault;
use crate::drive::process::launch::{CRASH_LIMIT, Launch, Process, StopReason, Stopped, in_words};
use crate::drive::process::lines::{BoundedText, LineEvent, Lines};
use crate::jsonrpc::nesting;
use crate::jsonrpc::text::quoted;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::{Package, Target, TargetKind};
use crate::model::transcript::{End, Served};

/// The version of the protocol.
const PROTOCOL: u32 = 1;
/// The time limit for a stream to be connected after the adapter has answered `serving`.
const CONNECT: Duration = Duration::from_secs(5);
/// The number of lines that may come before an answer.
const MAX_NOISE: usize = 1000;
/// The mark of a line of standard output that is no answer, in the text of standard error.
pub(crate) const NOISE: &str = "[noise on stdout] ";

/// Returns the reason why a command cannot be started.
fn why_not(command: &str, error: &std::io::Error) -> String {
    let program = command.split(' ').next().unwrap_or_default();
    if error.kind() == std::io::ErrorKind::NotFound && !program.contains('/') {
        return "no such program on PATH".to_owned();
    }
    error.to_string()
}

/// An error of starting an adapter.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The system could not start the process.
    #[error("cannot start `{command}` in {folder}: {}{remedy}", why_not(.command, .source))]
    Spawn {
        /// The command.
        command: String,
        /// The working folder.
        folder: Utf8PathBuf,
        /// The remedy, if the command is in a `target.toml`.
        remedy: &'static str,
        /// The error of the system.
        source: std::io::Error,
    },
    /// This machine has no free descriptor, process, memory or disk space. The error says nothing about the target.
    #[error("casebook cannot {what}: {}", without_path(.source))]
    NoRoom {
        /// The step that failed.
        what: &'static str,
        /// The error of the system.
        source: std::io::Error,
    },
    /// No request can be sent to the URL of a fixed server.
    #[error("{0}")]
    Endpoint(String),
    /// The target is fixed, without an adapter.
    #[error("a fixed target has no adapter")]
    Fixed,
    /// The process runs, but sent no hello.
    #[error("the adapter sent no hello: {trouble}{}", with_stderr(.stderr))]
    Hello {
        /// The failure.
        trouble: Trouble,
        /// The standard error of the process.
        stderr: String,
    },
    /// The hello lacks something that `target.toml` claims.
    #[error("target.toml claims {what} `{claim}`, but the adapter's hello {}", only(.what, .hello))]
    Claim {
        /// The kind of claim.
        what: &'static str,
        /// The claim.
        claim: String,
        /// The values of that kind in the hello.
        hello: Vec<String>,
    },
    /// The hello names another package than `target.toml`.
    #[error(
        "target.toml names {package}, but the adapter's hello names {hello}: correct `package` and `version` in \
         target.toml, or delete .casebook-setup to run the setup again"
    )]
    Package {
        /// The package in `target.toml`.
        package: Box<Package>,
        /// The package in the hello.
        hello: Box<Package>,
    },
}

/// Returns the part of a message that names the values of one kind in a hello.
fn only(what: &str, hello: &[String]) -> String {
    if hello.is_empty() {
        let key = what.trim_start_matches("the ");
        return format!("names no {key}s (key `{key}s`)");
    }
    format!("has only: {}", hello.join(", "))
}

/// Returns the message of an error without the path of a temporary file, which differs each time.
fn without_path(error: &std::io::Error) -> String {
    let words = error.to_string();
    words.split_once(" at path ").map_or(words.as_str(), |(words, _)| words).to_owned()
}

/// Returns the suffix of a message that shows the standard error of a process.
pub(crate) fn with_stderr(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; it wrote: {}", stderr.trim_end()) }
}

/// A failure of an adapter to answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The process died.
    #[error("it ended with {0}")]
    Died(String),
    /// The process sent nothing within the time limit.
    #[error("it sent no answer within the time limit")]
    Hung,
    /// The process wrote a line that is too long or has too many values.
    #[error("it wrote a line of more than 16 MiB, or with too many JSON values")]
    Oversized,
    /// The process sent an invalid answer.
    #[error("{0}")]
    Nonsense(String),
}

impl Trouble {
    /// Converts the failure to an observation.
    pub(crate) fn served(&self) -> Served {
        let end = match self {
            Self::Died(how) => End::Crash { how: how.clone() },
            Self::Hung => End::Timeout,
            Self::Oversized => End::Oversized,
            Self::Nonsense(reason) => End::Invalid { reason: reason.clone() },
        };
        Served::Failed { end, detail: self.to_string() }
    }
}

/// One line of an adapter. Unknown members are ignored, so that the protocol can grow. The results of a client stay
/// text, because they may be nested too deeply for a tree.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    id: String,
    hello: Option<Hello>,
    serving: Option<Address>,
    #[serde(default)]
    stopped: bool,
    drove: Option<Box<RawValue>>,
    unsupported: Option<String>,
    refused: Option<Refusal>,
    cannot: Option<String>,
}

/// The results of a client's script.
#[derive(Debug, Deserialize)]
pub(crate) struct Drove {
    /// Set if the client had a connection.
    #[serde(default)]
    pub(crate) connected: bool,
    /// The values that the SDK handed to its user, for each step that the client took.
    #[serde(default)]
    pub(crate) steps: Vec<Box<RawValue>>,
    /// The error of the script, in addition to those of its steps.
    #[serde(default)]
    pub(crate) error: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct Address {
    /// The URL, over HTTP.
    url: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Refusal {
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    message: String,
    tool: Option<String>,
}

/// Returns the reason for which there is no server, if the adapter gave one.
pub(crate) fn no_server(refused: Option<Refusal>, cannot: Option<String>) -> Option<Served> {
    let refused = refused.map(|Refusal { r#type, mut message, tool }| {
        _ = tool.map(|tool| write!(message, " (tool `{tool}`)"));
        Served::Refused { r#type, message }
    });
    refused.or(cannot.map(|reason| Served::Cannot { reason }))
}

/// A request to serve a fixture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order<'a> {
    /// The protocol revision of the test.
    pub(crate) revision: Revision,
    /// The transport of the test.
    pub(crate) transport: Transport,
    /// The API tier.
    pub(crate) variant: Option<&'a str>,
    /// The fixture as JSON text. It may be nested too deeply for a tree.
    pub(crate) fixture: &'a str,
    /// The place to which the adapter connects, over stdio.
    pub(crate) stream: Option<&'a Place>,
}

impl<'a> Order<'a> {
    /// A request to serve a fixture, given as JSON text.
    pub(crate) fn new(target: &'a Target, revision: Revision, transport: Transport, fixture: &'a str) -> Self {
        Self { revision, transport, variant: target.id.variant.as_deref(), fixture, stream: None }
    }

    /// Returns the `serve` object.
    pub(crate) fn text(&self) -> String {
        let Self { revision, transport, variant, fixture, stream } = self;
        let variant = variant.map(|name| format!(r#""variant":{},"#, quoted(name))).unwrap_or_default();
        let stream = stream.map(|Place { port, word }| format!(r#""stream":{{"port":{port},"word":"{word}"}},"#));
        let stream = stream.unwrap_or_default();
        format!(r#"{{"revision":"{revision}","transport":"{transport}",{variant}{stream}"fixture":{fixture}}}"#)
    }
}

/// A running adapter.
#[derive(Debug)]
pub(crate) struct Adapter {
    process: Process,
    input: ChildStdin,
    output: Lines,
    requests: u64,
    hello: Box<Hello>,
    streams: Streams,
}

/// A fixture that an adapter serves.
#[derive(Debug)]
pub(crate) struct Serving {
    id: String,
}

impl Adapter {
    /// Starts the adapter of a target, and checks that its hello confirms the target's claims.
    ///
    /// # Errors
    /// [`StartError`] if there is no process, no hello within the time limit, or a claim without confirmation.
    pub(crate) async fn start(target: &Target, deadline: Deadline) -> Result<Self, StartError> {
        let adapter = Self::start_unchecked(target, deadline).await?;
        match confirm(target, &adapter.hello) {
            Ok(()) => Ok(adapter),
            Err(error) => {
                adapter.end(StopReason::Finished).await;
                Err(error)
            }
        }
    }

    /// Starts the adapter without checking the claims.
    pub(crate) async fn start_unchecked(target: &Target, deadline: Deadline) -> Result<Self, StartError> {
        let (process, input, output) = spawn(target, command(target)?)?;
        let (hello, streams) = (Box::default(), Streams::default());
        let mut adapter = Self { process, input, output, requests: 0, hello, streams };
        let answer = adapter.ask("hello", &format!(r#"{{"protocol":{PROTOCOL}}}"#), deadline).await;
        let hello = answer.and_then(|answer| {
            answer.hello.ok_or_else(|| Trouble::Nonsense("it answered `hello` without a hello".to_owned()))
        });
        match hello {
            Ok(hello) => Ok(Self { hello: Box::new(hello), ..adapter }),
            Err(trouble) => {
                let stderr = adapter.process.stderr().clone();
                let stop_reason =
                    if matches!(trouble, Trouble::Died(_)) { StopReason::Broken } else { StopReason::Hung };
                adapter.end(stop_reason).await;
                Err(StartError::Hello { trouble, stderr: stderr.take() })
            }
        }
    }

    /// The adapter's hello.
    pub(crate) fn hello(&self) -> &Hello {
        &self.hello
    }

    /// The standard error of the process, with the lines of its standard output that are no answers.
    pub(crate) fn stderr(&self) -> &BoundedText {
        self.process.stderr()
    }

    /// Serves a fixture over HTTP; returns its URL as well.
    ///
    /// # Errors
    /// The SDK's refusal, or the adapter's failure.
    pub(crate) async fn serve(&mut self, order: Order<'_>, deadline: Deadline) -> Result<(Serving, String), Served> {
        match self.serving(order, deadline).await? {
            (serving, Some(url)) => Ok((serving, url)),
            (_, None) => Err(Trouble::Nonsense("it answered `serving` without a `url`".to_owned()).served()),
        }
    }

    /// Serves a fixture over stdio, by a stream.
    ///
    /// # Errors
    /// The errors of [`Self::serve`], or a failure to connect the stream.
    pub(crate) async fn serve_stream(
        &mut self,
        order: Order<'_>,
        deadline: Deadline,
    ) -> Result<(Serving, Stream), Served> {
        let no_room = |what, source| Served::Unavailable { reason: StartError::NoRoom { what, source }.to_string() };
        let awaited = self.streams.expect().map_err(|error| no_room("open a port", error))?;
        let (serving, _) = self.serving(Order { stream: Some(&awaited.place), ..order }, deadline).await?;
        let came = deadline.narrowed(CONNECT).bound(awaited.wait()).await.flatten();
        let missing = "it answered `serving`, but did not connect to the `stream` that it was given";
        let stream = came.ok_or_else(|| Trouble::Nonsense(missing.to_owned()).served())?;
        let stream = stream.map_err(|error| no_room("accept a connection", error))?;
        Ok((serving, stream))
    }

    /// Requests a fixture to be served; returns its URL as well, if there is one.
    async fn serving(&mut self, order: Order<'_>, deadline: Deadline) -> Result<(Serving, Option<String>), Served> {
        let answer = self.ask("serve", &order.text(), deadline).await.map_err(|trouble| trouble.served())?;
        if let Some(no) = no_server(answer.refused, answer.cannot) {
            return Err(no);
        }
        match (answer.serving, answer.unsupported) {
            (Some(Address { url }), _) => Ok((Serving { id: answer.id }, url)),
            (None, Some(reason)) => Err(Served::Cannot { reason }),
            (None, None) => Err(Trouble::Nonsense(
                "it answered `serve` with none of `serving`, `refused`, `cannot` and `unsupported`".to_owned(),
            )
            .served()),
        }
    }

    /// Stops serving a fixture.
    ///
    /// # Errors
    /// [`Trouble`] if the adapter does not confirm it.
    pub(crate) async fn stop(&mut self, serving: Serving, deadline: Deadline) -> Result<(), Trouble> {
        let answer = self.ask("stop", &format!(r#"{{"serving":{}}}"#, quoted(&serving.id)), deadline).await?;
        let nonsense = || Trouble::Nonsense(r#"it answered `stop` without "stopped":true"#.to_owned());
        answer.stopped.then_some(()).ok_or_else(nonsense)
    }

    /// Drives a client through a script; `order` is the `drive` object.
    ///
    /// # Errors
    /// The SDK's refusal, or the adapter's failure.
    pub(crate) async fn drive(&mut self, order: &str, deadline: Deadline) -> Result<Drove, Served> {
        let answer = self.ask("drive", order, deadline).await.map_err(|trouble| trouble.served())?;
        if let Some(no) = no_server(answer.refused, answer.cannot) {
            return Err(no);
        }
        let nonsense = |reason| Trouble::Nonsense(reason).served();
        match (answer.drove, answer.unsupported) {
            (Some(drove), _) => serde_json::from_str(drove.get()).map_err(|_| {
                nonsense(format!("it answered `drive` with an invalid `drove`; expected as in {}", mistake::DROVE))
            }),
            (None, Some(reason)) => Err(Served::Cannot { reason }),
            (None, None) => Err(nonsense(
                "it answered `drive` with none of `drove`, `refused`, `cannot` and `unsupported`".to_owned(),
            )),
        }
    }

    /// Sends a request of an unknown kind. An adapter must answer it, so that the protocol can grow.
    ///
    /// # Errors
    /// [`Trouble`] if the adapter does not answer that it knows no such kind.
    pub(crate) async fn send_unknown_request(&mut self, deadline: Deadline) -> Result<(), Trouble> {
        let answer = self.ask("casebook-unknown", "{}", deadline).await?;
        let nonsense =
            || Trouble::Nonsense("it answered a request of an unknown kind without `unsupported`".to_owned());
        answer.unsupported.map(drop).ok_or_else(nonsense)
    }

    /// Waits until the process exits by itself; returns its exit status in words.
    pub(crate) async fn wait_for_exit(&mut self) -> String {
        loop {
            let line = tokio::select! {
                line = self.output.next() => line,
                never = self.process.watch() => match never {},
            };
            match line {
                LineEvent::Line(line) | LineEvent::Unended(line) => self.keep_noise(&line),
                LineEvent::Oversized => {}
                LineEvent::Eof => return self.how_it_ended().await,
            }
        }
    }

    /// Stops the process.
    pub(crate) async fn end(self, stop_reason: StopReason) -> Stopped {
        let Self { process, input, output, .. } = self;
        process.end(stop_reason, async { drop((input, output)) }).await
    }

    async fn ask(&mut self, kind: &str, body: &str, deadline: Deadline) -> Result<Answer, Trouble> {
        self.requests += 1;
        let id = self.requests.to_string();
        let line = format!("{{\"id\":\"{id}\",\"{kind}\":{body}}}\n");
        self.catch_up().await;
        // A process that does not read its input may still have written an answer. Its death is noticed while reading.
        let written = async { self.input.write_all(line.as_bytes()).await.and(self.input.flush().await) };
        deadline.bound(written).await.map(drop).ok_or(Trouble::Hung)?;
        deadline.bound(self.answer(&id)).await.unwrap_or(Err(Trouble::Hung))
    }

    /// Sets aside the lines that have already arrived: they cannot answer the next request.
    async fn catch_up(&mut self) {
        for _ in 0..MAX_NOISE {
            match self.output.at_hand().await {
                Some(LineEvent::Line(line) | LineEvent::Unended(line)) => self.keep_noise(&line),
                Some(LineEvent::Oversized) => {}
                Some(LineEvent::Eof) | None => return,
            }
        }
    }

    async fn answer(&mut self, id: &str) -> Result<Answer, Trouble> {
        for _ in 0..MAX_NOISE {
            let line = tokio::select! {
                line = self.output.next() => line,
                never = self.process.watch() => match never {},
            };
            let line = match line {
                LineEvent::Line(line) | LineEvent::Unended(line) if nesting::values(&line) <= nesting::VALUES => line,
                LineEvent::Line(_) | LineEvent::Unended(_) | LineEvent::Oversized => return Err(Trouble::Oversized),
                LineEvent::Eof => return Err(Trouble::Died(self.how_it_ended().await)),
            };
            match serde_json::from_slice::<Answer>(&line) {
                Ok(answer) if answer.id == id => return Ok(answer),
                Err(_) if let Some(wrong) = wrong_id(&line, id) => {
                    self.keep_noise(&line);
                    return Err(Trouble::Nonsense(wrong));
                }
                Err(error) if is_addressed(&line, id) => {
                    self.keep_noise(&line);
                    let mistake = wrong_type(&line, |answer| serde_json::from_value::<Answer>(answer).is_ok())
                        .unwrap_or_else(|| error.to_string());
                    return Err(Trouble::Nonsense(format!("it sent an invalid answer: {mistake}")));
                }
                _ => self.keep_noise(&line),
            }
        }
        Err(Trouble::Nonsense(format!("it wrote {MAX_NOISE} lines that are no answer")))
    }

    fn keep_noise(&self, line: &[u8]) {
        let kept = &line[..line.len().min(1000)];
        self.process.stderr().push(&[NOISE.as_bytes(), kept, b"\n"].concat());
    }

    async fn how_it_ended(&mut self) -> String {
        match self.process.exited(CRASH_LIMIT).await {
            Some(status) => {
                // The pipe may still contain its last output.
                self.process.drain_pipes().await;
                in_words(status)
            }
            None => "a closed standard output, although its process still runs".to_owned(),
        }
    }
}

/// Returns the command of a target's adapter.
pub(crate) fn command(target: &Target) -> Result<&[String], StartError> {
    match &target.drives {
        TargetKind::Adapter(command) => Ok(command),
        TargetKind::Fixed(_) | TargetKind::Pair(_) => Err(StartError::Fixed),
    }
}

/// Starts a process of a target, in its folder and with its environment.
pub(crate) fn spawn(target: &Target, command: &[String]) -> Result<(Process, ChildStdin, Lines), StartError> {
    let launch = Launch { command, folder: target.folder.as_std_path(), env: &target.env };
    Process::spawn(launch).map_err(|source| failed_to_spawn(command, target, source))
}

fn failed_to_spawn(command: &[String], target: &Target, source: std::io::Error) -> StartError {
    if fault::is_no_room(&source) {
        return StartError::NoRoom { what: "start a process of the target", source };
    }
    let remedy = if target.is_ad_hoc() { "" } else { "; correct `command` in target.toml" };
    StartError::Spawn { command: command.join(" "), folder: target.folder.clone(), remedy, source }
}

/// Compares the claims of a target with its adapter's hello.
pub(crate) fn confirm(target: &Target, hello: &Hello) -> Result<(), StartError> {
    let claims = &target.announced;
    let held = |what, claimed: Vec<&str>, hello: &[String]| match claimed
        .iter()
        .find(|one| !hello.iter().any(|has| has == *one))
    {
        Some(claim) => Err(StartError::Claim { what, claim: (*claim).to_owned(), hello: hello.to_vec() }),
        None => Ok(()),
    };
    held("the role", claims.roles.iter().map(|role: &Role| role.word()).collect(), &hello.roles)?;
    held("the transport", claims.transports.iter().map(|one| one.word()).collect(), &hello.transports)?;
    held("the revision", claims.revisions.iter().map(|one| one.name()).collect(), &hello.revisions)?;
    held("the variant", target.id.variant.iter().map(String::as_str).collect(), &hello.variants)?;
    match &target.package {
        Some(package) if !is_same(package, hello) => {
            Err(StartError::Package { package: Box::new(package.clone()), hello: Box::new(hello.package(false)) })
        }
        _ => Ok(()),
    }
}

/// Returns whether a hello names this package. Some languages write a `v` in front of a version.
fn is_same(package: &Package, hello: &Hello) -> bool {
    let bare = |version: &str| version.strip_prefix('v').unwrap_or(version).to_owned();
    package.name == hello.sdk && bare(&package.version) == bare(&hello.version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::{fuzz, samples};

    #[test]
    fn fuzzed_adapter_output_is_parsed_or_kept_as_noise() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        fuzz("adapter-lines", [samples::ADAPTER], |bytes| {
            runtime.block_on(async {
                let (mut lines, _) = Lines::of(std::io::Cursor::new(bytes.to_vec()));
                while let LineEvent::Line(line) | LineEvent::Unended(line) = lines.next().await {
                    let Ok(answer) = serde_json::from_slice::<Answer>(&line) else { continue };
                    let drove = answer.drove.map(|drove| serde_json::from_str::<Drove>(drove.get()));
                    let nonsense =
                        drove.and_then(Result::err).map(|error| Trouble::Nonsense(error.to_string()).served());
                    assert!(nonsense.is_none_or(|served| matches!(served, Served::Failed { .. })));
                    no_server(answer.refused, answer.cannot);
                }
            });
        });
    }
}
