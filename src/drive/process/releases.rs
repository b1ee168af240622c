//! The releases of an SDK, as its package manager lists them.
//!
//! Takes a target, runs its command, gives the list that it prints. Must not know which releases somebody wants.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use tokio::time::timeout;

use super::ask::ask;
use crate::drive::process::launch::Launch;
use crate::model::release::{Release, releases as read};
use crate::model::target::Target;

/// The time limit of the command. A registry may be slow, and may be gone.
const LIMIT: Duration = Duration::from_secs(60);
/// The most characters of an error of the command.
const MOST_ERROR: usize = 2000;

/// The reason why the releases of an SDK are not known.
#[derive(Debug, thiserror::Error)]
pub enum ReleasesError {
    /// The command cannot be started.
    #[error("cannot start `{command}`: {error}; is it installed and on the PATH?")]
    Start {
        /// The command.
        command: String,
        /// The error of the system.
        error: io::Error,
    },
    /// The command failed, or did not end.
    #[error("`{command}` ended with {how}{error}")]
    Failed {
        /// The command.
        command: String,
        /// Its exit status, or the time limit that passed.
        how: String,
        /// What it wrote.
        error: String,
    },
    /// The command wrote something else.
    #[error("`{command}` wrote no list of releases: {why}")]
    Unreadable {
        /// The command.
        command: String,
        /// The reason.
        why: String,
    },
}

/// Asks the package manager of an SDK for its releases. The target need not be set up.
///
/// # Errors
/// [`ReleasesError`] if there is no list.
pub async fn releases(target: &Target) -> Result<Vec<Release>, ReleasesError> {
    let command = target.setup.releases.join(" ");
    let env = BTreeMap::new();
    let launch = Launch { command: &target.setup.releases, folder: target.folder.as_std_path(), env: &env };
    let failed = |how: String, error: &str| {
        let error: String = error.chars().take(MOST_ERROR).collect();
        let error = if error.is_empty() { error } else { format!("\n{error}") };
        ReleasesError::Failed { command: command.clone(), how, error }
    };
    let Ok(answered) = timeout(LIMIT, ask(launch)).await else {
        return Err(failed(format!("no exit within {}", humantime::format_duration(LIMIT)), ""));
    };
    let answered = answered.map_err(|error| ReleasesError::Start { command: command.clone(), error })?;
    if !answered.status.success() {
        return Err(failed(answered.status.to_string(), &answered.err));
    }
    read(&answered.out).map_err(|why| ReleasesError::Unreadable { command: command.clone(), why })
}
