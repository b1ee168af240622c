//! Listing targets executes nothing of the current folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::sandbox::{Came, Desk};

/// A line of shell that shows that it was executed.
fn trap(desk: &Desk) -> String {
    format!(": > \"{}\"", desk.path().join("executed").display())
}

fn was_executed(desk: &Desk) -> bool {
    desk.path().join("executed").exists()
}

fn install(desk: &Desk, name: &str, script: &str) {
    desk.write(name, &format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(desk.path().join(name), fs::Permissions::from_mode(0o755)).expect("it is ours");
}

#[test]
fn listing_executes_no_file_of_the_checkout() {
    let desk = Desk::new();
    // A shell takes `version` for a file.
    desk.write("version", &trap(&desk));
    fs::create_dir(desk.path().join("bin")).expect("a folder");
    symlink("/bin/sh", desk.path().join("bin/sh")).expect("a link");
    desk.borrowed("targets/x", None, "[needs]\nsh = \"any\"\n");
    for arguments in ["targets", "run --all --cases cases --jobs 1 --only post/parcel"] {
        let mut command = desk.command(arguments);
        command.env("PATH", desk.path().join("bin"));
        let came = Came::of(&mut command);
        came.ends(0);
        assert!(!was_executed(&desk), "{arguments}");
    }
    let mut command = desk.command("targets");
    command.env("PATH", desk.path().join("bin"));
    Came::of(&mut command).ends(0).says(&["sh (found, version unknown)"]);
}

#[test]
fn listing_finds_no_program_by_a_relative_path() {
    let desk = Desk::new();
    install(&desk, "node", &trap(&desk));
    install(&desk, "bin/node", &trap(&desk));
    desk.borrowed("targets/x", None, "[needs]\nnode = \"any\"\n");
    for path in [".", "", ":", "bin", "./bin"] {
        let mut command = desk.command("targets");
        command.env("PATH", path);
        Came::of(&mut command).ends(0).says(&["node (not found)"]);
        assert!(!was_executed(&desk), "PATH={path:?}");
    }
}

#[test]
fn probe_runs_where_nobody_else_can_put_a_file() {
    let desk = Desk::new();
    install(&desk, "bin/node", "echo \"v99.1.0\"; pwd > \"${0%/*}/../asked\"; echo \"$PATH\" >> \"${0%/*}/../asked\"");
    desk.borrowed("targets/x", None, "[needs]\nnode = \"99\"\n");
    let mut command = desk.command("targets");
    let bin = desk.path().join("bin");
    command.env("PATH", format!(".:{}:bin", bin.display()));
    Came::of(&mut command).ends(0).says(&["node >= 99 (here is 99.1.0)"]);
    let asked = desk.read("asked");
    let (folder, path) = asked.trim_end().split_once('\n').expect("two lines");
    assert_eq!((Path::new(folder), Path::new(path)), (Path::new("/"), bin.as_path()));
}

#[test]
fn needs_a_version_of_an_unknown_program_is_an_error() {
    let desk = Desk::new();
    desk.borrowed("t", None, "[needs]\nsh = \"1\"\n");
    let came = desk.run("run t --cases cases");
    came.ends(2).adds(&["no safe way to ask `sh` for its version", "write `sh = \"any\"`"]);
}
