// The client validates a result by the dialect of its Ajv instance, also if $schema names a dialect that it does not
// know. It reports no error.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { connectClient } from './mock.mjs';

const outputSchema = { $schema: 'https://example.com/dialect', type: 'object' };
const results = {
  'tools/list': { tools: [{ name: 't', inputSchema: { type: 'object' }, outputSchema }] },
  'tools/call': { content: [], structuredContent: { n: 1 } }
};

async function call(options) {
  const client = new Client({ name: 'repro', version: '1' }, options);
  await connectClient(client, results);
  try {
    await client.listTools();
    return `returned ${JSON.stringify((await client.callTool({ name: 't' })).structuredContent)}`;
  } catch (error) {
    return `error: ${error.message}`;
  }
}

const ajv = new Ajv2020({ strict: false, validateSchema: false });
const seen = [await call(), await call({ jsonSchemaValidator: new AjvJsonSchemaValidator(ajv) })];
console.log(`outputSchema of an unknown dialect: ${seen[0]}; with Ajv for 2020-12: ${seen[1]}`);
process.exit(seen.every(text => text.startsWith('returned')) ? 0 : 1);
