/** The option `jsonSchemaValidator` of a client, with Ajv for JSON Schema 2020-12. */
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** An instance of Ajv for JSON Schema 2020-12, with the options of the SDK's own instance for draft-07. */
export function ajv2020(): AjvJsonSchemaValidator {
  const ajv = new Ajv2020({ strict: false, validateFormats: true, validateSchema: false, allErrors: true });
  // By its types, this CommonJS package has its function as the member `default`.
  addFormats.default(ajv);
  return new AjvJsonSchemaValidator(ajv);
}
