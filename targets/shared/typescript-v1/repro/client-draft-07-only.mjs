// The client ignores the keywords that JSON Schema 2020-12 added, with and without $schema.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';

import { connectClient } from './mock.mjs';

async function call($schema) {
  const outputSchema = {
    ...$schema,
    type: 'object',
    properties: { pair: { prefixItems: [{ type: 'string' }] }, n: { type: 'number' } }
  };
  const results = {
    'tools/list': { tools: ['pair', 'n'].map(name => ({ name, inputSchema: { type: 'object' }, outputSchema })) },
    pair: { content: [], structuredContent: { pair: [1] } },
    n: { content: [], structuredContent: { n: 'x' } }
  };
  const client = new Client({ name: 'repro', version: '1' });
  await connectClient(client, results);
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
