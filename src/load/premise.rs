//! Whether a test's arguments relate to its schema as its expectation supposes.
//!
//! Takes a typed test, asks a validator that reads nothing but what it is handed, gives the contradictions in words.
//! Must not know targets: what they make of a schema is theirs.

use jsonschema::Validator;
use serde_json::Value;

use crate::model::case::{Check, Does, Outcome, Test, When};
use crate::model::nesting;
use crate::model::template::{Bindings, Template};

/// Levels of a schema that our own validator is trusted with.
const LEVELS: usize = 64;

/// Requirements with this end say that arguments are held against the schema.
const INPUTS_VALIDATED: &str = "inputs-validated";

/// A schema that our own validator takes: of few levels, and with references only into itself.
pub(super) fn validator(schema: &Value) -> Result<Validator, String> {
    let depth = nesting::depth(schema.to_string().as_bytes());
    if depth > LEVELS {
        return Err(format!("nested {depth} levels deep, more than {LEVELS}"));
    }
    jsonschema::validator_for(schema).map_err(|error| error.to_string())
}

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
            let validator = validator(&schema).ok()?;
            match (supposed, validator.validate(&arguments)) {
                (true, Err(error)) => Some(format!("expects success, but its arguments don't fit the schema: {error}")),
                (false, Ok(())) => Some("expects failure, but its arguments fit the schema".to_owned()),
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
