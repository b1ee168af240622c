// With Server, the SDK serves a call whose header Mcp-Param-Region differs from its argument.
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
const handler = createMcpHandler(() => {
  const server = new Server({ name: 'repro', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', async () => ({ tools: [{ name: 't', inputSchema }] }));
  server.setRequestHandler('tools/call', async () => ({ content: [] }));
  return server;
});

const version = '2026-07-28';
const _meta = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientInfo': { name: 'repro', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {}
};

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
        params: { name: 't', arguments: { region: 'us-west1' }, _meta }
      })
    })
  );
  return `${response.status} ${(await response.text()).includes('"result"') ? 'result' : 'error'}`;
}

const [other, unreadable] = [await call('eu-north1'), await call('=?base64?dXM*?=')];
console.log(`another value in the header: ${other}; broken base64 in the header: ${unreadable}`);
process.exit(other === '200 result' && unreadable === '200 result' ? 0 : 1);
