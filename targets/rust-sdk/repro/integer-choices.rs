//! The form of a type keeps no choices of an integer: `ElicitationSchema::from_type` drops the `enum` of its schema, and
//! `Peer::elicit` asks for any integer, without an error.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema>

use std::{error::Error, process::ExitCode};

use rmcp::model::ElicitationSchema;
use schemars::JsonSchema_repr;
use serde_json::json;

#[derive(JsonSchema_repr)]
#[schemars(inline)]
#[repr(u8)]
enum Level {
    Low = 1,
    High = 2,
}

#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Form {
    level: Level,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let listed = schemars::schema_for!(Form).to_value();
    let form = serde_json::to_value(ElicitationSchema::from_type::<Form>()?)?;
    let (of_type, of_form) = (&listed["properties"]["level"]["enum"], &form["properties"]["level"]);
    if *of_type == json!([1, 2]) && *of_form == json!({ "type": "integer" }) {
        println!("the choices {of_type} of the type became the field {of_form} of the form");
        return Ok(ExitCode::SUCCESS);
    }
    println!("the type has the choices {of_type}, and the form has the field {of_form}");
    Ok(ExitCode::FAILURE)
}
