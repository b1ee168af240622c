//! The adapter protocol: one JSON object a line, over a process that may do anything but answer.
//!
//! Takes fixtures as text, gives what became of them. Must not know MCP, nor what a fixture says.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

use camino::Utf8PathBuf;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;

use crate::drive::adapter::stream::{Place, Stream, Streams};
use crate::drive::clock::Deadline;
use crate::drive::fault;
use crate::drive::process::launch::{GONE, Launch, Process, StopReason, Stopped, in_words};
use crate::drive::process::lines::{BoundedText, LineEvent, Lines};
use crate::jsonrpc::nesting;
use crate::jsonrpc::text::quoted;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::{Package, Target, TargetKind};
use crate::model::transcript::{End, Served};

/// The version of the protocol that is spoken.
const PROTOCOL: u32 = 1;
/// The time that a stream may take to be connected, once it is said to be.
const CONNECT: Duration = Duration::from_secs(5);
/// Lines that are no answer, of those that come before one.
const MAX_NOISE: usize = 1000;

/// What an adapter says of itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Hello {
    /// The name of the SDK's package.
    pub sdk: String,
    /// Its version.
    pub version: String,
    /// The language.
    pub language: String,
    /// The public API that is used.
    pub api: String,
    /// The sides that it has.
    pub roles: Vec<String>,
    /// What it speaks over.
    pub transports: Vec<String>,
    /// The revisions that it speaks.
    pub revisions: Vec<String>,
    /// The API tiers and engines that it offers.
    pub variants: Vec<String>,
    /// Set where it serves over stdio by streams on loopback.
    pub streams: bool,
}

/// Why an adapter isn't there.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no process.
    #[error("`{command}` could not be started in {folder}: {source}")]
    Spawn {
        /// The program.
        command: String,
        /// Where it was to run.
        folder: Utf8PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// This machine has no room for one: no descriptors, no processes, no memory, no place for a temporary file. It says
    /// nothing of the target.
    #[error("casebook can't {what}: {}", without_path(.source))]
    NoRoom {
        /// The step that failed.
        what: &'static str,
        /// The answer of the system.
        source: std::io::Error,
    },
    /// Nobody wrote one.
    #[error("the target is fixed: it has no adapter")]
    Fixed,
    /// There is a process, but no hello.
    #[error("the adapter gave no hello: {trouble}{}", with_stderr(.stderr))]
    Hello {
        /// What it did instead.
        trouble: Trouble,
        /// What it wrote to its standard error.
        stderr: String,
    },
    /// The hello lacks something that `target.toml` claims.
    #[error("target.toml claims {what} `{claim}`, but the adapter's hello has only: {}", .hello.join(", "))]
    Claim {
        /// The kind of claim.
        what: &'static str,
        /// The claim.
        claim: String,
        /// What the hello has of that kind.
        hello: Vec<String>,
    },
    /// The hello is of something else than `target.toml` says.
    #[error(
        "target.toml says {package}, but the adapter's hello says {hello}: what is locked and target.toml differ; \
         correct `package` and `version`, or delete .casebook-setup to have the set-up run again"
    )]
    Package {
        /// What `target.toml` says.
        package: Package,
        /// What the hello says.
        hello: Package,
    },
}

/// The words of an error without the path of a temporary file, which is another one each time.
fn without_path(error: &std::io::Error) -> String {
    let words = error.to_string();
    words.split_once(" at path ").map_or(words.as_str(), |(words, _)| words).to_owned()
}

/// What a process wrote, behind what became of it.
pub(crate) fn with_stderr(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; it wrote: {}", stderr.trim_end()) }
}

/// What an adapter does in place of an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// It died.
    #[error("it ended with {0}")]
    Died(String),
    /// It said nothing within the limit.
    #[error("it said nothing within the limit")]
    Hung,
    /// It wrote a line that nobody reads to its end.
    #[error("it wrote a line of more than 16 MiB, or of more values than are read")]
    Oversized,
    /// It answered what can't be understood.
    #[error("{0}")]
    Nonsense(String),
}

impl Trouble {
    /// The same, as an observation.
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

/// One line of an adapter's. Kinds that we don't ask for are left unread, so that the protocol can grow; and what a
/// client was handed stays text, however deep it is.
#[derive(Debug, Deserialize)]
struct Answer {
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

/// What a client did with its script.
#[derive(Debug, Deserialize)]
pub(crate) struct Drove {
    /// Whether it came to have a connection.
    #[serde(default)]
    pub(crate) connected: bool,
    /// What its user was handed, step by step, as far as it came.
    #[serde(default)]
    pub(crate) steps: Vec<Box<RawValue>>,
    /// What went wrong beside the steps.
    #[serde(default)]
    pub(crate) error: Option<Box<RawValue>>,
}

/// Whether a line is meant as the answer to the request of this id, whatever else is in it.
fn is_addressed(line: &[u8], id: &str) -> bool {
    #[derive(Deserialize)]
    struct Addressed<'a> {
        #[serde(borrow)]
        id: Cow<'a, str>,
    }
    serde_json::from_slice(line).is_ok_and(|addressed: Addressed<'_>| addressed.id == id)
}

#[derive(Debug, Deserialize)]
struct Address {
    /// Over HTTP.
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

/// Why there is no server, where there is a reason.
pub(crate) fn no_server(refused: Option<Refusal>, cannot: Option<String>) -> Option<Served> {
    let refused = refused.map(|Refusal { r#type, mut message, tool }| {
        _ = tool.map(|tool| write!(message, " (tool `{tool}`)"));
        Served::Refused { r#type, message }
    });
    refused.or(cannot.map(|reason| Served::Cannot { reason }))
}

/// What is to be served, in all but the fixture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order<'a> {
    /// The revision that will be spoken.
    pub(crate) revision: Revision,
    /// What will carry the messages.
    pub(crate) transport: Transport,
    /// The API tier.
    pub(crate) variant: Option<&'a str>,
    /// The fixture, as JSON text: it may be too deep to be a tree.
    pub(crate) fixture: &'a str,
    /// The place to which the adapter connects, over stdio.
    pub(crate) stream: Option<&'a Place>,
}

impl<'a> Order<'a> {
    /// An order for a fixture, as JSON text, on the revision and over the transport of a test.
    pub(crate) fn new(target: &'a Target, revision: Revision, transport: Transport, fixture: &'a str) -> Self {
        Self { revision, transport, variant: target.id.variant.as_deref(), fixture, stream: None }
    }

    /// The `serve` object.
    pub(crate) fn text(&self) -> String {
        let Self { revision, transport, variant, fixture, stream } = self;
        let variant = variant.map(|name| format!(r#""variant":{},"#, quoted(name))).unwrap_or_default();
        let stream = stream.map(|Place { port, word }| format!(r#""stream":{{"port":{port},"word":"{word}"}},"#));
        let stream = stream.unwrap_or_default();
        format!(r#"{{"revision":"{revision}","transport":"{transport}",{variant}{stream}"fixture":{fixture}}}"#)
    }
}

/// An adapter at work.
#[derive(Debug)]
pub(crate) struct Adapter {
    process: Process,
    input: ChildStdin,
    output: Lines,
    requests: u64,
    hello: Hello,
    streams: Streams,
}

/// A fixture that an adapter serves.
#[derive(Debug)]
pub(crate) struct Serving {
    id: String,
}

impl Adapter {
    /// Starts the adapter of a target, and makes sure that it is what the target claims.
    ///
    /// # Errors
    /// [`StartError`] where there is no process, no hello within the limit, or less in it than was claimed.
    pub(crate) async fn start(target: &Target, deadline: Deadline) -> Result<Self, StartError> {
        let adapter = Self::say_hello(target, deadline).await?;
        match confirm(target, &adapter.hello) {
            Ok(()) => Ok(adapter),
            Err(error) => {
                adapter.end(StopReason::Leave).await;
                Err(error)
            }
        }
    }

    /// Starts the adapter and takes its word for what it is.
    pub(crate) async fn say_hello(target: &Target, deadline: Deadline) -> Result<Self, StartError> {
        let (process, input, output) = spawn(target, command(target)?)?;
        let (hello, streams) = (Hello::default(), Streams::default());
        let mut adapter = Self { process, input, output, requests: 0, hello, streams };
        let answer = adapter.ask("hello", &format!(r#"{{"protocol":{PROTOCOL}}}"#), deadline).await;
        let hello = answer.and_then(|answer| {
            answer.hello.ok_or_else(|| Trouble::Nonsense("it answered `hello` without a hello".to_owned()))
        });
        match hello {
            Ok(hello) => Ok(Self { hello, ..adapter }),
            Err(trouble) => {
                let stderr = adapter.process.stderr().clone();
                let manner = if matches!(trouble, Trouble::Died(_)) { StopReason::Broken } else { StopReason::Hung };
                adapter.end(manner).await;
                Err(StartError::Hello { trouble, stderr: stderr.take() })
            }
        }
    }

    /// What it says of itself.
    pub(crate) fn hello(&self) -> &Hello {
        &self.hello
    }

    /// What it wrote to its standard error, and what else it wrote where answers belong.
    pub(crate) fn stderr(&self) -> &BoundedText {
        self.process.stderr()
    }

    /// Has a fixture served over HTTP; gives the address beside it.
    ///
    /// # Errors
    /// What became of it instead, be it the SDK's refusal or the adapter's trouble.
    pub(crate) async fn serve(&mut self, order: Order<'_>, deadline: Deadline) -> Result<(Serving, String), Served> {
        match self.serving(order, deadline).await? {
            (serving, Some(url)) => Ok((serving, url)),
            (_, None) => Err(Trouble::Nonsense("it answered `serving` without a `url`".to_owned()).served()),
        }
    }

    /// Has a fixture served over stdio, by a stream.
    ///
    /// # Errors
    /// As [`Self::serve`]; and where it does not connect the stream.
    pub(crate) async fn serve_stream(
        &mut self,
        order: Order<'_>,
        deadline: Deadline,
    ) -> Result<(Serving, Stream), Served> {
        let no_room = |what, source| Served::Unavailable { reason: StartError::NoRoom { what, source }.to_string() };
        let awaited = self.streams.expect().map_err(|error| no_room("open a port", error))?;
        let (serving, _) = self.serving(Order { stream: Some(&awaited.place), ..order }, deadline).await?;
        let came = deadline.narrowed(CONNECT).bound(awaited.come()).await.flatten();
        let missing = "it answered `serving`, but did not connect to the `stream` that it was given";
        let stream = came.ok_or_else(|| Trouble::Nonsense(missing.to_owned()).served())?;
        let stream = stream.map_err(|error| no_room("accept a connection", error))?;
        Ok((serving, stream))
    }

    /// Asks for a fixture to be served; gives the address beside it, where there is one.
    async fn serving(&mut self, order: Order<'_>, deadline: Deadline) -> Result<(Serving, Option<String>), Served> {
        let answer = self.ask("serve", &order.text(), deadline).await.map_err(|trouble| trouble.served())?;
        if let Some(no) = no_server(answer.refused, answer.cannot) {
            return Err(no);
        }
        match (answer.serving, answer.unsupported) {
            (Some(Address { url }), _) => Ok((Serving { id: answer.id }, url)),
            (None, Some(reason)) => Err(Served::Cannot { reason }),
            (None, None) => Err(Trouble::Nonsense("it answered `serve` with none of its answers".to_owned()).served()),
        }
    }

    /// Takes a fixture down.
    ///
    /// # Errors
    /// [`Trouble`] where it doesn't say that it did.
    pub(crate) async fn stop(&mut self, serving: Serving, deadline: Deadline) -> Result<(), Trouble> {
        let answer = self.ask("stop", &format!(r#"{{"serving":{}}}"#, quoted(&serving.id)), deadline).await?;
        let nonsense = || Trouble::Nonsense("it answered `stop` without `stopped`".to_owned());
        answer.stopped.then_some(()).ok_or_else(nonsense)
    }

    /// Has a client go through a script; `order` is the `drive` object.
    ///
    /// # Errors
    /// What became of it instead, be it the SDK's refusal or the adapter's trouble.
    pub(crate) async fn drive(&mut self, order: &str, deadline: Deadline) -> Result<Drove, Served> {
        let answer = self.ask("drive", order, deadline).await.map_err(|trouble| trouble.served())?;
        if let Some(no) = no_server(answer.refused, answer.cannot) {
            return Err(no);
        }
        let nonsense = |reason| Trouble::Nonsense(reason).served();
        match (answer.drove, answer.unsupported) {
            (Some(drove), _) => serde_json::from_str(drove.get())
                .map_err(|error| nonsense(format!("it answered `drive` with a `drove` that is none: {error}"))),
            (None, Some(reason)) => Err(Served::Cannot { reason }),
            (None, None) => Err(nonsense("it answered `drive` with none of its answers".to_owned())),
        }
    }

    /// Sends a kind of request that nobody knows: how an adapter takes it shows whether the protocol can grow.
    ///
    /// # Errors
    /// [`Trouble`] where it doesn't say that it knows no such kind.
    pub(crate) async fn ask_the_unknown(&mut self, deadline: Deadline) -> Result<(), Trouble> {
        let answer = self.ask("casebook-unknown", "{}", deadline).await?;
        let nonsense =
            || Trouble::Nonsense("it answered a request of an unknown kind without `unsupported`".to_owned());
        answer.unsupported.map(drop).ok_or_else(nonsense)
    }

    /// Waits until it is gone without having been asked to go; gives how.
    pub(crate) async fn gone(&mut self) -> String {
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

    /// Lets the process go.
    pub(crate) async fn end(self, manner: StopReason) -> Stopped {
        let Self { process, input, output, .. } = self;
        process.end(manner, async { drop((input, output)) }).await
    }

    async fn ask(&mut self, kind: &str, body: &str, deadline: Deadline) -> Result<Answer, Trouble> {
        self.requests += 1;
        let id = self.requests.to_string();
        let line = format!("{{\"id\":\"{id}\",\"{kind}\":{body}}}\n");
        self.catch_up().await;
        // A process that doesn't read what is written may still have said something; its death shows on reading.
        let written = async { self.input.write_all(line.as_bytes()).await.and(self.input.flush().await) };
        deadline.bound(written).await.map(drop).ok_or(Trouble::Hung)?;
        deadline.bound(self.answer(&id)).await.unwrap_or(Err(Trouble::Hung))
    }

    /// Puts aside what it has said already: none of it can answer what is still to be asked.
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
                Err(error) if is_addressed(&line, id) => {
                    self.keep_noise(&line);
                    return Err(Trouble::Nonsense(format!("it gave an answer that can't be read: {error}")));
                }
                _ => self.keep_noise(&line),
            }
        }
        Err(Trouble::Nonsense(format!("it wrote {MAX_NOISE} lines that are no answer")))
    }

    fn keep_noise(&self, line: &[u8]) {
        let kept = &line[..line.len().min(1000)];
        self.process.stderr().push(&[b"[noise on stdout] ", kept, b"\n"].concat());
    }

    async fn how_it_ended(&mut self) -> String {
        match self.process.exited(GONE).await {
            Some(status) => {
                // Its last words may still be in the pipe.
                self.process.run_dry().await;
                in_words(status)
            }
            None => "its standard output closed, although it runs".to_owned(),
        }
    }
}

/// The command of a target's adapter.
pub(crate) fn command(target: &Target) -> Result<&[String], StartError> {
    match &target.drives {
        TargetKind::Adapter(command) => Ok(command),
        TargetKind::Fixed(_) => Err(StartError::Fixed),
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
    StartError::Spawn { command: command.join(" "), folder: target.folder.clone(), source }
}

/// Holds the claims of a target against its adapter's hello.
pub(crate) fn confirm(target: &Target, hello: &Hello) -> Result<(), StartError> {
    let claims = &target.claims;
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
            let hello = Package { name: hello.sdk.clone(), version: hello.version.clone() };
            Err(StartError::Package { package: package.clone(), hello })
        }
        _ => Ok(()),
    }
}

/// Whether a hello says this package; some languages write a `v` before a version.
fn is_same(package: &Package, hello: &Hello) -> bool {
    let bare = |version: &str| version.strip_prefix('v').unwrap_or(version).to_owned();
    package.name == hello.sdk && bare(&package.version) == bare(&hello.version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::{fuzz, samples};

    #[test]
    fn any_output_of_an_adapter_is_answers_and_noise() {
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
