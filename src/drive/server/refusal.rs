//! The refusals of a server in words: no connection, no trust in its certificate, and replies that are no MCP.
//!
//! Takes an error of the HTTP client or the head of a reply, gives one clause with a remedy. Must not know tests.

use std::error::Error;
use std::io;

use rustls::CertificateError::{
    BadSignature, Expired, ExpiredContext, NotValidForName, NotValidForNameContext, NotValidYet, NotValidYetContext,
    Revoked, UnknownIssuer,
};

use crate::model::transcript::{Message, Party};

/// The number of characters of a header that are shown.
const SHOWN: usize = 300;

/// Describes the failure of a connection, if its cause is known.
pub(crate) fn of_connection(error: &(dyn Error + 'static)) -> Option<String> {
    let causes = || std::iter::successors(Some(error), |cause| cause_of(*cause));
    if let Some(error) = causes().find_map(|cause| cause.downcast_ref::<rustls::Error>()) {
        return Some(of_certificate(error));
    }
    if causes().any(|cause| cause.to_string().starts_with("dns error")) {
        return Some("the name of its host is unknown; correct the URL".to_owned());
    }
    if causes().any(|cause| cause.to_string() == "tls handshake eof") {
        return Some("it ends the TLS handshake; if it does not speak TLS, use http://".to_owned());
    }
    let kinds = || causes().filter_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    let has = |kind| kinds().any(|one| one == kind);
    if has(io::ErrorKind::ConnectionRefused) {
        Some("connection refused: nothing listens there; start the server, or correct the host and the port".to_owned())
    } else if has(io::ErrorKind::HostUnreachable) || has(io::ErrorKind::NetworkUnreachable) {
        Some("its host cannot be reached from this machine; check the network and the URL".to_owned())
    } else {
        None
    }
}

/// Returns the cause of an error. That of an error of the system is its inner error, which `source` skips.
fn cause_of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

/// Describes a failure of TLS.
fn of_certificate(error: &rustls::Error) -> String {
    let rustls::Error::InvalidCertificate(invalid) = error else {
        return match error {
            rustls::Error::InvalidMessage(_) => {
                "it does not speak TLS there; use http:// if that is intended".to_owned()
            }
            error => format!("TLS failed: {error}"),
        };
    };
    match invalid {
        UnknownIssuer | BadSignature => {
            "its certificate is signed by an unknown authority; trust your own with --cacert FILE".to_owned()
        }
        Expired | ExpiredContext { .. } => "its certificate has expired; renew the certificate".to_owned(),
        NotValidYet | NotValidYetContext { .. } => {
            "its certificate is not valid yet; check the clocks of both machines".to_owned()
        }
        NotValidForName | NotValidForNameContext { .. } => {
            "its certificate is for another host; use the name in the certificate, or renew the certificate".to_owned()
        }
        Revoked => "its certificate was revoked; renew the certificate".to_owned(),
        other => format!("its certificate cannot be verified: {other}; trust your own with --cacert FILE"),
    }
}

/// Describes the refusal that the replies of an exchange show, if they do. `has_headers` is set if the user has given
/// headers.
pub(crate) fn of_replies(messages: &[Message], has_headers: bool) -> Option<String> {
    let reply = messages.iter().rfind(|message| message.from == Party::Target && message.status.is_some())?;
    let status = reply.status?;
    let header = |name: &str| {
        let found = reply.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.chars().take(SHOWN).collect::<String>())
    };
    let is_page = header("content-type").is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/html"));
    Some(match status {
        301 | 302 | 303 | 307 | 308 => match header("location") {
            Some(place) => {
                format!(
                    "it redirects to {place} (HTTP {status}), which casebook does not follow; give that URL instead"
                )
            }
            None => format!("it redirects (HTTP {status}) without saying where to; correct the URL"),
        },
        401 | 403 if has_headers => {
            format!("it rejects the request with its headers (HTTP {status}); check the credentials in them")
        }
        401 | 403 => format!(
            "it needs authorization (HTTP {status}); name the environment variable with the credentials: \
             --header-env Authorization=VARIABLE"
        ),
        429 => rate_limited(header("retry-after").as_deref()),
        404 if !is_message(reply) => {
            "it has no MCP endpoint at this path (HTTP 404); correct the path of the URL, often /mcp".to_owned()
        }
        405 if !is_message(reply) => {
            "it accepts no POST request at this path (HTTP 405); correct the path of the URL, often /mcp".to_owned()
        }
        _ if is_page => {
            format!("it answers with a web page (HTTP {status}), not with MCP; correct the path of the URL")
        }
        500..=599 if !is_message(reply) => format!("it fails (HTTP {status}) without an MCP message; read its log"),
        _ => return None,
    })
}

/// Describes a limit of the rate of requests.
fn rate_limited(after: Option<&str>) -> String {
    let after = after.map_or_else(String::new, |after| format!(", Retry-After: {after}"));
    format!("it is rate-limited (HTTP 429{after}); wait, and run again with fewer tests: --only PATTERN")
}

/// Returns why an exchange shows nothing of the server but a limit of the rate of requests, if so.
pub(crate) fn of_rate<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Option<String> {
    let limited = messages.into_iter().find(|message| message.from == Party::Target && message.status == Some(429))?;
    let after = limited.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
    Some(rate_limited(after.map(|(_, value)| value.as_str())))
}

/// Returns whether a reply has a JSON-RPC message.
fn is_message(reply: &Message) -> bool {
    reply.text.trim_start().starts_with('{') && reply.text.contains("\"jsonrpc\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, headers: &[(&str, &str)], text: &str) -> Option<String> {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let message = Message { status: Some(status), headers, ..Message::new(Party::Target, text) };
        of_replies(&[message], false)
    }

    #[test]
    fn reply_of_mcp_is_no_refusal() {
        let error = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no"}}"#;
        assert_eq!(reply(200, &[("content-type", "application/json")], error), None);
        assert_eq!(reply(404, &[], error), None);
        assert_eq!(reply(400, &[], ""), None);
    }

    #[test]
    fn refusal_has_its_remedy() {
        for (status, headers, text, words) in [
            (308, vec![("Location", "https://b/")], "", "redirects to https://b/ (HTTP 308)"),
            (302, vec![], "", "without saying where to"),
            (401, vec![], "{}", "--header-env Authorization=VARIABLE"),
            (404, vec![], "not found", "correct the path"),
            (405, vec![], "", "no POST request"),
            (429, vec![("retry-after", "60")], "", "rate-limited (HTTP 429, Retry-After: 60)"),
            (200, vec![("content-type", "text/html; charset=utf-8")], "<html>", "a web page"),
            (502, vec![], "bad gateway", "fails (HTTP 502)"),
        ] {
            let shown = reply(status, &headers, text).expect("a refusal");
            assert!(shown.contains(words), "{shown}");
        }
        let long = reply(302, &[("location", &"a".repeat(1000))], "").expect("a refusal");
        assert!(long.len() < 500);
    }

    #[test]
    fn cause_of_a_failed_connection_is_found_inside_of_other_errors() {
        let tls = |error: rustls::CertificateError| {
            let inner = io::Error::other(rustls::Error::InvalidCertificate(error));
            of_connection(&io::Error::other(inner)).expect("a cause")
        };
        assert!(tls(Expired).contains("expired") && tls(UnknownIssuer).contains("--cacert"));
        assert!(tls(NotValidForName).contains("another host"));
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert!(of_connection(&refused).is_some_and(|words| words.contains("connection refused")));
        assert_eq!(of_connection(&io::Error::other("unknown")), None);
    }
}
