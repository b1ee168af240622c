//! A client that fetches other documents, which only mutants use.
//!
//! It takes a URI and returns a document. A strict policy must not be able to reach it.

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use jsonschema::{Draft, Retrieve, Uri};
use serde_json::Value;

use crate::nesting;

const PATIENCE: Duration = Duration::from_secs(2);
const MOST: u64 = 1 << 20;

/// A retriever that fetches over plain HTTP.
#[derive(Clone, Copy)]
pub(crate) struct Fetch;

/// Fetches each URI that is the value of a keyword, and discards the documents.
pub(crate) fn visit(schema: &mut Value, keyword: &str) {
    uris(schema, keyword).filter(|uri| !uri.starts_with("file://")).for_each(look_at);
}

/// Requests each URI with this scheme that is the value of a `$ref` from the proxy of the environment, as a client does
/// that refuses the addresses of this machine. The documents are discarded.
pub(crate) fn visit_through_proxy(schema: &mut Value, scheme: &str) {
    uris(schema, "$ref").filter(|uri| uri.starts_with(scheme)).for_each(|uri| drop(ask_proxy(uri)));
}

fn ask_proxy(uri: &str) -> Result<(), Box<dyn Error>> {
    let (scheme, rest) = uri.split_once("://").ok_or("no URL")?;
    let host = rest.split(['/', '#']).next().unwrap_or_default();
    // Mutants may only fetch canaries, whose names exist nowhere.
    let proxy =
        std::env::var("http_proxy").ok().filter(|_| host.ends_with(".invalid")).ok_or("no canary with a name")?;
    let mut stream = TcpStream::connect(proxy.strip_prefix("http://").ok_or("no HTTP proxy")?)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    match scheme {
        "https" => write!(stream, "CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n")?,
        _ => write!(stream, "GET {uri} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?,
    }
    // The first byte of the reply is enough.
    stream.read_exact(&mut [0])?;
    Ok(())
}

/// Reads each file that a reference names, and discards the contents.
pub(crate) fn read_files(schema: &mut Value) {
    uris(schema, "$ref").filter_map(|uri| uri.strip_prefix("file://")).for_each(|path| drop(std::fs::read(path)));
}

/// Returns the strings that are the value of a keyword in a schema or its subschemas.
fn uris<'a>(schema: &'a Value, keyword: &str) -> impl Iterator<Item = &'a str> {
    let (mut found, mut pending) = (vec![], vec![schema]);
    while let Some(schema) = pending.pop() {
        found.extend(schema.get(keyword).and_then(Value::as_str));
        pending.extend(Draft::default().subresources_of(schema));
    }
    found.into_iter()
}

/// Fetches a URI and discards the document.
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
        // Mutants may only fetch canaries, which are on this machine.
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
