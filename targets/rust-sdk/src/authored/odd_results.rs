//! Tools that return a value whose form in JSON differs from its type in Rust. `results` has the others.
//!
//! <https://github.com/modelcontextprotocol/rust-sdk/blob/main/examples/servers/src/structured_output.rs>

use std::process::exit;

use rmcp::{Json, model::CallToolResult, tool, tool_router};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::{
    json,
    value::{RawValue, to_raw_value},
};

use crate::fixture::Server;

#[derive(Serialize, JsonSchema)]
struct Renamed {
    #[serde(rename(serialize = "userId"))]
    user_id: String,
}

#[derive(Serialize, JsonSchema)]
struct ReceivedName {
    #[serde(rename(deserialize = "userId"))]
    user_id: String,
}

#[derive(Serialize, JsonSchema)]
struct OwnForm {
    #[serde(serialize_with = "number")]
    id: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn number<S: Serializer>(id: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("#{id}"))
}

#[derive(Serialize, JsonSchema)]
struct HiddenMember {
    name: String,
    #[serde(skip_serializing)]
    #[expect(dead_code, reason = "the key is never sent")]
    key: String,
}

#[derive(Serialize, JsonSchema)]
struct DefaultMember {
    x: i64,
    #[serde(default = "five", skip_serializing_if = "is_five")]
    y: i64,
}

fn five() -> i64 {
    5
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_five(y: &i64) -> bool {
    *y == 5
}

#[derive(Serialize, JsonSchema)]
struct Count {
    count: i64,
}

#[derive(Serialize, JsonSchema)]
struct Raw {
    value: Box<RawValue>,
}

#[derive(Serialize, JsonSchema)]
struct Embedding {
    #[serde(flatten)]
    named: Option<Named>,
}

#[derive(Serialize, JsonSchema)]
struct Named {
    name: String,
}

#[tool_router(router = odd_results, vis = "pub(super)")]
impl Server {
    #[tool(name = "returns-renamed", description = "Returns a value.")]
    fn returns_renamed(&self) -> Json<Renamed> {
        Json(Renamed { user_id: "u1".to_owned() })
    }

    #[tool(name = "returns-received-name", description = "Returns a value.")]
    fn returns_received_name(&self) -> Json<ReceivedName> {
        Json(ReceivedName { user_id: "u1".to_owned() })
    }

    #[tool(name = "returns-own-form", description = "Returns a value.")]
    fn returns_own_form(&self) -> Json<OwnForm> {
        Json(OwnForm { id: 1 })
    }

    #[tool(name = "returns-hidden-member", description = "Returns a value.")]
    fn returns_hidden_member(&self) -> Json<HiddenMember> {
        Json(HiddenMember { name: "Ada".to_owned(), key: "secret".to_owned() })
    }

    #[tool(name = "returns-default-member", description = "Returns a value.")]
    fn returns_default_member(&self) -> Json<DefaultMember> {
        Json(DefaultMember { x: 1, y: five() })
    }

    #[tool(name = "returns-big-integer", description = "Returns a value.")]
    fn returns_big_integer(&self) -> Json<Count> {
        Json(Count { count: 9_007_199_254_740_993 })
    }

    #[tool(name = "returns-big-undeclared", description = "Returns a value.")]
    fn returns_big_undeclared(&self) -> CallToolResult {
        CallToolResult::structured(json!({ "count": 9_007_199_254_740_993_i64 }))
    }

    #[tool(name = "returns-raw", description = "Returns a value.")]
    fn returns_raw(&self) -> Result<Json<Raw>, String> {
        let value = to_raw_value(&serde_json::json!({ "a": [1] })).map_err(|error| error.to_string())?;
        Ok(Json(Raw { value }))
    }

    #[tool(name = "returns-nil-embedded", description = "Returns a value.")]
    fn returns_nil_embedded(&self) -> Json<Embedding> {
        Json(Embedding { named: None })
    }

    #[tool(name = "breaks-off", description = "Breaks off.")]
    fn breaks_off(&self) -> Json<Named> {
        panic!("breaks off")
    }

    #[tool(name = "exits", description = "Ends the program.")]
    fn exits(&self) -> Json<Named> {
        exit(2)
    }

    // https://github.com/modelcontextprotocol/rust-sdk#tools
    #[tool(name = "returns-failure", description = "Returns a value.")]
    fn returns_failure(&self) -> Result<Json<Named>, String> {
        Err("no name".to_owned())
    }
}
