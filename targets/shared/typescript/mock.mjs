// A server over HTTP for the programs that show how a client loses its session, without any SDK.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

// Starts a server that answers each call in the session "old" with the status 404. The client's second session is "new".
// The first call always gets the status 404.
export async function startSessionLosingServer() {
  const begun = []; // the sessions that the client began
  const calls = []; // the sessions of the calls
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
  return { url: new URL(`http://127.0.0.1:${listener.address().port}/mcp`), begun, calls };
}
