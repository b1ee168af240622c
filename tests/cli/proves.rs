//! `casebook prove` with cases that the mutants do not know.

use crate::sandbox::Sandbox;

#[test]
fn requirement_of_own_cases_names_the_mutants_that_violate_it() {
    let sandbox = Sandbox::new();
    let proof = sandbox.run("prove --cases cases --only-mutants input-not-validated");
    proof.exits(0).stdout_has(&["post/arguments-checked: violated by 1 of 1 server mutants: input-not-validated\n"]);
    assert!(!proof.out.contains("WRONG") && !proof.out.contains("no mutant"), "{}", proof.out);
    // These mutants are clients, and the cases test servers.
    sandbox.run("prove --cases cases --only-mutants client-fetches-*").exits(3).stderr_has(&["nothing to run"]);
}
