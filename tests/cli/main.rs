//! Black-box tests: each runs the program as a user does, and checks its output, files and exit status.
#![cfg_attr(not(unix), allow(dead_code, reason = "some helpers are only for tests that need Unix or Linux"))]

#[cfg(unix)]
mod ad_hoc;
#[cfg(target_os = "linux")]
mod any_client;
mod any_server;
#[cfg(target_os = "linux")]
mod attacks;
#[cfg(target_os = "linux")]
mod by_hand;
mod called;
mod cases;
mod coverage;
#[cfg(unix)]
mod docs;
#[cfg(target_os = "linux")]
mod ends;
#[cfg(unix)]
mod fetches;
mod fixed;
#[cfg(unix)]
mod http;
mod imports;
#[cfg(target_os = "linux")]
mod interrupts;
#[cfg(target_os = "linux")]
mod issue;
mod known;
mod pair;
mod process;
mod proposals;
mod proves;
mod records;
mod reports;
#[cfg(unix)]
#[cfg(target_os = "linux")]
mod rogues;
mod runs;
mod sandbox;
mod secrets;
mod site;
mod smoke;
mod snapshot_files;
mod targets;
#[cfg(target_os = "linux")]
mod toolchains;
mod usage;
mod watch;
mod workers;
