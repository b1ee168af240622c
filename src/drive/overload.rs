//! Detection of an overloaded machine, on which a time-out says nothing about a target.
//!
//! Takes measurements of this machine, decides whether it is overloaded, and keeps that decision for all workers of a
//! run. Must not know tests or the adapter protocol.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::drive::options::STRETCH;
use crate::drive::process::launch::{Launch, Process, StopReason};

/// The time after which the start of a trivial process is no longer waited for.
const START_LIMIT: Duration = Duration::from_secs(10);
/// The duration of a trivial start that shows an overload without other evidence. A start usually takes a few
/// milliseconds.
const VERY_SLOW_START: Duration = Duration::from_millis(250);
/// The duration of a trivial start that shows an overload on a machine with [`HIGH_PRESSURE`].
const SLOW_START: Duration = Duration::from_millis(50);
/// The share of time, in percent, in which some process waited for a processor.
const HIGH_PRESSURE: f64 = 50.0;
/// The processes per core that are too many. casebook itself runs one worker more than there are cores.
const HIGH_LOAD: f64 = 3.0;

/// The environment variable that, set to `ignore`, keeps the usual time limits and workers on an overloaded machine.
const VARIABLE: &str = "CASEBOOK_OVERLOAD";
/// Measurements of a machine without other work.
pub(crate) const IDLE: Measurements = Measurements { load: None, cores: 1, pressure: None, start: Duration::ZERO };

/// Measurements of a machine at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measurements {
    /// The load average of the last minute, on Linux.
    pub(crate) load: Option<f64>,
    /// The number of processor cores that this process may use.
    pub(crate) cores: usize,
    /// The percentage of the last ten seconds in which some process waited for a processor, on Linux.
    pub(crate) pressure: Option<f64>,
    /// The time from starting a trivial process to its exit.
    pub(crate) start: Duration,
}

impl Measurements {
    /// Measures this machine; `program` is this program, which serves as the trivial process.
    async fn of_this_machine(program: &Utf8Path) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        Self {
            load: load(&read("/proc/loadavg")),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            pressure: pressure(&read("/proc/pressure/cpu")),
            start: trivial_start(program).await,
        }
    }

    /// Returns whether the machine is overloaded. The load average follows a change within a minute only, and the
    /// pressure is already high with one process more than cores: neither is sufficient alone.
    fn show_overload(&self) -> bool {
        let has_pressure = self.pressure.is_none_or(|pressure| pressure >= HIGH_PRESSURE);
        #[expect(clippy::cast_precision_loss, reason = "no machine has so many cores")]
        let has_load = self.load.is_some_and(|load| load >= HIGH_LOAD * self.cores as f64);
        let is_slow = self.pressure.is_some() && self.start >= SLOW_START;
        self.start >= VERY_SLOW_START || has_pressure && (has_load || is_slow)
    }
}

impl fmt::Display for Measurements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(load) = self.load {
            write!(f, "load {load:.1} on ")?;
        }
        write!(f, "{} core{}", self.cores, if self.cores == 1 { "" } else { "s" })?;
        if let Some(pressure) = self.pressure {
            write!(f, ", processor pressure {pressure:.0} %")?;
        }
        write!(f, ", {} ms to start a trivial process", self.start.as_millis())
    }
}

/// Reads the load average of the last minute from the text of `/proc/loadavg`.
fn load(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

/// Reads the percentage `some avg10` from the text of `/proc/pressure/cpu`.
fn pressure(text: &str) -> Option<f64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_whitespace().find_map(|field| field.strip_prefix("avg10="))?.parse().ok()
}

/// Measures how long a trivial process takes; zero if it cannot be started, which is no sign of an overload.
async fn trivial_start(program: &Utf8Path) -> Duration {
    let command = [program.to_string(), "--version".to_owned()];
    let launch = Launch { command: &command, folder: Path::new("."), env: &BTreeMap::new() };
    let began = Instant::now();
    let Ok((mut process, _input, _output)) = Process::spawn(launch) else { return Duration::ZERO };
    process.exited(START_LIMIT).await;
    let start = began.elapsed();
    process.end(StopReason::Hung, async {}).await;
    start
}

/// The way in which a run continues on an overloaded machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The run of a target: one test at a time.
    Alone,
    /// A run of pairs, whose many adapters are most of the load.
    Together,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Alone => "with one test at a time and ",
            Self::Together => "with ",
        })
    }
}

/// The machine on which a run takes place, as all its workers know it.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    /// Measurements that replace those of this machine.
    fixed: Option<Measurements>,
    /// The notice about the overload, once it was found.
    notice: OnceLock<String>,
    is_announced: AtomicBool,
    /// Held by the only test that runs on an overloaded machine.
    turn: Arc<Mutex<()>>,
}

impl Machine {
    /// This machine, or an idle one if [`VARIABLE`] is `ignore`.
    pub(crate) fn of_environment() -> Self {
        let is_ignored = std::env::var_os(VARIABLE).is_some_and(|value| value == "ignore");
        if is_ignored { Self::with(IDLE) } else { Self::default() }
    }

    /// A machine with these measurements.
    pub(crate) fn with(measurements: Measurements) -> Self {
        Self { fixed: Some(measurements), ..Self::default() }
    }

    /// Measures the machine unless it is known to be overloaded, and returns whether it is. For pairs, the load does not
    /// count.
    pub(crate) async fn check_overload(&self, program: &Utf8Path, way: Way) -> bool {
        if !self.is_overloaded() {
            let mut measured = match self.fixed {
                Some(measurements) => measurements,
                None => Measurements::of_this_machine(program).await,
            };
            if way == Way::Together {
                measured.load = None;
            }
            if measured.show_overload() {
                // Another worker may have found it at the same time: the first notice stays.
                _ = self.notice.set(format!(
                    "this machine is overloaded ({measured}): casebook continues {way}{STRETCH} times the time limits"
                ));
            }
        }
        self.is_overloaded()
    }

    /// Returns whether the machine was found to be overloaded.
    pub(crate) fn is_overloaded(&self) -> bool {
        self.notice.get().is_some()
    }

    /// Returns the notice about the overload to the first caller, and `None` to the others.
    pub(crate) fn take_notice(&self) -> Option<&str> {
        self.notice.get().filter(|_| !self.is_announced.swap(true, Ordering::Relaxed)).map(String::as_str)
    }

    /// Waits until no other test runs, for a test that needs the whole machine.
    pub(crate) async fn turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.turn).lock_owned().await
    }
}

/// Measurements of a machine with 2 cores and a load of 16.
#[cfg(test)]
pub(crate) const OVERLOADED: Measurements =
    Measurements { load: Some(16.0), cores: 2, pressure: Some(90.0), start: Duration::from_millis(60) };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overload_needs_load_with_pressure_or_a_slow_start() {
        let start = Duration::from_millis;
        let idle = Measurements { load: Some(0.1), cores: 2, pressure: Some(0.0), start: start(3) };
        let is_overloaded = |measurements: Measurements| measurements.show_overload();
        assert!(!is_overloaded(idle));
        assert!(is_overloaded(OVERLOADED));
        assert!(is_overloaded(Measurements { pressure: None, ..OVERLOADED }));
        // One worker more than cores, as in every run.
        assert!(!is_overloaded(Measurements { load: Some(3.5), pressure: Some(100.0), start: start(8), ..idle }));
        // Processes that wait for a disk.
        assert!(!is_overloaded(Measurements { pressure: Some(2.0), start: start(3), ..OVERLOADED }));
        // A load that began a few seconds ago.
        assert!(is_overloaded(Measurements { pressure: Some(80.0), start: start(60), ..idle }));
        // A container whose processor time is limited, and systems other than Linux.
        assert!(is_overloaded(Measurements { start: start(400), ..idle }));
        assert!(is_overloaded(Measurements { load: None, pressure: None, start: start(400), ..idle }));
        assert!(!is_overloaded(Measurements { load: None, pressure: None, start: start(60), ..idle }));
    }

    #[test]
    fn proc_files_are_read_and_other_texts_give_nothing() {
        assert_eq!(load("16.31 12.43 9.43 11/124 17326\n"), Some(16.31));
        let text = "some avg10=82.43 avg60=37.95 avg300=20.96 total=17332227804\nfull avg10=0.00 avg60=0.00 total=0\n";
        assert_eq!(pressure(text), Some(82.43));
        assert_eq!((load(""), pressure(""), pressure("some avg60=1")), (None, None, None));
    }

    #[tokio::test]
    async fn overloaded_machine_runs_one_test_and_is_announced_once() {
        let machine = Machine::with(OVERLOADED);
        assert!(!machine.is_overloaded() && machine.take_notice().is_none());
        assert!(machine.check_overload("casebook".into(), Way::Alone).await);
        let notice = "this machine is overloaded (load 16.0 on 2 cores, processor pressure 90 %, 60 ms to start a \
                      trivial process): casebook continues with one test at a time and 4 times the time limits";
        assert_eq!((machine.take_notice(), machine.take_notice()), (Some(notice), None));
        let turn = machine.turn().await;
        assert!(machine.turn.try_lock().is_err());
        drop(turn);
        assert!(machine.turn.try_lock().is_ok());
    }

    #[tokio::test]
    async fn program_that_is_not_there_is_no_overload() {
        assert_eq!(trivial_start("/nonexistent/casebook".into()).await, Duration::ZERO);
    }
}
