// With Server, the SDK serves a call whose header Mcp-Param-Region differs from its argument.
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { callWithHeader } from './send.mjs';

const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
const handler = createMcpHandler(() => {
  const server = new Server({ name: 'repro', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', async () => ({ tools: [{ name: 't', inputSchema }] }));
  server.setRequestHandler('tools/call', async () => ({ content: [] }));
  return server;
});

const call = header => callWithHeader(handler, 'us-west1', header);
const [other, unreadable] = [await call('eu-north1'), await call('=?base64?dXM*?=')];
console.log(`another value in the header: ${other}; broken base64 in the header: ${unreadable}`);
process.exit(other === '200 result' && unreadable === '200 result' ? 0 : 1);
