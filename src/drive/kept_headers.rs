//! Headers as they are kept in a record: names in lower case, and bounded texts.
//!
//! Takes the headers of HTTP messages, gives pairs of texts. Must not know the meaning of a header.

use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method};

use crate::model::transcript::{HEADER_BYTES, HEADERS, SESSION_HEADER};

/// Header names, in lower case, with their values.
pub(crate) type Headers = Vec<(String, String)>;

/// Returns the headers of a request, with the method first as in HTTP/2.
pub(crate) fn of_request(method: &Method, headers: &HeaderMap) -> Headers {
    let method = (":method".to_owned(), text(method.as_str().as_bytes()));
    std::iter::once(method).chain(headers.iter().take(HEADERS).map(kept)).collect()
}

/// Returns the headers of a reply, beginning with those that describe the body.
pub(crate) fn of_reply(headers: &HeaderMap) -> Headers {
    let telling = |name: &HeaderName| name == CONTENT_TYPE || name == SESSION_HEADER;
    let first = headers.iter().filter(|(name, _)| telling(name));
    let rest = headers.iter().filter(|(name, _)| !telling(name));
    first.chain(rest).take(HEADERS).map(kept).collect()
}

/// Returns a header's value as text.
pub(crate) fn text(value: &[u8]) -> String {
    let kept = &value[..value.len().min(HEADER_BYTES)];
    std::str::from_utf8(kept).map_or_else(|_| String::from_utf8_lossy(kept).into_owned(), str::to_owned)
}

fn kept((name, value): (&HeaderName, &HeaderValue)) -> (String, String) {
    (name.as_str().to_owned(), text(value.as_bytes()))
}
