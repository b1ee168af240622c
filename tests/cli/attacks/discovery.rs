//! A name selects a target of the current repository or an embedded one, and no folder that nobody named.

use std::fs;

use crate::sandbox::{Finished, Sandbox};

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

/// Runs a command in a folder, on a machine without any SDK.
fn run(sandbox: &Sandbox, folder: &str, arguments: &str) -> Finished {
    let mut command = sandbox.command(arguments);
    // With only these two programs, the embedded target cannot be set up.
    for name in ["sh", "touch"] {
        _ = std::os::unix::fs::symlink(format!("/bin/{name}"), sandbox.path().join("bin").join(name));
    }
    command.current_dir(sandbox.path().join(folder)).env("PATH", sandbox.path().join("bin"));
    Finished::of(&mut command)
}

fn was_executed(sandbox: &Sandbox) -> bool {
    let was = sandbox.path().join("executed");
    was.exists() && fs::remove_file(was).is_ok()
}

#[test]
fn targets_above_a_folder_without_repository_are_not_used() {
    let sandbox = sandbox();
    let finished = run(&sandbox, "shared/mine", "run python-sdk");
    assert!(!was_executed(&sandbox));
    finished.exits(4).stderr_has(&["target python-sdk: embedded", "cannot set up python-sdk"]);
    run(&sandbox, "shared/mine", "run theirs").exits(2).stderr_has(&["there is no target `theirs`"]);
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
fn folder_with_the_name_of_a_target_is_used_only_by_its_path() {
    let sandbox = sandbox();
    // A folder `targets/` between the current folder and the root of the repository does not count either.
    sandbox.write(".git/HEAD", "");
    for (folder, path) in [("shared/targets", "./python-sdk"), ("shared/mine", "../targets/python-sdk")] {
        let finished = run(&sandbox, folder, "run python-sdk");
        finished.exits(4).stderr_has(&["target python-sdk: embedded", "cannot set up python-sdk"]);
        assert!(!was_executed(&sandbox), "{folder}");
        run(&sandbox, folder, &format!("run {path} --cases ../../cases"));
        assert!(was_executed(&sandbox), "{path}");
    }
    run(&sandbox, "shared/mine", "run theirs").exits(2).stderr_has(&["there is no target `theirs`"]);
}

#[test]
fn cache_loses_only_folders_of_runs() {
    let sandbox = Sandbox::new();
    for number in 0..15 {
        sandbox.write(&format!("precious/{number}/kept"), "");
    }
    let (cache, precious) = (sandbox.path().join("cache/casebook"), sandbox.path().join("precious"));
    fs::create_dir_all(&cache).expect("a folder");
    std::os::unix::fs::symlink(&precious, cache.join("runs")).expect("a link");
    sandbox.run("run reference --cases cases --only post/letter").exits(0).stderr_has(&["run log: "]);
    assert_eq!(fs::read_dir(&precious).expect("a folder").count(), 16);
}
