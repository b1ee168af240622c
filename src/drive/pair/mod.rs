//! Pairs: the client of one target, connected with the server of another through a proxy that records and changes nothing.

mod compare;
mod encoding;
mod events;
mod http;
mod proxy;
pub(crate) mod runner;
mod side;
mod stdio;
#[cfg(test)]
mod tests;
