// Server sends a result that the listed outputSchema refuses, and one without structured content.
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
const handler = createMcpHandler(() => {
  const server = new Server({ name: 'repro', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', async () => ({
    tools: ['wrong', 'silent'].map(name => ({ name, inputSchema: { type: 'object' }, outputSchema }))
  }));
  server.setRequestHandler('tools/call', async ({ params }) =>
    params.name === 'wrong' ? { content: [], structuredContent: { n: 'text' } } : { content: [] }
  );
  return server;
});

const version = '2026-07-28';
const _meta = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientInfo': { name: 'repro', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {}
};

async function send(method, name) {
  const response = await handler.fetch(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': version,
        'Mcp-Method': method,
        ...(name && { 'Mcp-Name': name })
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...(name && { name, arguments: {} }), _meta } })
    })
  );
  const text = await response.text();
  return JSON.parse(text.match(/^data: ?(\{.*)$/m)?.[1] ?? text).result;
}

await send('tools/list');
const [wrong, silent] = [await send('tools/call', 'wrong'), await send('tools/call', 'silent')];
console.log(`sent: ${JSON.stringify(wrong)}, ${JSON.stringify(silent)}`);
const isSent = wrong?.structuredContent?.n === 'text' && !wrong.isError;
process.exit(isSent && silent && !silent.structuredContent && !silent.isError ? 0 : 1);
