//! One side of a pair: a target with its adapter, which stays for the tests of other pairs.
//!
//! Takes fixtures, gives the streams or the URL of a server. Must not know the other side.

use std::io::Write as _;
use std::sync::Arc;

use tempfile::NamedTempFile;

use super::stdio::Streams;
use crate::drive::adapter::protocol::{Adapter, Order, Serving, StartError, Trouble};
use crate::drive::adapter::stdio_server::{StdioServer, stdio_command};
use crate::drive::adapter::stream::Stream;
use crate::drive::clock::Deadline;
use crate::drive::health::{GivenUp, Health};
use crate::drive::options::Options;
use crate::drive::process::launch::StopReason;
use crate::drive::process::lines::BoundedText;
use crate::drive::process::session::scratch;
use crate::model::case::Test;
use crate::model::spec::{Role, Transport};
use crate::model::target::Target;
use crate::model::text::{shell_line, shell_word};
use crate::model::transcript::{End, Served, StdioMode};

/// One side, with its adapter if it runs.
#[derive(Debug)]
pub(super) struct Side {
    role: Role,
    target: Arc<Target>,
    adapter: Option<Adapter>,
    health: Health,
}

/// A server that a side has started for one test.
#[derive(Debug)]
pub(super) enum Hosted {
    /// By the adapter's process.
    Adapter(Serving),
    /// In a process of its own.
    Process(Box<StdioServer>),
}

/// A command with which a client starts a server over stdio, without the proxy. It works as long as this value lives.
#[derive(Debug)]
pub(super) struct DirectCommand {
    script: NamedTempFile,
    _fixture: NamedTempFile,
}

impl DirectCommand {
    /// The words of the command.
    pub(super) fn words(&self) -> [String; 2] {
        ["sh".to_owned(), self.script.path().to_string_lossy().into_owned()]
    }
}

impl Side {
    /// A side without a process.
    pub(super) fn new(role: Role, target: Arc<Target>, given_up: GivenUp) -> Self {
        let health = Health::new(target.id.clone(), given_up);
        Self { role, target, adapter: None, health }
    }

    /// Returns whether the adapter of this side can act for a target in a role: for all variants with the same command.
    pub(super) fn fits(&self, role: Role, target: &Target) -> bool {
        self.role == role && self.target.shares_adapter(target)
    }

    /// Acts for another variant of the same target from now on.
    pub(super) fn act_for(&mut self, target: &Arc<Target>) {
        self.target = Arc::clone(target);
    }

    /// Starts the adapter if it does not run.
    ///
    /// # Errors
    /// The reason why it cannot be started.
    pub(super) async fn make_ready(&mut self, options: &Options) -> Result<(), String> {
        while self.adapter.is_none() {
            self.health.check_usable().map_err(|reason| self.named(&reason))?;
            match Adapter::start(&self.target, Deadline::within(options.start_limit)).await {
                Ok(adapter) => {
                    *self.health.hello = adapter.hello().clone();
                    self.adapter = Some(adapter);
                    self.health.count_answer();
                }
                // The resources of this machine may suffice for the next test.
                Err(error @ StartError::NoRoom { .. }) => return Err(self.named(&error.to_string())),
                Err(error @ StartError::Hello { trouble: Trouble::Hung, .. }) => {
                    self.health.count_silence(&error.to_string());
                }
                Err(error @ StartError::Hello { trouble: Trouble::Died(_), .. }) => {
                    self.health.count_hang(&error.to_string());
                }
                // Any other error would occur again at each start.
                Err(error) => self.health.give_up(error.to_string()),
            }
        }
        Ok(())
    }

    /// Returns why the adapter cannot act for its target in a test.
    pub(super) fn overlooks(&self, test: &Test, role: Role) -> Option<String> {
        self.health.hello.overlooks(test, role).map(|reason| self.named(&reason))
    }

    fn named(&self, reason: &str) -> String {
        format!("{} ({}): {reason}", self.role, self.target.id)
    }

    /// The adapter. It runs after [`Self::make_ready`].
    pub(super) fn adapter(&mut self) -> &mut Adapter {
        self.adapter.as_mut().expect("a side that was made ready has an adapter")
    }

    /// The standard error of the adapter, if it runs.
    pub(super) fn stderr(&self) -> Option<BoundedText> {
        self.adapter.as_ref().map(|adapter| adapter.stderr().clone())
    }

    /// The variant for which the side acts.
    pub(super) fn variant(&self) -> Option<&str> {
        self.target.id.variant.as_deref()
    }

    /// Serves a fixture over HTTP; returns its URL as well.
    ///
    /// # Errors
    /// The reason why there is no server.
    pub(super) async fn serve_http(
        &mut self,
        order: Order<'_>,
        deadline: Deadline,
    ) -> Result<(Hosted, String), Served> {
        let order = Order { variant: self.target.id.variant.as_deref(), ..order };
        let adapter = self.adapter.as_mut().expect("a side that was made ready has an adapter");
        let (serving, url) = adapter.serve(order, deadline).await?;
        Ok((Hosted::Adapter(serving), url))
    }

    /// Serves a fixture over stdio, as a stream of the adapter where it offers this, or in a process; returns its streams
    /// as well.
    ///
    /// # Errors
    /// The reason why there is no server.
    pub(super) async fn serve_stdio(
        &mut self,
        order: Order<'_>,
        mode: StdioMode,
        deadline: Deadline,
    ) -> Result<(Hosted, Streams), Served> {
        let order = Order { variant: self.target.id.variant.as_deref(), transport: Transport::Stdio, ..order };
        if self.health.hello.streams && mode != StdioMode::Process {
            let adapter = self.adapter.as_mut().expect("a side that was made ready has an adapter");
            let (serving, Stream { input, output, reading }) = adapter.serve_stream(order, deadline).await?;
            let streams = Streams { input: Box::new(input), output, reading: Some(reading) };
            return Ok((Hosted::Adapter(serving), streams));
        }
        let not_started = |error: StartError| Served::Failed {
            end: End::Crash { how: "its process cannot be started".to_owned() },
            detail: error.to_string(),
        };
        let (server, input, output) = StdioServer::start(&self.target, order).map_err(not_started)?;
        Ok((Hosted::Process(Box::new(server)), Streams { input: Box::new(input), output, reading: None }))
    }

    /// Returns the command with which a client itself starts a server over stdio.
    ///
    /// # Errors
    /// [`StartError`] if a file cannot be written.
    pub(super) fn direct(&self, order: Order<'_>) -> Result<DirectCommand, StartError> {
        let order = Order { variant: self.target.id.variant.as_deref(), transport: Transport::Stdio, ..order };
        let (fixture, command) = stdio_command(&self.target, order)?;
        let failed = |source| StartError::NoRoom { what: "write the command of a server to a file", source };
        let mut script =
            tempfile::Builder::new().prefix("casebook-").suffix(".sh").tempfile_in(scratch()).map_err(failed)?;
        // The client starts the command in a folder of its own, and passes on few variables.
        let variables = self.target.env.iter().map(|(name, value)| format!("export {name}={}\n", shell_word(value)));
        let variables: Vec<_> = variables.collect();
        let text = format!(
            "cd {} || exit\n{}exec {}\n",
            shell_word(self.target.folder.as_str()),
            variables.concat(),
            shell_line(&command)
        );
        script.write_all(text.as_bytes()).and_then(|()| script.flush()).map_err(failed)?;
        Ok(DirectCommand { script, _fixture: fixture })
    }

    /// Stops a server. If the adapter does not confirm it, the adapter is stopped too.
    pub(super) async fn stop(&mut self, hosted: Hosted, deadline: Deadline) {
        match hosted {
            Hosted::Process(server) => drop(server.end(StopReason::Finished, async {}).await),
            Hosted::Adapter(serving) => {
                let Some(adapter) = &mut self.adapter else { return };
                match adapter.stop(serving, deadline).await {
                    Ok(()) => {}
                    Err(Trouble::Died(_)) => self.discard(StopReason::Broken).await,
                    Err(_) => self.discard(StopReason::Hung).await,
                }
            }
        }
    }

    /// Stops an adapter that died or hangs. It can be sound with other sides, so that only its starts count.
    pub(super) async fn discard(&mut self, reason: StopReason) {
        if let Some(adapter) = self.adapter.take() {
            adapter.end(reason).await;
        }
    }

    /// Stops the adapter in an orderly way.
    pub(super) async fn end(mut self) {
        if let Some(adapter) = self.adapter.take() {
            adapter.end(StopReason::Finished).await;
        }
    }
}
