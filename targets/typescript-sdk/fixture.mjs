// @ts-check
/**
 * From a fixture to a server, once per API tier of the SDK. Everything here is what a tool author
 * would write; nothing is checked, repaired or filled in on the SDK's behalf.
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
 * @typedef {'legacy' | 'modern'} Era Up to 2025-11-25, and from 2026-07-28 on: the SDK's own words.
 * @typedef {{ message: string, requestedSchema: any }} Elicit
 * @typedef {{ echo?: true, return?: any, elicit?: Elicit, raise?: string }} Does
 * @typedef {{ name: string, title?: string, description?: string, inputSchema?: any, outputSchema?: any, does: Does }} Tool
 * @typedef {{ server: { name: string, version: string }, tools: Tool[] }} Fixture
 * @typedef {(era: Era) => McpServer | Server} Factory A fresh server, as the SDK's entry points ask for one.
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
 * `McpServer` with schemas that already are JSON Schema, as in
 * https://ts.sdk.modelcontextprotocol.io/v2/advanced/schema-libraries
 *
 * @param {Fixture} fixture
 * @returns {Factory}
 */
function high({ server: info, tools }) {
  // `fromJsonSchema` would share one validator, and its cache of `$id`s, across the whole process.
  // A real server has a process of its own; here each fixture has this same validator of its own.
  const validator = new AjvJsonSchemaValidator();
  /** @param {Tool} tool @param {'inputSchema' | 'outputSchema'} key */
  const schema = (tool, key) => (Object.hasOwn(tool, key) ? fromJsonSchema(tool[key], validator) : undefined);
  /** @param {Elicit} elicit */
  const form = elicit => fromJsonSchema(elicit.requestedSchema, validator);

  const compiled = tools.map(tool =>
    blaming(tool, () => ({
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
      const run = (args, ctx) => perform(does, args, elicit => ask[era](elicit, ctx, form));
      // Without an input schema the SDK hands the callback no arguments, only the context.
      const callback = inputSchema ? run : (/** @type {ServerContext} */ ctx) => run(undefined, ctx);
      const config = { title, description, inputSchema, outputSchema };
      blaming(tool, () => server.registerTool(name, config, /** @type {any} */ (callback)));
    }
    return server;
  };
}

/**
 * The protocol layer: the author lists, dispatches and validates. This one validates nothing.
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
      // Dispatch is the author's here, so this answer is the specification's and says nothing of the SDK.
      if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
      const result = await perform(tool.does, params.arguments, elicit => ask[era](elicit, ctx));
      // Its reference documentation tells low-level authors to call this themselves.
      return result.resultType === 'input_required' ? result : server.projectCallToolResult(result, tool.outputSchema);
    });
    return server;
  };
}

/**
 * The body of a tool.
 *
 * @param {Does} does
 * @param {unknown} args
 * @param {(elicit: Elicit) => Promise<any>} elicitation
 * @returns {Promise<any>} What a tool author would return.
 */
async function perform(does, args, elicitation) {
  if ('echo' in does) return { structuredContent: args };
  if ('return' in does) return does.return;
  if ('raise' in does) throw new Error(does.raise);
  return elicitation(/** @type {Elicit} */ (does.elicit));
}

/** The key of the one question that a tool asks. */
const QUESTION = 'question';

/**
 * Asking the user, in the way that each era has for it:
 * https://ts.sdk.modelcontextprotocol.io/v2/protocol-versions#compare-the-eras
 *
 * @type {Record<Era, (elicit: Elicit, ctx: ServerContext, form?: (elicit: Elicit) => Schema) => Promise<any>>}
 */
const ask = {
  async legacy(elicit, ctx) {
    // Unrelated to the call, the question would wait for a GET stream that the client need not open.
    const answer = await ctx.mcpReq.elicitInput(elicit, { relatedRequestId: ctx.mcpReq.id });
    return { structuredContent: answer };
  },

  // One handler for both rounds; an accepted answer that is missing or unfit is asked for again:
  // https://ts.sdk.modelcontextprotocol.io/v2/servers/input-required#read-the-responses-on-re-entry
  async modern(elicit, ctx, form) {
    const { inputResponses } = ctx.mcpReq;
    const { kind, ...answer } = /** @type {any} */ (inputResponse(inputResponses, QUESTION));
    const unfit =
      form !== undefined &&
      answer.action === 'accept' &&
      acceptedContent(inputResponses, QUESTION, form(elicit)) === undefined;
    if (kind === 'elicit' && !unfit) return { structuredContent: answer };
    return inputRequired({ inputRequests: { [QUESTION]: inputRequired.elicit(elicit) } });
  }
};

/**
 * Runs one step of the building, and says which tool it was that the SDK would not take.
 *
 * @template T
 * @param {Tool} tool
 * @param {() => T} build
 * @returns {T}
 */
function blaming(tool, build) {
  try {
    return build();
  } catch (error) {
    throw new Refused(error, tool.name);
  }
}
