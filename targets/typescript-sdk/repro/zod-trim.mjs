// McpServer lists the maxLength of a zod text, and takes a longer text that zod trims.
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod/v4';

import { send } from './send.mjs';

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'repro', version: '1' });
  server.registerTool('t', { inputSchema: z.object({ name: z.string().trim().max(3) }) }, async ({ name }) => ({
    content: [{ type: 'text', text: name }]
  }));
  return server;
});

const name = '  Ada  ';
const listed = await send(handler, 'tools/list', {});
const called = await send(handler, 'tools/call', { name: 't', arguments: { name } });
const data = body => JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1)).result;
const { maxLength } = data(listed).tools[0].inputSchema.properties.name;
const { isError } = data(called);
console.log(`listed: maxLength ${maxLength}\ntaken: ${isError ? 'nothing' : JSON.stringify(name)}`);
process.exit(!isError && name.length > maxLength ? 0 : 1);
