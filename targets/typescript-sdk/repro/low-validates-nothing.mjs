// Server lists an invalid inputSchema, and checks neither arguments nor results against the schemas of a tool.
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

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

async function send(method, params) {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await handler.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
  return response.text();
}

const listed = await send('tools/list', {});
const seen = {
  'a text is accepted for {"type":"number"}': !(
    await send('tools/call', { name: 'number', arguments: { n: 'x' } })
  ).includes('rror'),
  'a result without a required member is sent': (await send('tools/call', { name: 'result' })).includes(
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
