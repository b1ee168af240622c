//! Typed elicitation: the SDK derives the form from a Rust type and parses the answer into it.
//!
//! <https://github.com/modelcontextprotocol/rust-sdk#server-side-form-mode>

use std::pin::Pin;

use rmcp::{
    Peer, RoleServer, elicit_safe,
    model::{ElicitationSchema, JsonObject},
    service::{ElicitationError, ElicitationSafe},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::protocol::Cannot;

#[derive(Deserialize, Serialize, JsonSchema)]
struct Name {
    name: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct OptionalName {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Field<T> {
    x: T,
}

elicit_safe!(Name, OptionalName, Field<String>, Field<i64>, Field<f64>, Field<bool>);

/// Asks the user to fill in one type of form, and returns the action and the content.
pub type Ask = fn(Peer<RoleServer>, String) -> Answer;
type Answer = Pin<Box<dyn Future<Output = Result<Value, ElicitationError>> + Send>>;

struct Form {
    fits: fn(&JsonObject) -> bool,
    ask: Ask,
}

impl Form {
    const fn of<T: ElicitationSafe + Serialize + DeserializeOwned + Send>() -> Self {
        Self { fits: fits::<T>, ask: ask::<T> }
    }
}

const FORMS: [Form; 6] = [
    Form::of::<Name>(),
    Form::of::<OptionalName>(),
    Form::of::<Field<String>>(),
    Form::of::<Field<i64>>(),
    Form::of::<Field<f64>>(),
    Form::of::<Field<bool>>(),
];

/// Finds the type of a form. A type cannot be made at run time.
pub fn find(form: &JsonObject) -> Result<Ask, Cannot> {
    let found = FORMS.iter().find(|known| (known.fits)(form));
    found.map(|known| known.ask).ok_or_else(|| {
        Cannot("`Peer::elicit` takes a form only as a Rust type, and this adapter has no type for it".to_owned())
    })
}

/// Compares a form with that of a type, to which the SDK adds `$schema` and `title`.
fn fits<T: JsonSchema>(form: &JsonObject) -> bool {
    let Ok(Value::Object(mut derived)) = ElicitationSchema::from_type::<T>().and_then(serde_json::to_value) else {
        return false;
    };
    derived.remove("$schema");
    derived.remove("title");
    derived == *form
}

/// <https://docs.rs/rmcp/3.11.0/rmcp/service/struct.Peer.html#method.elicit>
pub fn ask<T: ElicitationSafe + Serialize + DeserializeOwned + Send>(
    peer: Peer<RoleServer>,
    message: String,
) -> Answer {
    Box::pin(async move {
        match peer.elicit::<T>(message).await {
            Ok(Some(content)) => Ok(json!({ "action": "accept", "content": content })),
            Ok(None) => Ok(json!({ "action": "accept" })),
            Err(ElicitationError::UserDeclined) => Ok(json!({ "action": "decline" })),
            Err(ElicitationError::UserCancelled) => Ok(json!({ "action": "cancel" })),
            Err(error) => Err(error),
        }
    })
}
