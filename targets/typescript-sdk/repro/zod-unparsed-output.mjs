// McpServer lists the output of a zod schema, and sends a value as it was before zod converted, completed and trimmed it.
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod/v4';

import { send } from './send.mjs';

const outputSchema = z.object({
  count: z.coerce.number(),
  name: z.string().trim().max(3),
  page: z.int().default(1)
});
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'repro', version: '1' });
  server.registerTool('t', { outputSchema }, async () => ({
    content: [],
    structuredContent: { count: '7', name: ' Ada ' }
  }));
  return server;
});

const listed = await send(handler, 'tools/list', {});
const called = await send(handler, 'tools/call', { name: 't', arguments: {} });
const data = body => JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1)).result;
const { properties, required } = data(listed).tools[0].outputSchema;
const { structuredContent } = data(called);
console.log(`listed: ${JSON.stringify({ properties, required })}\nsent: ${JSON.stringify(structuredContent)}`);
const converted = properties.count.type === 'number' && typeof structuredContent?.count === 'string';
const trimmed = structuredContent?.name.length > properties.name.maxLength;
const completed = required.includes('page') && structuredContent?.page === undefined;
process.exit(converted && trimmed && completed ? 0 : 1);
