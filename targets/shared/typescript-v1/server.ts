/** Connects servers to the SDK's transports. */
import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';

import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import type { Request, Response } from 'express';

import { Cannot, type ServeRequest } from '../typescript/protocol.js';
import type { HttpServer, Transport } from '../typescript/serve.js';
import { addMethods, variants, type Factory } from './fixture.js';
import { createApp, since } from './release.js';

/** The revisions of the SDK that casebook also supports. */
export const revisions = ['2025-06-18', '2025-11-25'].filter(one => SUPPORTED_PROTOCOL_VERSIONS.includes(one));

/** 1.32 brought the status 404 to the example. Before it, an unknown session was answered as a missing one. */
const answers404 = since('1.32.0');

/**
 * Serves one transport and one server per session, as the SDK's first example does, without its authorization and its
 * limits of sessions.
 * https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/src/examples/server/simpleStreamableHttp.ts
 */
export function serveHttp(request: ServeRequest, path: string): HttpServer {
  const getServer = factory(request);
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const app = createApp();

  app.post(path, async (req, res) => {
    try {
      const id = req.get('mcp-session-id');
      const session = id === undefined ? undefined : sessions.get(id);
      if (session) {
        await session.handleRequest(req, res, req.body);
      } else if (id === undefined && isInitializeRequest(req.body)) {
        const transport = new StreamableHTTPServerTransport({
          sessionIdGenerator: () => randomUUID(),
          eventStore: new InMemoryEventStore(),
          onsessioninitialized: id => void sessions.set(id, transport)
        });
        transport.onclose = () => void sessions.delete(transport.sessionId ?? '');
        await getServer().connect(transport);
        await transport.handleRequest(req, res, req.body);
      } else if (id !== undefined && answers404) {
        reject(res, 404, -32001, 'Session not found');
      } else {
        reject(res, 400, -32000, 'Bad Request: No valid session ID provided');
      }
    } catch (error) {
      console.error('Error handling MCP request:', error);
      if (!res.headersSent) reject(res, 500, -32603, 'Internal server error');
    }
  });

  const handleSession = async (req: Request, res: Response) => {
    const id = req.get('mcp-session-id');
    const session = id === undefined ? undefined : sessions.get(id);
    if (session) await session.handleRequest(req, res);
    else if (id === undefined || !answers404) res.status(400).send('Missing session ID');
    else reject(res, 404, -32001, 'Session not found');
  };
  app.get(path, handleSession);
  app.delete(path, handleSession);

  return {
    handle: app,
    async close() {
      for (const session of sessions.values()) await session.close();
    }
  };
}

function reject(res: Response, status: number, code: number, message: string): void {
  res.status(status).json({ jsonrpc: '2.0', error: { code, message }, id: null });
}

/** Serves one server over stdio. */
export async function serveStdio(request: ServeRequest, input: Readable, output: Writable): Promise<Transport> {
  const server = factory(request)();
  const transport = new StdioServerTransport(input, output);
  await server.connect(transport);
  return transport;
}

/** Returns the function that creates servers. The client chooses the revision; the SDK has no option to restrict it. */
function factory({ revision, variant = 'zod', fixture }: ServeRequest): Factory {
  if (!revisions.includes(revision)) throw new Cannot(`the SDK does not support ${revision}`);
  const create = variants[variant];
  if (!create) throw new Cannot(`there is no server variant ${variant}`);
  return addMethods(fixture, create(fixture));
}
