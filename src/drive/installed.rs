//! The package that is installed, by the hello of an adapter.
//!
//! Takes a target that is set up, gives its package as a build of a checkout. Must not know why somebody asks.

use std::time::Duration;

use crate::drive::adapter::protocol::{Adapter, StartError};
use crate::drive::clock::Deadline;
use crate::drive::process::launch::StopReason;
use crate::model::target::{Package, Target};

/// Returns the package that the adapter's hello names.
///
/// # Errors
/// [`StartError`] if the adapter sends no hello.
pub async fn installed(target: &Target, limit: Duration) -> Result<Package, StartError> {
    let adapter = Adapter::start_unchecked(target, Deadline::within(limit)).await?;
    let package = adapter.hello().package(true);
    adapter.end(StopReason::Finished).await;
    Ok(package)
}
