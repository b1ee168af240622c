/**
 * Builds servers from fixtures. It contains the code that the author of a server would write, and it does not check,
 * repair or fill in anything on behalf of the SDK.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
  type ElicitRequestFormParams,
  type Tool
} from '@modelcontextprotocol/sdk/types.js';

import { Refused, type Does, type Fixture } from '../typescript/protocol.js';
import { toZod } from './zod.js';

/** Creates a server, which serves one session. */
export type Factory = () => Pick<McpServer, 'connect'>;

export const variants: Record<string, (fixture: Fixture) => Factory> = { zod, low };

/**
 * Registers tools with `McpServer`, which takes zod schemas.
 * https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/docs/server.md#tools
 */
function zod({ server: info, tools }: Fixture): Factory {
  // The author of a server writes zod schemas, so a schema that zod cannot express ends here.
  const written = tools.map(({ inputSchema, outputSchema, ...tool }) => ({
    ...tool,
    inputSchema: toZod(inputSchema, `the inputSchema of ${tool.name}`),
    outputSchema: toZod(outputSchema, `the outputSchema of ${tool.name}`)
  }));
  return () => {
    const server = new McpServer(info);
    server.server.onerror = console.error;
    for (const { name, does, inputSchema, ...config } of written) {
      const run = (args?: unknown) => runTool(does, args, server.server);
      try {
        // Without an input schema, the SDK calls the callback without arguments.
        if (inputSchema) server.registerTool(name, { ...config, inputSchema }, (args: unknown) => run(args));
        else server.registerTool(name, config, () => run());
      } catch (error) {
        throw new Refused(error, name);
      }
    }
    return server;
  };
}

/**
 * Handles the requests of the protocol layer, on which the author lists, dispatches and validates. It is the only tier
 * that takes JSON Schema. This author validates nothing.
 * https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/src/server/index.ts
 */
function low({ server: info, tools }: Fixture): Factory {
  return () => {
    const server = new Server(info, { capabilities: { tools: {} } });
    server.onerror = console.error;
    // The schemas of a fixture can be any JSON, which the type of a tool does not allow.
    const listed = tools.map(({ does, ...tool }) => tool as Tool);
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listed }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
      const tool = tools.find(({ name }) => name === params.name);
      // No page of the documentation has an answer to an unknown name. This is the specification's.
      if (!tool) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
      return runTool(tool.does, params.arguments, server);
    });
    return server;
  };
}

/** Runs the body of a tool. */
async function runTool(does: Does, args: unknown, server: McpServer['server']): Promise<CallToolResult> {
  if (does.raise !== undefined) throw new Error(does.raise);
  if (does.elicit) {
    // The form of a fixture can break the type on purpose.
    const params = { mode: 'form', ...does.elicit } as ElicitRequestFormParams;
    const { action, content } = await server.elicitInput(params);
    return structured({ action, content });
  }
  if (!does.return) return structured(args);
  const { structuredContent, ...rest } = does.return;
  return { ...structured(structuredContent), ...rest } as CallToolResult;
}

/**
 * Returns structured content with its JSON as text, which the author of a tool writes.
 * https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/docs/server.md#tools
 */
function structured(output: unknown): CallToolResult {
  if (output === undefined) return { content: [] };
  // Structured content is an object by its type, and any JSON in fixtures.
  return {
    content: [{ type: 'text', text: JSON.stringify(output) }],
    structuredContent: output as Record<string, unknown>
  };
}
