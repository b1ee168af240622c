//! The checks of a stateless server before it evaluates the method.
//!
//! Takes a request and its headers, gives the declared capabilities or the error. Must not know methods.

use hyper::HeaderMap;

use super::server::{Call, Fault, INVALID_PARAMS};
use crate::jsonrpc::text::{Members, is_object, string};
use crate::jsonrpc::text::{object, quoted};
use crate::model::spec::Revision;

const HEADER_MISMATCH: i64 = -32020;
const MISSING_CAPABILITY: i64 = -32021;
const UNSUPPORTED_VERSION: i64 = -32022;

/// Returns the capabilities that the client declares with a request, as JSON.
pub(super) fn checked<'a>(call: &Call<'a>, headers: Option<&HeaderMap>, revision: Revision) -> Result<&'a str, Fault> {
    if call.method == "initialize" {
        // The error names the supported revision for an older client. A client that supports both lifecycles stays in
        // the newer one.
        let requested = call.params.get("protocolVersion").and_then(string);
        return Err(unsupported(&requested.unwrap_or_default(), revision));
    }
    let missing = |what: &str| Fault::new(400, INVALID_PARAMS, format!("`_meta` lacks a valid `{what}`"));
    let meta = call.params.get("_meta").and_then(Members::of).ok_or_else(|| missing("_meta"))?;
    let of_meta = |key: &str| meta.get(&format!("io.modelcontextprotocol/{key}"));
    let version = of_meta("protocolVersion").and_then(string);
    let capabilities = of_meta("clientCapabilities").filter(|capabilities| is_object(capabilities));
    if let Some(headers) = headers {
        mirrors(call, headers, version.as_deref())?;
    }
    let version = version.ok_or_else(|| missing("protocolVersion"))?;
    if version != revision.name() {
        return Err(unsupported(&version, revision));
    }
    capabilities.ok_or_else(|| missing("clientCapabilities"))
}

/// The error for a client that did not declare the elicitation that a tool needs.
pub(super) fn lacks_elicitation() -> Fault {
    let data = r#"{"requiredCapabilities":{"elicitation":{"form":{}}}}"#.to_owned();
    let message = "the client declared no elicitation in form mode";
    Fault { data: Some(data), ..Fault::new(400, MISSING_CAPABILITY, message) }
}

fn unsupported(requested: &str, revision: Revision) -> Fault {
    let data = object([("supported", format!("[{}]", quoted(revision.name()))), ("requested", quoted(requested))]);
    Fault { data: Some(data), ..Fault::new(400, UNSUPPORTED_VERSION, "Unsupported protocol version") }
}

/// Checks that the headers agree with the body.
fn mirrors(call: &Call<'_>, headers: &HeaderMap, version: Option<&str>) -> Result<(), Fault> {
    let name = if call.method == "tools/call" { call.params.get("name").and_then(string) } else { None };
    let method = Some(call.method.as_str());
    for (header, body) in [("mcp-protocol-version", version), ("mcp-method", method), ("mcp-name", name.as_deref())] {
        let Some(body) = body else { continue };
        let said = headers.get(header).and_then(|value| decoded(value.as_bytes()));
        if said.as_deref() != Some(body) {
            return Err(Fault::new(400, HEADER_MISMATCH, format!("the header `{header}` differs from the body")));
        }
    }
    Ok(())
}

/// Decodes a header's value from the Base64 form of the specification, if it has that form.
fn decoded(value: &[u8]) -> Option<String> {
    let wrapped = value.strip_prefix(b"=?base64?").and_then(|rest| rest.strip_suffix(b"?="));
    let bytes = wrapped.map_or_else(|| Some(value.to_vec()), base64)?;
    String::from_utf8(bytes).ok()
}

fn base64(code: &[u8]) -> Option<Vec<u8>> {
    let padding = code.iter().rev().take_while(|byte| **byte == b'=').count();
    if !code.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for byte in &code[..code.len() - padding] {
        let sextet = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(sextet)) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).expect("eight bits"));
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_header_is_decoded_and_invalid_one_ignored() {
        assert_eq!(decoded(b"t"), Some("t".to_owned()));
        assert_eq!(decoded(b"=?base64?w6Q=?="), Some("ä".to_owned()));
        assert_eq!(decoded(b"=?base64?Zm9vYmFy?="), Some("foobar".to_owned()));
        assert_eq!(decoded("=?base64?8J+mgA==?=".as_bytes()), Some("🦀".to_owned()));
        for broken in ["=?base64?w6Q?=", "=?base64?w*Q=?=", "=?base64?====?=", "=?base64?/w==?="] {
            assert_eq!(decoded(broken.as_bytes()), None, "{broken}");
        }
    }
}
