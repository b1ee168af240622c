//! Whether a test's arguments relate to its schema as its expectation supposes.
//!
//! Takes a typed test, asks a validator that reads nothing but what it is handed, gives the contradictions in words.
//! Must not know targets: what they make of a schema is theirs.

use serde_json::Value;

use crate::model::case::{Check, Does, Outcome, Test, When};
use crate::model::schema::Schema;
use crate::model::template::{Bindings, Template};

/// Requirements with this end say that arguments are held against the schema.
const INPUTS_VALIDATED: &str = "inputs-validated";

/// What a test supposes of arguments and schema that isn't so.
pub(super) fn false_premises(test: &Test) -> Vec<String> {
    test.steps
        .iter()
        .filter_map(|step| {
            let When::Call { tool, arguments, .. } = &step.when else { return None };
            let tool = test.given.tool(tool).filter(|tool| tool.does == Does::Echo)?;
            let supposed = step.then.checks().iter().find_map(supposed_to_fit)?;
            let schema = literal(tool.definition.get("inputSchema")?)?;
            let arguments = arguments.as_ref().map_or(Some(Value::Object(serde_json::Map::new())), literal)?;
            // A fixture may be meant to make too much work, and is not looked into then.
            let violation = Schema::new(&schema).ok()?.violation(&arguments).ok()?;
            match (supposed, violation) {
                (true, Some((_, error))) => {
                    Some(format!("expects success, but its arguments don't fit the schema: {error}"))
                }
                (false, None) => Some("expects failure, but its arguments fit the schema".to_owned()),
                _ => None,
            }
        })
        .collect()
}

/// Whether a check supposes that the arguments fit; `None` where it supposes neither.
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

/// The value of a template without generators. Its addresses are made up: nobody goes there.
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
