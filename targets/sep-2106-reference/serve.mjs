// @ts-check
/**
 * Puts a server on the wire: over HTTP, where one listener serves every fixture under a path of its
 * own, or over stdio, on a stream to the harness or on this process's standard streams.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createConnection } from 'node:net';

import { createMcpExpressApp } from '@olaservo/mcp-sdk/server/express.js';
import { StdioServerTransport } from '@olaservo/mcp-sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@olaservo/mcp-sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@olaservo/mcp-sdk/types.js';

import { Cannot, variants } from './fixture.mjs';

/**
 * @typedef {import('./fixture.mjs').Factory} Factory
 * @typedef {import('express').Request} Request
 * @typedef {import('express').Response} Response
 * @typedef {(request: Request, response: Response) => Promise<void>} Route
 * @typedef {{ revision: string, variant: string, fixture: import('./fixture.mjs').Fixture }} Serve
 * @typedef {{ port: number, word: string }} Stream
 */

/** Those that the casebook knows of the SDK's `SUPPORTED_PROTOCOL_VERSIONS`. */
export const revisions = ['2025-06-18', '2025-11-25'];

/** @type {Map<string, Route>} */
const routes = new Map();

/**
 * Serves a fixture at a URL of its own. The revision is the client's choice among those that are
 * supported: nothing here can narrow them.
 *
 * @param {Serve} order
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function serveHttp(order) {
  const { route, close } = sessions(build(order));
  const path = `/${randomUUID()}/mcp`;
  const { port } = await address();
  routes.set(path, route);
  return {
    url: `http://127.0.0.1:${port}${path}`,
    async close() {
      routes.delete(path);
      await close();
    }
  };
}

/**
 * Speaks MCP on a stream to the harness, until it ends.
 *
 * @param {Serve & { stream: Stream }} order
 * @returns {Promise<{ close: () => Promise<void> }>}
 */
export async function serveStream(order) {
  const factory = build(order);
  const socket = await connect(order.stream);
  const transport = new StdioServerTransport(socket, socket);
  // A process ends when its transport closes, and its transport when it ends.
  transport.onclose = () => socket.destroySoon();
  socket.once('close', () => transport.close());
  await factory().connect(transport);
  return {
    async close() {
      socket.destroy();
      await transport.close();
    }
  };
}

/**
 * Speaks MCP on this process's standard streams, until they end.
 *
 * @param {Serve} order
 */
export async function serveProcess(order) {
  await build(order)().connect(new StdioServerTransport());
}

/**
 * A connection to the harness, which takes the place of a process's standard streams.
 *
 * @param {Stream} stream
 */
async function connect({ port, word }) {
  const socket = createConnection({ host: '127.0.0.1', port, noDelay: true });
  await once(socket, 'connect');
  // A closed transport no longer listens for errors, and one without a listener would end this process.
  socket.on('error', error => console.error(error));
  socket.write(`${word}\n`);
  return socket;
}

/**
 * Builds the server once for nothing, so that a refusal comes now and not with the first request.
 *
 * @param {Serve} order
 */
function build({ revision, variant, fixture }) {
  if (!revisions.includes(revision)) throw new Cannot(`the SDK does not speak ${revision}`);
  if (!Object.hasOwn(variants, variant)) throw new Cannot(`there is no variant "${variant}"`);
  const factory = variants[variant](fixture);
  factory();
  return factory;
}

/**
 * One transport and one server a session, with the documentation's answers to requests without one:
 * routing by session is the user's part.
 * https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/src/examples/server/simpleStreamableHttp.ts
 *
 * @param {Factory} factory
 */
function sessions(factory) {
  /** @type {Map<string, StreamableHTTPServerTransport>} */
  const open = new Map();

  /** @type {Route} */
  const route = async (request, response) => {
    const id = request.get('mcp-session-id');
    if (id !== undefined) {
      const known = open.get(id);
      return known
        ? known.handleRequest(request, response, request.body)
        : refuse(response, 404, -32001, 'Session not found');
    }
    if (!isInitializeRequest(request.body)) {
      return refuse(response, 400, -32000, 'Bad Request: No valid session ID provided');
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: id => void open.set(id, transport)
    });
    transport.onclose = () => void open.delete(transport.sessionId ?? '');
    await factory().connect(transport);
    await transport.handleRequest(request, response, request.body);
  };
  const close = async () => void (await Promise.all([...open.values()].map(transport => transport.close())));
  return { route, close };
}

/** @param {Response} response @param {number} status @param {number} code @param {string} message */
function refuse(response, status, code, message) {
  response.status(status).json({ jsonrpc: '2.0', error: { code, message }, id: null });
}

/** The one listener: the SDK's own application, which guards the host and reads the body. */
const listener = (() => {
  const app = createMcpExpressApp();
  app.all('/:fixture/mcp', async (request, response) => {
    const route = routes.get(request.path);
    if (route) await route(request, response);
    else response.sendStatus(404);
  });
  // Idle connections stay open: closing one would race with the harness's next request.
  return createServer({ keepAliveTimeout: 0 }, app);
})();

/** @returns {Promise<import('node:net').AddressInfo>} */
async function address() {
  if (!listener.listening) await once(listener.listen(0, '127.0.0.1'), 'listening');
  return /** @type {import('node:net').AddressInfo} */ (listener.address());
}
