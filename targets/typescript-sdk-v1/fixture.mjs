// @ts-check
/**
 * From a fixture to a server, once per API tier of the SDK. Everything here is what a tool author
 * would write; nothing is checked, repaired or filled in on the SDK's behalf.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';

/**
 * @typedef {{ requestId: import('@modelcontextprotocol/sdk/types.js').RequestId }} Extra
 * @typedef {{ message: string, requestedSchema: any }} Elicit
 * @typedef {{ echo?: true, return?: any, elicit?: Elicit, raise?: string }} Does
 * @typedef {{ name: string, title?: string, description?: string, inputSchema?: any, outputSchema?: any, does: Does }} Tool
 * @typedef {{ server: { name: string, version: string }, tools: Tool[] }} Fixture
 * @typedef {() => McpServer | Server} Factory A fresh server for each session.
 */

/** The public API of the SDK, or the one of zod, has no way to express what was asked for. */
export class Cannot extends Error {}

/** The SDK threw while the server was being built. */
export class Refused extends Error {
  /** @param {unknown} cause @param {string} tool */
  constructor(cause, tool) {
    super('the SDK would not build this server', { cause });
    this.tool = tool;
  }
}

/** @type {Record<string, (fixture: Fixture) => Factory>} */
export const variants = { low, zod };

/**
 * The protocol layer, the only one that takes JSON Schema: the author lists, dispatches and
 * validates. This one validates nothing.
 * https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/src/server/index.ts
 *
 * @param {Fixture} fixture
 * @returns {Factory}
 */
function low({ server: info, tools }) {
  const listed = tools.map(({ does, ...tool }) => /** @type {any} */ (tool));
  return () => {
    const server = new Server(info, { capabilities: { tools: {} } });
    server.onerror = error => console.error(error);
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listed }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
      const tool = tools.find(({ name }) => name === params.name);
      // Dispatch is the author's here, so this answer is the specification's and says nothing of the SDK.
      if (!tool) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
      return perform(tool.does, params.arguments, server, extra);
    });
    return server;
  };
}

/**
 * `McpServer`, which takes zod schemas and nothing else. Zod's own reading of JSON Schema makes them,
 * so what zod loses or changes on the way is seen on the wire. https://zod.dev/json-schema#zfromjsonschema
 *
 * @param {Fixture} fixture
 * @returns {Factory}
 */
function zod({ server: info, tools }) {
  const converted = tools.map(tool => ({
    tool,
    inputSchema: schema(tool, 'inputSchema'),
    outputSchema: schema(tool, 'outputSchema')
  }));
  return () => {
    const server = new McpServer(info);
    server.server.onerror = error => console.error(error);
    for (const { tool, inputSchema, outputSchema } of converted) {
      const { name, title, description, does } = tool;
      /** @param {unknown} args @param {Extra} extra */
      const run = (args, extra) => perform(does, args, server.server, extra);
      // Without an input schema the SDK hands the callback no arguments, only what comes beside them.
      const callback = inputSchema ? run : (/** @type {Extra} */ extra) => run(undefined, extra);
      const config = { title, description, inputSchema, outputSchema };
      blaming(tool, () => server.registerTool(name, config, /** @type {any} */ (callback)));
    }
    return server;
  };
}

/**
 * @param {Tool} tool
 * @param {'inputSchema' | 'outputSchema'} key
 */
function schema(tool, key) {
  if (!Object.hasOwn(tool, key)) return undefined;
  try {
    return z.fromJSONSchema(tool[key]);
  } catch (error) {
    throw new Cannot(`z.fromJSONSchema, on the ${key} of ${tool.name}: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * The body of a tool. `content`, which may be empty, is no option in the SDK's `CallToolResult`.
 *
 * @param {Does} does
 * @param {unknown} args
 * @param {Server} server
 * @param {Extra} extra
 * @returns {Promise<any>} What a tool author would return.
 */
async function perform(does, args, server, extra) {
  if ('echo' in does) return { content: [], structuredContent: args };
  if ('return' in does) return { content: [], ...does.return };
  if ('raise' in does) throw new Error(does.raise);
  // Unrelated to the call, the question would wait for a GET stream that the client need not open.
  // https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/docs/capabilities.md#elicitation
  const answer = await server.elicitInput(/** @type {any} */ (does.elicit), { relatedRequestId: extra.requestId });
  return { content: [], structuredContent: answer };
}

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
