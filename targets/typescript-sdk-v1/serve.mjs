// @ts-check
/**
 * Serves fixtures: over HTTP, where one listener serves each fixture under a path of its own, or over
 * stdio, on a stream to casebook or on this process's standard streams.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createConnection } from 'node:net';

import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';

import { Cannot, variants } from './fixture.mjs';

/**
 * @typedef {import('./fixture.mjs').Factory} Factory
 * @typedef {import('express').Request} Request
 * @typedef {import('express').Response} Response
 * @typedef {(request: Request, response: Response) => Promise<void>} Route
 * @typedef {{ revision: string, variant: string, fixture: import('./fixture.mjs').Fixture }} Serve
 * @typedef {{ port: number, word: string }} Stream The port on which casebook listens, and the first line to send.
 */

/** The revisions of the SDK's `SUPPORTED_PROTOCOL_VERSIONS` that casebook also supports. */
export const revisions = ['2025-06-18', '2025-11-25'];

/** @type {Map<string, Route>} */
const routes = new Map();

/**
 * Serves a fixture at a URL of its own. The client chooses the revision, because the SDK has no option
 * to restrict the supported ones.
 *
 * @param {Serve} request
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function serveHttp(request) {
  const { route, close } = sessions(build(request));
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
 * Serves a fixture on a stream to casebook until the stream ends.
 *
 * @param {Serve & { stream: Stream }} request
 * @returns {Promise<{ close: () => Promise<void> }>}
 */
export async function serveStream(request) {
  const factory = build(request);
  const socket = await connect(request.stream);
  const transport = new StdioServerTransport(socket, socket);
  // A process ends when its transport closes, for example after a line that is too long, and the
  // transport closes when the process ends.
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
 * Serves a fixture on this process's standard streams until they end.
 *
 * @param {Serve} request
 */
export async function serveProcess(request) {
  await build(request)().connect(new StdioServerTransport());
}

/**
 * Opens a connection to casebook that replaces the standard streams of a process.
 *
 * @param {Stream} stream
 */
async function connect({ port, word }) {
  const socket = createConnection({ host: '127.0.0.1', port, noDelay: true });
  await once(socket, 'connect');
  // A closed transport has no error listener, and an error without a listener would end this process.
  socket.on('error', error => console.error(error));
  socket.write(`${word}\n`);
  return socket;
}

/**
 * Prepares the factory. It builds one server in advance, so that the SDK refuses the fixture now and
 * not at the first request.
 *
 * @param {Serve} request
 */
function build({ revision, variant, fixture }) {
  if (!revisions.includes(revision)) throw new Cannot(`the SDK does not support ${revision}`);
  if (!Object.hasOwn(variants, variant)) throw new Cannot(`there is no variant "${variant}"`);
  const factory = variants[variant](fixture);
  factory();
  return factory;
}

/**
 * Serves one transport and one server per session. Requests without a session get the answers of the
 * documentation, because the user of the SDK routes by session.
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
        : reject(response, 404, -32001, 'Session not found');
    }
    if (!isInitializeRequest(request.body)) {
      return reject(response, 400, -32000, 'Bad Request: No valid session ID provided');
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
function reject(response, status, code, message) {
  response.status(status).json({ jsonrpc: '2.0', error: { code, message }, id: null });
}

/** The only listener, with the SDK's own application, which checks the host and reads the body. */
const listener = (() => {
  const app = createMcpExpressApp();
  app.all('/:fixture/mcp', async (request, response) => {
    const route = routes.get(request.path);
    if (route) await route(request, response);
    else response.sendStatus(404);
  });
  // Idle connections stay open, because closing one would race with casebook's next request.
  return createServer({ keepAliveTimeout: 0 }, app);
})();

/** @returns {Promise<import('node:net').AddressInfo>} */
async function address() {
  if (!listener.listening) await once(listener.listen(0, '127.0.0.1'), 'listening');
  return /** @type {import('node:net').AddressInfo} */ (listener.address());
}
