/**
 * Builds servers from fixtures. It contains the code that the author of a server would write, and it does not check,
 * repair or fill in anything on behalf of the SDK.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
  type ElicitRequestFormParams,
  type ElicitRequestURLParams,
  type ServerNotification,
  type ServerRequest,
  type Tool,
  type ToolAnnotations
} from '@modelcontextprotocol/sdk/types.js';

import * as z from 'zod';

import { Cannot, Refused, type Does, type Elicit, type Fixture } from '../typescript/protocol.js';
import {
  answerers,
  checkVerbs,
  elicitParams,
  isTyped,
  logs,
  refuseMembers,
  waitForCancellation
} from '../typescript/tool.js';
import { since } from './release.js';
import { registerTypedTools } from './typed.js';
import { toZod } from './zod.js';

/** Creates a server, which serves one session. */
export type Factory = () => McpServer | Server;

export const variants: Record<string, (fixture: Fixture) => Factory> = {
  zod: fixture => (isTyped(fixture) ? registerTypedTools(fixture) : zod(fixture)),
  low
};

/**
 * Registers tools with `McpServer`, which takes zod schemas.
 * https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/docs/server.md#tools
 */
function zod({ server: info, tools }: Fixture): Factory {
  checkVerbs(tools);
  checkQuestions(tools);
  for (const { name, title, description, inputSchema, outputSchema, annotations, _meta, does, ...rest } of tools) {
    // 1.18 brought the option _meta.
    const later = _meta !== undefined && !since('1.18.0') ? { _meta } : {};
    refuseMembers({ ...rest, ...later }, 'McpServer.registerTool');
  }
  // The author of a server writes zod schemas, so a schema that zod cannot express ends here.
  const written = tools.map(({ inputSchema, outputSchema, ...tool }) => ({
    ...tool,
    inputSchema: toZod(inputSchema, `the inputSchema of ${tool.name}`),
    outputSchema: toZod(outputSchema, `the outputSchema of ${tool.name}`)
  }));
  return () => {
    const server = new McpServer(info, { capabilities: logs(tools) ? { logging: {} } : {} });
    server.server.onerror = console.error;
    for (const { name, does, inputSchema, annotations, _meta, ...others } of written) {
      const run = (args: unknown, extra: Extra) => runTool(does, args, server.server, extra);
      // A member of a fixture can be any JSON, which its type does not allow.
      const members = { annotations: annotations as ToolAnnotations, _meta: _meta as Record<string, unknown> };
      const config = { ...others, ...members };
      try {
        // Without an input schema, the SDK calls the callback without arguments.
        if (inputSchema) server.registerTool(name, { ...config, inputSchema }, run);
        else server.registerTool(name, config, (extra: Extra) => run(undefined, extra));
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
  checkVerbs(tools);
  checkQuestions(tools);
  return () => {
    const capabilities = { tools: {}, ...(logs(tools) && { logging: {} }) };
    const server = new Server(info, { capabilities });
    server.onerror = console.error;
    // The schemas of a fixture can be any JSON, which the type of a tool does not allow.
    const listed = tools.map(({ does, ...tool }) => tool as unknown as Tool);
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listed }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
      const tool = tools.find(({ name }) => name === params.name);
      // No page of the documentation has an answer to an unknown name. This is the specification's.
      if (!tool) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
      return runTool(tool.does, params.arguments, server, extra);
    });
    return server;
  };
}

/**
 * Returns the function that creates a server with what a proposal adds beside its tools.
 * https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/src/server/index.ts
 */
export function addMethods(fixture: Fixture, create: Factory): Factory {
  const answers = answerers(fixture, ({ code, message, data }) => new McpError(code, message, data));
  return () => {
    const created = create();
    const server = created instanceof McpServer ? created.server : created;
    for (const [method, answer] of answers) {
      const request = z.object({ method: z.literal(method), params: z.record(z.string(), z.unknown()).optional() });
      server.setRequestHandler(request, ({ params }, { sendNotification }) => answer(params ?? {}, sendNotification));
    }
    if (fixture.capabilities) server.registerCapabilities(fixture.capabilities);
    return created;
  };
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** Runs the body of a tool. */
async function runTool(does: Does, args: unknown, server: McpServer['server'], extra: Extra): Promise<CallToolResult> {
  if (does.raise !== undefined) throw new Error(does.raise);
  if (does.elicit) {
    // The question of a fixture can break the types on purpose. The SDK's revisions have no request state.
    const params = question(does.elicit) as ElicitRequestFormParams | ElicitRequestURLParams;
    const { action, content } = await server.elicitInput(params);
    return structured({ action, content });
  }
  // https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/docs/protocol.md#cancellation
  if (does.wait) await waitForCancellation(does.wait, extra.signal);
  // https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/docs/server.md#logging
  if (does.log) await server.sendLoggingMessage(does.log, extra.sessionId);
  if (does.progress) await reportProgress(does.progress, extra);
  if (!does.return) return structured(args);
  const { structuredContent, ...rest } = does.return;
  return { ...structured(structuredContent), ...rest } as CallToolResult;
}

/** Throws if the SDK has no way to ask for what a tool asks. 1.23 brought the modes of elicitation. */
function checkQuestions(tools: Fixture['tools']): void {
  if (!since('1.23.0') && tools.some(({ does }) => does.elicit?.mode === 'url'))
    throw new Cannot('before 1.23, Server.elicitInput has no mode url');
}

function question(elicit: Elicit): object {
  const { mode, ...form } = elicitParams(elicit);
  return since('1.23.0') ? elicitParams(elicit) : form;
}

/** https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/docs/protocol.md#progress-notifications */
async function reportProgress(
  progress: NonNullable<Does['progress']>,
  { _meta, sendNotification }: Extra
): Promise<void> {
  if (_meta?.progressToken === undefined) return;
  const params = { progressToken: _meta.progressToken, ...progress };
  await sendNotification({ method: 'notifications/progress', params });
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
