//! Tools that return an argument that is one of several values or types. `arguments` has the others.
//!
//! <https://github.com/modelcontextprotocol/rust-sdk#server-side>

use rmcp::{handler::server::wrapper::Parameters, model::CallToolResult, tool, tool_router};
use schemars::{JsonSchema, JsonSchema_repr};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_repr::{Deserialize_repr, Serialize_repr};

use crate::fixture::Server;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Literals {
    color: Name,
    level: Level,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Name {
    Red,
    Green,
}

// https://docs.rs/schemars/1.2.3/schemars/derive.JsonSchema_repr.html
#[derive(Serialize_repr, Deserialize_repr, JsonSchema_repr)]
#[repr(u8)]
enum Level {
    Low = 1,
    High = 2,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Enum {
    color: Color,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Color {
    #[serde(rename = "#f00")]
    Red,
    #[serde(rename = "#0f0")]
    Green,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Union {
    value: IntegerOrText,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum IntegerOrText {
    Integer(i64),
    Text(String),
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct TaggedUnion {
    shape: Shape,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum RootUnion {
    Text { text: String },
    Link { url: String },
}

#[tool_router(router = choices, vis = "pub(super)")]
impl Server {
    #[tool(name = "literals", description = "Returns what it received.")]
    fn literals(&self, Parameters(arguments): Parameters<Literals>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "enum", description = "Returns what it received.")]
    fn r#enum(&self, Parameters(arguments): Parameters<Enum>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "union", description = "Returns what it received.")]
    fn union(&self, Parameters(arguments): Parameters<Union>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "tagged-union", description = "Returns what it received.")]
    fn tagged_union(&self, Parameters(arguments): Parameters<TaggedUnion>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }
}

/// A tool whose registration panics, because its schema is no object.
#[tool_router(router = root_unions, vis = "pub(super)")]
impl Server {
    #[tool(name = "root-union", description = "Returns what it received.")]
    fn root_union(&self, Parameters(arguments): Parameters<RootUnion>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }
}
