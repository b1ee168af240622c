//! The package that is installed, by the hello of an adapter.
//!
//! Takes a target that is set up, gives its package as a development build. Must not know why somebody asks.

use std::time::Duration;

use crate::drive::adapter::protocol::{Adapter, StartError};
use crate::drive::clock::Deadline;
use crate::drive::process::launch::StopReason;
use crate::model::target::{Package, Target, TargetKind};

/// Returns the package of a development build: the one that the adapter's hello names, or for a fixed target the one
/// that `target.toml` names.
///
/// # Errors
/// [`StartError`] if the adapter sends no hello.
pub async fn installed(target: &Target, limit: Duration) -> Result<Option<Package>, StartError> {
    if let TargetKind::Fixed(_) = target.drives {
        return Ok(target.package.clone().map(|package| Package { is_dev: true, ..package }));
    }
    let adapter = Adapter::start_unchecked(target, Deadline::within(limit)).await?;
    let package = adapter.hello().package(true);
    adapter.end(StopReason::Finished).await;
    Ok(Some(package))
}
