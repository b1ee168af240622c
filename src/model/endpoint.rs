//! The address of a running server, with the headers and the roots of trust that requests to it need.
//!
//! Plain data. The values of headers come from the environment and are not in it, so that no copy of an endpoint has them.
//! Must not know how a connection is opened.

use camino::Utf8PathBuf;

/// The address of a running server, for Streamable HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// The URL, with `http://` or `https://`.
    pub url: String,
    /// The headers of each request, in addition to those that the protocol requires.
    pub headers: Vec<Header>,
    /// A PEM file with roots that are trusted in addition to those of the platform.
    pub roots: Option<Utf8PathBuf>,
}

impl Endpoint {
    /// An endpoint without headers.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }

    /// Returns the host of the URL, without its port.
    pub fn host(&self) -> &str {
        let (host, _) = split_port(authority(&self.url));
        host.trim_matches(['[', ']'])
    }

    /// Returns the port of the URL, if it names one.
    pub fn port(&self) -> Option<&str> {
        split_port(authority(&self.url)).1
    }

    /// Returns whether the host is this machine.
    pub fn is_local(&self) -> bool {
        let host = self.host();
        let is_loopback = host.parse::<core::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        is_loopback || host.eq_ignore_ascii_case("localhost")
    }

    /// Returns whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"))
    }
}

/// Returns the part of a URL between its scheme and its path, without a user.
fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !port.is_empty() => (host, Some(port)),
        _ => (authority, None),
    }
}

/// A header of each request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The name.
    pub name: String,
    /// The environment variable that has the value.
    pub variable: String,
}

/// The headers that casebook sets itself, and that a test may change.
const OWN: [&str; 10] = [
    "accept",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Returns why a name cannot be that of an additional header, if so.
pub fn why_no_header(name: &str) -> Option<String> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let lower = name.to_ascii_lowercase();
    if name.is_empty() || !name.bytes().all(is_token) {
        Some("a header name consists of letters, digits and `-`".to_owned())
    } else if OWN.contains(&lower.as_str()) || lower.starts_with("mcp-") {
        Some(format!("casebook sets the header `{name}` itself"))
    } else {
        None
    }
}

/// Returns why a text cannot be the value of a header, if so. The message does not have the text.
pub fn why_no_value(value: &str) -> Option<&'static str> {
    let is_allowed = |one: char| one == '\t' || one == ' ' || one.is_ascii_graphic();
    if value.trim().is_empty() {
        Some("its value is empty")
    } else if !value.chars().all(is_allowed) {
        Some("its value has a line break or another character that no header can have")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_and_port_are_those_of_the_connection() {
        for (url, host, port, is_local) in [
            ("http://127.0.0.1:3000/mcp", "127.0.0.1", Some("3000"), true),
            ("http://localhost/mcp", "localhost", None, true),
            ("https://LOCALHOST:1", "LOCALHOST", Some("1"), true),
            ("https://[::1]:8443/", "::1", Some("8443"), true),
            ("https://example.com/a?b=localhost", "example.com", None, false),
            ("https://127.0.0.1.example.com/", "127.0.0.1.example.com", None, false),
            ("https://localhost@example.com/", "example.com", None, false),
            ("https://example.com#@127.0.0.1/", "example.com", None, false),
            ("https://10.0.0.1:80/", "10.0.0.1", Some("80"), false),
        ] {
            let endpoint = Endpoint::new(url);
            assert_eq!((endpoint.host(), endpoint.port(), endpoint.is_local()), (host, port, is_local), "{url}");
        }
    }

    #[test]
    fn header_of_casebook_cannot_be_replaced() {
        assert_eq!(why_no_header("X-Api-Key"), None);
        for wrong in ["", "a b", "a:", "Content-Type", "MCP-Protocol-Version", "host", "ä"] {
            assert!(why_no_header(wrong).is_some(), "{wrong}");
        }
        assert_eq!(why_no_value("Bearer abc"), None);
        for wrong in ["", " ", "a\nb", "a\r\nB: c", "ä"] {
            assert!(why_no_value(wrong).is_some(), "{wrong}");
        }
    }
}
