//! Tools that return what they received, in the way that has no schema: `CallToolResult::structured`.
//!
//! <https://github.com/modelcontextprotocol/rust-sdk#server-side>

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, NaiveDate, Utc};
use rmcp::{
    handler::server::wrapper::Parameters,
    model::{CallToolResult, JsonObject},
    tool, tool_router,
};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;
use uuid::Uuid;

use crate::fixture::Server;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Plain {
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Required {
    name: String,
    count: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Optional {
    name: String,
    count: Option<i64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Nullable {
    note: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct OptionalNullable {
    name: String,
    note: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Defaults {
    title: String,
    ratio: f64,
    count: i64,
    loud: bool,
    tags: Vec<String>,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { title: "a".to_owned(), ratio: 1.5, count: 3, loud: false, tags: vec!["x".to_owned()] }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Nested {
    person: Person,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Person {
    name: String,
    address: Address,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Address {
    city: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Shared {
    from: Point,
    to: Point,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Point {
    x: i64,
    y: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Recursive {
    tree: Node,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Node {
    value: i64,
    children: Vec<Node>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Lists {
    names: Vec<String>,
    points: Vec<Point>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Tuple {
    pair: (i64, String),
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Counts {
    counts: BTreeMap<String, i64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Names {
    names: BTreeMap<i64, String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct FreeForm {
    options: JsonObject,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Anything {
    value: Value,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Bounds {
    #[schemars(range(min = 1, max = 10))]
    count: i64,
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    ratio: f64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Lengths {
    #[schemars(regex(pattern = r"^[A-Z]{3}$"))]
    code: String,
    #[schemars(length(min = 1, max = 5))]
    name: String,
    #[schemars(length(min = 1, max = 2))]
    tags: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Formats {
    #[schemars(email)]
    email: String,
    link: Url,
    id: Uuid,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Dates {
    day: NaiveDate,
    at: DateTime<Utc>,
}

#[derive(Deserialize, JsonSchema)]
struct Price {
    price: Decimal,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Alias {
    user_id: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Reserved {
    r#type: String,
    class: String,
    #[serde(rename = "self")]
    self_: String,
    schema: String,
    arguments: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Set {
    tags: BTreeSet<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Closed {
    name: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Described {
    /// The city
    city: String,
}

#[tool_router(router = arguments, vis = "pub(super)")]
impl Server {
    #[tool(name = "plain", description = "Returns its text.")]
    fn plain(&self, Parameters(arguments): Parameters<Plain>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "none", description = "Returns what it received.")]
    fn none(&self) -> CallToolResult {
        CallToolResult::structured(json!({}))
    }

    #[tool(name = "required", description = "Returns what it received.")]
    fn required(&self, Parameters(arguments): Parameters<Required>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "optional", description = "Returns what it received.")]
    fn optional(&self, Parameters(arguments): Parameters<Optional>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "nullable", description = "Returns what it received.")]
    fn nullable(&self, Parameters(arguments): Parameters<Nullable>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "optional-nullable", description = "Returns what it received.")]
    fn optional_nullable(&self, Parameters(arguments): Parameters<OptionalNullable>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "defaults", description = "Returns what it received.")]
    fn defaults(&self, Parameters(arguments): Parameters<Defaults>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "nested", description = "Returns what it received.")]
    fn nested(&self, Parameters(arguments): Parameters<Nested>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "shared", description = "Returns what it received.")]
    fn shared(&self, Parameters(arguments): Parameters<Shared>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "recursive", description = "Returns what it received.")]
    fn recursive(&self, Parameters(arguments): Parameters<Recursive>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "lists", description = "Returns what it received.")]
    fn lists(&self, Parameters(arguments): Parameters<Lists>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "tuple", description = "Returns what it received.")]
    fn tuple(&self, Parameters(arguments): Parameters<Tuple>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "map", description = "Returns what it received.")]
    fn map(&self, Parameters(arguments): Parameters<Counts>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "map-of-numbers", description = "Returns what it received.")]
    fn map_of_numbers(&self, Parameters(arguments): Parameters<Names>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "free-form", description = "Returns what it received.")]
    fn free_form(&self, Parameters(arguments): Parameters<FreeForm>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "anything", description = "Returns what it received.")]
    fn anything(&self, Parameters(arguments): Parameters<Anything>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "bounds", description = "Returns what it received.")]
    fn bounds(&self, Parameters(arguments): Parameters<Bounds>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "lengths", description = "Returns what it received.")]
    fn lengths(&self, Parameters(arguments): Parameters<Lengths>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "formats", description = "Returns what it received.")]
    fn formats(&self, Parameters(arguments): Parameters<Formats>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "dates", description = "Returns what it received.")]
    fn dates(&self, Parameters(arguments): Parameters<Dates>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "decimal", description = "Returns what it received.")]
    fn decimal(&self, Parameters(Price { price }): Parameters<Price>) -> CallToolResult {
        CallToolResult::structured(json!({ "price": price.to_f64() }))
    }

    #[tool(name = "alias", description = "Returns what it received.")]
    fn alias(&self, Parameters(arguments): Parameters<Alias>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "reserved", description = "Returns what it received.")]
    fn reserved(&self, Parameters(arguments): Parameters<Reserved>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "set", description = "Returns what it received.")]
    fn set(&self, Parameters(arguments): Parameters<Set>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "closed", description = "Returns what it received.")]
    fn closed(&self, Parameters(arguments): Parameters<Closed>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "described", description = "Returns what it received.")]
    fn described(&self, Parameters(arguments): Parameters<Described>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }
}
