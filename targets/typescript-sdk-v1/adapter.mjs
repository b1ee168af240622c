// @ts-check
/**
 * The casebook's adapter for the TypeScript SDK 1.x: one JSON object a line on standard input, one
 * answer a line on standard output, in order. `--stdio-server FILE` serves one fixture on the
 * standard streams instead.
 */
import { readFileSync } from 'node:fs';

import { drive } from './drive.mjs';
import { Cannot, Refused, variants } from './fixture.mjs';
import { revisions, serveHttp, serveProcess, serveStream } from './serve.mjs';

/** @typedef {Record<string, any>} Message */

/** What is being served, by the id of the request that asked for it. @type {Map<string, { close: () => Promise<void> }>} */
const serving = new Map();

/** The transports, each with its way to serve a fixture from this process. */
const transports = { stdio: serveStream, http: serveHttp };

/** @type {Record<string, (order: any, id: string) => Promise<Message>>} */
const kinds = {
  async hello() {
    return {
      hello: {
        sdk: '@modelcontextprotocol/sdk',
        version: version(),
        language: 'typescript',
        api: 'low: Server.setRequestHandler; zod: McpServer.registerTool with z.fromJSONSchema',
        roles: ['server', 'client'],
        transports: Object.keys(transports),
        revisions,
        variants: Object.keys(variants),
        streams: true
      }
    };
  },

  async serve(order, id) {
    const transport = /** @type {keyof typeof transports} */ (order.transport);
    if (!Object.hasOwn(transports, transport)) throw new Cannot(`there is no transport "${transport}"`);
    const { close, ...place } = await transports[transport](order);
    serving.set(id, { close });
    return { serving: place };
  },

  async stop({ serving: id }) {
    const served = serving.get(id);
    serving.delete(id);
    await served?.close();
    return { stopped: served !== undefined };
  },

  async drive(order) {
    return { drove: await drive(order) };
  }
};

/**
 * @param {Message} request
 * @returns {Promise<Message>}
 */
async function answer(request) {
  const kind = Object.keys(kinds).find(kind => Object.hasOwn(request, kind));
  if (!kind) return { unsupported: `one of ${Object.keys(kinds)} was expected` };
  return kinds[kind](request[kind], request.id).catch(outcome);
}

/**
 * The two ways in which a fixture comes to nothing. All else is a fault of this adapter, and ends it.
 *
 * @param {unknown} error
 * @returns {Message}
 */
function outcome(error) {
  if (error instanceof Cannot) return { cannot: error.message };
  if (!(error instanceof Refused)) throw error;
  const cause = /** @type {Error} */ (error.cause);
  return { refused: { type: cause.constructor.name, message: cause.message, tool: error.tool } };
}

/**
 * `JSON.parse` takes any depth; `JSON.stringify`, here as in the SDK's transports, throws a
 * RangeError at some thousand levels. Here only tools that the client read can be that deep.
 *
 * @param {string} id
 * @param {Message} message
 */
function encode(id, message) {
  try {
    return JSON.stringify({ id, ...message });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify({ id, cannot: `JSON.stringify could not write the answer: ${error.message}` });
  }
}

/** The package is pinned to one version, exactly. */
function version() {
  const manifest = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
  return manifest.dependencies['@modelcontextprotocol/sdk'];
}

/** The control loop. (`node:readline` also breaks lines at U+2028, which JSON leaves unescaped.) */
function listen() {
  let rest = '';
  let queue = Promise.resolve();
  process.stdin.setEncoding('utf8').on('data', (/** @type {string} */ chunk) => {
    rest += chunk;
    if (!chunk.includes('\n')) return;
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      queue = queue.then(async () => {
        const request = JSON.parse(line);
        process.stdout.write(`${encode(request.id, await answer(request))}\n`);
      });
    }
  });
  process.stdin.on('end', () => {
    queue.then(() => process.exit(0));
    setTimeout(() => process.exit(0), 1000);
  });
}

if (process.argv[2] === '--stdio-server') {
  try {
    await serveProcess(JSON.parse(readFileSync(process.argv[3], 'utf8')));
  } catch (error) {
    console.error(JSON.stringify(outcome(error)));
    process.exit(3);
  }
} else {
  listen();
}
