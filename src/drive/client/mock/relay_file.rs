//! The file of a relay: the address of a listener, and the words that open a connection there.
//!
//! Takes an address, gives a file that only this user can read. Must not know what the connections carry.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::net::SocketAddr;

use tempfile::NamedTempFile;

use crate::drive::process::session::scratch;
use crate::drive::token::token;

/// The number of times that a client can start its server. Each relay uses up a word.
pub(crate) const RELAYS: usize = 32;
/// The longest line that can be a word.
pub(crate) const MAX_WORD: u64 = 256;
/// Sent to a relay with a valid word. Without it, the connection ends and the relay tries its next word.
pub(crate) const WELCOME: &[u8] = b"\n";

/// Writes fresh words to a file, with the address in the first line. Returns the words too.
///
/// # Errors
/// Errors of writing the file.
pub(crate) fn relay_file(address: SocketAddr) -> io::Result<(NamedTempFile, BTreeSet<String>)> {
    let words: Vec<_> = (0..RELAYS).map(|_| token()).collect();
    let mut file = tempfile::Builder::new().prefix("casebook-").suffix(".relay").tempfile_in(scratch())?;
    file.write_all(format!("{address}\n{}\n", words.join("\n")).as_bytes())?;
    Ok((file, words.into_iter().collect()))
}
