// McpServer lists the outputSchema of a zod object as closed, and sends a result with another member.
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod/v4';

import { send } from './send.mjs';

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'repro', version: '1' });
  server.registerTool('t', { outputSchema: z.object({ id: z.int() }) }, async () => ({
    content: [],
    structuredContent: { id: 7, name: 'Ada' }
  }));
  return server;
});

const listed = await send(handler, 'tools/list', {});
const called = await send(handler, 'tools/call', { name: 't', arguments: {} });
const data = body => JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1)).result;
const { outputSchema } = data(listed).tools[0];
const { structuredContent } = data(called);
console.log(`listed: ${JSON.stringify(outputSchema)}\nsent: ${JSON.stringify(structuredContent)}`);
process.exit(outputSchema.additionalProperties === false && structuredContent?.name === 'Ada' ? 0 : 1);
