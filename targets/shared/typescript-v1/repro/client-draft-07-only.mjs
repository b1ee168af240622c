// The client reads every outputSchema as draft-07: it ignores keywords that only 2020-12 or 2019-09 has, whether or not
// $schema names these dialects.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';

import { connectClient } from './mock.mjs';

async function call($schema, properties, misfit) {
  const outputSchema = { ...$schema, type: 'object', properties: { ...properties, n: { type: 'number' } } };
  const results = {
    'tools/list': { tools: ['misfit', 'n'].map(name => ({ name, inputSchema: { type: 'object' }, outputSchema })) },
    misfit: { content: [], structuredContent: misfit },
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
  return `${await outcome('misfit')}, against type ${await outcome('n')}`;
}

const pair = [{ pair: { prefixItems: [{ type: 'string' }] } }, { pair: [1] }];
const tree = [{ tree: { $recursiveRef: '#' } }, { tree: 7 }];
const seen = [
  await call({}, ...pair),
  await call({ $schema: 'https://json-schema.org/draft/2020-12/schema' }, ...pair),
  await call({ $schema: 'https://json-schema.org/draft/2019-09/schema' }, ...tree)
];
console.log(
  `a result against prefixItems: ${seen[0]}; with $schema of 2020-12: ${seen[1]}; ` +
    `against $recursiveRef with $schema of 2019-09: ${seen[2]}`
);
process.exit(seen.every(text => text === 'accepted, against type refused') ? 0 : 1);
