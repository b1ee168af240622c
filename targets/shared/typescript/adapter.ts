/**
 * The loop of an adapter. It reads one JSON request per line from standard input and writes one JSON answer per line to
 * standard output, in the same order. With `--stdio-server FILE`, the process serves one fixture on its standard
 * streams instead.
 */
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';

import { describeError } from './client.js';
import { stringify } from './json.js';
import { Cannot, Refused, type DriveRequest, type Drove, type Identity, type ServeRequest } from './protocol.js';
import { mount, serveStream, type HttpServer, type Stream, type Transport } from './serve.js';

/** The parts of the adapter protocol beyond its first version, all of which these adapters handle. */
const knows = [
  ...['elicit-url', 'state', 'wait', 'log', 'progress', 'callTools', 'requestTimeout', 'as-presented'],
  ...['methods', 'capabilities', 'request']
];

/** The part of an adapter that uses the SDK. */
export interface Adapter {
  identity: Identity;
  /** Creates a server that answers the HTTP requests to a path. */
  serveHttp(request: ServeRequest, path: string): HttpServer;
  /** Starts a server on the SDK's stdio transport, which reads and writes these streams. */
  serveStdio(request: ServeRequest, input: Readable, output: Writable): Transport | Promise<Transport>;
  drive(request: DriveRequest): Promise<Drove>;
}

interface Request {
  id: string;
  hello?: { protocol: number };
  serve?: ServeRequest & ({ transport: 'http' } | { transport: 'stdio'; stream: Stream });
  stop?: { serving: string };
  drive?: DriveRequest;
}

/** Runs an adapter until its standard input ends. */
export function runAdapter(adapter: Adapter): void {
  const [option, file] = process.argv.slice(2);
  if (option === '--stdio-server' && file !== undefined) void serveProcess(adapter, file);
  else control(answers(adapter));
}

/** Serves one fixture on the standard streams of this process until they end. */
async function serveProcess(adapter: Adapter, file: string): Promise<void> {
  try {
    await adapter.serveStdio(JSON.parse(readFileSync(file, 'utf8')) as ServeRequest, process.stdin, process.stdout);
  } catch (error) {
    console.error(JSON.stringify(errorAnswer(error)));
    process.exit(3);
  }
}

/** Returns the function that answers requests. */
function answers(adapter: Adapter): (request: Request) => Promise<object> {
  /** Closes a running server, by the id of its `serve` request. */
  const serving = new Map<string, () => Promise<void>>();

  return async ({ id, hello, serve, stop, drive }) => {
    try {
      if (hello) {
        const parts = {
          language: 'typescript',
          roles: ['server', 'client'],
          transports: ['stdio', 'http'],
          knows,
          streams: true
        };
        return { hello: { ...adapter.identity, ...parts } };
      }
      if (serve?.transport === 'http') {
        const { url, close } = await mount(path => adapter.serveHttp(serve, path));
        serving.set(id, close);
        return { serving: { url } };
      }
      if (serve) {
        const close = await serveStream(serve.stream, socket => adapter.serveStdio(serve, socket, socket));
        serving.set(id, close);
        return { serving: {} };
      }
      if (stop) {
        const close = serving.get(stop.serving);
        serving.delete(stop.serving);
        await close?.();
        return { stopped: close !== undefined };
      }
      if (drive) return { drove: await adapter.drive(drive) };
      return { unsupported: 'expected hello, serve, stop or drive' };
    } catch (error) {
      return errorAnswer(error);
    }
  };
}

/** Returns the answer for a fixture that cannot be built. Any other error is a fault of the adapter and ends it. */
function errorAnswer(error: unknown): object {
  if (error instanceof Cannot) return { cannot: error.message };
  if (!(error instanceof Refused)) throw error;
  const { type, message } = describeError(error.cause);
  return { refused: { type, message, tool: error.tool } };
}

/** Reads requests and writes answers. `node:readline` also breaks lines at U+2028, which JSON does not escape. */
function control(answer: (request: Request) => Promise<object>): void {
  let rest = '';
  let queue = Promise.resolve();
  process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
    rest += chunk;
    if (!chunk.includes('\n')) return;
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      queue = queue.then(async () => {
        const request = JSON.parse(line) as Request;
        process.stdout.write(`${stringify({ id: request.id, ...(await answer(request)) })}\n`);
      });
    }
  });
  process.stdin.on('end', () => {
    void queue.then(() => process.exit(0));
    setTimeout(() => process.exit(0), 1000);
  });
}
