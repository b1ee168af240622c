// @ts-check
/**
 * Serves fixtures: over HTTP, where one listener serves each fixture under a path of its own, or over
 * stdio, on a stream to casebook or on this process's standard streams.
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
 * @typedef {{ port: number, word: string }} Stream The port on which casebook listens, and the first line to send.
 */

/** The SDK's public API cannot express the fixture or the script. */
export class Cannot extends Error {}

/** @type {Record<string, Era>} */
export const eras = { '2025-06-18': 'legacy', '2025-11-25': 'legacy', '2026-07-28': 'modern' };

/** @type {Map<string, Route>} */
const routes = new Map();

/**
 * Serves a fixture at a URL of its own, for the requested revision.
 *
 * @param {Serve} request
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function serveHttp(request) {
  const { factory, era } = build(request);
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
 * Serves a fixture on a stream to casebook until the stream ends.
 *
 * @param {Serve & { stream: Stream }} request
 * @returns {Promise<{ close: () => Promise<void> }>}
 */
export async function serveStream(request) {
  const built = build(request);
  const socket = await connect(request.stream);
  const transport = new StdioServerTransport(socket, socket);
  start(built, transport);
  // The transport closes itself, for example after a line that is too long. A process would end then.
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
 * Serves a fixture on this process's standard streams until they end.
 *
 * @param {Serve} request
 */
export function serveProcess(request) {
  start(build(request), new StdioServerTransport());
}

/**
 * Starts the SDK's entry point for stdio on a transport.
 * https://ts.sdk.modelcontextprotocol.io/v2/serving/stdio
 *
 * @param {{ factory: Factory, era: Era }} built
 * @param {StdioServerTransport} transport
 */
function start({ factory, era }, transport) {
  serveStdio(context => factory(context.era), {
    legacy: era === 'legacy' ? 'serve' : 'reject',
    transport,
    onerror: error => console.error(error)
  });
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
  const era = eras[revision];
  if (!era) throw new Cannot(`the SDK does not support ${revision}`);
  if (!Object.hasOwn(variants, variant)) throw new Cannot(`there is no variant "${variant}"`);
  const factory = variants[variant](fixture);
  factory(era);
  return { factory, era };
}

/**
 * Serves only 2026-07-28. By default the same URL also accepts older clients, and the SDK would treat
 * a request with an invalid envelope as one of theirs.
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
 * Serves the revisions with sessions, with one transport per session. The transport itself reads the
 * body, so that its limits apply. https://ts.sdk.modelcontextprotocol.io/v2/serving/sessions-state-scaling
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
      return known ? known.handleRequest(request, response) : rejectSession(response);
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
 * Rejects an unknown session as the documentation does. The user of the SDK routes by session.
 *
 * @param {Response} response
 */
function rejectSession(response) {
  const error = { code: -32001, message: 'Session not found' };
  response.writeHead(404, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
}

/** The only listener, with the guards that the documentation recommends. */
const listener = (() => {
  const hostIsLocal = localhostHostValidation();
  const originIsLocal = localhostOriginValidation();
  // Idle connections stay open, because closing one would race with casebook's next request.
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
