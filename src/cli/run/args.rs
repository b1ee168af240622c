//! What can be typed behind `casebook run`, and what it means.
//!
//! Gives the selection of tests and how they are carried out. Must not know what becomes of them.

use std::num::NonZeroUsize;
use std::time::Duration;

use camino::Utf8PathBuf;
use clap::Args;

use crate::cli::{CaseArgs, OutputArgs, TimingsArgs};
use crate::drive::Options;
use crate::model::set::SetName;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::transcript::StdioMode;
use crate::model::{Pattern, Shard};
use crate::plan::Selection;

/// Which tests.
#[derive(Debug, Default, Args)]
pub struct SelectArgs {
    /// Run only the tests that match; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<Pattern>,
    /// Leave out the tests that match; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub skip: Vec<Pattern>,
    /// Run only the tests of servers, or of clients
    #[arg(long, value_name = "server|client")]
    pub role: Option<Role>,
    /// Speak only this revision; may be repeated
    #[arg(long, value_name = "REVISION")]
    pub revision: Vec<Revision>,
    /// Use only this transport; may be repeated
    #[arg(long, value_name = "stdio|http")]
    pub transport: Vec<Transport>,
    /// Run the tests too that are too large for every day
    #[arg(long)]
    pub heavy: bool,
    /// Run one of several parts, as of 2/5; `casebook report` puts their records together
    #[arg(long, value_name = "K/N")]
    pub shard: Option<Shard>,
}

/// `casebook run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Names that `casebook targets` lists, paths of a target.toml or of its folder; NAME:VARIANT for one variant
    #[arg(value_name = "TARGET", default_value = "reference")]
    pub targets: Vec<String>,
    /// Run every target whose programs are on this machine, and name the others
    #[arg(long, conflicts_with = "targets")]
    pub all: bool,
    /// Which tests.
    #[command(flatten)]
    pub select: SelectArgs,
    /// Where cases come from.
    #[command(flatten)]
    pub cases: CaseArgs,
    /// The number of workers, each with a process of the target [default: one more than cores, at most 8]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Take case files in another order, which follows from the number: what a target then does otherwise hangs on what
    /// it was asked before. Records and snapshots stay in the order of the plan
    #[arg(long, value_name = "SEED")]
    pub shuffle: Option<u64>,
    /// Write what was observed to the snapshots; lines of tests that were not run stay as they are
    #[arg(long)]
    pub accept: bool,
    /// Where to write the record [default: a file in the user's cache folder]
    #[arg(long, value_name = "FILE")]
    pub record: Option<Utf8PathBuf>,
    /// Reports.
    #[command(flatten)]
    pub outputs: OutputArgs,
    /// Ask just what a set has, as `casebook freeze` wrote it to sets/NAME.json
    #[arg(long, value_name = "NAME")]
    pub set: Option<SetName>,
    /// Show how many checks hold, by level, folder of requirements and revision
    #[arg(long)]
    pub rates: bool,
    /// Where its time went.
    #[command(flatten)]
    pub timings: TimingsArgs,
    /// Try a test again, so often at most and on fresh processes, in which a MUST is broken; where it then holds the
    /// test is flaky, which is no success either
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = retries)]
    pub retries: usize,
    /// The way in which adapters serve over stdio: stream, process, or both, which are compared [default: stream, and
    /// both for a sample]
    #[arg(long, value_name = "MODE")]
    pub stdio: Option<StdioMode>,
    /// How long a step may take
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = limit)]
    pub step_limit: Duration,
    /// How long a test may take
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = limit)]
    pub test_limit: Duration,
    /// How long a target may take to start
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = limit)]
    pub start_limit: Duration,
    /// How long all of it may take, set-up included; then it stops, and reports what it saw
    #[arg(long, value_name = "TIME", default_value = "6h", value_parser = limit)]
    pub run_limit: Duration,
}

impl RunArgs {
    pub(super) fn selection(&self) -> Selection {
        let one = &self.select;
        Selection {
            only: one.only.clone(),
            skip: one.skip.clone(),
            role: one.role,
            revision: one.revision.clone(),
            transport: one.transport.clone(),
            heavy: one.heavy,
            shard: one.shard,
            stdio: self.stdio,
            is_thin: false,
        }
    }

    /// What was typed to ask for less, or for more, than everything; the shard aside.
    pub(super) fn narrowed(&self) -> Option<String> {
        fn typed<T: ToString>(option: &str, values: impl IntoIterator<Item = T>) -> Vec<String> {
            values.into_iter().map(|value| format!("--{option} {}", value.to_string())).collect()
        }
        let one = &self.select;
        let all = [
            typed("only", one.only.iter().map(Pattern::as_str)),
            typed("skip", one.skip.iter().map(Pattern::as_str)),
            typed("role", one.role),
            typed("revision", &one.revision),
            typed("transport", &one.transport),
            typed("set", &self.set),
        ];
        let narrowed = all.concat().join(" ");
        (!narrowed.is_empty()).then_some(narrowed)
    }

    pub(super) fn options(&self) -> Options {
        let usual = Options::default();
        Options {
            jobs: self.jobs.unwrap_or(usual.jobs),
            step_limit: self.step_limit,
            test_limit: self.test_limit,
            start_limit: self.start_limit,
            retries: self.retries,
            shuffle: self.shuffle,
            ..usual
        }
    }
}

/// The number of further attempts. Each attempt is a part of its test's line in the run log.
fn retries(text: &str) -> Result<usize, String> {
    const MOST: usize = 100;
    let retries = text.parse().map_err(|error: std::num::ParseIntError| error.to_string())?;
    if retries > MOST { Err(format!("at most {MOST} attempts")) } else { Ok(retries) }
}

/// A time to wait for: some, and no more than anybody has.
fn limit(text: &str) -> Result<Duration, String> {
    const MOST: Duration = Duration::from_secs(24 * 60 * 60);
    let limit = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if limit.is_zero() || limit > MOST {
        return Err(format!("a limit is more than 0s and at most {}", humantime::format_duration(MOST)));
    }
    Ok(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_no_clock_could_hold_is_no_limit() {
        assert_eq!(limit("90s"), Ok(Duration::from_secs(90)));
        for wrong in ["0s", "25h", "18446744073709551615s", "500years", "soon"] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
    }
}
