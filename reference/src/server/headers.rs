//! The HTTP headers of a request: their own validity, and their agreement with the body.
//!
//! The module takes headers and a request and returns a fault. It must not know the bodies of responses, nor the
//! meaning of methods.

use hyper::header::{self, HeaderMap};
use serde_json::Value;

use crate::message::{Fault, Request};
use crate::parameters::{agrees, decoded};
use crate::policy::TransportPolicy;
use crate::revision::Revision;
use crate::server::Server;

const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// Refuses requests from pages of other origins. A browser sets both headers itself.
pub(crate) fn check_origin(headers: &HeaderMap, port: u16, policy: Option<&TransportPolicy>) -> Result<(), String> {
    let is_own = |host: &str| {
        let name = host.strip_suffix(&format!(":{port}")).unwrap_or(host);
        is_loopback(name)
    };
    let named = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if !named.is_some_and(is_own) && !policy.is_some_and(|policy| policy.trusts_named_host) {
        return Err("requests for this host are refused".to_owned());
    }
    for origin in headers.get_all(header::ORIGIN) {
        let host = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
        let name = host.map(|host| match host.rsplit_once(':') {
            Some((name, port)) if port.parse::<u16>().is_ok() => name,
            _ => host,
        });
        let is_trusted = |policy: &TransportPolicy| !policy.checks_origin || policy.trusts_named_host && host == named;
        if !name.is_some_and(is_loopback) && !policy.is_some_and(is_trusted) {
            return Err("requests from this origin are refused".to_owned());
        }
    }
    Ok(())
}

fn is_loopback(name: &str) -> bool {
    matches!(name, "127.0.0.1" | "localhost" | "[::1]")
}

/// Checks the media types that the client sends and accepts.
pub(crate) fn check_media(headers: &HeaderMap) -> Result<(), (u16, &'static str)> {
    let listed = |name| headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).flat_map(|v| v.split(','));
    let essence = |media: &str| media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if !listed(header::CONTENT_TYPE).any(|media| essence(media) == "application/json") {
        return Err((415, "the body must be application/json"));
    }
    let takes = |wanted: &str, any: &str| {
        listed(header::ACCEPT).map(essence).any(|media| media == wanted || media == any || media == "*/*")
    };
    if !takes("application/json", "application/*") || !takes("text/event-stream", "text/*") {
        return Err((406, "the client must accept application/json and text/event-stream"));
    }
    Ok(())
}

/// Checks the version in the header of a request in a session, if there is one.
pub(crate) fn check_version(headers: &HeaderMap, revision: Revision) -> Result<(), Fault> {
    match headers.get(VERSION) {
        Some(version) if version != revision.name() => {
            Err(Fault::invalid_request(format!("MCP-Protocol-Version must be {}", revision.name())))
        }
        _ => Ok(()),
    }
}

/// Checks that the headers of a stateless request agree with its body.
pub(crate) fn check(headers: &HeaderMap, request: &Request, server: &Server) -> Result<(), Fault> {
    let policy = &server.fixture.policy.transport;
    let checked_meta = server.check_meta(request);
    let version =
        request.params.as_ref().and_then(|params| params.pointer("/_meta/io.modelcontextprotocol~1protocolVersion"));
    if request.method == "initialize" || !policy.checks_headers {
        return checked_meta.map(drop);
    }
    if let Some(version) = version.filter(|version| version.is_string())
        && policy.checks_version_header
    {
        repeats(headers, VERSION, version, false)?;
    }
    checked_meta?;
    repeats(headers, METHOD, &Value::String(request.method.clone()), false)?;
    let params = request.params.as_ref().unwrap_or(&Value::Null);
    match (request.method.as_str(), params.get("name")) {
        ("tools/call", Some(name @ Value::String(tool))) => {
            if !policy.finds_name_header {
                return Err(Fault::header("Mcp-Name is missing"));
            }
            repeats(headers, NAME, name, policy.decodes_names)?;
            check_parameters(headers, params.get("arguments"), tool, server)
        }
        _ => Ok(()),
    }
}

fn check_parameters(headers: &HeaderMap, arguments: Option<&Value>, tool: &str, server: &Server) -> Result<(), Fault> {
    let policy = &server.fixture.policy.transport;
    let tool = server.fixture.tools.iter().find(|known| known.name == tool && policy.checks_parameters);
    for parameter in tool.into_iter().flat_map(|tool| &tool.parameters) {
        match parameter.value(arguments) {
            // An array or object cannot be encoded in a header, and the schema refuses it.
            Some(Value::Array(_) | Value::Object(_)) => {}
            Some(Value::Number(number)) if !policy.compares_numbers => {
                repeats(headers, &parameter.header, &Value::String(number.to_string()), true)?;
            }
            Some(value) => {
                let is_decoded = policy.decodes_parameters || !value.is_string();
                repeats(headers, &parameter.header, value, is_decoded)?;
            }
            None if policy.expects_null && parameter.is_null(arguments) => {
                return Err(Fault::header(format!("{} is missing", parameter.header)));
            }
            None if policy.expects_missing && !parameter.is_null(arguments) => {
                return Err(Fault::header(format!("{} is missing", parameter.header)));
            }
            None if headers.contains_key(&parameter.header) => {
                return Err(Fault::header(format!("{} repeats an argument that is absent", parameter.header)));
            }
            None => {}
        }
    }
    Ok(())
}

/// Checks that a header is present once and has the same value as the body.
fn repeats(headers: &HeaderMap, name: &str, value: &Value, is_encoded: bool) -> Result<(), Fault> {
    let mut found = headers.get_all(name).iter();
    let (Some(header), None) = (found.next(), found.next()) else {
        return Err(Fault::header(format!("{name} must be present exactly once")));
    };
    let text = header.to_str().map_err(|_| Fault::header(format!("{name} has invalid characters")))?;
    let same = if is_encoded {
        decoded(text).and_then(|_| agrees(text, value)).map_err(|reason| Fault::header(format!("{name}: {reason}")))?
    } else {
        Some(text) == value.as_str()
    };
    if same { Ok(()) } else { Err(Fault::header(format!("{name} differs from the body"))) }
}
