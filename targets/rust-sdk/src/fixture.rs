//! Builds a server from a fixture, with the SDK's `ToolRouter` behind `#[tool_handler]`.
//!
//! This is the highest tier that accepts any JSON Schema. (`#[tool]` only derives schemas from Rust types; the module
//! `authored` has such tools.) The adapter does not check, repair or fill in anything on behalf of the SDK.
//!
//! <https://docs.rs/rmcp/3.11.0/rmcp/handler/server/router/tool/struct.ToolRoute.html#method.new_dyn>

use std::{error::Error, sync::Arc, time::Duration};

use rmcp::{
    ErrorData, ServerHandler, ServiceError,
    handler::server::{
        router::tool::{ToolRoute, ToolRouter},
        tool::{IntoCallToolResult, ToolCallContext},
    },
    model::{
        CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ElicitRequest,
        ElicitRequestParams, ElicitResult, ElicitationSchema, Implementation, InputRequest, InputRequests,
        InputRequiredResult, JsonObject, ProgressNotificationParam, RequestStateError, SealOptions, ServerCapabilities,
        SetLevelRequestMethod, Tool,
    },
    service::{RequestContext, RoleServer},
    tool_handler,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::{
    authored, log,
    methods::{Methods, declare},
    protocol::{
        self, Cannot, Does, Elicit, Failure, Parts, Progress, REVISIONS, Serve, State, VARIANTS, Wait, take, take_whole,
    },
    typed,
    versions::{self, ServerConfig, state_codec},
};

/// The key of the only question that a tool asks.
pub const QUESTION: &str = "question";

/// The time after which a call ends that is never cancelled.
const WAIT_LIMIT: Duration = Duration::from_secs(30);

/// The key for states. A server that outlives a process would load a secret of its own.
const STATE_KEY: &[u8; 32] = b"the states of a fixture's server";

#[derive(Clone)]
pub struct Server {
    identity: Implementation,
    tools: ToolRouter<Self>,
    /// Whether a tool logs, so that the server declares the capability.
    logs: bool,
    capabilities: ServerCapabilities,
    methods: Methods,
}

#[tool_handler(router = self.tools)]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(self.capabilities.clone()).with_server_info(self.identity.clone())
    }

    /// <https://github.com/modelcontextprotocol/rust-sdk#logging>
    async fn set_level(&self, _: log::SetLevel, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if self.logs { Ok(()) } else { Err(ErrorData::method_not_found::<SetLevelRequestMethod>()) }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.methods.answer(request, &context.peer).await
    }
}

impl Server {
    /// Builds the server for a `serve` request. By default it supports every revision of the SDK.
    /// <https://docs.rs/rmcp/3.11.0/rmcp/trait.ServerHandler.html#method.supported_protocol_versions>
    pub fn build(request: Serve) -> Result<Self, Failure> {
        if !REVISIONS.contains(&request.revision.as_str()) {
            return Err(Cannot(format!("the SDK does not support {}", request.revision)).into());
        }
        if let Some(variant) = request.variant.as_ref().filter(|variant| !VARIANTS.contains(&variant.as_str())) {
            return Err(Cannot(format!("there is no variant {variant}")).into());
        }
        let protocol::Identity { name, version } = request.fixture.server;
        let mut tools = ToolRouter::new();
        let mut logs = false;
        let typed = request.variant.as_deref() == Some("typed");
        for tool in request.fixture.tools {
            logs |= tool.get("does").is_some_and(|does| does.get("log").is_some());
            tools.add_route(match tool.get("name").and_then(Value::as_str) {
                Some(name) if tool.contains_key("typed") => authored::route(name)?,
                _ => route(tool, typed)?,
            });
        }
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        if logs {
            capabilities.logging = Some(JsonObject::new());
        }
        declare(&mut capabilities, request.fixture.capabilities)?;
        let methods = Methods::new(request.fixture.methods);
        Ok(Self { identity: Implementation::new(name, version), tools, logs, capabilities, methods })
    }
}

fn route(mut tool: Map<String, Value>, typed: bool) -> Result<ToolRoute<Server>, Cannot> {
    let (Some(name), Some(does)) = (take::<String>(&mut tool, "name")?, take(&mut tool, "does")?) else {
        return Err(Cannot("the fixture has a tool without a name or without code".to_owned()));
    };
    let Some(input) = tool.remove("inputSchema") else {
        return Err(Cannot("`Tool::new` and `Tool::new_with_raw` require an input schema".to_owned()));
    };
    let description = take::<String>(&mut tool, "description")?;
    let mut definition = Tool::new_with_raw(name, description.map(Into::into), object(input)?);
    if let Some(title) = take::<String>(&mut tool, "title")? {
        definition = definition.with_title(title);
    }
    if let Some(schema) = tool.remove("outputSchema") {
        definition = definition.with_raw_output_schema(object(schema)?);
    }
    if let Some(annotations) = take_whole(&mut tool, "annotations")? {
        definition = definition.with_annotations(annotations);
    }
    if let Some(icons) = take_whole(&mut tool, "icons")? {
        definition = definition.with_icons(icons);
    }
    if let Some(meta) = take_whole(&mut tool, "_meta")? {
        definition = definition.with_meta(meta);
    }
    if let Some(member) = tool.keys().next() {
        return Err(Cannot(format!("`Tool` has no member `{member}`")));
    }

    let body = Arc::new(Body::new(does, typed)?);
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
    Elicit { message: String, form: JsonObject, state: Option<State> },
    ElicitTyped { message: String, ask: typed::Ask },
    ElicitUrl { message: String, url: Url, id: String, state: Option<State> },
    Raise(String),
    Wait(Wait),
    Log(log::Message),
    Progress(Progress),
}

impl Body {
    fn new(does: Does, typed: bool) -> Result<Self, Cannot> {
        Ok(match does {
            Does::Echo(_) => Self::Echo,
            Does::Return(parts) => Self::Return(result(parts)?),
            Does::Elicit(question) => Self::elicit(question, typed)?,
            Does::Raise(message) => Self::Raise(message),
            Does::Wait(wait) => Self::Wait(wait),
            Does::Log(message) => Self::Log(log::message(message)?),
            Does::Progress(progress) => Self::Progress(progress),
        })
    }

    fn elicit(question: Elicit, typed: bool) -> Result<Self, Cannot> {
        let Elicit { mode, message, requested_schema, url, elicitation_id, state } = question;
        match (mode.as_deref(), requested_schema) {
            (Some("url"), Value::Null) => {
                let url = Url::parse(&url.unwrap_or_default());
                let url = url.map_err(|error| Cannot(format!("`Peer::elicit_url` takes a `Url`: {error}")))?;
                Ok(Self::ElicitUrl { message, url, id: elicitation_id.unwrap_or_default(), state })
            }
            (None | Some("form"), Value::Object(form)) if typed => {
                Ok(Self::ElicitTyped { message, ask: typed::find(&form)? })
            }
            (None | Some("form"), Value::Object(form)) => Ok(Self::Elicit { message, form, state }),
            (None | Some("form"), _) => Err(Cannot("a form is made from a `JsonObject`".to_owned())),
            _ => Err(Cannot("`ElicitRequestParams` is a form or a URL".to_owned())),
        }
    }

    async fn run(&self, call: ToolCallContext<'_, Server>) -> Result<CallToolResponse, ErrorData> {
        match self {
            Self::Echo => Ok(echo(call)),
            Self::Return(result) => Ok(result.clone().into()),
            Self::Elicit { message, form, state } => match question(message.clone(), form.clone()) {
                Ok(question) => ask(question, state.as_ref(), call).await,
                Err(error) => Ok(failure(&error)),
            },
            Self::ElicitUrl { message, url, id, state } => {
                ask_by_url(message.clone(), url, id, state.as_ref(), call).await
            }
            Self::ElicitTyped { message, ask } => match ask(call.request_context.peer.clone(), message.clone()).await {
                Ok(answer) => Ok(CallToolResult::structured(answer).into()),
                Err(error) => Ok(failure(&error)),
            },
            // The SDK's conversion for functions that return `Result<T, String>`.
            // https://docs.rs/rmcp/3.11.0/rmcp/handler/server/tool/trait.IntoCallToolResult.html
            Self::Raise(message) => Err::<(), _>(message.clone()).into_call_tool_result(),
            Self::Wait(addresses) => {
                let waited = wait(addresses, call.request_context.ct).await;
                waited.map_err(|error| error.to_string()).into_call_tool_result()
            }
            Self::Log(message) => {
                let sent = log::send(message, &call.request_context.peer).await;
                sent.map(|()| echo(call)).map_err(|error| error.to_string()).into_call_tool_result()
            }
            Self::Progress(progress) => {
                let sent = report(progress, &call.request_context).await;
                sent.map(|()| echo(call)).map_err(|error| error.to_string()).into_call_tool_result()
            }
        }
    }
}

/// The SDK's `Parameters` reads missing arguments as an empty object too.
fn echo(call: ToolCallContext<'_, Server>) -> CallToolResponse {
    CallToolResult::structured(Value::Object(call.arguments.unwrap_or_default())).into()
}

/// Waits until the call is cancelled, which cancels its token.
/// <https://docs.rs/rmcp/3.11.0/rmcp/service/struct.RequestContext.html#structfield.ct>
async fn wait(addresses: &Wait, cancelled: CancellationToken) -> Result<(), Box<dyn Error + Send + Sync>> {
    reqwest::get(&addresses.started).await?;
    tokio::time::timeout(WAIT_LIMIT, cancelled.cancelled()).await?;
    reqwest::get(&addresses.stopped).await?;
    Ok(())
}

/// Reports progress, if the request has a token.
/// <https://github.com/modelcontextprotocol/rust-sdk#progress-notifications>
async fn report(progress: &Progress, context: &RequestContext<RoleServer>) -> Result<(), ServiceError> {
    let Some(token) = context.meta.get_progress_token() else { return Ok(()) };
    let mut params = ProgressNotificationParam::new(token, progress.progress);
    params.total = progress.total;
    params.message = progress.message.clone();
    context.peer.notify_progress(params).await
}

/// Builds a result with the SDK's constructors. `structured` also adds the value as text.
/// <https://docs.rs/rmcp/3.11.0/rmcp/model/struct.CallToolResult.html#method.structured>
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
/// <https://docs.rs/rmcp/3.11.0/rmcp/model/struct.ElicitationSchema.html#method.from_json_schema>
fn question(message: String, form: JsonObject) -> serde_json::Result<ElicitRequestParams> {
    let requested_schema = ElicitationSchema::from_json_schema(form)?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// Asks the user to fill in a form: with a request to the client or, from 2026-07-28 on, by returning the question.
async fn ask(
    question: ElicitRequestParams,
    state: Option<&State>,
    call: ToolCallContext<'_, Server>,
) -> Result<CallToolResponse, ErrorData> {
    if !has_initialize(&call.request_context) {
        return ask_by_result(question, state, call);
    }
    Ok(match call.request_context.peer.create_elicitation(question).await {
        Ok(answer) => CallToolResult::structured(json!(answer)).into(),
        Err(error) => failure(&error),
    })
}

/// Sends the user to a URL. <https://github.com/modelcontextprotocol/rust-sdk#server-side-url-mode>
async fn ask_by_url(
    message: String,
    url: &Url,
    id: &str,
    state: Option<&State>,
    call: ToolCallContext<'_, Server>,
) -> Result<CallToolResponse, ErrorData> {
    if !has_initialize(&call.request_context) {
        let (url, elicitation_id) = (url.to_string(), id.to_owned());
        let question = ElicitRequestParams::UrlElicitationParams { meta: None, message, url, elicitation_id };
        return ask_by_result(question, state, call);
    }
    Ok(match call.request_context.peer.elicit_url(message, url.clone(), id).await {
        Ok(action) => CallToolResult::structured(json!({ "action": action })).into(),
        Err(error) => failure(&error),
    })
}

pub fn has_initialize(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_none_or(|version| versions::has_initialize(&version))
}

/// Returns the question or, in the next round, the answer. The SDK's codec protects the state.
/// <https://github.com/modelcontextprotocol/rust-sdk/blob/main/examples/servers/src/mrtr.rs>
fn ask_by_result(
    question: ElicitRequestParams,
    state: Option<&State>,
    call: ToolCallContext<'_, Server>,
) -> Result<CallToolResponse, ErrorData> {
    let answer = call.input_responses.as_ref().and_then(|answers| answers.get(QUESTION));
    let request = InputRequest::Elicitation(ElicitRequest::new(question));
    let requests = InputRequests::from([(QUESTION.to_owned(), request)]);
    let invalid = |message: &'static str| ErrorData::invalid_params(message, None);
    let parse = |answer| ElicitResult::deserialize(answer).map_err(|_| invalid("invalid elicitation response"));

    let Some(state) = state else {
        let Some(answer) = answer else { return Ok(InputRequiredResult::from_input_requests(requests).into()) };
        return Ok(CallToolResult::structured(json!(parse(answer)?)).into());
    };
    let internal = |error: RequestStateError| ErrorData::internal_error(error.to_string(), None);
    let codec = state_codec(STATE_KEY).map_err(internal)?;
    let Some(sealed) = call.request_state else {
        let lifetime = state.seconds.map(Duration::from_secs);
        let options = lifetime.map_or_else(SealOptions::new, |lifetime| SealOptions::new().ttl(lifetime));
        let sealed = codec.seal_json_with(&state.value, &options).map_err(internal)?;
        return Ok(InputRequiredResult::new(Some(requests), Some(sealed)).into());
    };
    let opened: String = codec.open_json(&sealed).map_err(|_| invalid("tampered or unknown request state"))?;
    let mut returned = json!(parse(answer.ok_or_else(|| invalid("missing elicitation response"))?)?);
    returned["state"] = Value::String(opened);
    Ok(CallToolResult::structured(returned).into())
}

/// Returns the result of a tool whose question failed.
/// <https://github.com/modelcontextprotocol/rust-sdk#server-side-form-mode>
pub fn failure(error: &impl Error) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(format!("Elicitation failed: {error}"))]).into()
}
