// createMcpHandler serves clients of 2025 without sessions. A tool that asks a client of 2025 which declared elicitation
// gets an error instead: no question is sent.
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';

import { send } from './send.mjs';

const requestedSchema = { type: 'object', properties: { nick: { type: 'string' } } };
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'repro', version: '1' });
  server.registerTool('t', {}, async () =>
    inputRequired({ inputRequests: { who: inputRequired.elicit({ message: 'Who?', requestedSchema }) } })
  );
  return server;
});

const headers = { 'MCP-Protocol-Version': '2025-11-25' };
const clientInfo = { name: 'raw', version: '1' };
await send(
  handler,
  'initialize',
  { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo },
  headers
);
const answer = await send(handler, 'tools/call', { name: 't', arguments: {} }, headers);
const asked = answer.includes('"method":"elicitation/create"');
console.log(asked ? 'the question is sent' : `no question is sent: ${answer.slice(answer.indexOf('{'))}`);
process.exit(asked || !answer.includes('rror') ? 1 : 0);
