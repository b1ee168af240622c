//! The requirements that every test checks, although no case names them there.

use super::RequirementId;

/// A folder of requirements, and a name in it.
pub type Name = (&'static str, &'static str);

/// On all lines that a server writes to its standard output.
pub const ONLY_MESSAGES: Name = ("stdio", "nothing-but-messages");
/// On the encoding of messages.
pub const ENCODING: Name = ("messages", "utf-8");
/// On the types of messages.
pub const TYPES: Name = ("messages", "types-kept");
/// On the pages of a list.
pub const END: Name = ("tools", "list-ends");
/// On the requests that a client cancels.
pub const CANCELLED: Name = ("lifecycle", "cancelled-request-known");
/// On the requests that a server cancels, in sessions and without.
pub const CANCELLED_BY_SERVER: [Name; 2] =
    [("lifecycle", "own-requests-cancelled"), ("lifecycle", "no-cancellation-by-server")];
/// On the answer to the handshake.
pub const HANDSHAKE: Name = ("lifecycle", "server-named");
/// On the lines of messages, of a server and of a client.
pub const ONE_LINE: [Name; 2] = [("stdio", "one-message-a-line"), ("stdio", "one-line-a-message")];
/// On the ids of results.
pub const ID: Name = ("messages", "result-has-the-id");
/// On requests whose id is null.
pub const NOT_NULL: Name = ("base", "id-not-null");
/// On progress.
pub const PROGRESS: Name = ("base", "progress-increases");
/// On progress after a response.
pub const PROGRESS_ENDS: Name = ("base", "progress-stops");
/// On the number of responses.
pub const ONCE: Name = ("messages", "request-answered");
/// On log messages.
pub const LOGGING: Name = ("base", "logging-declared");
/// On responses on the stream of a GET request.
pub const GET_STREAM: Name = ("lifecycle", "get-stream-no-response");
/// On requests to a client that did not declare them, in sessions and without.
pub const DECLARED: [Name; 2] = [("lifecycle", "negotiated-capabilities-only"), ("sep-2322", "only-declared-requests")];

/// All of them.
const IMPLIED: [Name; 19] = [
    ONLY_MESSAGES,
    HANDSHAKE,
    ENCODING,
    TYPES,
    END,
    CANCELLED,
    CANCELLED_BY_SERVER[0],
    CANCELLED_BY_SERVER[1],
    ONE_LINE[0],
    ONE_LINE[1],
    DECLARED[0],
    DECLARED[1],
    ID,
    NOT_NULL,
    PROGRESS,
    PROGRESS_ENDS,
    ONCE,
    LOGGING,
    GET_STREAM,
];

/// Returns whether a requirement is checked in every test.
pub fn is_implied(requirement: &RequirementId) -> bool {
    IMPLIED.iter().any(|(folder, name)| *requirement == RequirementId::within(folder, name))
}
