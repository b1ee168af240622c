// The example of the SDK, which serves sessions by a map of its own, answers 400 for a session that has ended.
import { once } from 'node:events';
import { createServer } from 'node:net';

const probe = createServer().listen(0, '127.0.0.1');
await once(probe, 'listening');
const { port } = probe.address();
await new Promise(done => probe.close(done));
process.env.MCP_PORT = String(port);
await import('@modelcontextprotocol/sdk/examples/server/simpleStreamableHttp.js');

const post = (id, method, params, session) =>
  fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...session },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params })
  });
const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
const opened = await post(1, 'initialize', client, {});
const session = { 'Mcp-Session-Id': opened.headers.get('mcp-session-id') };
await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'DELETE', headers: session });
const { status } = await post(2, 'tools/list', {}, session);
console.log(`status of a request of the session that has ended: ${status}`);
process.exit(status === 400 ? 0 : 1);
