// @ts-check
/**
 * Puts a server on the wire: over HTTP, where one listener serves every fixture under a path of its
 * own, or over stdio, on a stream to the harness or on this process's standard streams.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createConnection } from 'node:net';

import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler
} from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';

import { variants } from './fixture.mjs';

/**
 * @typedef {import('./fixture.mjs').Factory} Factory
 * @typedef {import('./fixture.mjs').Era} Era
 * @typedef {import('node:http').IncomingMessage} Request
 * @typedef {import('node:http').ServerResponse} Response
 * @typedef {(request: Request, response: Response) => Promise<void>} Route
 * @typedef {{ revision: string, variant: string, fixture: import('./fixture.mjs').Fixture }} Serve
 * @typedef {{ port: number, word: string }} Stream
 */

/** The SDK's public API has no way to express what was asked for. */
export class Cannot extends Error {}

/** @type {Record<string, Era>} */
export const eras = { '2025-06-18': 'legacy', '2025-11-25': 'legacy', '2026-07-28': 'modern' };

/** @type {Map<string, Route>} */
const routes = new Map();

/**
 * Serves a fixture at a URL of its own, for the revision that is asked for.
 *
 * @param {Serve} order
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function serveHttp(order) {
  const { factory, era } = build(order);
  const { route, close } = era === 'modern' ? stateless(factory) : sessions(factory);
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
  const built = build(order);
  const socket = await connect(order.stream);
  const transport = new StdioServerTransport(socket, socket);
  speak(built, transport);
  // A process ends when its transport closes itself, as on a line that is too long.
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    socket.destroySoon();
  };
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
export function serveProcess(order) {
  speak(build(order), new StdioServerTransport());
}

/**
 * The SDK's own entry point for stdio, on a transport of its own or on one that its user makes.
 * https://ts.sdk.modelcontextprotocol.io/v2/serving/stdio
 *
 * @param {{ factory: Factory, era: Era }} built
 * @param {StdioServerTransport} transport
 */
function speak({ factory, era }, transport) {
  serveStdio(context => factory(context.era), {
    legacy: era === 'legacy' ? 'serve' : 'reject',
    transport,
    onerror: error => console.error(error)
  });
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
  const era = eras[revision];
  if (!era) throw new Cannot(`the SDK does not speak ${revision}`);
  if (!Object.hasOwn(variants, variant)) throw new Cannot(`there is no variant "${variant}"`);
  const factory = variants[variant](fixture);
  factory(era);
  return { factory, era };
}

/**
 * 2026-07-28 and nothing else: by default the same URL would also answer older clients, and a
 * request with a broken envelope would be taken for one of theirs.
 * https://ts.sdk.modelcontextprotocol.io/v2/serving/http
 *
 * @param {Factory} factory
 */
function stateless(factory) {
  const handler = createMcpHandler(({ era }) => factory(era), {
    legacy: 'reject',
    onerror: error => console.error(error)
  });
  return { route: toNodeHandler(handler), close: () => handler.close() };
}

/**
 * The lifecycle with sessions, one transport each. The body is left to the transport, so that its
 * limits hold. https://ts.sdk.modelcontextprotocol.io/v2/serving/sessions-state-scaling
 *
 * @param {Factory} factory
 */
function sessions(factory) {
  /** @type {Map<string, NodeStreamableHTTPServerTransport>} */
  const open = new Map();

  /** @type {Route} */
  const route = async (request, response) => {
    const id = request.headers['mcp-session-id'];
    if (typeof id === 'string') {
      const known = open.get(id);
      return known ? known.handleRequest(request, response) : refuseSession(response);
    }
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: id => void open.set(id, transport)
    });
    transport.onclose = () => void open.delete(transport.sessionId ?? '');
    await factory('legacy').connect(transport);
    await transport.handleRequest(request, response);
  };
  const close = async () => void (await Promise.all([...open.values()].map(transport => transport.close())));
  return { route, close };
}

/**
 * The documentation's answer to a session that is unknown: routing by session is the user's part.
 *
 * @param {Response} response
 */
function refuseSession(response) {
  const error = { code: -32001, message: 'Session not found' };
  response.writeHead(404, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
}

/** The one listener, with the guards that the documentation puts in front of it. */
const listener = (() => {
  const hostIsLocal = localhostHostValidation();
  const originIsLocal = localhostOriginValidation();
  // Idle connections stay open: closing one would race with the harness's next request.
  return createServer({ keepAliveTimeout: 0 }, (request, response) => {
    if (!hostIsLocal(request, response) || !originIsLocal(request, response)) return;
    const route = routes.get(request.url ?? '');
    if (route) void route(request, response);
    else response.writeHead(404).end();
  });
})();

/** @returns {Promise<import('node:net').AddressInfo>} */
async function address() {
  if (!listener.listening) await once(listener.listen(0, '127.0.0.1'), 'listening');
  return /** @type {import('node:net').AddressInfo} */ (listener.address());
}
