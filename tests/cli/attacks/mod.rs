//! Attacks on what SECURITY.md promises: what a target, another user, a file of a stranger or a lack of room can do.
//! Each file is about one promise.

mod bounds;
mod discovery;
mod ends;
mod files;
mod listeners;
mod machine;
mod probes;
mod secrets;
mod text;
mod verdicts;
mod words;

/// Returns whether this test can act as two users; prints that it is skipped where it cannot.
fn has_two_users() -> bool {
    let is_root = nix::unistd::geteuid().is_root();
    if !is_root {
        crate::sandbox::skip("only root can act as another user");
    }
    is_root
}
