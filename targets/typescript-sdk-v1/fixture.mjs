// @ts-check
/**
 * Builds a server from a fixture, once per API tier of the SDK. It contains the code that a tool
 * author would write. It does not check, repair or fill in anything on behalf of the SDK.
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
 * @typedef {() => McpServer | Server} Factory Creates a new server for each session.
 */

/** The public API of the SDK, or that of zod, cannot express the fixture or the script. */
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
 * The protocol layer, on which the author lists, dispatches and validates. It is the only tier that
 * accepts JSON Schema. This adapter validates nothing.
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
      // On this tier the author dispatches calls. The error is that of the specification, not of the SDK.
      if (!tool) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
      return runTool(tool.does, params.arguments, server, extra);
    });
    return server;
  };
}

/**
 * The tier of `McpServer`, which accepts only zod schemas. `z.fromJSONSchema` converts the fixture's
 * schemas, so every keyword that it drops or changes is missing or different on the wire.
 * https://zod.dev/json-schema#zfromjsonschema
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
      const run = (args, extra) => runTool(does, args, server.server, extra);
      // Without an input schema, the SDK calls the callback with `extra` as its only argument.
      const callback = inputSchema ? run : (/** @type {Extra} */ extra) => run(undefined, extra);
      const config = { title, description, inputSchema, outputSchema };
      withRefusal(tool, () => server.registerTool(name, config, /** @type {any} */ (callback)));
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
 * Runs the body of a tool. The SDK's `CallToolResult` requires `content`, which may be empty.
 *
 * @param {Does} does
 * @param {unknown} args
 * @param {Server} server
 * @param {Extra} extra
 * @returns {Promise<any>} The value that a tool author would return.
 */
async function runTool(does, args, server, extra) {
  if ('echo' in does) return { content: [], structuredContent: args };
  if ('return' in does) return { content: [], ...does.return };
  if ('raise' in does) throw new Error(does.raise);
  // Without a related request, the SDK would send the question on a GET stream that clients need not open.
  // https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/docs/capabilities.md#elicitation
  const answer = await server.elicitInput(/** @type {any} */ (does.elicit), { relatedRequestId: extra.requestId });
  return { content: [], structuredContent: answer };
}

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
