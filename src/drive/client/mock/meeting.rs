//! Calls that begin at the same time.
//!
//! Takes the messages of a client, and delays its answers. Must not know what a call returns.

use std::time::Duration;

use tokio::time::timeout;

use super::server::Server;
use crate::jsonrpc::text::{Members, string};
use crate::model::case::{Step, When};

/// The time that a call waits for those that begin at the same time.
const MEETING: Duration = Duration::from_millis(300);

impl Server {
    /// Waits with the answer to a call until the calls that begin at the same time have arrived, so that what one of them gets
    /// does not depend on the speed of the client. For a client that sends them one after the other, the first one waits a
    /// short time.
    pub(super) async fn meet(&self, text: &str) {
        let is_parallel = |step: &&Step| matches!(step.when, When::Call { parallel: true, .. });
        let others = self.test.steps.iter().filter(is_parallel).count();
        let method = || Members::of(text).and_then(|one| string(one.get("method")?));
        if others > 0 && method().is_some_and(|method| method == "tools/call") {
            self.begun.send_modify(|begun| *begun += 1);
            let mut begun = self.begun.subscribe();
            if timeout(MEETING, begun.wait_for(|begun| *begun > others)).await.is_err() {
                self.begun.send_replace(others);
            }
        }
    }
}
