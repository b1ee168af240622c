// @ts-check
/**
 * The mcp-casebook adapter for the TypeScript SDK 1.x.
 *
 * Reads one JSON request per line from standard input and writes one JSON answer per line to
 * standard output, in the same order. With `--stdio-server FILE`, the process serves one fixture on
 * its standard streams instead.
 */
import { readFileSync } from 'node:fs';

import { drive } from './drive.mjs';
import { Cannot, Refused, variants } from './fixture.mjs';
import { revisions, serveHttp, serveProcess, serveStream } from './serve.mjs';

/** @typedef {Record<string, any>} Message */

/** The running servers, by the id of their `serve` request. @type {Map<string, { close: () => Promise<void> }>} */
const serving = new Map();

/** The function that serves a fixture over each transport. */
const transports = { stdio: serveStream, http: serveHttp };

/** @type {Record<string, (request: any, id: string) => Promise<Message>>} */
const handlers = {
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

  async serve(request, id) {
    const transport = /** @type {keyof typeof transports} */ (request.transport);
    if (!Object.hasOwn(transports, transport)) throw new Cannot(`there is no transport "${transport}"`);
    const { close, ...answer } = await transports[transport](request);
    serving.set(id, { close });
    return { serving: answer };
  },

  async stop({ serving: id }) {
    const served = serving.get(id);
    serving.delete(id);
    await served?.close();
    return { stopped: served !== undefined };
  },

  async drive(request) {
    return { drove: await drive(request) };
  }
};

/**
 * @param {Message} message
 * @returns {Promise<Message>}
 */
async function answer(message) {
  const kind = Object.keys(handlers).find(kind => Object.hasOwn(message, kind));
  if (!kind) return { unsupported: `expected one of ${Object.keys(handlers)}` };
  return handlers[kind](message[kind], message.id).catch(errorAnswer);
}

/**
 * Returns the answer for a fixture that cannot be built. Any other error is a fault of this adapter
 * and ends it.
 *
 * @param {unknown} error
 * @returns {Message}
 */
function errorAnswer(error) {
  if (error instanceof Cannot) return { cannot: error.message };
  if (!(error instanceof Refused)) throw error;
  const cause = /** @type {Error} */ (error.cause);
  return { refused: { type: cause.constructor.name, message: cause.message, tool: error.tool } };
}

/**
 * Writes an answer as JSON, or a `cannot` where the answer is nested too deeply.
 *
 * `JSON.parse` accepts any depth, but `JSON.stringify`, which the SDK's transports also use, throws a
 * RangeError after some thousand levels. Only tools that the client has listed can be that deep.
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

/** Returns the version of the SDK, which package.json pins exactly. */
function version() {
  const manifest = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
  return manifest.dependencies['@modelcontextprotocol/sdk'];
}

/**
 * Runs the control loop. It does not use `node:readline`, which also breaks lines at U+2028, a
 * character that JSON does not escape.
 */
function control() {
  let rest = '';
  let queue = Promise.resolve();
  process.stdin.setEncoding('utf8').on('data', (/** @type {string} */ chunk) => {
    rest += chunk;
    if (!chunk.includes('\n')) return;
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      queue = queue.then(async () => {
        const message = JSON.parse(line);
        process.stdout.write(`${encode(message.id, await answer(message))}\n`);
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
    console.error(JSON.stringify(errorAnswer(error)));
    process.exit(3);
  }
} else {
  control();
}
