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
  type InputRequiredResult,
  type JsonSchemaType,
  type jsonSchemaValidator,
  type McpServerFactory,
  type ServerContext,
  type StandardSchemaWithJSON,
  type Tool as ListedTool
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';

import type { Elicit, Fixture, Tool } from '../shared/typescript/protocol.js';

// By default, one validator with its cache of `$id`s serves the whole process. A server has a process of its own, so
// that each fixture gets its own instance.
export const variants: Record<string, (fixture: Fixture) => McpServerFactory> = {
  default: fixture => registerTools(fixture, new AjvJsonSchemaValidator()),
  sessions: fixture => registerTools(fixture, new AjvJsonSchemaValidator()),
  low: handleRequests,
  // https://ts.sdk.modelcontextprotocol.io/v2/advanced/schema-libraries#pick-the-validator-for-your-runtime
  cfworker: fixture => registerTools(fixture, new CfWorkerJsonSchemaValidator())
};

/**
 * Registers tools with `McpServer`, with schemas that already are JSON Schema:
 * https://ts.sdk.modelcontextprotocol.io/v2/advanced/schema-libraries#start-from-json-schema-you-already-have
 */
function registerTools({ server: info, tools }: Fixture, validator: jsonSchemaValidator): McpServerFactory {
  // The schema of a case can be any JSON value, so that its type does not hold.
  const wrap = (schema: unknown) => fromJsonSchema(schema as JsonSchemaType, validator);

  return () => {
    const server = new McpServer(info, { jsonSchemaValidator: validator });
    server.server.onerror = console.error;
    for (const tool of tools) {
      const { name, title, description } = tool;
      const outputSchema = 'outputSchema' in tool ? wrap(tool.outputSchema) : undefined;
      const config = { title, description, outputSchema };
      if ('inputSchema' in tool) {
        const inputSchema = wrap(tool.inputSchema);
        server.registerTool(name, { ...config, inputSchema }, (args, ctx) => runTool(tool, args, ctx, wrap));
      } else {
        server.registerTool(name, config, ctx => runTool(tool, undefined, ctx, wrap));
      }
    }
    return server;
  };
}

/**
 * Handles the requests of the protocol layer, on which the author lists, dispatches and validates. This adapter
 * validates nothing. https://ts.sdk.modelcontextprotocol.io/v2/advanced/low-level-server
 */
function handleRequests({ server: info, tools }: Fixture): McpServerFactory {
  // The schema of a case can be any JSON value, so that its type does not hold.
  const listed = tools.map(({ does, ...tool }) => tool as ListedTool);

  return () => {
    // The reference documentation deprecates this class for all but advanced uses, such as this one.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    const server = new Server(info, { capabilities: { tools: {} } });
    server.onerror = console.error;
    server.setRequestHandler('tools/list', async () => ({ tools: listed }));
    server.setRequestHandler('tools/call', async ({ params }, ctx) => {
      const tool = tools.find(({ name }) => name === params.name);
      if (!tool) return { content: [{ type: 'text', text: `Unknown tool: ${params.name}` }], isError: true };
      return runTool(tool, params.arguments, ctx);
    });
    return server;
  };
}

type ToolResult = CallToolResult | InputRequiredResult;
type Wrap = (schema: unknown) => StandardSchemaWithJSON;

/** Runs the body of a tool. */
async function runTool({ does }: Tool, args: unknown, ctx: ServerContext, wrap?: Wrap): Promise<ToolResult> {
  if (does.raise !== undefined) throw new Error(does.raise);
  if (does.elicit) return ask(does.elicit, ctx, wrap);
  if (!does.return) return structured(args);
  if (!('structuredContent' in does.return) || 'content' in does.return) {
    // The result of a case can be one that the type does not allow.
    return does.return as CallToolResult;
  }
  return { ...does.return, ...structured(does.return.structuredContent) };
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
 * Asks the user, on every revision. The SDK calls the handler again when there is a response.
 * https://ts.sdk.modelcontextprotocol.io/v2/servers/input-required#read-the-responses-on-re-entry
 */
function ask(elicit: Elicit, ctx: ServerContext, wrap?: Wrap): ToolResult {
  const { inputResponses } = ctx.mcpReq;
  const response = inputResponse(inputResponses, QUESTION);
  if (response.kind === 'elicit' && response.action !== 'accept') return structured({ action: response.action });
  const content = wrap
    ? acceptedContent(inputResponses, QUESTION, wrap(elicit.requestedSchema))
    : acceptedContent(inputResponses, QUESTION);
  if (content !== undefined) return structured({ action: 'accept', content });
  // The form of a case can be one that the type does not allow.
  return inputRequired({ inputRequests: { [QUESTION]: inputRequired.elicit(elicit as ElicitInputParams) } });
}
