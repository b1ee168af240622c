// createMcpExpressApp and the transport serve a request from any Origin by default.
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { request } from 'node:http';

const app = createMcpExpressApp();
app.post('/mcp', async (req, res) => {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await new McpServer({ name: 'repro', version: '1' }).connect(transport);
  await transport.handleRequest(req, res, req.body);
});
const listener = app.listen(0, '127.0.0.1', () => {
  const headers = {
    Origin: 'http://attacker.example',
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream'
  };
  const { port } = listener.address();
  const post = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers }, ({ statusCode }) => {
    console.log(`status of a request with the Origin http://attacker.example: ${statusCode}`);
    process.exit(statusCode === 200 ? 0 : 1);
  });
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
  post.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }));
});
