// A header with bytes that are not allowed in it is read as Latin-1, and the call is made if the argument is equal.
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';

const inputSchema = fromJsonSchema({
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' } }
});
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'repro', version: '1' });
  server.registerTool('t', { inputSchema }, async () => ({ content: [] }));
  return server;
});

const version = '2026-07-28';
const _meta = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientInfo': { name: 'repro', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {}
};
// These are the bytes of `zürich` in UTF-8, and the characters of the argument in Latin-1.
const region = 'z\u00c3\u00bcrich';

async function call(header) {
  const response = await handler.fetch(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': version,
        'Mcp-Method': 'tools/call',
        'Mcp-Name': 't',
        'Mcp-Param-Region': header
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 't', arguments: { region }, _meta }
      })
    })
  );
  return `${response.status} ${(await response.text()).includes('"result"') ? 'result' : 'error'}`;
}

const [bytes, other] = [await call(region), await call('zurich')];
console.log(`the bytes of the argument in the header: ${bytes}; another value in the header: ${other}`);
process.exit(bytes === '200 result' && other === '400 error' ? 0 : 1);
