//! The choice of a server by the revision of a message, for a mock server that speaks several revisions.
//!
//! Takes a message, gives the server of its revision. Must not know fixtures or transports.

use std::sync::Arc;

use super::server::{Incoming, Server};
use crate::jsonrpc::text::{Members, string};
use crate::model::spec::Revision;

/// The member of `_meta` with the revision of a request without a session.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// Returns the server that handles a message: that of its session, that of the revision that it names, or else the
/// first.
pub(super) fn of_message(first: &Arc<Server>, incoming: Incoming<'_>) -> Arc<Server> {
    let all = || first.all();
    let chosen = if first.others.is_empty() {
        None
    } else if let Some(session) = incoming.session {
        first.of_session(session).or_else(|| all().find(|one| !one.is_stateless()))
    } else {
        let message = Members::of(incoming.text).unwrap_or_default();
        let params = message.get("params").and_then(Members::of).unwrap_or_default();
        if message.get("method").and_then(string).as_deref() == Some("initialize") {
            let requested = params.get("protocolVersion").and_then(string).unwrap_or_default();
            let offered: Vec<_> = all().map(|one| one.revision).collect();
            let agreed = Revision::agreed(&offered, &requested);
            all().find(|one| Some(one.revision) == agreed)
        } else if let Some(version) =
            params.get("_meta").and_then(Members::of).and_then(|meta| string(meta.get(VERSION)?))
        {
            let named = all().find(|one| one.revision.name() == version && one.is_stateless());
            named.or_else(|| all().find(|one| one.is_stateless()))
        } else {
            None
        }
    };
    Arc::clone(chosen.unwrap_or(first))
}
