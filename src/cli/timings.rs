//! `casebook run --timings`: processor times.
//!
//! Takes the resource usage of this process and its children from the operating system, adds it to [`Timings`].

use std::time::Duration;

use clap::Args;

use super::heading;
use crate::model::timings::{Processor, Timings};

/// The option `--timings`.
#[derive(Debug, Args)]
pub struct TimingsArgs {
    /// Show the times of starting targets, of running tests, of casebook itself, and of waiting
    #[arg(long, help_heading = heading::OUTPUT)]
    pub timings: bool,
}

/// The processor time of the targets when the tests begin. The time for setting up targets does not count.
pub(super) struct Started(Option<Duration>);

impl Started {
    pub(super) fn now() -> Self {
        Self(used().map(|used| used.targets))
    }

    /// Adds the processor times: of the harness since its start, and of the targets since `now`.
    pub(super) fn finish(self, timings: Timings) -> Timings {
        let Self(before) = self;
        let since =
            |used: Processor| before.map(|before| Processor { targets: used.targets.saturating_sub(before), ..used });
        Timings { processor: used().and_then(since), ..timings }
    }
}

/// Returns the processor times until now.
#[cfg(unix)]
fn used() -> Option<Processor> {
    use nix::sys::resource::{Usage, UsageWho, getrusage};
    use nix::sys::time::{TimeVal, TimeValLike as _};
    let micros = |time: TimeVal| Duration::from_micros(u64::try_from(time.num_microseconds()).unwrap_or(0));
    let both = |usage: Usage| micros(usage.user_time()) + micros(usage.system_time());
    let of = |who| getrusage(who).ok().map(both);
    Some(Processor { harness: of(UsageWho::RUSAGE_SELF)?, targets: of(UsageWho::RUSAGE_CHILDREN)? })
}

/// Processor times are not known on this system.
#[cfg(not(unix))]
fn used() -> Option<Processor> {
    None
}
