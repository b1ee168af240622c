//! `casebook watch`: a round after each save.

use crate::process::Running;
use crate::sandbox::Sandbox;

#[test]
fn each_save_is_linted_and_run_and_compared() {
    let sandbox = Sandbox::empty();
    sandbox.run("new sep-9999").exits(0);
    let command = sandbox.command("watch cases reference");
    let mut running = Running::start(command);
    running.until("as expected");
    running.until("waiting for a change");
    let case = sandbox.read("cases/sep-9999/first.json");
    sandbox.write("cases/sep-9999/first.json", &case.replace(r#""outcome": "success""#, r#""outcome": "tool-error""#));
    running.until("not as expected");
    running.until("sep-9999/arguments-checked");
    running.until("waiting for a change");
    sandbox.write("cases/sep-9999/first.json", &case.replace(r#""outcome""#, r#""outcom""#));
    running.until("unknown-key");
    running.until("waiting for a change");
    // A warning stops nothing.
    sandbox.write("cases/sep-9999/first.json", &case.replace("An example.", &"An example. ".repeat(20)));
    running.until("width");
    running.until("as expected");
    running.until("waiting for a change");
    sandbox.write("cases/sep-9999/first.json", &case);
    running.until("as expected");
    running.until("waiting for a change");
    // An editor that replaces the folder, as `git checkout` does.
    let (cases, aside) = (sandbox.path().join("cases"), sandbox.path().join("aside"));
    std::fs::rename(&cases, &aside).and_then(|()| std::fs::rename(&aside, &cases)).expect("renamed");
    running.until("as expected");
    running.until("waiting for a change");
    sandbox.write("cases/sep-9999/first.json", &case.replace(r#""outcome""#, r#""outcom""#));
    running.until("unknown-key");
    running.until("waiting for a change");
    #[cfg(target_os = "linux")]
    {
        running.signal(nix::sys::signal::Signal::SIGTERM);
        assert_eq!(running.end().0, Some(5));
    }
    sandbox.write("cases/sep-9999/first.json", &case);
    sandbox.run("watch cases nobody").exits(2).stderr_has(&["nobody"]);
    sandbox.run("watch nowhere").exits(2).stderr_has(&["cannot watch nowhere"]);
}
