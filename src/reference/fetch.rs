//! What some mutants do with references to other documents: fetch them, as nobody should.
//!
//! Takes a URI, gives a document. Must not be reachable without one of them.

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use jsonschema::{Draft, Retrieve, Uri};
use serde_json::Value;

use crate::mutant::Mutant;
use crate::nesting;

const PATIENCE: Duration = Duration::from_secs(2);
const MOST: u64 = 1 << 20;

/// Fetches over plain HTTP.
#[derive(Clone, Copy)]
pub(crate) struct Fetch;

impl Fetch {
    /// Whether this mutant fetches.
    pub(crate) fn of(mutant: Option<Mutant>) -> Option<Self> {
        matches!(mutant, Some(Mutant::RefFetched | Mutant::PrefixCheckOnRef)).then_some(Self)
    }
}

/// Looks up what a validator has no business with, and forgets what it found.
pub(crate) fn visit(schema: &Value, mutant: Option<Mutant>) {
    let keyword = match mutant {
        Some(Mutant::DynamicRefFetched) => "$dynamicRef",
        Some(Mutant::DialectFetched) => "$schema",
        Some(Mutant::IdFetched) => "$id",
        Some(Mutant::FileRead) => "$ref",
        _ => return,
    };
    let mut pending = vec![schema];
    while let Some(value) = pending.pop() {
        let uri = value.get(keyword).and_then(Value::as_str).unwrap_or_default();
        match (mutant, uri.strip_prefix("file://")) {
            (Some(Mutant::FileRead), Some(path)) => drop(std::fs::read(path)),
            (Some(Mutant::FileRead), None) | (_, Some(_)) => {}
            (_, None) => look_at(uri),
        }
        pending.extend(Draft::default().subresources_of(value));
    }
}

/// Fetches, and forgets what it found.
pub(crate) fn look_at(uri: &str) {
    drop(jsonschema::uri::from_str(uri).map(|uri| Fetch.retrieve(&uri)));
}

impl Retrieve for Fetch {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        let (authority, path) = uri
            .as_str()
            .strip_prefix("http://")
            .map(|rest| rest.split_once('/').unwrap_or((rest, "")))
            .ok_or("only http: is fetched")?;
        // Only a canary on this machine is ever worth a visit.
        let (host, port) = authority.rsplit_once(':').ok_or("a canary has a port")?;
        if !["127.0.0.1", "localhost"].contains(&host) {
            return Err("only this machine is fetched from".into());
        }
        let mut stream = TcpStream::connect((host, port.parse()?))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(stream, "GET /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n")?;
        let mut reply = Vec::new();
        stream.take(MOST).read_to_end(&mut reply)?;
        let start = reply.iter().position(|byte| *byte == b'{').ok_or("no document")?;
        let end = reply.iter().rposition(|byte| *byte == b'}').ok_or("no document")?;
        Ok(nesting::read(&reply[start..=end])?)
    }
}
