// McpServer lists a pattern without the flag of its regular expression, and takes what only the flag permits.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import * as z from 'zod';

import { connectServer } from './mock.mjs';

const server = new McpServer({ name: 'repro', version: '1' });
server.registerTool('t', { inputSchema: { code: z.string().regex(/^a+$/i) } }, ({ code }) => ({
  content: [{ type: 'text', text: code }]
}));

const send = await connectServer(server);
const { pattern } = (await send('tools/list', {})).result.tools[0].inputSchema.properties.code;
const { isError, content } = (await send('tools/call', { name: 't', arguments: { code: 'AA' } })).result;
console.log(`listed: the pattern ${pattern}\ntaken: ${isError ? 'nothing' : content[0].text}`);
process.exit(!isError && !new RegExp(pattern).test('AA') ? 0 : 1);
