// createMcpHandler serves clients of 2025 without sessions. A tool that asks a client of 2025 which declared elicitation
// gets an error instead: no question is sent.
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';

const requestedSchema = { type: 'object', properties: { nick: { type: 'string' } } };
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'repro', version: '1' });
  server.registerTool('t', {}, async () =>
    inputRequired({ inputRequests: { who: inputRequired.elicit({ message: 'Who?', requestedSchema }) } })
  );
  return server;
});

async function send(method, params) {
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': '2025-11-25'
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await handler.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
  return response.text();
}

const clientInfo = { name: 'raw', version: '1' };
await send('initialize', { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo });
const answer = await send('tools/call', { name: 't', arguments: {} });
const asked = answer.includes('"method":"elicitation/create"');
console.log(asked ? 'the question is sent' : `no question is sent: ${answer.slice(answer.indexOf('{'))}`);
process.exit(asked || !answer.includes('rror') ? 1 : 0);
