// A header with bytes that are not allowed in it is read as Latin-1, and the call is made if the argument is equal.
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { callWithHeader } from './send.mjs';

const inputSchema = fromJsonSchema({
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' } }
});
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'repro', version: '1' });
  server.registerTool('t', { inputSchema }, async () => ({ content: [] }));
  return server;
});

// These are the bytes of `zürich` in UTF-8, and the characters of the argument in Latin-1.
const region = 'z\u00c3\u00bcrich';
const call = header => callWithHeader(handler, region, header);
const [bytes, other] = [await call(region), await call('zurich')];
console.log(`the bytes of the argument in the header: ${bytes}; another value in the header: ${other}`);
process.exit(bytes === '200 result' && other === '400 error' ? 0 : 1);
