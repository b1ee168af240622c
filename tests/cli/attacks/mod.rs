//! Attacks on the promises of SECURITY.md, by targets, other users, untrusted files and machines without resources. Each
//! file tests one promise.

mod bounds;
mod discovery;
mod ends;
mod files;
mod listeners;
mod machine;
mod probes;
mod secrets;
mod stdio_client;
mod text;
mod verdicts;

/// Returns whether this test can act as two users. Otherwise it prints that the test is skipped.
fn has_two_users() -> bool {
    let is_root = nix::unistd::geteuid().is_root();
    if !is_root {
        crate::sandbox::skip("only root can act as another user");
    }
    is_root
}
