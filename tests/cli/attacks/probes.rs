//! Listing targets executes no file of the current folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::sandbox::{Finished, Sandbox};

/// A shell command that leaves a file, which shows that it was executed.
fn trap(sandbox: &Sandbox) -> String {
    format!(": > \"{}\"", sandbox.path().join("executed").display())
}

fn was_executed(sandbox: &Sandbox) -> bool {
    sandbox.path().join("executed").exists()
}

fn install(sandbox: &Sandbox, name: &str, script: &str) {
    sandbox.write(name, &format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(sandbox.path().join(name), fs::Permissions::from_mode(0o755)).expect("own file");
}

#[test]
fn listing_executes_no_file_of_the_checkout() {
    let sandbox = Sandbox::new();
    // `sh version` executes the file `version`.
    sandbox.write("version", &trap(&sandbox));
    fs::create_dir(sandbox.path().join("bin")).expect("a folder");
    symlink("/bin/sh", sandbox.path().join("bin/sh")).expect("a link");
    sandbox.borrowed("targets/x", None, "[needs]\nsh = \"any\"\n");
    for arguments in ["targets", "run --all --cases cases --jobs 1 --only post/parcel"] {
        let mut command = sandbox.command(arguments);
        command.env("PATH", sandbox.path().join("bin"));
        let finished = Finished::of(&mut command);
        finished.exits(0);
        assert!(!was_executed(&sandbox), "{arguments}");
    }
    let mut command = sandbox.command("targets");
    command.env("PATH", sandbox.path().join("bin"));
    Finished::of(&mut command).exits(0).stdout_has(&["sh (found, version unknown)"]);
}

#[test]
fn listing_finds_no_program_by_a_relative_path() {
    let sandbox = Sandbox::new();
    install(&sandbox, "node", &trap(&sandbox));
    install(&sandbox, "bin/node", &trap(&sandbox));
    sandbox.borrowed("targets/x", None, "[needs]\nnode = \"any\"\n");
    for path in [".", "", ":", "bin", "./bin"] {
        let mut command = sandbox.command("targets");
        command.env("PATH", path);
        Finished::of(&mut command).exits(0).stdout_has(&["node (not found)"]);
        assert!(!was_executed(&sandbox), "PATH={path:?}");
    }
}

#[test]
fn probe_runs_in_the_root_folder_with_absolute_paths() {
    let sandbox = Sandbox::new();
    install(
        &sandbox,
        "bin/node",
        "echo \"v99.1.0\"; pwd > \"${0%/*}/../asked\"; echo \"$PATH\" >> \"${0%/*}/../asked\"",
    );
    sandbox.borrowed("targets/x", None, "[needs]\nnode = \"99\"\n");
    let mut command = sandbox.command("targets");
    let bin = sandbox.path().join("bin");
    command.env("PATH", format!(".:{}:bin", bin.display()));
    Finished::of(&mut command).exits(0).stdout_has(&["node >= 99 (found 99.1.0)"]);
    let asked = sandbox.read("asked");
    let (folder, path) = asked.trim_end().split_once('\n').expect("two lines");
    assert_eq!((Path::new(folder), Path::new(path)), (Path::new("/"), bin.as_path()));
}

#[test]
fn version_need_of_an_unknown_program_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.borrowed("t", None, "[needs]\nsh = \"1\"\n");
    let finished = sandbox.run("run t --cases cases");
    finished.exits(2).stderr_has(&["does not know how to read the version of `sh`", "write `sh = \"any\"`"]);
}
