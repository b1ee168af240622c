// McpServer lists the output of a zod schema, and sends a value as it was before zod converted, completed and trimmed it.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import * as z from 'zod';

import { connectServer } from './mock.mjs';

const server = new McpServer({ name: 'repro', version: '1' });
const outputSchema = { count: z.coerce.number(), name: z.string().trim().max(3), page: z.int().default(1) };
server.registerTool('t', { outputSchema }, () => ({
  content: [],
  structuredContent: { count: '7', name: ' Ada ' }
}));

const send = await connectServer(server);
const { properties, required } = (await send('tools/list', {})).result.tools[0].outputSchema;
const { structuredContent } = (await send('tools/call', { name: 't', arguments: {} })).result;
console.log(`listed: ${JSON.stringify({ properties, required })}\nsent: ${JSON.stringify(structuredContent)}`);
const converted = properties.count.type === 'number' && typeof structuredContent?.count === 'string';
const trimmed = structuredContent?.name.length > properties.name.maxLength;
const completed = required.includes('page') && structuredContent?.page === undefined;
process.exit(converted && trimmed && completed ? 0 : 1);
