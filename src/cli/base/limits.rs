//! The option `--limit KIND=TIME` of the commands that run tests or a client.
//!
//! Takes the texts of the option, gives times. Must not know what happens when a time has passed.

use std::time::Duration;

use clap::Args;
use clap::builder::TypedValueParser;

use super::heading;
use super::values;
use crate::drive::{ClientLimits, Options};
use crate::model::spec::words;

/// The limit of a whole run.
const RUN: Duration = Duration::from_secs(6 * 60 * 60);
/// The limits of a client without an adapter.
const CLIENT: ClientLimits = ClientLimits { run: Duration::from_secs(10 * 60), silence: Duration::from_secs(30) };

words! {
    /// The part of the work that has a limit.
    LimitKind {
        /// A step of a test.
        Step = "step",
        /// A test.
        Test = "test",
        /// The start of a target.
        Start = "start",
        /// The whole run.
        Run = "run",
        /// The time without a message of a client.
        Silence = "silence",
    }
}

/// `KIND=TIME`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The kind.
    pub kind: LimitKind,
    /// The time.
    pub time: Duration,
}

/// The limits of a run.
#[derive(Clone, Debug, Default, Args)]
pub struct LimitArgs {
    /// Limit a time; repeatable [default: step=10s, test=60s, start=30s and run=6h]
    ///
    /// `step` is a step of a test, `test` a test, `start` the time that a target needs to start, and `run` the whole run,
    /// set-up included. When the time of the run has passed, casebook stops it and reports the tests that have ended.
    #[arg(long = "limit", value_name = "KIND=TIME", value_parser = limit(&["step", "test", "start", "run"]))]
    #[arg(help_heading = heading::EXECUTION)]
    pub limits: Vec<Limit>,
}

impl LimitArgs {
    /// The limit of the whole run.
    pub(in crate::cli) fn run(&self) -> Duration {
        of(&self.limits, LimitKind::Run).unwrap_or(RUN)
    }

    /// The usual settings of a run, with these limits.
    pub(in crate::cli) fn options(&self) -> Options {
        let usual = Options::default();
        let limit = |kind, usual| of(&self.limits, kind).unwrap_or(usual);
        Options {
            step_limit: limit(LimitKind::Step, usual.step_limit),
            test_limit: limit(LimitKind::Test, usual.test_limit),
            start_limit: limit(LimitKind::Start, usual.start_limit),
            ..usual
        }
    }
}

/// The limits of a client without an adapter.
pub(in crate::cli) fn of_client(limits: &[Limit]) -> ClientLimits {
    ClientLimits {
        run: of(limits, LimitKind::Run).unwrap_or(CLIENT.run),
        silence: of(limits, LimitKind::Silence).unwrap_or(CLIENT.silence),
    }
}

/// Returns the limit of a kind. The last one counts.
fn of(limits: &[Limit], kind: LimitKind) -> Option<Duration> {
    limits.iter().rev().find(|limit| limit.kind == kind).map(|limit| limit.time)
}

/// Parses `KIND=TIME` with one of some kinds.
pub(in crate::cli) fn limit(kinds: &'static [&'static str]) -> impl TypedValueParser<Value = Limit> {
    move |text: &str| {
        let (kind, time): (LimitKind, _) = values::kind(text, kinds, "KIND=TIME", "run=2m", None)?;
        if time.is_empty() {
            return Err(format!("the time is missing; write {kind}=TIME, as in {kind}=10s"));
        }
        Ok(Limit { kind, time: values::limit(time)? })
    }
}
