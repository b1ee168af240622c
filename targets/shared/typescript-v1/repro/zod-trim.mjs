// McpServer lists the maxLength of a zod text, and takes a longer text that zod trims.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import * as z from 'zod';

import { connectServer } from './mock.mjs';

const server = new McpServer({ name: 'repro', version: '1' });
server.registerTool('t', { inputSchema: { name: z.string().trim().max(3) } }, ({ name }) => ({
  content: [{ type: 'text', text: name }]
}));

const name = '  Ada  ';
const send = await connectServer(server);
const { maxLength } = (await send('tools/list', {})).result.tools[0].inputSchema.properties.name;
const { isError } = (await send('tools/call', { name: 't', arguments: { name } })).result;
console.log(`listed: maxLength ${maxLength}\ntaken: ${isError ? 'nothing' : JSON.stringify(name)}`);
process.exit(!isError && name.length > maxLength ? 0 : 1);
