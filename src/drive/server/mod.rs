//! Servers under test: their fixture, the connection to them, and the steps performed on it.

mod altered;
pub(crate) mod at_once;
pub(crate) mod call_each;
pub(crate) mod cancel;
pub(crate) mod connection;
pub(crate) mod exchange;
pub(crate) mod fixture;
pub(crate) mod get_stream;
pub(crate) mod headers;
pub(crate) mod http;
pub(crate) mod pace;
pub(crate) mod perform;
pub(crate) mod refusal;
#[cfg(test)]
mod scripted;
pub(crate) mod tls;
