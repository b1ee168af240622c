// The client ignores the keywords that JSON Schema 2020-12 added, with and without $schema.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';

async function call($schema) {
  const outputSchema = {
    ...$schema,
    type: 'object',
    properties: { pair: { prefixItems: [{ type: 'string' }] }, n: { type: 'number' } }
  };
  const replies = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'raw', version: '1' }
    },
    'tools/list': { tools: ['pair', 'n'].map(name => ({ name, inputSchema: { type: 'object' }, outputSchema })) },
    pair: { content: [], structuredContent: { pair: [1] } },
    n: { content: [], structuredContent: { n: 'x' } }
  };
  const [near, far] = InMemoryTransport.createLinkedPair();
  far.onmessage = ({ id, method, params }) =>
    id !== undefined && far.send({ jsonrpc: '2.0', id, result: replies[method] ?? replies[params.name] });
  await far.start();
  const client = new Client({ name: 'repro', version: '1' });
  await client.connect(near);
  await client.listTools();
  const outcome = name =>
    client.callTool({ name }).then(
      () => 'accepted',
      () => 'refused'
    );
  return `${await outcome('pair')}, against type ${await outcome('n')}`;
}

const seen = [await call({}), await call({ $schema: 'https://json-schema.org/draft/2020-12/schema' })];
console.log(`a result against prefixItems: ${seen[0]}; with $schema of 2020-12: ${seen[1]}`);
process.exit(seen.every(text => text === 'accepted, against type refused') ? 0 : 1);
