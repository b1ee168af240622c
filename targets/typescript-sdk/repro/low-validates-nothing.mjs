// Server lists an invalid inputSchema, and checks neither arguments nor results against the schemas of a tool.
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

import { send } from './send.mjs';

const tools = [
  { name: 'number', inputSchema: { type: 'object', properties: { n: { type: 'number' } } } },
  { name: 'result', inputSchema: { type: 'object' }, outputSchema: { type: 'object', required: ['n'] } },
  { name: 'invalid', inputSchema: { type: 'object', properties: 7 } },
  { name: 'boolean', inputSchema: true }
];
const handler = createMcpHandler(() => {
  const server = new Server({ name: 'repro', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', async () => ({ tools }));
  server.setRequestHandler('tools/call', async () => ({ content: [], structuredContent: {} }));
  return server;
});

const listed = await send(handler, 'tools/list', {});
const seen = {
  'a text is accepted for {"type":"number"}': !(
    await send(handler, 'tools/call', { name: 'number', arguments: { n: 'x' } })
  ).includes('rror'),
  'a result without a required member is sent': (await send(handler, 'tools/call', { name: 'result' })).includes(
    '"structuredContent":{}'
  ),
  '{"properties":7} is listed': listed.includes('"properties":7'),
  'an inputSchema of true is listed': listed.includes('"inputSchema":true')
};
console.log(
  Object.entries(seen)
    .map(([what, is]) => `${what}: ${is}`)
    .join('; ')
);
process.exit(Object.values(seen).every(Boolean) ? 0 : 1);
