// Over stdio, the server reads the protocol version only from the first request: a later request with a version that
// it does not support is answered with a result.
import { PassThrough } from 'node:stream';

import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';

const [input, output] = [new PassThrough(), new PassThrough()];
serveStdio(
  () => {
    const server = new McpServer({ name: 'repro', version: '1' });
    server.registerTool('t', {}, async () => ({ content: [] }));
    return server;
  },
  { transport: new StdioServerTransport(input, output) }
);

async function list(id, version) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'repro', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {}
  };
  input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list', params: { _meta } })}\n`);
  const [line] = await new Promise(resolve => output.once('data', data => resolve(String(data).split('\n'))));
  return JSON.parse(line);
}

const first = await list(1, '2026-07-28');
const second = await list(2, '1900-01-01');
console.log(`version 1900-01-01 in the second request: ${JSON.stringify(second).slice(0, 100)}`);
process.exit(first.result && second.result ? 0 : 1);
