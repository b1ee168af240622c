//! The address and token of a mock server are not on the command line of a client over stdio: other users can read it.

use serde_json::Value;

use crate::sandbox::{PROGRAM, Sandbox};

#[test]
fn stdio_client_command_contains_no_address_or_token() {
    let sandbox = Sandbox::visited();
    let script = format!("tee -a ../asked | {PROGRAM} __adapter");
    let command = serde_json::to_string(&["sh", "-c", &script]).expect("strings");
    let claims = "roles = [\"client\"]\ntransports = [\"stdio\"]\nrevisions = [\"2026-07-28\"]";
    sandbox.write("t/target.toml", &format!("title = \"A client\"\ncommand = {command}\n\n[claims]\n{claims}\n"));
    let finished = sandbox.run("run t --cases visits --jobs 1");
    finished.exits(0);
    let asked = sandbox.read("asked");
    let orders: Vec<Value> = asked.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let commands: Vec<_> = orders.iter().filter_map(|order| order["drive"]["command"].as_array()).collect();
    assert!(!commands.is_empty(), "{asked}");
    for command in commands {
        let [_, relay, file] = command.as_slice() else { panic!("{command:?}") };
        let file = std::path::Path::new(file.as_str().expect("a path"));
        assert_eq!(relay, "__relay");
        assert!(file.is_absolute() && !file.to_string_lossy().contains("127.0.0.1"), "{file:?}");
        assert!(!file.exists(), "the file outlived its mock server");
    }
}
