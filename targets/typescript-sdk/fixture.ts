/**
 * Builds servers from fixtures. It contains the code that the author of a server would write, and it does not check,
 * repair or fill in anything on behalf of the SDK.
 */
import {
  acceptedContent,
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  inputResponse,
  McpServer,
  Server,
  type CallToolResult,
  type ElicitInputParams,
  type ElicitRequestFormParams,
  type ElicitRequestURLParams,
  type Icon,
  type InputRequest,
  type InputRequiredResult,
  type JsonSchemaType,
  type jsonSchemaValidator,
  type RequestStateCodec,
  type ServerContext,
  type ServerOptions,
  type StandardSchemaWithJSON,
  type Tool as ListedTool,
  type ToolAnnotations
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';

import {
  Refused,
  type Does,
  type Elicit,
  type ServeRequest,
  type State,
  type Tool
} from '../shared/typescript/protocol.js';
import {
  checkVerbs,
  elicitParams,
  isTyped,
  logs,
  refuseMembers,
  waitForCancellation
} from '../shared/typescript/tool.js';
import { structured } from './result.js';
import { registerTypedTools } from './typed.js';

/** Creates a new server. */
export type BuildServer = () => McpServer | Server;

// By default, one validator with its cache of `$id`s serves the whole process. A server has a process of its own, so
// that each fixture gets its own instance.
export const variants: Record<string, (request: ServeRequest) => BuildServer> = {
  default: request =>
    isTyped(request.fixture)
      ? registerTypedTools(request.fixture)
      : registerTools(request, new AjvJsonSchemaValidator(), requireInput),
  sessions: request => registerTools(request, new AjvJsonSchemaValidator(), elicitInput),
  low: request => handleRequests(request),
  'low-validated': request => handleRequests(request, { validate: true }),
  // https://ts.sdk.modelcontextprotocol.io/v2/advanced/schema-libraries#pick-the-validator-for-your-runtime
  cfworker: request => registerTools(request, new CfWorkerJsonSchemaValidator(), requireInput)
};

/**
 * Registers tools with `McpServer`, with schemas that already are JSON Schema:
 * https://ts.sdk.modelcontextprotocol.io/v2/advanced/schema-libraries#start-from-json-schema-you-already-have
 */
function registerTools(request: ServeRequest, validator: jsonSchemaValidator, question: Question): BuildServer {
  const { server: info, tools } = request.fixture;
  checkVerbs(tools);
  for (const { name, title, description, inputSchema, outputSchema, annotations, icons, _meta, does, ...rest } of tools)
    refuseMembers(rest, 'McpServer.registerTool');
  const wrap = wrapWith(validator);
  const states = stateCodecs(request);

  return () => {
    const server = new McpServer(info, {
      jsonSchemaValidator: validator,
      ...serverOptions(tools, states),
      capabilities: logs(tools) ? { logging: {} } : {}
    });
    server.server.onerror = console.error;
    for (const { name, title, description, annotations, icons, _meta, does, ...schemas } of tools) {
      const run = (args: unknown, ctx: ServerContext) =>
        runTool(does, args, ctx, elicit => question(elicit, ctx, { wrap, states }));
      const outputSchema = 'outputSchema' in schemas ? wrap(schemas.outputSchema) : undefined;
      // A member of a case can be any JSON value, also one that the type excludes.
      const config = {
        title,
        description,
        outputSchema,
        annotations: annotations as ToolAnnotations,
        icons: icons as Icon[],
        _meta: _meta as Record<string, unknown>
      };
      if ('inputSchema' in schemas)
        server.registerTool(name, { ...config, inputSchema: wrap(schemas.inputSchema) }, run);
      else server.registerTool(name, config, ctx => run(undefined, ctx));
    }
    return server;
  };
}

/**
 * Handles the requests of the protocol layer, on which the author lists, dispatches and validates.
 * https://ts.sdk.modelcontextprotocol.io/v2/advanced/low-level-server
 */
function handleRequests(request: ServeRequest, { validate = false } = {}): BuildServer {
  const { server: info, tools } = request.fixture;
  checkVerbs(tools);
  // A schema of a case can be any JSON value, also one that the type excludes.
  const listed = tools.map(({ does, ...tool }) => tool as unknown as ListedTool);
  const wrap = wrapWith(new AjvJsonSchemaValidator());
  const states = stateCodecs(request);
  const called = tools.map(tool => ({ ...tool, validator: validate ? validatorOf(tool, wrap) : undefined }));

  return () => {
    const capabilities = { tools: {}, ...(logs(tools) && { logging: {} }) };
    const server = new Server(info, { ...serverOptions(tools, states), capabilities });
    server.onerror = console.error;
    server.setRequestHandler('tools/list', async () => ({ tools: listed }));
    server.setRequestHandler('tools/call', async ({ params }, ctx) => {
      const tool = called.find(({ name }) => name === params.name);
      if (!tool) return { content: [{ type: 'text', text: `Unknown tool: ${params.name}` }], isError: true };
      const parsed = await tool.validator?.['~standard'].validate(params.arguments ?? {});
      if (parsed?.issues) {
        const text = parsed.issues.map(issue => issue.message).join('; ');
        return { content: [{ type: 'text', text }], isError: true };
      }
      const args = parsed ? parsed.value : params.arguments;
      return runTool(tool.does, args, ctx, elicit => requireInput(elicit, ctx, { wrap, states }));
    });
    return server;
  };
}

/** https://ts.sdk.modelcontextprotocol.io/v2/advanced/low-level-server#validate-arguments-yourself */
function validatorOf({ name, inputSchema }: Tool, wrap: Wrap): StandardSchemaWithJSON | undefined {
  try {
    return inputSchema === undefined ? undefined : wrap(inputSchema);
  } catch (error) {
    throw new Refused(error, name);
  }
}

type Wrap = (schema: unknown) => StandardSchemaWithJSON;

function wrapWith(validator: jsonSchemaValidator): Wrap {
  // A schema of a case can be any JSON value, also one that the type excludes.
  return schema => fromJsonSchema(schema as JsonSchemaType, validator);
}

/** Returns a codec whose states are valid for some seconds. All codecs of a fixture verify each other's states. */
type StateCodecs = (seconds?: number) => RequestStateCodec<string>;

/**
 * Returns the codecs for the states of questions, or nothing on revisions without a request state.
 * https://ts.sdk.modelcontextprotocol.io/v2/servers/input-required#protect-requeststate-with-the-codec
 */
function stateCodecs({ revision }: ServeRequest): StateCodecs | undefined {
  if (revision < '2026-07-28') return undefined;
  const key = crypto.getRandomValues(new Uint8Array(32));
  return (seconds = 600) => createRequestStateCodec<string>({ key, ttlSeconds: seconds });
}

/** Returns the options of a server with a tool that gives a state. */
function serverOptions(tools: Tool[], states: StateCodecs | undefined): ServerOptions {
  const hasState = tools.some(({ does }) => does.elicit?.state !== undefined);
  if (!states || !hasState) return {};
  const codec = states();
  return { requestState: { verify: (state, ctx) => codec.verify(state, ctx) } };
}

type ToolResult = CallToolResult | InputRequiredResult;
type Question = (
  elicit: Elicit,
  ctx: ServerContext,
  tools: { wrap: Wrap; states?: StateCodecs }
) => Promise<ToolResult>;

/** Runs the body of a tool. */
async function runTool(
  does: Does,
  args: unknown,
  ctx: ServerContext,
  ask: (elicit: Elicit) => Promise<ToolResult>
): Promise<ToolResult> {
  if (does.raise !== undefined) throw new Error(does.raise);
  if (does.elicit) return ask(does.elicit);
  // https://ts.sdk.modelcontextprotocol.io/v2/servers/logging-progress-cancellation
  if (does.wait) await waitForCancellation(does.wait, ctx.mcpReq.signal);
  if (does.log) await ctx.mcpReq.log(does.log.level, does.log.data, does.log.logger);
  if (does.progress) await reportProgress(does.progress, ctx);
  if (!does.return) return structured(args);
  const { structuredContent, ...rest } = does.return;
  // A result of a case can be one that the type excludes.
  return { ...structured(structuredContent), ...rest } as CallToolResult;
}

/** https://ts.sdk.modelcontextprotocol.io/v2/servers/logging-progress-cancellation#report-progress-from-a-handler */
async function reportProgress(progress: NonNullable<Does['progress']>, ctx: ServerContext): Promise<void> {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...progress } });
}

/** The key of the only question that a tool asks. */
const QUESTION = 'question';

/**
 * Asks the user on any revision. The SDK calls the tool again when there is a response.
 * https://ts.sdk.modelcontextprotocol.io/v2/servers/input-required#read-the-responses-on-re-entry
 */
const requireInput: Question = async ({ state, ...elicit }, ctx, { wrap, states }) => {
  const { inputResponses } = ctx.mcpReq;
  const remembered = states && state && { state: ctx.mcpReq.requestState<string>() };
  const response = inputResponse(inputResponses, QUESTION);
  if (response.kind === 'elicit' && (response.action !== 'accept' || elicit.mode === 'url'))
    return structured({ action: response.action, ...remembered });
  if (elicit.mode !== 'url') {
    const content = acceptedContent(inputResponses, QUESTION, wrap(elicit.requestedSchema));
    if (content !== undefined) return structured({ action: 'accept', content, ...remembered });
  }
  return inputRequired({ inputRequests: { [QUESTION]: inputRequest(elicit) }, ...(await mint(state, states)) });
};

/** https://ts.sdk.modelcontextprotocol.io/v2/servers/input-required#pick-the-embedded-request-kind */
function inputRequest(elicit: Elicit): InputRequest {
  // A question of a case can be one that the types exclude.
  if (elicit.mode !== 'url') return inputRequired.elicit(elicit as ElicitInputParams);
  const { message, url } = elicit as ElicitRequestURLParams;
  return inputRequired.elicitUrl({ message, url });
}

/** https://ts.sdk.modelcontextprotocol.io/v2/servers/input-required#carry-state-across-rounds-with-requeststate */
async function mint(state?: State, states?: StateCodecs): Promise<{ requestState?: string }> {
  return state && states ? { requestState: await states(state.seconds).mint(state.value) } : {};
}

/**
 * Asks the user on the 2025 revisions.
 * https://ts.sdk.modelcontextprotocol.io/v2/servers/elicitation#ask-for-input-with-a-form
 */
const elicitInput: Question = async (elicit, ctx) => {
  // A question of a case can be one that the types exclude.
  const params = elicitParams(elicit) as ElicitRequestFormParams | ElicitRequestURLParams;
  const { action, content } = await ctx.mcpReq.elicitInput(params);
  return structured({ action, content });
};
