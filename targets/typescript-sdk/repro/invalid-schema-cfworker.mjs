// With the validator for Workers, McpServer lists an inputSchema that is invalid by the metaschema of its dialect, and calls the tool.
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';

import { send } from './send.mjs';

const inputSchema = { type: 'object', properties: { q: { type: 'string', minLength: 'one' } } };
const validator = new CfWorkerJsonSchemaValidator();
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'repro', version: '1' });
  server.registerTool('t', { inputSchema: fromJsonSchema(inputSchema, validator) }, async () => ({ content: [] }));
  return server;
});

const listed = await send(handler, 'tools/list', {});
const called = await send(handler, 'tools/call', { name: 't', arguments: { q: 'x' } });
if (listed.includes('"minLength":"one"') && !called.includes('rror')) {
  console.log('the server lists {"minLength":"one"} and calls its tool');
} else {
  console.log(`no defect: ${listed} ${called}`);
  process.exit(1);
}
