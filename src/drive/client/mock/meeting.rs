//! Calls that begin at the same time.
//!
//! Takes the messages of a client, and delays its answers. Must not know what a call returns.

use std::time::Duration;

use tokio::time::timeout;

use super::server::Server;
use crate::jsonrpc::text::{Members, string};
use crate::model::case::When;

/// The time that a call waits for those that begin at the same time.
const MEETING: Duration = Duration::from_millis(300);

impl Server {
    /// Waits with the answer to a call until the calls that begin at the same time have arrived, so that what one of them gets
    /// does not depend on the speed of the client. A client that sends them one after the other waits a short time.
    pub(super) async fn meet(&self, text: &str) {
        let together =
            self.test.steps.iter().filter(|step| matches!(step.when, When::Call { parallel: true, .. })).count();
        let is_call =
            || Members::of(text).and_then(|one| string(one.get("method")?)).is_some_and(|name| name == "tools/call");
        if together > 0 && is_call() {
            self.begun.send_modify(|begun| *begun += 1);
            _ = timeout(MEETING, self.begun.subscribe().wait_for(|begun| *begun > together)).await;
        }
    }
}
