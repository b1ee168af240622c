//! Attacks on what SECURITY.md promises: what a target, another user, a file of a stranger or a lack of room can do.
//! Each file is about one promise.

mod bounds;
mod discovery;
mod ends;
mod files;
mod limits;
mod listeners;
mod machine;
mod probes;
mod secrets;
mod text;
mod verdicts;
mod words;
