//! `casebook repro`: programs that show known failures, and the files that name them.

use crate::sandbox::Sandbox;

fn known(repro: &str) -> String {
    format!("[[known]]\ntest = \"**\"\nrequirement = \"a/b\"\nreason = \"fails\"\nrepro = \"{repro}\"\n\n")
}

fn with_programs(programs: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    let mut more = "[repro]\ncommand = [\"sh\"]\n\n".to_owned();
    for (name, text) in programs {
        sandbox.write(&format!("t/repro/{name}"), text);
        more += &known(name);
    }
    sandbox.script("t", "exit 1", &more);
    sandbox
}

#[test]
fn program_that_shows_the_failure_prints_its_last_line() {
    let sandbox = with_programs(&[("a.sh", "echo first; echo; test -f target.toml && echo it happens")]);
    sandbox.run("repro t").exits(0).stdout_has(&["shown      t a.sh: it happens\n", "1 shown, 0 not shown\n"]);
}

#[test]
fn program_that_does_not_show_the_failure_fails_the_command() {
    let programs = [("a.sh", "echo fine; echo why >&2; exit 1"), ("b.sh", "exit 0"), ("c.sh", "echo it happens")];
    let sandbox = with_programs(&programs);
    let seen = sandbox.run("repro t");
    seen.exits(1).stdout_has(&["NOT SHOWN  t a.sh: exit status 1\n", "wrote: fine\n", "wrote: why\n"]);
    seen.stdout_has(&["NOT SHOWN  t b.sh: it printed nothing\n", "shown      t c.sh", "1 shown, 2 not shown; correct"]);
}

#[test]
fn program_that_cannot_be_run_is_named() {
    let sandbox = Sandbox::new();
    sandbox.script("t", "exit 1", &known("a.sh"));
    sandbox.run("repro t").exits(1).stdout_has(&["NOT SHOWN  t a.sh: target.toml has no `[repro] command`"]);
    sandbox.script("t", "exit 1", &format!("[repro]\ncommand = [\"sh\"]\n\n{}", known("a.sh")));
    sandbox.run("repro t").exits(1).stdout_has(&["NOT SHOWN  t a.sh: there is no repro/a.sh"]);
    sandbox.script("t", "exit 1", "");
    sandbox.run("repro t").exits(3).stderr_has(&["no known failure of these targets has a `repro`"]);
}

#[test]
fn wrong_keys_of_evidence_are_refused() {
    let sandbox = Sandbox::new();
    for repro in ["../a.sh", "/bin/sh", "", "a/../../b"] {
        sandbox.script("t", "exit 1", &known(repro));
        sandbox.run("repro t").exits(2).stderr_has(&["`repro` leads out of the folder `repro/`", "name a file below"]);
    }
    sandbox.script("t", "exit 1", "[repro]\ncommand = []\n");
    sandbox.run("repro t").exits(2).stderr_has(&["the command is empty"]);
}
