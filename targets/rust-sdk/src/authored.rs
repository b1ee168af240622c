//! Typed tools, as the SDK's documentation shows them first: the SDK derives schemas and forms from Rust types. They are
//! written by hand, and a fixture only names them.
//!
//! <https://github.com/modelcontextprotocol/rust-sdk#tools>

mod arguments;
mod choices;
mod forms;
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
        _ => || Server::arguments() + Server::choices() + Server::results() + Server::forms(),
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
        "returns-nil-list" => "Rust has no nil: a `Vec` is always a list",
        "returns-more-members" | "returns-fewer-members" | "returns-wrong-type" => {
            "`Json<T>` holds a `T`, so that the compiler refuses any other value"
        }
        _ => "the adapter has no such typed tool",
    }
    .to_owned()
}
