//! The program as a user meets it: its words, and the exit status of each way to end.

#[cfg(target_os = "linux")]
#[path = "cli/by_hand.rs"]
mod by_hand;
#[path = "cli/cases.rs"]
mod cases;
#[path = "cli/coverage.rs"]
mod coverage;
#[path = "cli/desk.rs"]
mod desk;
#[cfg(target_os = "linux")]
#[path = "cli/ends.rs"]
mod ends;
#[path = "cli/fetches.rs"]
mod fetches;
#[path = "cli/fixed.rs"]
mod fixed;
#[path = "cli/imports.rs"]
mod imports;
#[cfg(target_os = "linux")]
#[path = "cli/interrupts.rs"]
mod interrupts;
#[path = "cli/records.rs"]
mod records;
#[path = "cli/reports.rs"]
mod reports;
#[path = "cli/runs.rs"]
mod runs;
#[path = "cli/secrets.rs"]
mod secrets;
#[path = "cli/snapshot_files.rs"]
mod snapshot_files;
#[path = "cli/targets.rs"]
mod targets;
#[path = "cli/timings.rs"]
mod timings;
#[cfg(target_os = "linux")]
#[path = "cli/toolchains.rs"]
mod toolchains;
#[path = "cli/workers.rs"]
mod workers;
