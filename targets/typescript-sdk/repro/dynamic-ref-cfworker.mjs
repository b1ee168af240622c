// The validator for Workers ignores $dynamicRef, so McpServer accepts arguments that the inputSchema excludes.
import { fromJsonSchema } from '@modelcontextprotocol/server';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';

const schema = {
  type: 'object',
  properties: { n: { $dynamicRef: '#number' } },
  $defs: { number: { $dynamicAnchor: 'number', type: 'number' } }
};
const { issues } = await fromJsonSchema(schema, new CfWorkerJsonSchemaValidator())['~standard'].validate({ n: 'text' });
console.log(`a text where $dynamicRef leads to {"type":"number"}: ${issues ? 'refused' : 'accepted'}`);
process.exit(issues ? 1 : 0);
