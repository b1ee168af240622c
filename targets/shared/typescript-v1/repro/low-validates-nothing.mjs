// Server lists an invalid inputSchema, and checks neither arguments nor results against the schemas of a tool.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { connectServer } from './mock.mjs';

const tools = [
  { name: 'number', inputSchema: { type: 'object', properties: { n: { type: 'number' } } } },
  { name: 'result', inputSchema: { type: 'object' }, outputSchema: { type: 'object', required: ['n'] } },
  { name: 'invalid', inputSchema: { type: 'object', properties: 7 } },
  { name: 'boolean', inputSchema: true }
];
const server = new Server({ name: 'repro', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, () => ({ content: [], structuredContent: {} }));

const send = await connectServer(server);
const text = async (method, params) => JSON.stringify(await send(method, params));
const listed = await text('tools/list', {});
const called = await text('tools/call', { name: 'number', arguments: { n: 'text' } });
const returned = await text('tools/call', { name: 'result' });
const seen = {
  'a text is accepted for {"type":"number"}': called.includes('"structuredContent":{}'),
  'a result without a required member is sent': returned.includes('"structuredContent":{}'),
  '{"properties":7} is listed': listed.includes('"properties":7'),
  'an inputSchema of true is listed': listed.includes('"inputSchema":true')
};
const lines = Object.entries(seen).map(([what, is]) => `${what}: ${is}`);
console.log(lines.join('; '));
process.exit(Object.values(seen).every(Boolean) ? 0 : 1);
