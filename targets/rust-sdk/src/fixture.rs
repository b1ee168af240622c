//! Builds a server from a fixture, with the SDK's `ToolRouter` behind `#[tool_handler]`.
//!
//! This is the highest tier that accepts any JSON Schema. (`#[tool]` only derives schemas from Rust types.) The adapter
//! does not check, repair or fill in anything on behalf of the SDK.
//!
//! <https://docs.rs/rmcp/3.9.0/rmcp/handler/server/router/tool/struct.ToolRoute.html#method.new_dyn>

use std::sync::Arc;

use rmcp::{
    ErrorData, ServerHandler,
    handler::server::{
        common::schema_for_empty_input,
        router::tool::{ToolRoute, ToolRouter},
        tool::{IntoCallToolResult, ToolCallContext},
    },
    model::{
        CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitRequestParams, ElicitResult,
        ElicitationSchema, Implementation, InputRequest, InputRequests, InputRequiredResult, JsonObject,
        ServerCapabilities, ServerConfig, Tool,
    },
    tool_handler,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    protocol::{self, Cannot, Does, Elicit, Parts, REVISIONS, Serve, VARIANTS},
    typed,
};

/// The key of the only question that a tool asks.
const QUESTION: &str = "question";

#[derive(Clone)]
pub struct Server {
    identity: Implementation,
    tools: ToolRouter<Self>,
}

#[tool_handler(router = self.tools)]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build()).with_server_info(self.identity.clone())
    }
}

impl Server {
    /// Builds the server for a `serve` request. By default it supports every revision of the SDK.
    /// <https://docs.rs/rmcp/3.9.0/rmcp/trait.ServerHandler.html#method.supported_protocol_versions>
    pub fn build(request: Serve) -> Result<Self, Cannot> {
        if !REVISIONS.contains(&request.revision.as_str()) {
            return Err(Cannot(format!("the SDK does not support {}", request.revision)));
        }
        if let Some(variant) = request.variant.as_ref().filter(|variant| !VARIANTS.contains(&variant.as_str())) {
            return Err(Cannot(format!("there is no variant {variant}")));
        }
        let protocol::Identity { name, version } = request.fixture.server;
        let mut tools = ToolRouter::new();
        let typed = request.variant.as_deref() == Some("typed");
        for tool in request.fixture.tools {
            tools.add_route(route(tool, typed)?);
        }
        Ok(Self { identity: Implementation::new(name, version), tools })
    }
}

fn route(tool: protocol::Tool, typed: bool) -> Result<ToolRoute<Server>, Cannot> {
    // For a tool without a schema, the SDK's macros use this one.
    // https://docs.rs/rmcp/3.9.0/rmcp/handler/server/common/fn.schema_for_empty_input.html
    let input = tool.input_schema.map_or_else(|| Ok(schema_for_empty_input()), object)?;
    let mut definition = Tool::new_with_raw(tool.name.clone(), tool.description.map(Into::into), input);
    if let Some(title) = tool.title {
        definition = definition.with_title(title);
    }
    if let Some(schema) = tool.output_schema {
        definition = definition.with_raw_output_schema(object(schema)?);
    }

    let body = Arc::new(Body::new(tool.does, typed)?);
    Ok(ToolRoute::new_dyn(definition, move |call| {
        let body = Arc::clone(&body);
        Box::pin(async move { body.run(call).await })
    }))
}

fn object(schema: Value) -> Result<Arc<JsonObject>, Cannot> {
    match schema {
        Value::Object(schema) => Ok(schema.into()),
        _ => Err(Cannot("a tool's schema is an `Arc<JsonObject>`".to_owned())),
    }
}

/// The code of a tool, converted to the SDK's types where that is possible in advance.
enum Body {
    Echo,
    Return(CallToolResult),
    Elicit { message: String, form: JsonObject },
    ElicitTyped { message: String, ask: typed::Ask },
    Raise(String),
}

impl Body {
    fn new(does: Does, typed: bool) -> Result<Self, Cannot> {
        Ok(match does {
            Does::Echo(_) => Self::Echo,
            Does::Return(parts) => Self::Return(result(parts)?),
            Does::Elicit(Elicit { message, requested_schema: Value::Object(form) }) if typed => {
                Self::ElicitTyped { message, ask: typed::find(&form)? }
            }
            Does::Elicit(Elicit { message, requested_schema: Value::Object(form) }) => Self::Elicit { message, form },
            Does::Elicit(_) => return Err(Cannot("a form is made from a `JsonObject`".to_owned())),
            Does::Raise(message) => Self::Raise(message),
        })
    }

    async fn run(&self, call: ToolCallContext<'_, Server>) -> Result<CallToolResponse, ErrorData> {
        Ok(match self {
            // The SDK's `Parameters` reads missing arguments as an empty object too.
            Self::Echo => CallToolResult::structured(Value::Object(call.arguments.unwrap_or_default())).into(),
            Self::Return(result) => result.clone().into(),
            Self::Elicit { message, form } => match question(message.clone(), form.clone()) {
                Ok(question) => return ask(question, call).await,
                Err(error) => failure(format!("Elicitation failed: {error}")),
            },
            Self::ElicitTyped { message, ask } => match ask(call.request_context.peer.clone(), message.clone()).await {
                Ok(answer) => CallToolResult::structured(answer).into(),
                Err(error) => failure(format!("Elicitation failed: {error}")),
            },
            // The SDK's conversion for functions that return `Result<T, String>`.
            // https://docs.rs/rmcp/3.9.0/rmcp/handler/server/tool/trait.IntoCallToolResult.html
            Self::Raise(message) => return Err::<(), _>(message.clone()).into_call_tool_result(),
        })
    }
}

/// Builds a result with the SDK's constructors. `structured` also adds the value as text.
/// <https://docs.rs/rmcp/3.9.0/rmcp/model/struct.CallToolResult.html#method.structured>
fn result(Parts { structured_content, content, is_error }: Parts) -> Result<CallToolResult, Cannot> {
    let mut result = match (structured_content, is_error == Some(true)) {
        (Some(value), false) => CallToolResult::structured(value),
        (Some(value), true) => CallToolResult::structured_error(value),
        (None, false) => CallToolResult::success(vec![]),
        (None, true) => CallToolResult::error(vec![]),
    };
    if let Some(content) = content {
        result.content = Vec::<ContentBlock>::deserialize(content)
            .map_err(|error| Cannot(format!("content is a `Vec<ContentBlock>`: {error}")))?;
    }
    Ok(result)
}

/// Builds a question. `from_json_schema` is the SDK's only conversion from a JSON Schema to its type for forms, and a
/// tool would call it when it asks.
/// <https://docs.rs/rmcp/3.9.0/rmcp/model/struct.ElicitationSchema.html#method.from_json_schema>
fn question(message: String, form: JsonObject) -> serde_json::Result<ElicitRequestParams> {
    let requested_schema = ElicitationSchema::from_json_schema(form)?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// Asks the user: with a request to the client or, from 2026-07-28 on, by returning the question.
/// <https://github.com/modelcontextprotocol/rust-sdk#multi-round-trip-requests>
async fn ask(question: ElicitRequestParams, call: ToolCallContext<'_, Server>) -> Result<CallToolResponse, ErrorData> {
    let context = call.request_context;
    let answer = if context.protocol_version().is_none_or(|version| version.has_initialize()) {
        match context.peer.create_elicitation(question).await {
            Ok(answer) => answer,
            // https://github.com/modelcontextprotocol/rust-sdk#server-side-form-mode
            Err(error) => return Ok(failure(format!("Elicitation failed: {error}"))),
        }
    } else {
        let Some(answer) = call.input_responses.as_ref().and_then(|answers| answers.get(QUESTION)) else {
            let request = InputRequest::Elicitation(ElicitRequest::new(question));
            let requests = InputRequests::from([(QUESTION.to_owned(), request)]);
            return Ok(InputRequiredResult::from_input_requests(requests).into());
        };
        // https://github.com/modelcontextprotocol/rust-sdk/blob/main/examples/servers/src/mrtr.rs
        ElicitResult::deserialize(answer)
            .map_err(|_| ErrorData::invalid_params("invalid elicitation response", None))?
    };
    Ok(CallToolResult::structured(json!(answer)).into())
}

fn failure(message: String) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(message)]).into()
}
