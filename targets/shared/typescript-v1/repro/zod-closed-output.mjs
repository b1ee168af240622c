// McpServer lists the outputSchema of plain properties as closed, and sends a result with another member.
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import * as z from 'zod';

const server = new McpServer({ name: 'repro', version: '1' });
server.registerTool('t', { outputSchema: { id: z.int() } }, () => ({
  content: [],
  structuredContent: { id: 7, name: 'Ada' }
}));

const [near, far] = InMemoryTransport.createLinkedPair();
await server.connect(near);
async function send(method, params) {
  const answer = new Promise(resolve => (far.onmessage = resolve));
  await far.send({ jsonrpc: '2.0', id: 1, method, params });
  return (await answer).result;
}

const clientInfo = { name: 'raw', version: '1' };
await send('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
const { outputSchema } = (await send('tools/list', {})).tools[0];
const { structuredContent } = await send('tools/call', { name: 't', arguments: {} });
console.log(`listed: ${JSON.stringify(outputSchema)}\nsent: ${JSON.stringify(structuredContent)}`);
process.exit(outputSchema.additionalProperties === false && structuredContent?.name === 'Ada' ? 0 : 1);
