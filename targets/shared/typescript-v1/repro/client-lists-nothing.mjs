// A schema of an older dialect makes listTools() throw. callTool() then returns results of this tool without validation.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { connectClient } from './mock.mjs';

async function call(options, outputSchema) {
  const results = {
    'tools/list': { tools: [{ name: 't', inputSchema: { type: 'object' }, outputSchema }] },
    'tools/call': { content: [], structuredContent: { n: 'text' } }
  };
  const client = new Client({ name: 'repro', version: '1' }, options);
  await connectClient(client, results);
  const listed = await client.listTools().then(
    () => 'listed',
    () => 'listTools throws'
  );
  const called = await client.callTool({ name: 't' }).then(
    () => 'misfit returned',
    () => 'misfit refused'
  );
  return `${listed}, ${called}`;
}

const draft04 = {
  $schema: 'http://json-schema.org/draft-04/schema#',
  type: 'object',
  properties: { n: { type: 'number', minimum: 0, exclusiveMinimum: true } }
};
const draft07 = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: { n: { type: 'number' }, pair: { items: [{ type: 'string' }] } }
};
const ajv = () => new AjvJsonSchemaValidator(new Ajv2020({ strict: false, validateSchema: false }));
const seen = [await call(undefined, draft04), await call({ jsonSchemaValidator: ajv() }, draft07)];
console.log(`draft-04 exclusiveMinimum: ${seen[0]}; draft-07 tuple with Ajv for 2020-12: ${seen[1]}`);
process.exit(seen.every(text => text === 'listTools throws, misfit returned') ? 0 : 1);
