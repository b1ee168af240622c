// McpServer lists a negative minLength and an empty union, which are invalid by the metaschema, and calls the tool.
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import * as z from 'zod';

const server = new McpServer({ name: 'repro', version: '1' });
server.registerTool('t', { inputSchema: { q: z.string().min(-1), none: z.union([]).optional() } }, () => ({
  content: []
}));

const [near, far] = InMemoryTransport.createLinkedPair();
await server.connect(near);
async function send(method, params) {
  const answer = new Promise(resolve => (far.onmessage = resolve));
  await far.send({ jsonrpc: '2.0', id: 1, method, params });
  return JSON.stringify(await answer);
}

const clientInfo = { name: 'raw', version: '1' };
await send('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
const listed = await send('tools/list', {});
const called = await send('tools/call', { name: 't', arguments: { q: 'x' } });
const shown = listed.includes('"minLength":-1') && listed.includes('"anyOf":[]') && !called.includes('rror');
console.log(
  shown ? 'the server lists {"minLength":-1} and {"anyOf":[]}, and calls its tool' : `no defect: ${listed} ${called}`
);
process.exit(shown ? 0 : 1);
