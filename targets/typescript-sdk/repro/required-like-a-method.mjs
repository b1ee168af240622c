// The validators take a member that every JavaScript object inherits for a member that the arguments have.
import { fromJsonSchema } from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';

const schema = { type: 'object', required: ['toString'] };
const accepted = [];
for (const Validator of [AjvJsonSchemaValidator, CfWorkerJsonSchemaValidator]) {
  const { issues } = await fromJsonSchema(schema, new Validator())['~standard'].validate({});
  if (!issues) accepted.push(Validator.name);
}
console.log(`{"required":["toString"]} accepts {} with: ${accepted.join(', ') || 'no validator'}`);
process.exit(accepted.length === 2 ? 0 : 1);
