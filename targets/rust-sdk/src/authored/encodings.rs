//! Tools that return an argument whose form in JSON differs from its type in Rust. `arguments` has the others.
//!
//! <https://github.com/modelcontextprotocol/rust-sdk#server-side>

use std::{collections::HashMap, net::IpAddr, time::Duration};

use chrono::{DateTime, Utc};
use rmcp::{handler::server::wrapper::Parameters, model::CallToolResult, tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};
use serde_with::{DisplayFromStr, base64::Base64, json::JsonString, serde_as};
use url::Url;

use crate::fixture::Server;

// https://docs.rs/serde_with/3/serde_with/guide/serde_as/index.html
#[serde_as]
#[derive(Serialize, Deserialize, JsonSchema)]
struct Bytes {
    #[serde_as(as = "Base64")]
    data: Vec<u8>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct BigInteger {
    count: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Address {
    address: IpAddr,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Raw {
    value: Box<RawValue>,
}

#[serde_as]
#[derive(Serialize, Deserialize, JsonSchema)]
struct JsonText {
    #[serde_as(as = "JsonString")]
    value: Vec<i64>,
}

#[serde_as]
#[derive(Serialize, Deserialize, JsonSchema)]
struct Digits {
    #[serde_as(as = "DisplayFromStr")]
    count: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct NamedTuple {
    point: Point,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Point(f64, f64);

#[derive(Serialize, Deserialize, JsonSchema)]
struct SecondName {
    #[serde(rename = "userId", alias = "uid")]
    user_id: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Args {
    name: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct AnyCase {
    #[schemars(regex(pattern = r"(?i)^a+$"))]
    code: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Date {
    at: DateTime<Utc>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Counts {
    counts: HashMap<String, i64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct MadeDefault {
    #[serde(default = "one_tag")]
    tags: Vec<String>,
}

fn one_tag() -> Vec<String> {
    vec!["x".to_owned()]
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct InheritedNames {
    copy: String,
    #[serde(rename = "toString")]
    to_string: Option<String>,
    model_config: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Underscore {
    #[serde(rename = "_id")]
    id: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Link {
    link: Url,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Wait {
    wait: Duration,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct SmallNumber {
    ratio: f32,
}

#[tool_router(router = encodings, vis = "pub(super)")]
impl Server {
    #[tool(name = "bytes", description = "Returns what it received.")]
    fn bytes(&self, Parameters(arguments): Parameters<Bytes>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "big-integer", description = "Returns what it received.")]
    fn big_integer(&self, Parameters(arguments): Parameters<BigInteger>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "address", description = "Returns what it received.")]
    fn address(&self, Parameters(arguments): Parameters<Address>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "raw-value", description = "Returns what it received.")]
    fn raw_value(&self, Parameters(arguments): Parameters<Raw>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "json-text", description = "Returns what it received.")]
    fn json_text(&self, Parameters(arguments): Parameters<JsonText>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "digits", description = "Returns what it received.")]
    fn digits(&self, Parameters(arguments): Parameters<Digits>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "named-tuple", description = "Returns what it received.")]
    fn named_tuple(&self, Parameters(arguments): Parameters<NamedTuple>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "second-name", description = "Returns what it received.")]
    fn second_name(&self, Parameters(arguments): Parameters<SecondName>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "named-record", description = "Returns what it received.")]
    fn named_record(&self, Parameters(arguments): Parameters<Args>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "any-case", description = "Returns what it received.")]
    fn any_case(&self, Parameters(arguments): Parameters<AnyCase>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "date-object", description = "Returns what it received.")]
    fn date_object(&self, Parameters(arguments): Parameters<Date>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "map-object", description = "Returns what it received.")]
    fn map_object(&self, Parameters(arguments): Parameters<Counts>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "made-default", description = "Returns what it received.")]
    fn made_default(&self, Parameters(arguments): Parameters<MadeDefault>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "any-names", description = "Returns what it received.")]
    fn any_names(&self, Parameters(arguments): Parameters<HashMap<String, i64>>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "inherited-names", description = "Returns what it received.")]
    fn inherited_names(&self, Parameters(arguments): Parameters<InheritedNames>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "underscore", description = "Returns what it received.")]
    fn underscore(&self, Parameters(arguments): Parameters<Underscore>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "link", description = "Returns what it received.")]
    fn link(&self, Parameters(arguments): Parameters<Link>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "duration", description = "Returns what it received.")]
    fn duration(&self, Parameters(arguments): Parameters<Wait>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }

    #[tool(name = "small-number", description = "Returns what it received.")]
    fn small_number(&self, Parameters(arguments): Parameters<SmallNumber>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }
}

/// A tool whose registration panics, because its schema is no object.
#[tool_router(router = root_lists, vis = "pub(super)")]
impl Server {
    #[tool(name = "root-list", description = "Returns what it received.")]
    fn root_list(&self, Parameters(arguments): Parameters<Vec<String>>) -> CallToolResult {
        CallToolResult::structured(json!(arguments))
    }
}
