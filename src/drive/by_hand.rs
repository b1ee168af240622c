//! A target without a run: a fixture that stands until somebody has seen enough, and a client that is driven against
//! a server which isn't ours.
//!
//! Takes a target and a planned test, gives addresses and what was handed over. Must not know who is on the other side.

use camino::Utf8PathBuf;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tempfile::NamedTempFile;

use crate::drive::adapter::protocol::{Adapter, Order, Serving, StartError};
use crate::drive::adapter::stdio_server::stdio_command;
use crate::drive::bind::bind;
use crate::drive::canary::{Canaries, CanaryError};
use crate::drive::client::driving::{order, scripted};
use crate::drive::clock::Deadline;
use crate::drive::options::Options;
use crate::drive::process::launch::{StopReason, Stopped};
use crate::jsonrpc::nesting;
use crate::jsonrpc::text::quoted;
use crate::model::target::Target;
use crate::model::transcript::Served;
use crate::plan::Planned;

/// How long taking down may take.
const CLOSE: std::time::Duration = std::time::Duration::from_secs(2);

/// Why a target does nothing by hand.
#[derive(Debug, thiserror::Error)]
pub enum HandError {
    /// There is no adapter to ask.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The harness has no addresses to put into the fixture.
    #[error(transparent)]
    Canary(#[from] CanaryError),
    /// The SDK would not build it, or its API can't express it: as good an answer as any.
    #[error("{0}")]
    Declined(String),
    /// The adapter gave no answer, or none that makes sense.
    #[error("{0}")]
    Broke(String),
}

impl HandError {
    fn of(served: Served, stderr: &str) -> Self {
        let wrote = if stderr.is_empty() { String::new() } else { format!("\nit wrote: {}", stderr.trim_end()) };
        match served {
            Served::Refused { r#type, message } => Self::Declined(format!("the SDK refuses: {type}: {message}")),
            Served::Cannot { reason } => Self::Declined(format!("the SDK's API can't express it: {reason}")),
            Served::Failed { detail, .. } => Self::Broke(format!("{detail}{wrote}")),
            Served::Unavailable { reason } | Served::Broken { reason } => Self::Broke(format!("{reason}{wrote}")),
            Served::Serving => Self::Broke(format!("no answer{wrote}")),
        }
    }
}

/// A fixture that is served over HTTP until it is taken down.
#[derive(Debug)]
pub struct Standing {
    adapter: Adapter,
    serving: Serving,
    url: String,
    // What the fixture refers to has to be there as long as it is.
    _canaries: Canaries,
}

impl Standing {
    /// Has the fixture of a test served.
    ///
    /// # Errors
    /// [`HandError`], where there is no server.
    pub async fn start(target: &Target, planned: &Planned, options: &Options) -> Result<Self, HandError> {
        let (canaries, fixture) = fixture(planned)?;
        let mut adapter = Adapter::start(target, Deadline::within(options.start_limit)).await?;
        let order = of(target, planned, &fixture);
        match adapter.serve(order, Deadline::within(options.step_limit)).await {
            Ok((serving, url)) => Ok(Self { adapter, serving, url, _canaries: canaries }),
            Err(served) => Err(end(adapter, served).await),
        }
    }

    /// Where.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until the adapter is gone by itself; gives how it ended, and what it wrote to its standard error.
    pub async fn gone(&mut self) -> (String, String) {
        let how = self.adapter.gone().await;
        (how, self.adapter.stderr().take())
    }

    /// Takes the fixture down, and lets the adapter go.
    pub async fn stop(self) {
        let Self { mut adapter, serving, .. } = self;
        let stopped = adapter.stop(serving, Deadline::within(CLOSE)).await;
        adapter.end(if stopped.is_ok() { StopReason::Leave } else { StopReason::Hung }).await;
    }
}

/// A fixture that waits in a file for a process that serves it over stdio.
#[derive(Debug)]
pub struct Waiting {
    _file: NamedTempFile,
    _canaries: Canaries,
    /// What starts the process.
    pub command: Vec<String>,
    /// Where it starts.
    pub folder: Utf8PathBuf,
    /// What it gets beside the environment.
    pub env: Vec<(String, String)>,
}

impl Waiting {
    /// Writes the fixture of a test down.
    ///
    /// # Errors
    /// [`HandError`], where there is nowhere to.
    pub fn start(target: &Target, planned: &Planned) -> Result<Self, HandError> {
        let (canaries, fixture) = fixture(planned)?;
        let (file, command) = stdio_command(target, of(target, planned, &fixture))?;
        let env = target.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Ok(Self { _file: file, _canaries: canaries, command, folder: target.folder.clone(), env })
    }
}

fn fixture(planned: &Planned) -> Result<(Canaries, String), CanaryError> {
    let mut canaries = Canaries::default();
    let bindings = bind(&planned.test, planned.id.revision, &mut canaries)?;
    Ok((canaries, planned.test.given.template().render(&bindings)))
}

fn of<'a>(target: &'a Target, planned: &Planned, fixture: &'a str) -> Order<'a> {
    Order::new(target, planned.id.revision, planned.id.transport, fixture)
}

async fn end(adapter: Adapter, served: Served) -> HandError {
    let stderr = adapter.stderr().clone();
    let manner = match served {
        Served::Failed { .. } => StopReason::Hung,
        _ => StopReason::Leave,
    };
    let Stopped { .. } = adapter.end(manner).await;
    HandError::of(served, &stderr.take())
}

/// What a client did by hand.
#[derive(Debug)]
pub struct Handed {
    /// Step by step, as far as it came.
    pub steps: Vec<HandedStep>,
    /// What kept it from going on, as the adapter describes it.
    pub error: Option<String>,
}

/// One step of a script.
#[derive(Debug)]
pub struct HandedStep {
    /// What the client was to do, as JSON.
    pub asked: String,
    /// What it handed over, as JSON.
    pub handed: String,
    /// Whether that is an error.
    pub is_error: bool,
}

impl Handed {
    /// Whether each step of the script came to a result.
    pub fn is_whole(&self) -> bool {
        self.error.is_none() && self.steps.iter().all(|step| !step.is_error)
    }
}

/// Drives a target's client through the script of a test, against the server at an address.
///
/// # Errors
/// [`HandError`], where nothing was handed over.
pub async fn drive_to(target: &Target, planned: &Planned, url: &str, options: &Options) -> Result<Handed, HandError> {
    #[derive(Deserialize)]
    struct Step {
        error: Option<IgnoredAny>,
    }
    let mut canaries = Canaries::default();
    let bindings = bind(&planned.test, planned.id.revision, &mut canaries)?;
    let mut adapter = Adapter::start(target, Deadline::within(options.start_limit)).await?;
    let text = order(planned, target.id.variant.as_deref(), &bindings, ("url", quoted(url)));
    let drove = match adapter.drive(&text, Deadline::within(options.test_limit)).await {
        Ok(drove) => drove,
        Err(served) => return Err(end(adapter, served).await),
    };
    adapter.end(StopReason::Leave).await;
    let script: Vec<_> = planned.test.steps.iter().filter_map(|step| scripted(&step.when, &bindings)).collect();
    let missing = script.len().saturating_sub(drove.steps.len());
    let steps = script.into_iter().zip(drove.steps).map(|(asked, handed)| {
        let is_error = nesting::read::<Step>(handed.get().as_bytes()).is_ok_and(|step| step.error.is_some());
        HandedStep { asked, handed: handed.get().to_owned(), is_error }
    });
    let why = || format!("{missing} steps of the script were not taken");
    let error = drove.error.map(|error| error.get().to_owned());
    let error = error.or_else(|| (missing > 0 || !drove.connected).then(why));
    Ok(Handed { steps: steps.collect(), error })
}
