// McpServer lists the outputSchema of plain properties as closed, and sends a result with another member.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import * as z from 'zod';

import { connectServer } from './mock.mjs';

const server = new McpServer({ name: 'repro', version: '1' });
server.registerTool('t', { outputSchema: { id: z.int() } }, () => ({
  content: [],
  structuredContent: { id: 7, name: 'Ada' }
}));

const send = await connectServer(server);
const { outputSchema } = (await send('tools/list', {})).result.tools[0];
const { structuredContent } = (await send('tools/call', { name: 't', arguments: {} })).result;
console.log(`listed: ${JSON.stringify(outputSchema)}\nsent: ${JSON.stringify(structuredContent)}`);
process.exit(outputSchema.additionalProperties === false && structuredContent?.name === 'Ada' ? 0 : 1);
