// McpServer lists a pattern without the flag of its regular expression, and takes what only the flag permits.
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod/v4';

import { send } from './send.mjs';

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'repro', version: '1' });
  server.registerTool('t', { inputSchema: z.object({ code: z.string().regex(/^a+$/i) }) }, async ({ code }) => ({
    content: [{ type: 'text', text: code }]
  }));
  return server;
});

const listed = await send(handler, 'tools/list', {});
const called = await send(handler, 'tools/call', { name: 't', arguments: { code: 'AA' } });
const data = body => JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1)).result;
const { pattern } = data(listed).tools[0].inputSchema.properties.code;
const { isError, content } = data(called);
console.log(`listed: the pattern ${pattern}\ntaken: ${isError ? 'nothing' : content[0].text}`);
process.exit(!isError && !new RegExp(pattern).test('AA') ? 0 : 1);
