//! A name leads to targets of the current repository or to embedded ones, never to another user's.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::process::Command;

use super::has_two_users;
use crate::sandbox::{Came, Desk};

/// The user whom nobody trusts.
const NOBODY: u32 = 65534;

/// A desk with a target of a built-in name above the folder `shared/mine`.
fn desk() -> Desk {
    let desk = Desk::new();
    let trap = format!("touch {}", desk.path().join("executed").display());
    desk.script("shared/targets/python-sdk", &trap, "");
    desk.script("shared/targets/theirs", &trap, "");
    desk.write("shared/mine/notes", "");
    fs::create_dir(desk.path().join("bin")).expect("a folder");
    desk
}

fn open_to_all(desk: &Desk, name: &str) {
    fs::set_permissions(desk.path().join(name), fs::Permissions::from_mode(0o1777)).expect("it is ours");
}

/// The program in a folder, on a machine without any SDK.
fn command(desk: &Desk, folder: &str, arguments: &str) -> Command {
    let mut command = desk.command(arguments);
    // A shell and `touch`, and nothing with which the embedded target could be set up.
    for name in ["sh", "touch"] {
        _ = std::os::unix::fs::symlink(format!("/bin/{name}"), desk.path().join("bin").join(name));
    }
    command.current_dir(desk.path().join(folder)).env("PATH", desk.path().join("bin")).env_remove("CASEBOOK_TRUST");
    command
}

fn run(desk: &Desk, folder: &str, arguments: &str) -> Came {
    Came::of(&mut command(desk, folder, arguments))
}

fn was_executed(desk: &Desk) -> bool {
    let was = desk.path().join("executed");
    was.exists() && fs::remove_file(was).is_ok()
}

#[test]
fn targets_above_a_folder_without_repository_are_not_used() {
    let desk = desk();
    open_to_all(&desk, "shared");
    let came = run(&desk, "shared/mine", "run python-sdk");
    assert!(!was_executed(&desk));
    came.ends(4).adds(&["target python-sdk: embedded", "python-sdk could not be set up"]);
    run(&desk, "shared/mine", "run theirs").ends(2).adds(&["there is no target `theirs`"]);
}

#[test]
fn targets_in_a_folder_open_to_all_are_not_used() {
    let desk = desk();
    // Anybody can make this a repository, too.
    desk.write("shared/.git/HEAD", "");
    open_to_all(&desk, "shared");
    for folder in ["shared/mine", "shared"] {
        let came = run(&desk, folder, "run python-sdk");
        assert!(!was_executed(&desk), "{folder}");
        came.ends(4).adds(&["/shared/targets is not used", "can be written to by every user", "pass --trust"]);
        let came = run(&desk, folder, "targets");
        came.ends(0).adds(&["/shared/targets is not used", "can be written to by every user"]);
        assert!(!came.out.contains("theirs"), "{}", came.out);
    }
    run(&desk, "shared/mine", "run python-sdk --trust --cases ../../cases").ends(4);
    assert!(was_executed(&desk));
}

#[test]
fn targets_of_another_user_need_trust_or_a_path() {
    if !has_two_users() {
        return;
    }
    let desk = desk();
    desk.write("shared/.git/HEAD", "");
    for foreign in ["shared", "shared/targets", "shared/targets/theirs", "shared/targets/theirs/target.toml"] {
        let path = desk.path().join(foreign);
        chown(&path, Some(NOBODY), None).expect("root may");
        let came = run(&desk, "shared/mine", "run theirs --cases ../../cases");
        assert!(!was_executed(&desk), "{foreign}");
        let why = format!("{} belongs to another user (uid {NOBODY}, and you are 0)", path.display());
        came.ends(2).adds(&[&why, "name its path, pass --trust or set CASEBOOK_TRUST=1"]);
        let by_path = run(&desk, "shared/mine", "run ../targets/theirs --cases ../../cases");
        by_path.adds(&["/shared/targets/theirs/target.toml"]);
        assert!(was_executed(&desk), "{foreign}, by its path");
        let mut trusting = command(&desk, "shared/mine", "run theirs --cases ../../cases");
        trusting.env("CASEBOOK_TRUST", "1");
        Came::of(&mut trusting);
        assert!(was_executed(&desk), "{foreign}, with trust");
        chown(&path, Some(0), None).expect("root may");
    }
}

#[test]
fn search_for_targets_ends_at_the_root_of_the_repository() {
    let desk = desk();
    desk.write("shared/mine/.git/HEAD", "");
    desk.borrowed("shared/mine/targets/own", None, "");
    fs::create_dir(desk.path().join("shared/mine/deep")).expect("a folder");
    run(&desk, "shared/mine/deep", "run theirs").ends(2).adds(&["there is no target `theirs`"]);
    assert!(!was_executed(&desk));
    let own = run(&desk, "shared/mine/deep", "run own --cases ../../../cases");
    own.ends(0).adds(&["shared/mine/targets/own/target.toml"]);
    let own = run(&desk, "shared/mine", "run own --cases ../../cases");
    own.ends(0).adds(&["target own: targets/own/target.toml"]);
    run(&desk, "shared/mine", "targets").ends(0).says(&["targets/own/target.toml", "embedded"]);
}

#[test]
fn snapshots_in_a_folder_open_to_all_are_not_written() {
    let desk = desk();
    desk.write("shared/.git/HEAD", "");
    desk.write("shared/snapshots/reference/empty", "");
    open_to_all(&desk, "shared");
    let arguments = "run reference --only http/server-origin --jobs 1 --accept";
    let came = run(&desk, "shared/mine", arguments);
    came.ends(0).adds(&["/shared/snapshots is not used", "can be written to by every user"]);
    let snapshots = || fs::read_dir(desk.path().join("shared/snapshots/reference")).expect("a folder").count();
    assert_eq!(snapshots(), 1);
    run(&desk, "shared/mine", &format!("{arguments} --trust")).ends(0);
    assert_eq!(snapshots(), 2);
}

#[test]
fn embedded_target_unpacked_by_another_user_is_not_used() {
    let desk = desk();
    fs::remove_dir_all(desk.path().join("shared/targets")).expect("it is ours");
    run(&desk, "shared/mine", "run python-sdk").ends(4);
    let unpacked = desk.path().join("cache/casebook/targets");
    assert!(unpacked.is_dir());
    open_to_all(&desk, "cache/casebook/targets");
    let came = run(&desk, "shared/mine", "run python-sdk");
    came.ends(4).adds(&["can't be unpacked into", "can be written to by every user"]);
}

#[test]
fn cache_of_another_user_is_neither_written_nor_pruned() {
    if !has_two_users() {
        return;
    }
    let desk = Desk::new();
    for number in 0..15 {
        desk.write(&format!("precious/{number}/kept"), "");
    }
    let (cache, precious) = (desk.path().join("cache/casebook"), desk.path().join("precious"));
    fs::create_dir_all(&cache).expect("a folder");
    for name in ["runs", "targets"] {
        std::os::unix::fs::symlink(&precious, cache.join(name)).expect("a link");
    }
    let entries = || fs::read_dir(&precious).expect("a folder").count();
    // The folder above lets its owner put another one in its place.
    for foreign in ["cache/casebook", "cache"] {
        chown(desk.path().join(foreign), Some(NOBODY), None).expect("root may");
        let came = desk.run("run reference --cases cases --only post/letter");
        came.ends(0).adds(&["there is no record: ", foreign, "belongs to another user", "--record FILE saves one"]);
        desk.run("run python-sdk").ends(4).adds(&["can't be unpacked into", "belongs to another user"]);
        assert_eq!(entries(), 15, "{foreign}");
        chown(desk.path().join(foreign), Some(0), None).expect("root may");
    }
    desk.run("run reference --cases cases --only post/letter").ends(0).adds(&["record: "]);
    assert_eq!(entries(), 16, "what is no run is not deleted");
}
