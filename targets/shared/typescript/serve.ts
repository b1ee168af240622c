/** The connections of the servers that an adapter serves: one HTTP listener for all, and one stream for each. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createConnection, type AddressInfo, type Socket } from 'node:net';

/** A server over HTTP. */
export interface HttpServer {
  handle(request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

/** The SDK's transport over stdio, as far as this module uses it. */
export interface Transport {
  onclose?: (() => void) | undefined;
  close(): Promise<void>;
}

/** The port on which casebook listens, and the first line to send. */
export interface Stream {
  port: number;
  word: string;
}

const servers = new Map<string, HttpServer>();

/** Idle connections stay open, because closing one would race with casebook's next request. */
const listener = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  const server = servers.get(request.url ?? '');
  if (server) server.handle(request, response);
  else response.writeHead(404).end();
});

/** Serves a server over HTTP at a path of its own. */
export async function mount(
  create: (path: string) => HttpServer
): Promise<{ url: string; close: () => Promise<void> }> {
  const path = `/${randomUUID()}/mcp`;
  const server = create(path);
  if (!listener.listening) await once(listener.listen(0, '127.0.0.1'), 'listening');
  servers.set(path, server);
  return {
    url: `http://127.0.0.1:${String((listener.address() as AddressInfo).port)}${path}`,
    async close() {
      servers.delete(path);
      await server.close();
    }
  };
}

/**
 * Serves a server on a connection to casebook, which replaces the standard streams of a process. Returns the function
 * that closes it.
 */
export async function serveStream(
  { port, word }: Stream,
  start: (socket: Socket) => Transport | Promise<Transport>
): Promise<() => Promise<void>> {
  const socket = createConnection({ host: '127.0.0.1', port, noDelay: true });
  await once(socket, 'connect');
  // A closed transport has no error listener, and an error without a listener would end this process.
  socket.on('error', console.error);
  socket.write(`${word}\n`);
  try {
    const transport = await start(socket);
    // A process ends when its transport closes, for example after a line that is too long, and the transport of a
    // process that ends is closed.
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      socket.destroySoon();
    };
    socket.once('close', () => void transport.close());
    return async () => {
      socket.destroy();
      await transport.close();
    };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
