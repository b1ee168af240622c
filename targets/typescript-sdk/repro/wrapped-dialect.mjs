// For older revisions, McpServer wraps the schema of a result that is no object, and leaves `$schema` inside of it.
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod/v4';

import { send } from './send.mjs';

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'repro', version: '1' });
  server.registerTool('t', { inputSchema: z.object({}), outputSchema: z.array(z.string()) }, async () => ({
    content: [],
    structuredContent: ['a']
  }));
  return server;
});

const listed = await send(handler, 'tools/list', {});
const { outputSchema } = JSON.parse(listed.slice(listed.indexOf('{'), listed.lastIndexOf('}') + 1)).result.tools[0];
console.log(JSON.stringify(outputSchema));
process.exit('$schema' in outputSchema.properties.result ? 0 : 1);
