//! Targets without a run, for `casebook serve` and `casebook drive`.
//!
//! Takes a target and a planned test, gives the address of a served fixture or the results of a client. Must not know
//! the peer on the other side.

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

/// The time limit for stopping a fixture.
const CLOSE: std::time::Duration = std::time::Duration::from_secs(2);

/// An error of a target that is served or driven by hand.
#[derive(Debug, thiserror::Error)]
pub enum HandError {
    /// The adapter did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// There are no canaries for the fixture.
    #[error(transparent)]
    Canary(#[from] CanaryError),
    /// The SDK refused the fixture, or its API cannot express it.
    #[error("{0}")]
    Declined(String),
    /// The adapter sent no answer, or an invalid one.
    #[error("{0}")]
    Broke(String),
}

impl HandError {
    fn of(served: Served, stderr: &str) -> Self {
        let wrote = if stderr.is_empty() { String::new() } else { format!("\nit wrote: {}", stderr.trim_end()) };
        match served {
            Served::Refused { r#type, message } => {
                Self::Declined(format!("the SDK refused the fixture: {type}: {message}"))
            }
            Served::Cannot { reason } => Self::Declined(format!("the adapter cannot express the fixture: {reason}")),
            Served::Failed { detail, .. } => Self::Broke(format!("{detail}{wrote}")),
            Served::Unavailable { reason } | Served::Broken { reason } => Self::Broke(format!("{reason}{wrote}")),
            Served::Serving => Self::Broke(format!("no answer{wrote}")),
        }
    }
}

/// A fixture that is served over HTTP until it is stopped.
#[derive(Debug)]
pub struct Standing {
    adapter: Adapter,
    serving: Serving,
    url: String,
    // The fixture refers to these canaries, which must exist as long as it does.
    _canaries: Canaries,
}

impl Standing {
    /// Starts an adapter that serves the fixture of a test.
    ///
    /// # Errors
    /// [`HandError`] if there is no server.
    pub async fn start(target: &Target, planned: &Planned, options: &Options) -> Result<Self, HandError> {
        let (canaries, fixture) = fixture(planned)?;
        let mut adapter = Adapter::start(target, Deadline::within(options.start_limit)).await?;
        let order = of(target, planned, &fixture);
        match adapter.serve(order, Deadline::within(options.step_limit)).await {
            Ok((serving, url)) => Ok(Self { adapter, serving, url, _canaries: canaries }),
            Err(served) => Err(end(adapter, served).await),
        }
    }

    /// The URL of the server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until the adapter exits by itself; returns its exit status in words and its standard error.
    pub async fn gone(&mut self) -> (String, String) {
        let how = self.adapter.wait_for_exit().await;
        (how, self.adapter.stderr().take())
    }

    /// Stops serving the fixture, and ends the adapter.
    pub async fn stop(self) {
        let Self { mut adapter, serving, .. } = self;
        let stopped = adapter.stop(serving, Deadline::within(CLOSE)).await;
        adapter.end(if stopped.is_ok() { StopReason::Finished } else { StopReason::Hung }).await;
    }
}

/// A fixture in a file, for a process that serves it over stdio.
#[derive(Debug)]
pub struct Waiting {
    _file: NamedTempFile,
    _canaries: Canaries,
    /// The command that starts the process.
    pub command: Vec<String>,
    /// The working folder of the process.
    pub folder: Utf8PathBuf,
    /// The environment variables of the process, in addition to those of this one.
    pub env: Vec<(String, String)>,
}

impl Waiting {
    /// Writes the fixture of a test to a file.
    ///
    /// # Errors
    /// [`HandError`] if the file cannot be written.
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
    let stop_reason = match served {
        Served::Failed { .. } => StopReason::Hung,
        _ => StopReason::Finished,
    };
    let Stopped { .. } = adapter.end(stop_reason).await;
    HandError::of(served, &stderr.take())
}

/// The results of a client that was driven by hand.
#[derive(Debug)]
pub struct Handed {
    /// The results of the steps that the client took.
    pub steps: Vec<HandedStep>,
    /// The error that ended the script, as the adapter describes it.
    pub error: Option<String>,
}

/// One step of a script.
#[derive(Debug)]
pub struct HandedStep {
    /// The request to the client, as JSON.
    pub asked: String,
    /// The value that the SDK handed to its user, as JSON.
    pub handed: String,
    /// Set if that value is an error.
    pub is_error: bool,
}

impl Handed {
    /// Returns whether each step of the script has a result.
    pub fn is_whole(&self) -> bool {
        self.error.is_none() && self.steps.iter().all(|step| !step.is_error)
    }
}

/// Drives a target's client through the script of a test, against the server at a URL.
///
/// # Errors
/// [`HandError`] if the client returned nothing.
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
    adapter.end(StopReason::Finished).await;
    let script: Vec<_> = planned.test.steps.iter().filter_map(|step| scripted(&step.when, &bindings)).collect();
    let missing = script.len().saturating_sub(drove.steps.len());
    let steps = script.into_iter().zip(drove.steps).map(|(asked, handed)| {
        let is_error = nesting::read::<Step>(handed.get().as_bytes()).is_ok_and(|step| step.error.is_some());
        HandedStep { asked, handed: handed.get().to_owned(), is_error }
    });
    let why = || format!("{missing} steps of the script were not performed");
    let error = drove.error.map(|error| error.get().to_owned());
    let error = error.or_else(|| (missing > 0 || !drove.connected).then(why));
    Ok(Handed { steps: steps.collect(), error })
}
