//! The hello of an adapter, without a run.
//!
//! Takes a target that is set up, gives what its adapter says of itself. Must not know why somebody asks.

use std::time::Duration;

use crate::drive::adapter::hello::Hello;
use crate::drive::adapter::protocol::{Adapter, StartError};
use crate::drive::clock::Deadline;
use crate::drive::process::launch::StopReason;
use crate::model::target::Target;

/// Returns the adapter's hello.
///
/// # Errors
/// [`StartError`] if the adapter sends none.
pub async fn hello(target: &Target, limit: Duration) -> Result<Hello, StartError> {
    let adapter = Adapter::start_unchecked(target, Deadline::within(limit)).await?;
    let hello = adapter.hello().clone();
    adapter.end(StopReason::Finished).await;
    Ok(hello)
}
