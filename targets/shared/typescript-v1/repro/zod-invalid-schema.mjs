// McpServer lists a negative minLength and an empty union, which are invalid by the metaschema, and calls the tool.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import * as z from 'zod';

import { connectServer } from './mock.mjs';

const server = new McpServer({ name: 'repro', version: '1' });
server.registerTool('t', { inputSchema: { q: z.string().min(-1), none: z.union([]).optional() } }, () => ({
  content: []
}));

const send = await connectServer(server);
const listed = JSON.stringify(await send('tools/list', {}));
const called = JSON.stringify(await send('tools/call', { name: 't', arguments: { q: 'x' } }));
const shown = listed.includes('"minLength":-1') && listed.includes('"anyOf":[]') && !called.includes('rror');
console.log(
  shown ? 'the server lists {"minLength":-1} and {"anyOf":[]}, and calls its tool' : `no defect: ${listed} ${called}`
);
process.exit(shown ? 0 : 1);
