/**
 * Builds servers from fixtures. It contains the code that the author of a server would write, and it does not check,
 * repair or fill in anything on behalf of the SDK.
 */
import {
  acceptedContent,
  fromJsonSchema,
  inputRequired,
  inputResponse,
  McpServer,
  Server,
  type CallToolResult,
  type ElicitInputParams,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  type JsonSchemaType,
  type jsonSchemaValidator,
  type ServerContext,
  type StandardSchemaWithJSON,
  type Tool as ListedTool
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';

import type { Does, Elicit, Fixture } from '../shared/typescript/protocol.js';

/** Creates a new server. */
export type BuildServer = () => McpServer | Server;

// By default, one validator with its cache of `$id`s serves the whole process. A server has a process of its own, so
// that each fixture gets its own instance.
export const variants: Record<string, (fixture: Fixture) => BuildServer> = {
  default: fixture => registerTools(fixture, new AjvJsonSchemaValidator(), requireInput),
  sessions: fixture => registerTools(fixture, new AjvJsonSchemaValidator(), elicitInput),
  low: handleRequests,
  // https://ts.sdk.modelcontextprotocol.io/v2/advanced/schema-libraries#pick-the-validator-for-your-runtime
  cfworker: fixture => registerTools(fixture, new CfWorkerJsonSchemaValidator(), requireInput)
};

/**
 * Registers tools with `McpServer`, with schemas that already are JSON Schema:
 * https://ts.sdk.modelcontextprotocol.io/v2/advanced/schema-libraries#start-from-json-schema-you-already-have
 */
function registerTools({ server: info, tools }: Fixture, validator: jsonSchemaValidator, ask: Ask): BuildServer {
  const wrap = wrapWith(validator);

  return () => {
    const server = new McpServer(info, { jsonSchemaValidator: validator });
    server.server.onerror = console.error;
    for (const { name, title, description, does, ...schemas } of tools) {
      const run = (args: unknown, ctx: ServerContext) => runTool(does, args, elicit => ask(elicit, ctx, wrap));
      const outputSchema = 'outputSchema' in schemas ? wrap(schemas.outputSchema) : undefined;
      const config = { title, description, outputSchema };
      if ('inputSchema' in schemas)
        server.registerTool(name, { ...config, inputSchema: wrap(schemas.inputSchema) }, run);
      else server.registerTool(name, config, ctx => run(undefined, ctx));
    }
    return server;
  };
}

/**
 * Handles the requests of the protocol layer, on which the author lists, dispatches and validates. This adapter
 * validates nothing. https://ts.sdk.modelcontextprotocol.io/v2/advanced/low-level-server
 */
function handleRequests({ server: info, tools }: Fixture): BuildServer {
  // A schema of a case can be any JSON value, also one that the type excludes.
  const listed = tools.map(({ does, ...tool }) => tool as ListedTool);
  const wrap = wrapWith(new AjvJsonSchemaValidator());

  return () => {
    const server = new Server(info, { capabilities: { tools: {} } });
    server.onerror = console.error;
    server.setRequestHandler('tools/list', async () => ({ tools: listed }));
    server.setRequestHandler('tools/call', async ({ params }, ctx) => {
      const tool = tools.find(({ name }) => name === params.name);
      if (!tool) return { content: [{ type: 'text', text: `Unknown tool: ${params.name}` }], isError: true };
      return runTool(tool.does, params.arguments, elicit => requireInput(elicit, ctx, wrap));
    });
    return server;
  };
}

type Wrap = (schema: unknown) => StandardSchemaWithJSON;

function wrapWith(validator: jsonSchemaValidator): Wrap {
  // A schema of a case can be any JSON value, also one that the type excludes.
  return schema => fromJsonSchema(schema as JsonSchemaType, validator);
}

type ToolResult = CallToolResult | InputRequiredResult;
type Ask = (elicit: Elicit, ctx: ServerContext, wrap: Wrap) => Promise<ToolResult>;

/** Runs the body of a tool. */
async function runTool(does: Does, args: unknown, ask: (elicit: Elicit) => Promise<ToolResult>): Promise<ToolResult> {
  if (does.raise !== undefined) throw new Error(does.raise);
  if (does.elicit) return ask(does.elicit);
  if (!does.return) return structured(args);
  const { structuredContent, ...rest } = does.return;
  // A result of a case can be one that the type excludes.
  return { ...structured(structuredContent), ...rest } as CallToolResult;
}

/**
 * Returns structured content, with its JSON beside it.
 * https://ts.sdk.modelcontextprotocol.io/v2/servers/tools#return-structured-output
 */
function structured(output: unknown): CallToolResult {
  if (output === undefined) return { content: [] };
  return { content: [{ type: 'text', text: JSON.stringify(output) }], structuredContent: output };
}

/** The key of the only question that a tool asks. */
const QUESTION = 'question';

/**
 * Asks the user on any revision. The SDK calls the tool again when there is a response.
 * https://ts.sdk.modelcontextprotocol.io/v2/servers/input-required#read-the-responses-on-re-entry
 */
async function requireInput(elicit: Elicit, ctx: ServerContext, wrap: Wrap): Promise<ToolResult> {
  const { inputResponses } = ctx.mcpReq;
  const response = inputResponse(inputResponses, QUESTION);
  if (response.kind === 'elicit' && response.action !== 'accept') return structured({ action: response.action });
  const content = acceptedContent(inputResponses, QUESTION, wrap(elicit.requestedSchema));
  if (content !== undefined) return structured({ action: 'accept', content });
  // A form of a case can be one that the type excludes.
  return inputRequired({ inputRequests: { [QUESTION]: inputRequired.elicit(elicit as ElicitInputParams) } });
}

/**
 * Asks the user on the 2025 revisions.
 * https://ts.sdk.modelcontextprotocol.io/v2/servers/elicitation#ask-for-input-with-a-form
 */
async function elicitInput(elicit: Elicit, ctx: ServerContext): Promise<ToolResult> {
  // A form of a case can be one that the type excludes.
  const { action, content } = await ctx.mcpReq.elicitInput({ mode: 'form', ...(elicit as ElicitRequestFormParams) });
  return structured({ action, content });
}
