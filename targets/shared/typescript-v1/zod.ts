/** Writes JSON Schema with zod, as far as zod has it. */
import type { AnySchema, ZodRawShapeCompat } from '@modelcontextprotocol/sdk/server/zod-compat.js';
import * as z from 'zod';

import { Cannot } from '../typescript/protocol.js';
import { since } from './release.js';
import { annotation, fromJsonSchema, isZod3, toJsonSchema } from './zod-3.js';

type JsonSchema = z.core.JSONSchema.JSONSchema;

/** The dialects of a schema that zod can read. The SDK writes `$schema` itself, so that its author does not give it. */
const dialects = [undefined, 'https://json-schema.org/draft/2020-12/schema', 'http://json-schema.org/draft-07/schema#'];

/** 1.22 brought whole schemas. Before it, the SDK took the properties of an object, and made a z.object() of them. */
export const onlyShapes = !since('1.22.0');
export const noSchema = 'before 1.22, McpServer.registerTool takes only the properties of an object';

/**
 * Returns the zod schema that the author of a tool would write for a JSON Schema. If zod does not give the same JSON
 * Schema back, its author cannot write it: the SDK never sees the part that zod loses. Zod may add members.
 * https://zod.dev/json-schema
 */
export function toZod(schema: unknown, place: string): AnySchema | ZodRawShapeCompat | undefined {
  if (schema === undefined) return undefined;
  const loss = (reason: string) => new Cannot(`zod cannot express ${place}: ${reason}`);
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) throw loss('zod writes only objects');
  const { $schema, ...keywords } = schema as JsonSchema;
  if (!dialects.includes($schema)) throw loss(`zod does not know ${JSON.stringify($schema)}`);
  let zod: z.ZodType;
  let lost: string | undefined;
  try {
    // Zod 4.2 brought this function.
    zod = Object.hasOwn(z, 'fromJSONSchema') ? z.fromJSONSchema(schema as JsonSchema) : fromJsonSchema(keywords);
    if (onlyShapes && zod instanceof z.ZodObject) zod = z.object(zod.shape);
    lost = isZod3
      ? firstLoss(keywords, toJsonSchema(zod))
      : (firstLoss(keywords, z.toJSONSchema(zod, { io: 'input', override: rejectObjectLiterals })) ??
        // Zod keeps keywords that it does not check as metadata. Without metadata, only those that it checks are left.
        firstLoss(keywords, z.toJSONSchema(zod, { io: 'input', metadata: z.registry() }), annotation));
  } catch (error) {
    throw loss((error as Error).message);
  }
  if (lost !== undefined) throw loss(`${lost} is lost`);
  if (zod instanceof z.ZodObject && (onlyShapes || isShape(keywords))) return zod.shape;
  if (onlyShapes) throw new Cannot(noSchema);
  return zod;
}

/**
 * States whether the author of a tool writes the properties alone, as the documentation does. The SDK makes a z.object()
 * of them, which drops all other members, so an object without properties has to be a z.looseObject().
 */
function isShape({ type, properties = {}, required, ...others }: JsonSchema): boolean {
  return Object.keys(properties).length > 0 && Object.keys(others).length === 0;
}

/** By its type, z.literal() takes only primitive values. It compares objects by identity, so that none is equal. */
function rejectObjectLiterals({ zodSchema }: { zodSchema: z.core.$ZodTypes }): void {
  const { def } = zodSchema._zod;
  const values: readonly unknown[] = def.type === 'literal' ? def.values : [];
  if (values.some(value => typeof value === 'object' && value !== null)) throw new Error('z.literal takes no object');
}

/**
 * Returns the path of the first part of a JSON value that another value does not have, which may have more.
 *
 * @param ignored - the members that may be lost
 */
function firstLoss(value: unknown, other: unknown, ignored?: RegExp, path = ''): string | undefined {
  // `true` and `{}` are the same schema.
  if (value === true && typeof other === 'object') return firstLoss({}, other);
  if (typeof value !== 'object' || value === null) return value === other ? undefined : path;
  if (typeof other !== 'object' || other === null || Array.isArray(value) !== Array.isArray(other)) return path;
  // The order of `required`, `enum` and `type` has no meaning.
  if (Array.isArray(value) && value.every(item => typeof item !== 'object')) {
    return value.every(item => Object.values(other).includes(item)) ? undefined : path;
  }
  const members = new Map<string, unknown>(Object.entries(other));
  for (const [key, member] of Object.entries(value)) {
    if (ignored?.test(key)) continue;
    const lost = firstLoss(member, members.get(key), ignored, `${path}/${key}`);
    if (lost !== undefined) return lost;
  }
  return undefined;
}
