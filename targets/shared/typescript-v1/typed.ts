/**
 * Tools that their author writes with zod, from which the SDK derives schemas. Their names are those of the cases in
 * cases/typed/.
 * https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/docs/server.md#tools
 */
import { McpServer, type ToolCallback } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { AnySchema, ZodRawShapeCompat } from '@modelcontextprotocol/sdk/server/zod-compat.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

import { Cannot, Refused, type Fixture } from '../typescript/protocol.js';
import { isZod3, z } from './zod-3.js';
import { noSchema, onlyShapes } from './zod.js';

type Register = (server: McpServer, name: string, description?: string) => void;

/** Returns the function that creates a server with these tools. */
export function registerTypedTools({ server: info, tools }: Fixture): () => McpServer {
  const written = tools.map(({ name, description }) => {
    const entry = entries[name] ?? `the adapter has no code for the typed tool ${name}`;
    if (typeof entry === 'string') throw new Cannot(entry);
    return { name, description, register: entry };
  });
  return () => {
    const server = new McpServer(info);
    server.server.onerror = console.error;
    for (const { name, description, register } of written) {
      try {
        register(server, name, description);
      } catch (error) {
        throw new Refused(error, name);
      }
    }
    return server;
  };
}

function structured(output: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(output) }], structuredContent: output };
}

/** The code of a tool that returns the arguments as they arrive. */
const echo = async (args: Record<string, unknown>) => structured(args);

function takes<S extends ZodRawShapeCompat | AnySchema>(inputSchema: S, code: ToolCallback<S>): Register | string {
  if (onlyShapes && inputSchema instanceof z.ZodType) return noSchema;
  return (server, name, description) => server.registerTool(name, { description, inputSchema }, code);
}

function returns(outputSchema: ZodRawShapeCompat | AnySchema, output: Record<string, unknown>): Register | string {
  if (onlyShapes && outputSchema instanceof z.ZodType) return noSchema;
  return (server, name, description) =>
    server.registerTool(name, { description, outputSchema }, async () => structured(output));
}

enum Color {
  Red = '#f00',
  Green = '#0f0'
}

const cardPng = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';

const Circle = z.object({ kind: z.literal('circle'), radius: z.number() });
const Square = z.object({ kind: z.literal('square'), side: z.number() });
const Disk = z.object({ kind: z.literal('circle').default('circle'), radius: z.number() });
const Tile = z.object({ kind: z.literal('square').default('square'), side: z.number() });
const TextPart = z.object({ kind: z.literal('text'), text: z.string() });
const Link = z.object({ kind: z.literal('link'), url: z.string() });
const Point = z.object({ x: z.int(), y: z.int() });
const Node = z.object({
  value: z.int(),
  get children() {
    return z.array(Node);
  }
});

/** https://zod.dev/api?id=transforms */
const integersAsJson = z
  .string()
  .transform((text, ctx) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      ctx.addIssue({ code: 'custom', message: 'This is no JSON' });
      return z.NEVER;
    }
  })
  .pipe(z.array(z.int()));

const measured = {
  name: 'Ada',
  get length() {
    return this.name.length;
  }
};

const changed = { count: 7 };
changed.count = 'seven' as never;

const noMetadata = 'zod 3 has no function for metadata';
const notAnObject = 'by its type, the structuredContent of a CallToolResult is an object';
const noForm = 'Server.elicitInput takes JSON Schema: the SDK derives no form from a type';

/** How to register each tool, or why its author cannot write it. */
const entries: Record<string, Register | string> = {
  plain: takes({ text: z.string() }, echo),

  // Arguments
  none: (server, name, description) => server.registerTool(name, { description }, async () => structured({})),
  required: takes({ name: z.string(), count: z.int() }, echo),
  optional: takes({ name: z.string(), count: z.int().optional() }, echo),
  nullable: takes({ note: z.string().nullable() }, echo),
  'optional-nullable': takes({ name: z.string(), note: z.string().nullish() }, echo),
  defaults: takes(
    {
      title: z.string().default('a'),
      ratio: z.number().default(1.5),
      count: z.int().default(3),
      loud: z.boolean().default(false),
      tags: z.array(z.string()).default(['x'])
    },
    echo
  ),
  literals: takes({ color: z.literal(['red', 'green']), level: z.literal([1, 2]) }, echo),
  'mixed-literals': takes({ mode: z.literal(['auto', 1, true]) }, echo),
  enum: takes({ color: z.enum(Color) }, echo),
  union: takes({ value: z.union([z.int(), z.string()]) }, echo),
  'tagged-union': takes({ shape: z.discriminatedUnion('kind', [Circle, Square]) }, echo),
  'root-union': takes(z.discriminatedUnion('kind', [TextPart, Link]), echo),
  nested: takes({ person: z.object({ name: z.string(), address: z.object({ city: z.string() }) }) }, echo),
  shared: takes({ from: Point, to: Point }, echo),
  recursive: takes({ tree: Node }, echo),
  lists: takes({ names: z.array(z.string()), points: z.array(Point) }, echo),
  tuple: takes({ pair: z.tuple([z.int(), z.string()]) }, echo),
  map: takes({ counts: z.record(z.string(), z.int()) }, echo),
  'map-of-numbers': takes({ names: z.record(z.int(), z.string()) }, echo),
  'free-form': takes({ options: z.record(z.string(), z.unknown()) }, echo),
  anything: takes({ value: z.unknown() }, echo),
  bounds: takes({ count: z.int().min(1).max(10), ratio: z.number().gt(0).lt(1) }, echo),
  lengths: takes(
    {
      code: z.string().regex(/^[A-Z]{3}$/),
      name: z.string().min(1).max(5),
      tags: z.array(z.string()).min(1).max(2)
    },
    echo
  ),
  formats: takes({ email: z.email(), link: z.url(), id: z.uuid() }, echo),
  dates: takes({ day: z.iso.date(), at: z.iso.datetime() }, echo),
  decimal: 'JavaScript has no decimal numbers',
  // https://zod.dev/api?id=transforms
  alias: takes(
    z.object({ userId: z.string() }).transform(({ userId }) => ({ user_id: userId })),
    async ({ user_id }) => structured({ userId: user_id })
  ),
  reserved: takes(
    { type: z.string(), class: z.string(), self: z.string(), schema: z.string(), arguments: z.string() },
    echo
  ),
  set: takes({ tags: z.set(z.string()) }, async ({ tags }) => structured({ tags: [...tags].sort() })),
  closed: takes(z.strictObject({ name: z.string() }), echo),
  described: takes({ city: z.string().describe('The city') }, echo),
  bytes: takes({ data: z.base64() }, echo),
  'big-integer': takes({ count: z.int64() }, async ({ count }) => structured({ count: Number(count) })),
  'whole-number': takes({ count: z.bigint() }, async ({ count }) => structured({ count: Number(count) })),
  address: takes({ address: z.ipv4() }, echo),
  'raw-value': 'zod has no type for JSON that stays a text',
  'json-text': takes({ value: integersAsJson }, async ({ value }) => structured({ value: JSON.stringify(value) })),
  digits: takes(
    {
      count: z
        .string()
        .regex(/^-?\d+$/)
        .transform(Number)
    },
    async ({ count }) => structured({ count: String(count) })
  ),
  flags: 'zod has no set of flags',
  'named-tuple': takes({ point: z.tuple([z.number(), z.number()]) }, echo),
  untyped: 'each member of a zod object has a type',
  'positional-only': 'the members of a zod object have no positions',
  'second-name': 'a member of a zod object has one name',
  'named-record': isZod3 ? noMetadata : takes(z.object({ name: z.string() }).meta({ id: 'Args' }), echo),
  'repeated-member': takes(z.object({ x: z.string() }).extend({ x: z.string() }), echo),
  'any-case': takes({ code: z.string().regex(/^a+$/i) }, echo),
  coerced: takes({ count: z.coerce.number() }, echo),
  // https://zod.dev/api?id=coercion
  'date-object': takes({ at: z.coerce.date() }, async ({ at }) =>
    structured({ at: at.toISOString().replace('.000Z', 'Z') })
  ),
  'map-object': takes({ counts: z.map(z.string(), z.int()) }, async ({ counts }) =>
    structured({ counts: Object.fromEntries(counts) })
  ),
  trimmed: takes({ name: z.string().trim().max(3) }, echo),
  'made-default': takes({ tags: z.array(z.string()).default(() => ['x']) }, echo),
  'null-default': 'by the types of zod, an integer has no default null',
  'any-names': takes(z.record(z.string(), z.int()), echo),
  'inherited-names': takes(
    { copy: z.string(), toString: z.string().optional(), model_config: z.string().optional() },
    echo
  ),
  underscore: takes({ _id: z.string() }, echo),
  link: takes({ link: z.url() }, echo),
  duration: isZod3 ? 'zod 3 has no lengths of time as they are in JSON' : takes({ wait: z.iso.duration() }, echo),
  'small-number': isZod3 ? 'zod 3 has no numbers of 32 bits' : takes({ ratio: z.float32() }, echo),
  'tag-default': isZod3
    ? 'the tag of a z.discriminatedUnion() of zod 3 has no default'
    : takes({ shape: z.discriminatedUnion('kind', [Disk, Tile]) }, echo),
  'named-embedding': 'JavaScript has no embedded records',

  // Arguments that are no data
  function: takes({ done: z.function() }, async ({ done }) => structured({ done: typeof done })),
  opaque: takes({ handle: z.symbol() }, async ({ handle }) => structured({ handle: handle.description })),
  'root-list': takes(z.array(z.string()), async names => structured({ names })),

  // Results
  'returns-record': returns({ name: z.string(), age: z.int() }, { name: 'Ada', age: 36 }),
  'returns-texts': notAnObject,
  'returns-records': notAnObject,
  'returns-empty-list': notAnObject,
  'returns-integer': notAnObject,
  'returns-text': notAnObject,
  'returns-boolean': notAnObject,
  'returns-null': notAnObject,
  'returns-optional': notAnObject,
  'returns-either': returns(z.union([z.object({ name: z.string() }), z.object({ code: z.int() })]), { code: 7 }),
  'returns-tree': returns(onlyShapes ? Node.shape : Node, { value: 1, children: [{ value: 2, children: [] }] }),
  'returns-counts': returns(z.record(z.string(), z.int()), { a: 1, b: 2 }),
  'returns-times': returns(
    { day: z.iso.date(), at: z.iso.datetime() },
    { day: '2026-07-28', at: '2026-07-28T12:00:00Z' }
  ),
  'returns-alias': returns({ userId: z.string() }, { userId: 'u1' }),
  'returns-null-member': returns({ name: z.string(), note: z.string().nullable() }, { name: 'Ada', note: null }),
  'returns-left-out-member': returns({ name: z.string(), note: z.string().optional() }, { name: 'Ada' }),
  'returns-big-integer': returns({ count: z.bigint() }, { count: 9007199254740993n }),
  'returns-named-list': notAnObject,
  'returns-point': notAnObject,
  'returns-color': notAnObject,
  'returns-day': notAnObject,
  'returns-anything': returns(z.unknown(), { a: 1 }),

  // Results that are not of the type
  'returns-not-a-number': returns({ ratio: z.number() }, { ratio: NaN }),
  'returns-bytes': returns({ data: z.base64() }, { data: Buffer.from('hi').toString('base64') }),
  'returns-raw-bytes': returns({ data: z.base64() }, { data: Buffer.of(0xff, 0xfe).toString('base64') }),
  'returns-nil-list': returns({ tags: z.array(z.string()) }, { tags: null }),
  'returns-more-members': returns({ name: z.string() }, { name: 'Ada', age: 36 }),
  'returns-fewer-members': returns({ name: z.string(), age: z.int() }, { name: 'Ada' }),
  'returns-wrong-type': notAnObject,
  'returns-image-beside': (server, name, description) =>
    server.registerTool(name, { description, outputSchema: { name: z.string() } }, async () => {
      const { content, structuredContent } = structured({ name: 'Ada' });
      return { content: [...content, { type: 'image', data: cardPng, mimeType: 'image/png' }], structuredContent };
    }),
  'returns-nothing': (server, name, description) =>
    server.registerTool(name, { description }, async () => ({ content: [] })),
  'returns-renamed': 'a member of a zod object has one name',
  'returns-received-name': 'a member of a zod object has one name',
  'returns-own-form': returns({ id: z.int().transform(id => `#${String(id)}`) }, { id: 1 }),
  'returns-converted': returns({ count: z.coerce.number().int() }, { count: '7' }),
  'returns-computed': returns(z.strictObject({ name: z.string(), length: z.int() }), measured),
  'returns-hidden-member': 'zod has no member that is never sent',
  'returns-changed-member': returns({ count: z.int() }, changed),
  'returns-default-member': returns({ x: z.int(), y: z.int().default(5) }, { x: 1 }),
  'returns-trimmed': returns({ name: z.string().trim().max(3) }, { name: ' Ada ' }),
  'returns-half-character': notAnObject,
  'returns-big-undeclared': (server, name, description) =>
    server.registerTool(name, { description }, async () => ({
      content: [{ type: 'text', text: '{"count":9007199254740993}' }],
      structuredContent: { count: 9007199254740993n }
    })),
  'returns-raw': 'zod has no type for JSON that stays a text',
  'returns-nil-map': 'JavaScript has no nil maps',
  'returns-nil-embedded': 'JavaScript has no embedded records',
  'returns-plain-object': 'by its type, the structuredContent of a CallToolResult is no object of a class',
  'returns-fallback': returns({ count: z.int().catch(1) }, { count: 'x' }),
  'returns-word': isZod3 ? 'zod 3 has no boolean as a word' : returns({ loud: z.stringbool() }, { loud: 'yes' }),
  'breaks-off': (server, name, description) =>
    server.registerTool(name, { description }, async () => {
      throw new TypeError('Cannot read properties of undefined');
    }),
  exits: (server, name, description) => server.registerTool(name, { description }, async () => process.exit(2)),
  'returns-derived': 'zod has no derived types',
  'returns-failure': (server, name, description) =>
    server.registerTool(name, { description, outputSchema: { name: z.string() } }, async () => ({
      content: [{ type: 'text', text: 'no name' }],
      isError: true
    })),
  'returns-reason': returns({ reason: z.instanceof(Error) }, { reason: new Error('no name') }),
  'returns-sequence': notAnObject,

  // Forms
  'form-plain': noForm,
  'form-choice': noForm,
  'form-titled-choice': noForm,
  'form-choices': noForm,
  'form-titled-choices': noForm,
  'form-defaults': noForm,
  'form-choice-default': noForm,
  'form-optional': noForm,
  'form-nullable': noForm,
  'form-bounds': noForm,
  'form-date': noForm,
  'form-nested': noForm,
  'form-enum': noForm,
  'form-levels': noForm,
  'form-above': noForm,
  'form-texts': noForm,
  'form-uuid': noForm,
  'form-decimal': noForm,
  'form-union': noForm,
  'form-counts': noForm,
  'form-map': noForm,
  'form-choices-default': noForm,
  'form-single-choice': noForm,
  'form-described': noForm,
  'form-closed': noForm,
  'form-note': noForm,
  'form-alone': noForm
};
