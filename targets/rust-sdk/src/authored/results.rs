//! Tools that return a value of a type.
//!
//! <https://github.com/modelcontextprotocol/rust-sdk/blob/main/examples/servers/src/structured_output.rs>

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use rmcp::{
    Json,
    handler::server::tool::schema_for_output,
    model::{CallToolResult, ContentBlock},
    tool, tool_router,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::fixture::Server;

/// A picture of one pixel, in base64.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[derive(Serialize, JsonSchema)]
struct Person {
    name: String,
    age: i64,
}

#[derive(Serialize, JsonSchema)]
struct Named {
    name: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the tool returns a code")]
enum Either {
    Name { name: String },
    Code { code: i64 },
}

#[derive(Serialize, JsonSchema)]
struct Node {
    value: i64,
    children: Vec<Node>,
}

#[derive(Serialize, JsonSchema)]
struct Times {
    day: NaiveDate,
    at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct User {
    user_id: String,
}

#[derive(Serialize, JsonSchema)]
struct NullMember {
    name: String,
    note: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct LeftOutMember {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Ratio {
    ratio: f64,
}

#[derive(Serialize, JsonSchema)]
struct Data {
    data: Vec<u8>,
}

#[derive(Serialize, JsonSchema)]
struct Names(Vec<String>);

#[derive(Serialize, JsonSchema)]
struct Point(f64, f64);

#[derive(Serialize, JsonSchema)]
#[expect(dead_code, reason = "the tool returns green")]
enum Color {
    #[serde(rename = "#f00")]
    Red,
    #[serde(rename = "#0f0")]
    Green,
}

fn ada() -> Person {
    Person { name: "Ada".to_owned(), age: 36 }
}

#[tool_router(router = results, vis = "pub(super)")]
impl Server {
    #[tool(name = "returns-record", description = "Returns a value.")]
    fn returns_record(&self) -> Json<Person> {
        Json(ada())
    }

    #[tool(name = "returns-texts", description = "Returns a value.")]
    fn returns_texts(&self) -> Json<Vec<String>> {
        Json(vec!["a".to_owned(), "b".to_owned()])
    }

    #[tool(name = "returns-records", description = "Returns a value.")]
    fn returns_records(&self) -> Json<Vec<Person>> {
        Json(vec![ada()])
    }

    #[tool(name = "returns-empty-list", description = "Returns a value.")]
    fn returns_empty_list(&self) -> Json<Vec<String>> {
        Json(Vec::new())
    }

    #[tool(name = "returns-integer", description = "Returns a value.")]
    fn returns_integer(&self) -> Json<i64> {
        Json(7)
    }

    #[tool(name = "returns-text", description = "Returns a value.")]
    fn returns_text(&self) -> Json<String> {
        Json("hello".to_owned())
    }

    #[tool(name = "returns-boolean", description = "Returns a value.")]
    fn returns_boolean(&self) -> Json<bool> {
        Json(false)
    }

    #[tool(name = "returns-null", description = "Returns a value.")]
    fn returns_null(&self) -> Json<()> {
        Json(())
    }

    #[tool(name = "returns-optional", description = "Returns a value.")]
    fn returns_optional(&self) -> Json<Option<Named>> {
        Json(None)
    }

    #[tool(name = "returns-either", description = "Returns a value.")]
    fn returns_either(&self) -> Json<Either> {
        Json(Either::Code { code: 7 })
    }

    #[tool(name = "returns-tree", description = "Returns a value.")]
    fn returns_tree(&self) -> Json<Node> {
        Json(Node { value: 1, children: vec![Node { value: 2, children: Vec::new() }] })
    }

    #[tool(name = "returns-counts", description = "Returns a value.")]
    fn returns_counts(&self) -> Json<BTreeMap<String, i64>> {
        Json(BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]))
    }

    #[tool(name = "returns-times", description = "Returns a value.")]
    fn returns_times(&self) -> Json<Times> {
        let day = NaiveDate::from_ymd_opt(2026, 7, 28).unwrap_or_default();
        let noon = day.and_hms_opt(12, 0, 0).unwrap_or_default();
        Json(Times { day, at: noon.and_utc() })
    }

    #[tool(name = "returns-alias", description = "Returns a value.")]
    fn returns_alias(&self) -> Json<User> {
        Json(User { user_id: "u1".to_owned() })
    }

    #[tool(name = "returns-null-member", description = "Returns a value.")]
    fn returns_null_member(&self) -> Json<NullMember> {
        Json(NullMember { name: "Ada".to_owned(), note: None })
    }

    #[tool(name = "returns-left-out-member", description = "Returns a value.")]
    fn returns_left_out_member(&self) -> Json<LeftOutMember> {
        Json(LeftOutMember { name: "Ada".to_owned(), note: None })
    }

    #[tool(name = "returns-named-list", description = "Returns a value.")]
    fn returns_named_list(&self) -> Json<Names> {
        Json(Names(vec!["a".to_owned(), "b".to_owned()]))
    }

    #[tool(name = "returns-point", description = "Returns a value.")]
    fn returns_point(&self) -> Json<Point> {
        Json(Point(1.5, 2.5))
    }

    #[tool(name = "returns-color", description = "Returns a value.")]
    fn returns_color(&self) -> Json<Color> {
        Json(Color::Green)
    }

    #[tool(name = "returns-day", description = "Returns a value.")]
    fn returns_day(&self) -> Json<NaiveDate> {
        Json(NaiveDate::from_ymd_opt(2026, 7, 28).unwrap_or_default())
    }

    #[tool(name = "returns-anything", description = "Returns a value.")]
    fn returns_anything(&self) -> Json<Value> {
        Json(json!({ "a": 1 }))
    }

    #[tool(name = "returns-not-a-number", description = "Returns a value.")]
    fn returns_not_a_number(&self) -> Json<Ratio> {
        Json(Ratio { ratio: f64::NAN })
    }

    #[tool(name = "returns-bytes", description = "Returns a value.")]
    fn returns_bytes(&self) -> Json<Data> {
        Json(Data { data: b"hi".to_vec() })
    }

    #[tool(name = "returns-raw-bytes", description = "Returns a value.")]
    fn returns_raw_bytes(&self) -> Json<Data> {
        Json(Data { data: vec![0xFF, 0xFE] })
    }

    /// `Json<T>` has no place for other content; `output_schema` and `CallToolResult` have.
    /// <https://docs.rs/rmcp-macros/3.11.0/rmcp_macros/attr.tool.html>
    #[tool(
        name = "returns-image-beside",
        description = "Returns a value.",
        output_schema = schema_for_output::<Named>()
    )]
    fn returns_image_beside(&self) -> CallToolResult {
        let mut result = CallToolResult::structured(json!(Named { name: "Ada".to_owned() }));
        result.content.push(ContentBlock::image(PIXEL, "image/png"));
        result
    }

    #[tool(name = "returns-nothing", description = "Returns a value.")]
    fn returns_nothing(&self) {}
}
