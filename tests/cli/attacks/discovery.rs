//! A name selects a target of the current repository or an embedded one, never one of another user.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::process::Command;

use super::has_two_users;
use crate::sandbox::{Finished, Sandbox};

/// The user id of `nobody`, who is not trusted.
const NOBODY: u32 = 65534;

/// Creates a sandbox with two targets above the folder `shared/mine`; one has the name of an embedded target.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let trap = format!("touch {}", sandbox.path().join("executed").display());
    sandbox.script("shared/targets/python-sdk", &trap, "");
    sandbox.script("shared/targets/theirs", &trap, "");
    sandbox.write("shared/mine/notes", "");
    fs::create_dir(sandbox.path().join("bin")).expect("a folder");
    sandbox
}

fn open_to_all(sandbox: &Sandbox, name: &str) {
    fs::set_permissions(sandbox.path().join(name), fs::Permissions::from_mode(0o1777)).expect("own file");
}

/// A command in a folder, on a machine without any SDK.
fn command(sandbox: &Sandbox, folder: &str, arguments: &str) -> Command {
    let mut command = sandbox.command(arguments);
    // With only these two programs, the embedded target cannot be set up.
    for name in ["sh", "touch"] {
        _ = std::os::unix::fs::symlink(format!("/bin/{name}"), sandbox.path().join("bin").join(name));
    }
    command
        .current_dir(sandbox.path().join(folder))
        .env("PATH", sandbox.path().join("bin"))
        .env_remove("CASEBOOK_TRUST");
    command
}

fn run(sandbox: &Sandbox, folder: &str, arguments: &str) -> Finished {
    Finished::of(&mut command(sandbox, folder, arguments))
}

fn was_executed(sandbox: &Sandbox) -> bool {
    let was = sandbox.path().join("executed");
    was.exists() && fs::remove_file(was).is_ok()
}

#[test]
fn targets_above_a_folder_without_repository_are_not_used() {
    let sandbox = sandbox();
    open_to_all(&sandbox, "shared");
    let finished = run(&sandbox, "shared/mine", "run python-sdk");
    assert!(!was_executed(&sandbox));
    finished.exits(4).stderr_has(&["target python-sdk: embedded", "cannot set up python-sdk"]);
    run(&sandbox, "shared/mine", "run theirs").exits(2).stderr_has(&["there is no target `theirs`"]);
}

#[test]
fn targets_in_a_folder_open_to_all_are_not_used() {
    let sandbox = sandbox();
    // Every user can also turn this folder into a repository.
    sandbox.write("shared/.git/HEAD", "");
    open_to_all(&sandbox, "shared");
    for folder in ["shared/mine", "shared"] {
        let finished = run(&sandbox, folder, "run python-sdk");
        assert!(!was_executed(&sandbox), "{folder}");
        finished.exits(4).stderr_has(&[
            "/shared/targets is not used",
            "can be written to by every user",
            "pass --trust",
        ]);
        let finished = run(&sandbox, folder, "targets");
        finished.exits(0).stderr_has(&["/shared/targets is not used", "can be written to by every user"]);
        assert!(!finished.out.contains("theirs"), "{}", finished.out);
    }
    run(&sandbox, "shared/mine", "run python-sdk --trust --cases ../../cases").exits(4);
    assert!(was_executed(&sandbox));
}

#[test]
fn targets_of_another_user_need_trust_or_a_path() {
    if !has_two_users() {
        return;
    }
    let sandbox = sandbox();
    sandbox.write("shared/.git/HEAD", "");
    sandbox.write("shared/targets/shared/python/adapter.py", "");
    for foreign in [
        "shared",
        "shared/targets",
        "shared/targets/shared",
        "shared/targets/theirs",
        "shared/targets/theirs/target.toml",
    ] {
        let path = sandbox.path().join(foreign);
        chown(&path, Some(NOBODY), None).expect("root may");
        let finished = run(&sandbox, "shared/mine", "run theirs --cases ../../cases");
        assert!(!was_executed(&sandbox), "{foreign}");
        let why = format!("{} belongs to another user (uid {NOBODY}, and you are 0)", path.display());
        finished.exits(2).stderr_has(&[&why, "name its path, pass --trust or set CASEBOOK_TRUST=1"]);
        let by_path = run(&sandbox, "shared/mine", "run ../targets/theirs --cases ../../cases");
        by_path.stderr_has(&["/shared/targets/theirs/target.toml"]);
        assert!(was_executed(&sandbox), "{foreign}, by its path");
        let mut trusted = command(&sandbox, "shared/mine", "run theirs --cases ../../cases");
        trusted.env("CASEBOOK_TRUST", "1");
        Finished::of(&mut trusted);
        assert!(was_executed(&sandbox), "{foreign}, with trust");
        chown(&path, Some(0), None).expect("root may");
    }
}

#[test]
fn search_for_targets_ends_at_the_root_of_the_repository() {
    let sandbox = sandbox();
    sandbox.write("shared/mine/.git/HEAD", "");
    sandbox.borrowed("shared/mine/targets/own", None, "");
    fs::create_dir(sandbox.path().join("shared/mine/deep")).expect("a folder");
    run(&sandbox, "shared/mine/deep", "run theirs").exits(2).stderr_has(&["there is no target `theirs`"]);
    assert!(!was_executed(&sandbox));
    let own = run(&sandbox, "shared/mine/deep", "run own --cases ../../../cases");
    own.exits(0).stderr_has(&["shared/mine/targets/own/target.toml"]);
    let own = run(&sandbox, "shared/mine", "run own --cases ../../cases");
    own.exits(0).stderr_has(&["target own: targets/own/target.toml"]);
    run(&sandbox, "shared/mine", "targets").exits(0).stdout_has(&["targets/own/target.toml", "embedded"]);
}

#[test]
fn snapshots_in_a_folder_open_to_all_are_not_written() {
    let sandbox = sandbox();
    sandbox.write("shared/.git/HEAD", "");
    sandbox.write("shared/snapshots/reference/empty", "");
    open_to_all(&sandbox, "shared");
    let arguments = "run reference --only http/server-origin --jobs 1 --accept";
    let finished = run(&sandbox, "shared/mine", arguments);
    finished.exits(0).stderr_has(&["/shared/snapshots is not used", "can be written to by every user"]);
    let snapshots = || fs::read_dir(sandbox.path().join("shared/snapshots/reference")).expect("a folder").count();
    assert_eq!(snapshots(), 1);
    run(&sandbox, "shared/mine", &format!("{arguments} --trust")).exits(0);
    assert_eq!(snapshots(), 2);
}

#[test]
fn embedded_target_unpacked_by_another_user_is_not_used() {
    let sandbox = sandbox();
    fs::remove_dir_all(sandbox.path().join("shared/targets")).expect("own file");
    run(&sandbox, "shared/mine", "run python-sdk").exits(4);
    let unpacked = sandbox.path().join("cache/casebook/targets");
    assert!(unpacked.is_dir());
    open_to_all(&sandbox, "cache/casebook/targets");
    let finished = run(&sandbox, "shared/mine", "run python-sdk");
    finished.exits(4).stderr_has(&["cannot unpack the target `python-sdk` into", "can be written to by every user"]);
}

#[test]
fn cache_of_another_user_is_neither_written_nor_pruned() {
    if !has_two_users() {
        return;
    }
    let sandbox = Sandbox::new();
    for number in 0..15 {
        sandbox.write(&format!("precious/{number}/kept"), "");
    }
    let (cache, precious) = (sandbox.path().join("cache/casebook"), sandbox.path().join("precious"));
    fs::create_dir_all(&cache).expect("a folder");
    for name in ["runs", "targets"] {
        std::os::unix::fs::symlink(&precious, cache.join(name)).expect("a link");
    }
    let entries = || fs::read_dir(&precious).expect("a folder").count();
    // The owner of the parent folder can replace the cache folder.
    for foreign in ["cache/casebook", "cache"] {
        chown(sandbox.path().join(foreign), Some(NOBODY), None).expect("root may");
        let finished = sandbox.run("run reference --cases cases --only post/letter");
        finished.exits(0).stderr_has(&[
            "no run log is written: ",
            foreign,
            "belongs to another user",
            "to write one, add --run-log FILE",
        ]);
        sandbox
            .run("run python-sdk")
            .exits(4)
            .stderr_has(&["cannot unpack the target `python-sdk` into", "belongs to another user"]);
        assert_eq!(entries(), 15, "{foreign}");
        chown(sandbox.path().join(foreign), Some(0), None).expect("root may");
    }
    sandbox.run("run reference --cases cases --only post/letter").exits(0).stderr_has(&["run log: "]);
    assert_eq!(entries(), 16, "only run logs may be pruned");
}
