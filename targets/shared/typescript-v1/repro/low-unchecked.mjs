// Server lists a null inputSchema, calls the handler with a text for a number, and sends a result that its outputSchema
// refuses, and one without structured content.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { connectServer } from './mock.mjs';

const inputSchema = { type: 'object', properties: { n: { type: 'number' } } };
const outputSchema = { ...inputSchema, required: ['n'] };
const server = new Server({ name: 'repro', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [
    { name: 'echo', inputSchema, outputSchema },
    { name: 'silent', inputSchema: null, outputSchema }
  ]
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
  params.name === 'echo' ? { content: [], structuredContent: params.arguments } : { content: [] }
);

const send = await connectServer(server);
const { tools } = (await send('tools/list', {})).result;
const echoed = (await send('tools/call', { name: 'echo', arguments: { n: 'text' } })).result;
const silent = (await send('tools/call', { name: 'silent', arguments: {} })).result;
console.log(`listed: ${JSON.stringify(tools[1])}; sent: ${JSON.stringify(echoed)}, ${JSON.stringify(silent)}`);
const isUnchecked = echoed.structuredContent?.n === 'text' && !echoed.isError;
const isSilent = !('structuredContent' in silent) && !silent.isError;
process.exit(tools[1].inputSchema === null && isUnchecked && isSilent ? 0 : 1);
