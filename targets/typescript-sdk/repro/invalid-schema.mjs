// McpServer lists an inputSchema that is invalid by the metaschema of its dialect, and calls the tool.
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';

const inputSchema = { type: 'object', properties: { q: { type: 'string', minLength: -1 }, none: { anyOf: [] } } };
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'repro', version: '1' });
  server.registerTool('t', { inputSchema: fromJsonSchema(inputSchema) }, async () => ({ content: [] }));
  return server;
});

async function send(method, params) {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await handler.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
  return response.text();
}

const listed = await send('tools/list', {});
const called = await send('tools/call', { name: 't', arguments: { q: 'x' } });
if (listed.includes('"minLength":-1') && listed.includes('"anyOf":[]') && !called.includes('rror')) {
  console.log('the server lists {"minLength":-1} and {"anyOf":[]}, and calls its tool');
} else {
  console.log(`no defect: ${listed} ${called}`);
  process.exit(1);
}
