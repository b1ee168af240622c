/** Serves fixtures with the SDK's entry points and transports. */
import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';

import { createMcpExpressApp } from '@modelcontextprotocol/express';
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler
} from '@modelcontextprotocol/node';
import { createMcpHandler, isInitializeRequest } from '@modelcontextprotocol/server';
import { serveStdio as serveSdkStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Request, Response } from 'express';

import { Cannot, type ServeRequest } from '../shared/typescript/protocol.js';
import type { HttpServer } from '../shared/typescript/serve.js';
import { variants, type BuildServer } from './fixture.js';
import { addMethods } from './methods.js';

export function serveHttp(request: ServeRequest, path: string): HttpServer {
  const buildServer = builderOf(request);
  return request.variant === 'sessions' ? sessionful(buildServer, path) : stateless(buildServer);
}

/** https://ts.sdk.modelcontextprotocol.io/v2/serving/stdio */
export function serveStdio(request: ServeRequest, input: Readable, output: Writable): StdioServerTransport {
  const transport = new StdioServerTransport(input, output);
  serveSdkStdio(builderOf(request), { transport, onerror: console.error });
  return transport;
}

function builderOf(request: ServeRequest): BuildServer {
  const { variant = 'default' } = request;
  const build = variants[variant];
  if (!build) throw new Cannot(`the adapter has no variant ${variant}`);
  return addMethods(request.fixture, build(request));
}

/** The first example of https://ts.sdk.modelcontextprotocol.io/v2/serving/http, with its guards. */
function stateless(buildServer: BuildServer): HttpServer {
  const handler = createMcpHandler(buildServer, { onerror: console.error });
  const nodeHandler = toNodeHandler(handler, { onerror: console.error });
  const validateHost = localhostHostValidation();
  const validateOrigin = localhostOriginValidation();
  return {
    handle(request, response) {
      if (!validateHost(request, response) || !validateOrigin(request, response)) return;
      void nodeHandler(request, response);
    },
    close: () => handler.close()
  };
}

/** https://ts.sdk.modelcontextprotocol.io/v2/serving/sessions-state-scaling#pin-a-client-to-a-session */
function sessionful(buildServer: BuildServer, path: string): HttpServer {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();

  const route = async (req: Request, res: Response) => {
    const sessionId = req.headers['mcp-session-id'] as string | undefined;
    const known = sessionId && sessions.get(sessionId);
    if (known) {
      await known.handleRequest(req, res, req.body);
      return;
    }
    if (!sessionId && isInitializeRequest(req.body)) {
      const transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: id => {
          sessions.set(id, transport);
        }
      });
      transport.onclose = () => {
        if (transport.sessionId) sessions.delete(transport.sessionId);
      };
      await buildServer().connect(transport);
      await transport.handleRequest(req, res, req.body);
      return;
    }
    if (sessionId) {
      res.status(404).json({ jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null });
      return;
    }
    res
      .status(400)
      .json({ jsonrpc: '2.0', error: { code: -32000, message: 'Bad Request: Session ID required' }, id: null });
  };

  const app = createMcpExpressApp();
  app.post(path, route);
  app.get(path, route);
  app.delete(path, route);
  return {
    handle: app,
    async close() {
      for (const transport of sessions.values()) await transport.close();
    }
  };
}
