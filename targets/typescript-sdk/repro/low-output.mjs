// Server sends a result that the listed outputSchema refuses, and one without structured content.
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

import { send } from './send.mjs';

const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
const handler = createMcpHandler(() => {
  const server = new Server({ name: 'repro', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', async () => ({
    tools: ['wrong', 'silent'].map(name => ({ name, inputSchema: { type: 'object' }, outputSchema }))
  }));
  server.setRequestHandler('tools/call', async ({ params }) =>
    params.name === 'wrong' ? { content: [], structuredContent: { n: 'text' } } : { content: [] }
  );
  return server;
});

const listed = await send(handler, 'tools/list', {});
const wrong = await send(handler, 'tools/call', { name: 'wrong', arguments: {} });
const silent = await send(handler, 'tools/call', { name: 'silent', arguments: {} });
const data = body => body.slice(body.indexOf('{')).trim();
console.log(`sent: ${data(wrong)}, ${data(silent)}`);
const isListed = listed.includes('"outputSchema"');
const isSent = wrong.includes('"structuredContent":{"n":"text"}') && silent.includes('"content":[]');
const isFlawed = /"isError":true|"error"|"structuredContent"/;
process.exit(isListed && isSent && !isFlawed.test(silent) && !wrong.includes('rror') ? 0 : 1);
