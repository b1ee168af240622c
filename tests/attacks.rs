//! Attacks on what SECURITY.md promises, each small enough for every run.

#![cfg(target_os = "linux")]

#[path = "attacks/bounds.rs"]
mod bounds;
#[path = "cli/desk.rs"]
#[expect(dead_code, reason = "other tests want more of a desk")]
mod desk;
#[path = "attacks/ends.rs"]
mod ends;
#[path = "attacks/secrets.rs"]
mod secrets;
#[path = "attacks/text.rs"]
mod text;
