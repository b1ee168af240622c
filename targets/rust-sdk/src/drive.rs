//! Drives the SDK's client through a script and reports the results that its user would get.

use std::{sync::Mutex, time::Duration};

use futures::future::join_all;
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, ServiceError, ServiceExt,
    model::{
        CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientRequest, CustomRequest,
        ElicitRequestParams, ElicitResult, ElicitationAction, Implementation, ProtocolVersion, ServerResult,
    },
    service::{ClientInitializeError, DynService, PeerRequestOptions, QuitReason, RequestContext, RunningService},
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    protocol::{Action, Answer, Answers, Cannot, Drive, Message, Step, ToolCall},
    versions::{ClientConfig, has_initialize},
};

/// A client with or without an elicitation handler.
type Service = Box<dyn DynService<RoleClient>>;
type Client = RunningService<RoleClient, Service>;

/// Runs a script. A failure to connect is part of the report.
pub async fn drive(request: Drive) -> Result<Value, Cannot> {
    let Some(revision) = ProtocolVersion::KNOWN_VERSIONS.iter().find(|known| known.as_str() == request.revision) else {
        return Err(Cannot("the SDK does not support that revision".to_owned()));
    };
    let script = request.script.into_iter().map(Request::new).collect::<Result<Vec<_>, _>>()?;
    let limit = request.request_timeout.map(Duration::from_millis);
    let service = service(revision, request.answers, request.declares)?;
    let lifecycle = lifecycle(revision, request.negotiate);
    let client = match connect(service, lifecycle, request.url, request.command).await? {
        Ok(client) => client,
        Err(error) => return Ok(json!({ "connected": false, "steps": [], "error": error })),
    };
    let mut steps = Vec::new();
    for request in script {
        steps.push(request.run(&client, limit).await);
    }
    let mut drove = json!({ "connected": true, "steps": steps });
    // https://docs.rs/rmcp/3.11.0/rmcp/service/struct.RunningService.html#method.cancel
    if let Err(error) | Ok(QuitReason::JoinError(error)) = client.cancel().await {
        drove["error"] = json!({ "type": "JoinError", "message": error.to_string() });
    }
    Ok(drove)
}

/// Creates the client. Without answers it is only a configuration, which the SDK accepts as a client without handlers.
/// <https://docs.rs/rmcp/3.11.0/rmcp/trait.ClientHandler.html#impl-ClientHandler-for-InitializeRequestParams>
fn service(revision: &ProtocolVersion, answers: Option<Answers>, declares: Option<Value>) -> Result<Service, Cannot> {
    let declared = declares.map(capabilities).transpose()?;
    let config = |capabilities| {
        ClientConfig::new(capabilities, Implementation::new("casebook", "1")).with_protocol_version(revision.clone())
    };
    let Some(answers) = answers else { return Ok(config(declared.unwrap_or_default()).into_dyn()) };
    let as_presented = |answer: &Answer| matches!(answer, Answer::Content { accept: Value::String(_) });
    let unedited = match &answers {
        Answers::Always(answer) => as_presented(answer),
        Answers::InOrder(answers) => answers.iter().any(as_presented),
    };
    if unedited {
        return Err(Cannot("the SDK has no help with a form: it leaves defaults to its user".to_owned()));
    }
    let config = config(declared.unwrap_or_else(|| ClientCapabilities::builder().enable_elicitation().build()));
    Ok(User { config, answers: Mutex::new(answers) }.into_dyn())
}

/// Reads capabilities into the SDK's type, which skips members that it does not know.
fn capabilities(declared: Value) -> Result<ClientCapabilities, Cannot> {
    match ClientCapabilities::deserialize(&declared) {
        Ok(capabilities) if json!(capabilities) == declared => Ok(capabilities),
        _ => Err(Cannot(format!("`ClientCapabilities` cannot express {declared}"))),
    }
}

/// Returns the mode of a client that offers only this revision, or that also speaks older ones.
/// <https://github.com/modelcontextprotocol/rust-sdk#client-lifecycle-modes>
fn lifecycle(revision: &ProtocolVersion, negotiate: bool) -> ClientLifecycleMode {
    let preferred_versions = vec![revision.clone()];
    if negotiate {
        ClientLifecycleMode::Auto { preferred_versions, legacy_version: None }
    } else if has_initialize(revision) {
        ClientLifecycleMode::Initialize
    } else {
        ClientLifecycleMode::Discover { preferred_versions }
    }
}

async fn connect(
    service: Service,
    lifecycle: ClientLifecycleMode,
    url: Option<String>,
    command: Option<Vec<String>>,
) -> Result<Result<Client, Value>, Cannot> {
    let client = if let Some(url) = url {
        service.serve_with_lifecycle(StreamableHttpClientTransport::from_uri(url), lifecycle).await
    } else {
        let command = command.unwrap_or_default();
        let [program, arguments @ ..] = command.as_slice() else {
            return Err(Cannot("there is neither a url nor a command to connect to".to_owned()));
        };
        let mut command = Command::new(program);
        command.args(arguments);
        match TokioChildProcess::new(command) {
            Ok(child) => service.serve_with_lifecycle(child, lifecycle).await,
            Err(error) => return Ok(Err(json!({ "type": "std::io::Error", "message": error.to_string() }))),
        }
    };
    Ok(client.map_err(|error| describe_connection_error(&error)))
}

/// A step of the script in the SDK's types.
enum Request {
    List,
    Call(CallToolRequestParams),
    Calls(Vec<CallToolRequestParams>),
    Custom(CustomRequest),
}

impl Request {
    fn new(step: Step) -> Result<Self, Cannot> {
        Ok(match step {
            Step::ListTools {} => Self::List,
            Step::CallTool(call) => Self::Call(parameters(call)?),
            Step::CallTools(calls) => Self::Calls(calls.into_iter().map(parameters).collect::<Result<_, _>>()?),
            Step::Request(Message { method, params }) => Self::Custom(CustomRequest::new(method, params)),
        })
    }

    async fn run(self, client: &Client, limit: Option<Duration>) -> Value {
        match self {
            // `list_all_tools` has no time limit.
            Self::List => client
                .list_all_tools()
                .await
                .map_or_else(|error| describe_failure(&error), |tools| json!({ "tools": tools })),
            Self::Call(call) => call_tool(client, call, limit).await,
            Self::Calls(calls) => {
                let results = join_all(calls.into_iter().map(|call| call_tool(client, call, limit))).await;
                json!({ "results": results })
            }
            Self::Custom(request) => {
                let result = send(client, ClientRequest::CustomRequest(request), limit).await;
                result.map_or_else(|error| describe_failure(&error), |result| json!({ "result": result }))
            }
        }
    }
}

fn parameters(ToolCall { name, arguments }: ToolCall) -> Result<CallToolRequestParams, Cannot> {
    let call = CallToolRequestParams::new(name);
    match arguments {
        None => Ok(call),
        Some(Value::Object(arguments)) => Ok(call.with_arguments(arguments)),
        Some(_) => Err(Cannot("`CallToolRequestParams` takes arguments only as a `JsonObject`".to_owned())),
    }
}

async fn call_tool(client: &Client, call: CallToolRequestParams, limit: Option<Duration>) -> Value {
    let result = match limit {
        None => client.call_tool(call).await,
        Some(limit) => call_with_limit(client, call, limit).await,
    };
    result.map_or_else(|error| describe_failure(&error), |result| json!({ "result": result }))
}

/// Calls a tool with a time limit, which `call_tool` does not have.
/// <https://docs.rs/rmcp/3.11.0/rmcp/service/struct.PeerRequestOptions.html>
async fn call_with_limit(
    client: &Client,
    call: CallToolRequestParams,
    limit: Duration,
) -> Result<CallToolResult, ServiceError> {
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(call));
    match send(client, request, Some(limit)).await? {
        ServerResult::CallToolResult(result) => Ok(result),
        _ => Err(ServiceError::UnexpectedResponse),
    }
}

/// Sends any request.
/// <https://docs.rs/rmcp/3.11.0/rmcp/service/struct.Peer.html#method.send_request_with_option>
async fn send(client: &Client, request: ClientRequest, limit: Option<Duration>) -> Result<ServerResult, ServiceError> {
    let options = limit.map_or_else(PeerRequestOptions::no_options, PeerRequestOptions::with_timeout);
    client.send_request_with_option(request, options).await?.await_response().await
}

/// A client whose user answers elicitations.
struct User {
    config: ClientConfig,
    answers: Mutex<Answers>,
}

impl User {
    /// Takes the next answer of a list, or always the same single answer.
    fn answer(&self) -> Option<Answer> {
        match &mut *self.answers.lock().ok()? {
            Answers::Always(answer) => Some(answer.clone()),
            Answers::InOrder(answers) => (!answers.is_empty()).then(|| answers.remove(0)),
        }
    }
}

impl ClientHandler for User {
    /// <https://docs.rs/rmcp/3.11.0/rmcp/model/type.ClientConfig.html>
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    /// <https://docs.rs/rmcp/3.11.0/rmcp/trait.ClientHandler.html#method.create_elicitation>
    async fn create_elicitation(
        &self,
        _question: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        match self.answer() {
            Some(Answer::Content { accept }) => Ok(ElicitResult::new(ElicitationAction::Accept).with_content(accept)),
            Some(Answer::Alone(action)) => Ok(ElicitResult::new(match action {
                Action::Accept => ElicitationAction::Accept,
                Action::Decline => ElicitationAction::Decline,
                Action::Cancel => ElicitationAction::Cancel,
            })),
            // A handler can fail with this type only.
            None => Err(ErrorData::internal_error("the script has no answer left", None)),
        }
    }
}

fn describe_failure(error: &ServiceError) -> Value {
    json!({ "error": describe_error(error) })
}

fn describe_error(error: &ServiceError) -> Value {
    match error {
        ServiceError::McpError(data) => json!({ "type": "McpError", "code": data.code.0, "message": data.message }),
        other => json!({ "type": "ServiceError", "message": other.to_string() }),
    }
}

fn describe_connection_error(error: &ClientInitializeError) -> Value {
    let mut described = json!({ "type": "ClientInitializeError", "message": error.to_string() });
    if let ClientInitializeError::JsonRpcError(data) = error {
        described["code"] = json!(data.code.0);
    }
    described
}
