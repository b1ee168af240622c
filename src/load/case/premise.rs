//! Premises of tests: arguments that a test expects to be accepted fit the schema, and others violate it.
//!
//! Takes a typed test, validates its arguments with a validator that opens no files and no connections, gives the
//! contradictions in words. Must not know targets.

use serde_json::Value;

use crate::model::case::{Check, Does, Outcome, Test, When};
use crate::model::schema::Schema;
use crate::model::template::{Bindings, Template};

/// The end of the ids of requirements to validate arguments against the schema.
const INPUTS_VALIDATED: &str = "inputs-validated";

/// The false premises of a test on its arguments and schema.
pub(super) fn false_premises(test: &Test) -> Vec<String> {
    test.steps
        .iter()
        .filter_map(|step| {
            let When::Call { tool, arguments, .. } = &step.when else { return None };
            let tool = test.given.tool(tool).filter(|tool| tool.does == Does::Echo)?;
            let supposed = step.then.checks().iter().find_map(supposed_to_fit)?;
            let schema = literal(tool.definition.get("inputSchema")?)?;
            let arguments = arguments.as_ref().map_or(Some(Value::Object(serde_json::Map::new())), literal)?;
            // A schema that takes too much work to evaluate is not checked: some fixtures have one on purpose.
            let violation = Schema::new(&schema).ok()?.violation(&arguments).ok()?;
            match (supposed, violation) {
                (true, Some((_, error))) => {
                    Some(format!("expects success, and its arguments violate the schema: {error}"))
                }
                (false, None) => Some("expects failure, and its arguments fit the schema".to_owned()),
                _ => None,
            }
        })
        .collect()
}

/// Returns `true` if a check expects the arguments to fit, `false` if to violate the schema, and `None` otherwise.
fn supposed_to_fit(check: &Check) -> Option<bool> {
    if !check.requirement.as_str().ends_with(INPUTS_VALIDATED) {
        return None;
    }
    let all = |wanted: &[Outcome]| {
        let within = |outcomes: &[Outcome]| !outcomes.is_empty() && outcomes.iter().all(|one| wanted.contains(one));
        check.alternatives.iter().all(|one| within(&one.outcome))
    };
    match () {
        () if all(&[Outcome::Success]) => Some(true),
        () if all(&[Outcome::ToolError, Outcome::ProtocolError]) => Some(false),
        () => None,
    }
}

/// The value of a template without generators. Its addresses are invalid, because no connection is made.
fn literal(template: &Template) -> Option<Value> {
    let mut generated = false;
    template.visit(&mut |one| generated |= matches!(one, Template::Generated(_)));
    let canaries = template.canaries().into_iter().enumerate();
    let bindings = Bindings {
        canaries: canaries.map(|(index, canary)| (canary.clone(), format!("http://canary.invalid/{index}"))).collect(),
        unique: "0".to_owned(),
        revision: "0".to_owned(),
    };
    if generated { None } else { template.value(&bindings) }
}
