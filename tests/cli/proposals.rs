//! Three proposals from public text, as their authors would write them: one with methods, one about tools, one about a rule of
//! elicitation. Each holds on the reference by its fixtures, and breaks by its mutants, which are data.

use std::path::Path;

use serde_json::Value;

use crate::sandbox::Sandbox;

#[test]
fn events_hold_and_break_by_data() {
    is_played("events", "sep-3415");
}

#[test]
fn resolution_of_tools_holds_and_breaks_by_data() {
    is_played("tools", "sep-1862");
}

/// One of its sentences changes a rule, which the reference breaks today, so that no mutant shows it.
#[test]
fn files_in_forms_hold_and_break_by_data() {
    let proof = is_played("elicitation", "sep-2356");
    let apart = "sep-2356-rule/answers-no-protocol-error: the reference itself violates it as a server";
    assert!(proof.contains(apart), "{proof}");
}

/// Checks that a proposal lints, that the reference keeps it, and that each of its mutants breaks what it declares. Gives the
/// text of the proof.
fn is_played(name: &str, folder: &str) -> String {
    let proposals = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proposals").join(name);
    let proposals = proposals.to_str().expect("UTF-8");
    let sandbox = Sandbox::empty();
    sandbox.run(&format!("lint {proposals}")).exits(0);
    sandbox.run(&format!("run --cases {proposals} --jobs 2")).exits(0);
    let damage = sandbox.run(&format!("prove --cases {proposals} --by-damage"));
    damage.exits(0);
    let proof = sandbox.run(&format!("prove --cases {proposals}"));
    assert!(!proof.out.contains("WRONG") && !proof.out.contains("no test detects"), "{}", proof.out);
    let text = std::fs::read_to_string(format!("{proposals}/{folder}/mutants.json")).expect("a file");
    let mutants: Value = serde_json::from_str(&text).expect("JSON");
    for name in mutants.as_object().expect("an object").keys().filter(|name| *name != "$schema") {
        assert!(proof.out.contains(&format!("  {name}: ")), "{name} was not run:\n{}", proof.out);
    }
    proof.out.clone()
}
