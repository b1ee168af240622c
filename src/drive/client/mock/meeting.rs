//! Calls that begin at the same time.
//!
//! Takes the messages of a client, and delays its answers. Must not know what a call returns.

use std::time::Duration;

use tokio::time::timeout;

use super::server::Server;
use crate::drive::client::split::groups;
use crate::jsonrpc::text::{Members, string};
use crate::model::case::{Step, When};

/// The time that a call waits for those that begin at the same time.
const MEETING: Duration = Duration::from_millis(300);

impl Server {
    /// Waits with the answer to a call until the calls that begin at the same time have arrived, so that what one of them gets
    /// does not depend on the speed of the client. For a client that sends them one after the other, the first one waits a
    /// short time.
    pub(super) async fn meet(&self, text: &str) {
        if let Some(others) = self.others(text) {
            self.begun.send_modify(|begun| *begun += 1);
            let mut begun = self.begun.subscribe();
            if timeout(MEETING, begun.wait_for(|begun| *begun > others)).await.is_err() {
                self.begun.send_replace(others);
            }
        }
    }

    /// Returns the number of the calls that begin at the same time as the call in a message, if there are any.
    fn others(&self, text: &str) -> Option<usize> {
        let together: Vec<_> = groups(&self.test.steps).filter(|group| group.len() > 1).collect();
        let called = called(text).filter(|_| !together.is_empty())?;
        let calls = |step: &Step| matches!(&step.when, When::Call { tool, .. } if *tool == called);
        together.iter().find(|group| group.iter().any(calls)).map(|group| group.len() - 1)
    }
}

/// Returns the tool that a message calls.
fn called(text: &str) -> Option<String> {
    let message = Members::of(text)?;
    string(message.get("method")?).filter(|method| method == "tools/call")?;
    string(Members::of(message.get("params")?)?.get("name")?)
}
