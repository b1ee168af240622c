//! Typed tools, as the SDK's documentation shows them first: the SDK derives schemas and forms from Rust types. They are
//! written by hand, and a fixture only names them.
//!
//! <https://github.com/modelcontextprotocol/rust-sdk#tools>

mod arguments;
mod choices;
mod encodings;
mod forms;
mod odd_results;
mod results;

use std::panic::catch_unwind;

use rmcp::handler::server::router::tool::{ToolRoute, ToolRouter};

use crate::{
    fixture::Server,
    protocol::{Cannot, Failure},
};

/// Takes a tool from the routers that `#[tool_router]` makes. They register their tools by a function that can panic.
pub fn route(name: &str) -> Result<ToolRoute<Server>, Failure> {
    let routers: fn() -> ToolRouter<Server> = match name {
        "root-union" => Server::root_unions,
        "root-list" => Server::root_lists,
        _ => || {
            Server::arguments()
                + Server::choices()
                + Server::encodings()
                + Server::results()
                + Server::odd_results()
                + Server::forms()
        },
    };
    let mut router = catch_unwind(routers).map_err(|panic| Failure::Refused {
        tool: name.to_owned(),
        message: panic.downcast_ref::<String>().cloned().unwrap_or_default(),
    })?;
    router.map.remove(name).ok_or_else(|| Cannot(cannot(name)).into())
}

/// Says why there is no such tool.
fn cannot(name: &str) -> String {
    match name {
        "mixed-literals" => "Rust has no type for the single value `true`, which an untagged enum would need",
        "function" | "opaque" => "`Parameters<T>` needs `T: Deserialize + JsonSchema`, and what is no data is neither",
        "whole-number" => "an integer type of Rust has a size, and `num_bigint::BigInt` has no `JsonSchema`",
        "flags" => "Rust has no set of flags, and a type of `bitflags` has no `JsonSchema`",
        "untyped" => "each parameter of Rust has a type",
        "positional-only" => "serde reads the fields of a struct by their names",
        "repeated-member" => "Rust has no embedding, and `#[serde(flatten)]` gives a value to one field only",
        "coerced" => "serde converts no text to a number",
        "trimmed" | "returns-trimmed" => "Rust has no type for trimmed text",
        "null-default" => "the compiler accepts no null for an integer",
        "tag-default" => "the tag of an enum of serde has no default",
        "named-embedding" => "Rust has no embedding",
        "returns-derived" => "Rust has no derived types",
        "returns-reason" => "an error of Rust has no `Serialize`",
        "returns-sequence" => "`Json<T>` needs `T: Serialize`, which an iterator is not",
        "returns-nil-list" => "Rust has no nil: a `Vec` is always a list",
        "returns-nil-map" => "Rust has no nil: a map is always a map",
        "returns-more-members"
        | "returns-fewer-members"
        | "returns-wrong-type"
        | "returns-converted"
        | "returns-changed-member" => "`Json<T>` holds a `T`, so that the compiler refuses any other value",
        "returns-computed" => "a Rust struct has no computed fields",
        "returns-half-character" => "a Rust `String` is UTF-8, which has no half of a surrogate pair",
        "returns-plain-object" => "Rust has no classes beside structs, which are its records",
        _ => "the adapter has no such typed tool",
    }
    .to_owned()
}
