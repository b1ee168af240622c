// @ts-check
/**
 * Builds a server from a fixture, once per API tier of the SDK. It contains the code that a tool
 * author would write. It does not check, repair or fill in anything on behalf of the SDK.
 */
import {
  acceptedContent,
  fromJsonSchema,
  inputRequired,
  inputResponse,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  Server
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';

/**
 * @typedef {import('@modelcontextprotocol/server').ServerContext} ServerContext
 * @typedef {import('@modelcontextprotocol/server').StandardSchemaWithJSON<any, any>} Schema
 * @typedef {'legacy' | 'modern'} Era The SDK's names for revisions up to 2025-11-25 and from 2026-07-28 on.
 * @typedef {{ message: string, requestedSchema: any }} Elicit
 * @typedef {{ echo?: true, return?: any, elicit?: Elicit, raise?: string }} Does
 * @typedef {{ name: string, title?: string, description?: string, inputSchema?: any, outputSchema?: any, does: Does }} Tool
 * @typedef {{ server: { name: string, version: string }, tools: Tool[] }} Fixture
 * @typedef {(era: Era) => McpServer | Server} Factory Creates a new server; the SDK's entry points call it.
 */

/** The SDK threw while the server was being built. */
export class Refused extends Error {
  /** @param {unknown} cause @param {string} tool */
  constructor(cause, tool) {
    super('the SDK would not build this server', { cause });
    this.tool = tool;
  }
}

/** @type {Record<string, (fixture: Fixture) => Factory>} */
export const variants = { high, low };

/**
 * The tier of `McpServer`, with schemas that already are JSON Schema:
 * https://ts.sdk.modelcontextprotocol.io/v2/advanced/schema-libraries
 *
 * @param {Fixture} fixture
 * @returns {Factory}
 */
function high({ server: info, tools }) {
  // By default `fromJsonSchema` shares one validator, with its cache of `$id`s, in the whole process.
  // A real server has its own process, so here each fixture gets its own instance of that validator.
  const validator = new AjvJsonSchemaValidator();
  /** @param {Tool} tool @param {'inputSchema' | 'outputSchema'} key */
  const schema = (tool, key) => (Object.hasOwn(tool, key) ? fromJsonSchema(tool[key], validator) : undefined);
  /** @param {Elicit} elicit */
  const form = elicit => fromJsonSchema(elicit.requestedSchema, validator);

  const compiled = tools.map(tool =>
    withRefusal(tool, () => ({
      tool,
      inputSchema: schema(tool, 'inputSchema'),
      outputSchema: schema(tool, 'outputSchema')
    }))
  );
  return era => {
    const server = new McpServer(info);
    server.server.onerror = error => console.error(error);
    for (const { tool, inputSchema, outputSchema } of compiled) {
      const { name, title, description, does } = tool;
      /** @param {unknown} args @param {ServerContext} ctx */
      const run = (args, ctx) => runTool(does, args, elicit => ask[era](elicit, ctx, form));
      // Without an input schema, the SDK calls the callback with the context as its only argument.
      const callback = inputSchema ? run : (/** @type {ServerContext} */ ctx) => run(undefined, ctx);
      const config = { title, description, inputSchema, outputSchema };
      withRefusal(tool, () => server.registerTool(name, config, /** @type {any} */ (callback)));
    }
    return server;
  };
}

/**
 * The protocol layer, on which the author lists, dispatches and validates. This adapter validates
 * nothing.
 * https://ts.sdk.modelcontextprotocol.io/v2/advanced/low-level-server
 *
 * @param {Fixture} fixture
 * @returns {Factory}
 */
function low({ server: info, tools }) {
  const listed = tools.map(({ does, ...tool }) => /** @type {any} */ (tool));
  return era => {
    const server = new Server(info, { capabilities: { tools: {} } });
    server.onerror = error => console.error(error);
    server.setRequestHandler('tools/list', () => ({ tools: listed }));
    server.setRequestHandler('tools/call', async ({ params }, ctx) => {
      const tool = tools.find(({ name }) => name === params.name);
      // On this tier the author dispatches calls. The error is that of the specification, not of the SDK.
      if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
      const result = await runTool(tool.does, params.arguments, elicit => ask[era](elicit, ctx));
      // The SDK's reference documentation tells authors on this tier to call this function.
      return result.resultType === 'input_required' ? result : server.projectCallToolResult(result, tool.outputSchema);
    });
    return server;
  };
}

/**
 * Runs the body of a tool.
 *
 * @param {Does} does
 * @param {unknown} args
 * @param {(elicit: Elicit) => Promise<any>} elicitation
 * @returns {Promise<any>} The value that a tool author would return.
 */
async function runTool(does, args, elicitation) {
  if ('echo' in does) return { structuredContent: args };
  if ('return' in does) return does.return;
  if ('raise' in does) throw new Error(does.raise);
  return elicitation(/** @type {Elicit} */ (does.elicit));
}

/** The key of the only question that a tool asks. */
const QUESTION = 'question';

/**
 * Asks the user in the way of each era:
 * https://ts.sdk.modelcontextprotocol.io/v2/protocol-versions#compare-the-eras
 *
 * @type {Record<Era, (elicit: Elicit, ctx: ServerContext, form?: (elicit: Elicit) => Schema) => Promise<any>>}
 */
const ask = {
  async legacy(elicit, ctx) {
    // Without a related request, the SDK would send the question on a GET stream that clients need not open.
    const answer = await ctx.mcpReq.elicitInput(elicit, { relatedRequestId: ctx.mcpReq.id });
    return { structuredContent: answer };
  },

  // The handler runs in both rounds. It asks again if an accepted answer is missing or invalid:
  // https://ts.sdk.modelcontextprotocol.io/v2/servers/input-required#read-the-responses-on-re-entry
  async modern(elicit, ctx, form) {
    const { inputResponses } = ctx.mcpReq;
    const { kind, ...answer } = /** @type {any} */ (inputResponse(inputResponses, QUESTION));
    const invalid =
      form !== undefined &&
      answer.action === 'accept' &&
      acceptedContent(inputResponses, QUESTION, form(elicit)) === undefined;
    if (kind === 'elicit' && !invalid) return { structuredContent: answer };
    return inputRequired({ inputRequests: { [QUESTION]: inputRequired.elicit(elicit) } });
  }
};

/**
 * Runs `build` and turns any exception into a refusal that names the tool.
 *
 * @template T
 * @param {Tool} tool
 * @param {() => T} build
 * @returns {T}
 */
function withRefusal(tool, build) {
  try {
    return build();
  } catch (error) {
    throw new Refused(error, tool.name);
  }
}
