//! `casebook run --timings`: what the processor did meanwhile.
//!
//! Takes what the system says of this process and of those that it waited for, gives [`Timings`] that have it too.

use std::time::Duration;

use clap::Args;

use crate::model::timings::{Processor, Timings};

/// Whether to tell where the time went.
#[derive(Debug, Args)]
pub struct TimingsArgs {
    /// Show where the time went: the target's start, the target at work, the harness, and waiting
    #[arg(long)]
    pub timings: bool,
}

/// The moment at which the targets were set up and nothing of the plan was begun: setting up doesn't count.
pub(super) struct Started(Option<Duration>);

impl Started {
    pub(super) fn now() -> Self {
        Self(used().map(|used| used.targets))
    }

    /// Adds what the processor did: for the harness since its own start, for others since that moment.
    pub(super) fn finish(self, timings: Timings) -> Timings {
        let Self(before) = self;
        let since =
            |used: Processor| before.map(|before| Processor { targets: used.targets.saturating_sub(before), ..used });
        Timings { processor: used().and_then(since), ..timings }
    }
}

/// What the processor did until now.
#[cfg(unix)]
fn used() -> Option<Processor> {
    use nix::sys::resource::{Usage, UsageWho, getrusage};
    use nix::sys::time::{TimeVal, TimeValLike as _};
    let micros = |time: TimeVal| Duration::from_micros(u64::try_from(time.num_microseconds()).unwrap_or(0));
    let both = |usage: Usage| micros(usage.user_time()) + micros(usage.system_time());
    let of = |who| getrusage(who).ok().map(both);
    Some(Processor { harness: of(UsageWho::RUSAGE_SELF)?, targets: of(UsageWho::RUSAGE_CHILDREN)? })
}

/// Nothing here tells.
#[cfg(not(unix))]
fn used() -> Option<Processor> {
    None
}
