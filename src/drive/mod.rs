//! Execution of a plan: the only stage with processes, sockets, clocks and tasks.
//!
//! Takes a [`Plan`](crate::plan::Plan), gives transcripts. Must not know expectations, levels or known failures: this
//! stage cannot tell whether an answer is right.
//!
//! The folders, each of which uses only those before it: `process` (processes of targets), `adapter` (the adapter
//! protocol), `server` (a server under test), `client` (a client under test). Above them, `runner` runs the tests of
//! one target, and `workers` runs a whole plan.

mod accept;
mod adapter;
mod any_client;
mod bind;
mod by_hand;
mod canary;
mod client;
mod clock;
mod event;
mod fault;
mod fixed;
mod health;
mod hello;
mod kept_headers;
mod options;
mod pair;
mod process;
mod runner;
mod server;
mod smoke;
mod survey;
mod token;
mod turns;
mod workers;

pub use adapter::hello::Hello;
pub use adapter::protocol::{StartError, Trouble};
pub use any_client::{AnyClient, ClientEnd, ClientError, ClientLimits, Leading, meet};
pub use by_hand::{HandError, Handed, HandedStep, Standing, Waiting, drive_to};
pub use canary::CanaryError;
pub use client::mock::relay;
pub use event::{Cancel, Ended, Event, Finish, Next};
pub(crate) use fault::caught;
pub use fixed::{REVISION, SCENARIO};
pub use hello::hello;
pub use options::Options;
pub use process::probe::probe;
pub use process::releases::{ReleasesError, releases};
pub use process::session::Session;
pub use process::setup::{SetupError, is_set_up, set_up};
pub use smoke::check::{SmokeCheck, SmokeReport, smoke};
pub use smoke::outcome::SmokeOutcome;
pub use survey::{SurveyError, survey};
pub(crate) use turns::Turns;
pub(crate) use workers::drive;
