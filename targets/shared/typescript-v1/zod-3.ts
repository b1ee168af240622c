/**
 * What the author of a server wrote before zod read JSON Schema, which zod 4.2 does: with zod 3 until the SDK 1.22, and
 * with zod 4.1 in the days of 1.23 and 1.24.
 */
import * as zod from 'zod';
import { zodToJsonSchema } from 'zod-to-json-schema';

type JsonSchema = zod.core.JSONSchema.JSONSchema;
type Literals = Parameters<typeof zod.literal>[0];

/** The types are those of zod 4, so that this is not `in`, which would exclude zod 3. */
export const isZod3 = !Object.hasOwn(zod, 'toJSONSchema');

/** Zod, where names that zod 4 brought stand for what authors wrote with zod 3. */
export const z: typeof zod = isZod3 ? { ...zod, ...zod4Names() } : zod;

/** What zod 4 took away. */
interface Zod3String {
  ip(options: { version: 'v4' }): zod.ZodType;
}

function zod4Names(): object {
  const { string, number, bigint, literal, union, nativeEnum } = zod;
  return {
    int: () => number().int(),
    int64: bigint,
    email: () => string().email(),
    url: () => string().url(),
    uuid: () => string().uuid(),
    base64: () => string().base64(),
    ipv4: () => (string() as unknown as Zod3String).ip({ version: 'v4' }),
    iso: { date: () => string().date(), datetime: () => string().datetime() },
    literal: (values: Literals) =>
      Array.isArray(values) ? union(values.map(value => literal(value))) : literal(values),
    enum: nativeEnum
  };
}

/** Keywords that validate nothing. The author of a zod schema gives them as its metadata. */
export const annotation = /^(title|description|examples|deprecated|readOnly|writeOnly|\$comment|\$id|\$anchor|x-.*)$/;

/** Returns the JSON Schema that the SDK makes of a schema of zod 3. */
export function toJsonSchema(schema: zod.ZodType): unknown {
  return zodToJsonSchema(schema as never, { strictUnions: true });
}

/** Writes a JSON Schema with zod, without the keywords that have no function there. */
export function fromJsonSchema(schema: JsonSchema | boolean | null): zod.ZodType {
  if (schema === null) throw new Error('null is no schema');
  if (typeof schema === 'boolean') return schema ? z.unknown() : z.never();
  const { description, default: value } = schema;
  const bare = withoutMetadata(schema);
  const written = value === undefined ? bare : bare.default(value);
  // Zod 3 has a function only for the description.
  if (isZod3) return description === undefined ? written : written.describe(description);
  return written.meta(Object.fromEntries(Object.entries(schema).filter(([key]) => annotation.test(key))));
}

function withoutMetadata(schema: JsonSchema): zod.ZodType {
  const { anyOf, allOf, type } = schema;
  if (schema.enum) return literals(schema.enum);
  if (schema.const !== undefined) return z.literal(schema.const);
  if (anyOf) return z.union(anyOf.map(fromJsonSchema));
  if (allOf) return allOf.map(fromJsonSchema).reduce((left, right) => z.intersection(left, right));
  if (Array.isArray(type)) return z.union((type as JsonSchema['type'][]).map(type => typed({ ...schema, type })));
  return typed(schema);
}

function literals(values: zod.core.util.Literal[]): zod.ZodType {
  return values.every(value => typeof value === 'string') ? zod.enum(values) : z.literal(values);
}

function typed(schema: JsonSchema): zod.ZodType {
  switch (schema.type) {
    case 'string':
      return string(schema);
    case 'integer':
      return number(z.int(), schema);
    case 'number':
      return number(z.number(), schema);
    case 'boolean':
      return z.boolean();
    case 'null':
      return z.null();
    case 'array':
      return array(schema);
    case 'object':
      return object(schema);
    default:
      return z.unknown();
  }
}

function string({ format, minLength, maxLength, pattern }: JsonSchema): zod.ZodType {
  let written = z.string();
  if (format === 'email') written = written.email();
  if (format === 'uri') written = written.url();
  if (format === 'uuid') written = written.uuid();
  if (format === 'date-time') written = written.datetime();
  if (format === 'date') written = written.date();
  if (format === 'time') written = written.time();
  if (minLength !== undefined) written = written.min(minLength);
  if (maxLength !== undefined) written = written.max(maxLength);
  return pattern === undefined ? written : written.regex(new RegExp(pattern));
}

function number(written: zod.ZodNumber, schema: JsonSchema): zod.ZodType {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (minimum !== undefined) written = written.min(minimum);
  if (maximum !== undefined) written = written.max(maximum);
  if (typeof exclusiveMinimum === 'number') written = written.gt(exclusiveMinimum);
  if (typeof exclusiveMaximum === 'number') written = written.lt(exclusiveMaximum);
  return multipleOf === undefined ? written : written.multipleOf(multipleOf);
}

function array({ items = true, prefixItems, minItems, maxItems }: JsonSchema): zod.ZodType {
  if (prefixItems) return z.tuple(prefixItems.map(fromJsonSchema) as [zod.ZodType]);
  let written = z.array(fromJsonSchema(items as JsonSchema | boolean));
  if (minItems !== undefined) written = written.min(minItems);
  return maxItems === undefined ? written : written.max(maxItems);
}

function object({ properties, required = [], additionalProperties = true }: JsonSchema): zod.ZodType {
  if (!properties && typeof additionalProperties === 'object')
    return z.record(z.string(), fromJsonSchema(additionalProperties));
  const shape: Record<string, zod.ZodType> = {};
  for (const [name, schema] of Object.entries(properties ?? {})) {
    const written = fromJsonSchema(schema);
    shape[name] = required.includes(name) ? written : written.optional();
  }
  const written = z.object(shape);
  if (additionalProperties === false) return written.strict();
  return additionalProperties === true ? written.passthrough() : written.catchall(fromJsonSchema(additionalProperties));
}
