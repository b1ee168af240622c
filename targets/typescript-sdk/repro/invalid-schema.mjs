// McpServer lists an inputSchema that is invalid by the metaschema of its dialect, and calls the tool.
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';

import { send } from './send.mjs';

const inputSchema = { type: 'object', properties: { q: { type: 'string', minLength: -1 }, none: { anyOf: [] } } };
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'repro', version: '1' });
  server.registerTool('t', { inputSchema: fromJsonSchema(inputSchema) }, async () => ({ content: [] }));
  return server;
});

const listed = await send(handler, 'tools/list', {});
const called = await send(handler, 'tools/call', { name: 't', arguments: { q: 'x' } });
if (listed.includes('"minLength":-1') && listed.includes('"anyOf":[]') && !called.includes('rror')) {
  console.log('the server lists {"minLength":-1} and {"anyOf":[]}, and calls its tool');
} else {
  console.log(`no defect: ${listed} ${called}`);
  process.exit(1);
}
