//! Attacks on what SECURITY.md promises, each small enough for every run: what a target, another user, a file of a
//! stranger or a lack of room can do. Each file is about one promise.

#![cfg(target_os = "linux")]

#[path = "attacks/bounds.rs"]
mod bounds;
#[path = "cli/desk.rs"]
#[expect(dead_code, reason = "other tests want more of a desk")]
mod desk;
#[path = "attacks/discovery.rs"]
mod discovery;
#[path = "attacks/ends.rs"]
mod ends;
#[path = "attacks/files.rs"]
mod files;
#[path = "attacks/limits.rs"]
mod limits;
#[path = "attacks/listeners.rs"]
mod listeners;
#[path = "attacks/machine.rs"]
mod machine;
#[path = "attacks/probes.rs"]
mod probes;
#[path = "attacks/secrets.rs"]
mod secrets;
#[path = "attacks/text.rs"]
mod text;
#[path = "attacks/verdicts.rs"]
mod verdicts;
#[path = "attacks/words.rs"]
mod words;
