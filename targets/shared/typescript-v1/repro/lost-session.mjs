// After the status 404 for its session, the client sends the next request in the old session.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

const begun = []; // the sessions that the client began
const calls = []; // the sessions of the calls

// It answers each call in the session "old" with the status 404. The client's second session is "new".
const listener = createServer(async (request, response) => {
  const answer = (status, message, headers = {}) => {
    response.writeHead(status, message ? { 'Content-Type': 'application/json', ...headers } : headers);
    response.end(message && JSON.stringify({ jsonrpc: '2.0', ...message }));
  };
  if (request.method !== 'POST') return answer(request.method === 'DELETE' ? 200 : 405);
  const { id, method } = await json(request);
  if (method === 'initialize') {
    begun.push(begun.length > 0 ? 'new' : 'old');
    const serverInfo = { name: 'raw', version: '1' };
    const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
    return answer(200, { id, result }, { 'Mcp-Session-Id': begun.at(-1) });
  }
  if (method === 'tools/list')
    return answer(200, { id, result: { tools: [{ name: 't', inputSchema: { type: 'object' } }] } });
  if (method !== 'tools/call') return answer(202);
  calls.push(request.headers['mcp-session-id']);
  if (calls.length > 1 && calls.at(-1) !== 'old') return answer(200, { id, result: { content: [] } });
  return answer(404, { id, error: { code: -32001, message: 'Session not found' } });
});
await new Promise(resolve => listener.listen(0, '127.0.0.1', resolve));

const client = new Client({ name: 'repro', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${listener.address().port}/mcp`)));
for (let call = 0; call < 2; call++) await client.callTool({ name: 't' }).catch(() => {});

const defect = calls.length > 1 && (begun.length < 2 || calls[1] === 'old');
if (defect) console.log(`after the 404, the second call was sent in the session "${calls[1]}"`);
else if (calls.length < 2) console.log('after the 404, the client sent no second call');
else console.log(`after the 404, the client began another session, and sent the second call in "${calls[1]}"`);
process.exit(defect ? 0 : 1);
