/**
 * Tools that their author writes with zod, from which the SDK derives schemas and forms. Their names are those of the
 * cases in cases/typed/.
 * https://ts.sdk.modelcontextprotocol.io/v2/servers/tools
 */
import { acceptedContent, inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod/v4';

import { Cannot, type Fixture } from '../shared/typescript/protocol.js';
import { structured } from './result.js';

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
    for (const { name, description, register } of written) register(server, name, description);
    return server;
  };
}

/** A tool that returns what its code makes of the arguments, by default the arguments as they arrive. */
function takes<T extends object>(inputSchema: z.ZodType<T>, code: (args: T) => object = args => args): Register {
  return (server, name, description) =>
    server.registerTool(name, { description, inputSchema }, async args => structured(code(args)));
}

/** https://ts.sdk.modelcontextprotocol.io/v2/servers/tools#return-structured-output */
function returns(outputSchema: z.ZodType, output: unknown): Register {
  return (server, name, description) =>
    server.registerTool(name, { description, outputSchema }, async () => structured(output));
}

/** https://ts.sdk.modelcontextprotocol.io/v2/servers/input-required#read-the-responses-on-re-entry */
function asks(requestedSchema: z.ZodType): Register {
  return (server, name, description) =>
    server.registerTool(name, { description }, async ctx => {
      const view = inputResponse(ctx.mcpReq.inputResponses, 'answer');
      if (view.kind === 'elicit' && view.action !== 'accept') return structured({ action: view.action });
      const content = acceptedContent(ctx.mcpReq.inputResponses, 'answer', requestedSchema);
      if (content !== undefined) return structured({ action: 'accept', content });
      const answer = inputRequired.elicit({ message: 'Please answer.', requestedSchema });
      return inputRequired({ inputRequests: { answer } });
    });
}

enum Color {
  Red = '#f00',
  Green = '#0f0'
}

/** https://ts.sdk.modelcontextprotocol.io/v2/servers/tools#return-other-content-types */
const cardPng = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';

const Circle = z.object({ kind: z.literal('circle'), radius: z.number() });
const Square = z.object({ kind: z.literal('square'), side: z.number() });
const Disk = z.object({ kind: z.literal('circle').default('circle'), radius: z.number() });
const Tile = z.object({ kind: z.literal('square').default('square'), side: z.number() });
const TextPart = z.object({ kind: z.literal('text'), text: z.string() });
const Link = z.object({ kind: z.literal('link'), url: z.string() });
const Point = z.object({ x: z.int(), y: z.int() });
const Person = z.object({ name: z.string(), age: z.int() });
const Node = z.object({
  value: z.int(),
  get children() {
    return z.array(Node);
  }
});

/** https://zod.dev/codecs#jsonschema */
const integersAsJson = z.codec(z.string(), z.array(z.int()), {
  decode: (text, ctx) => {
    try {
      return JSON.parse(text) as number[];
    } catch (error) {
      ctx.issues.push({ code: 'invalid_format', format: 'json', input: text, message: String(error) });
      return z.NEVER;
    }
  },
  encode: value => JSON.stringify(value)
});

/** https://zod.dev/codecs#stringtoint */
const stringToInt = z.codec(z.string().regex(z.regexes.integer), z.int(), {
  decode: text => Number.parseInt(text, 10),
  encode: number => number.toString()
});

const measured = {
  name: 'Ada',
  get length() {
    return this.name.length;
  }
};

class City {
  constructor(readonly name: string) {}
}

const changed = { count: 7 };
changed.count = 'seven' as never;

/** How to register each tool, or why its author cannot write it. */
const entries: Record<string, Register | string> = {
  plain: takes(z.object({ text: z.string() })),

  // Arguments
  none: (server, name, description) => server.registerTool(name, { description }, async () => structured({})),
  required: takes(z.object({ name: z.string(), count: z.int() })),
  optional: takes(z.object({ name: z.string(), count: z.int().optional() })),
  nullable: takes(z.object({ note: z.string().nullable() })),
  'optional-nullable': takes(z.object({ name: z.string(), note: z.string().nullish() })),
  defaults: takes(
    z.object({
      title: z.string().default('a'),
      ratio: z.number().default(1.5),
      count: z.int().default(3),
      loud: z.boolean().default(false),
      tags: z.array(z.string()).default(['x'])
    })
  ),
  literals: takes(z.object({ color: z.literal(['red', 'green']), level: z.literal([1, 2]) })),
  'mixed-literals': takes(z.object({ mode: z.literal(['auto', 1, true]) })),
  enum: takes(z.object({ color: z.enum(Color) })),
  union: takes(z.object({ value: z.union([z.int(), z.string()]) })),
  'tagged-union': takes(z.object({ shape: z.discriminatedUnion('kind', [Circle, Square]) })),
  'root-union': takes(z.discriminatedUnion('kind', [TextPart, Link])),
  nested: takes(z.object({ person: z.object({ name: z.string(), address: z.object({ city: z.string() }) }) })),
  shared: takes(z.object({ from: Point, to: Point })),
  recursive: takes(z.object({ tree: Node })),
  lists: takes(z.object({ names: z.array(z.string()), points: z.array(Point) })),
  tuple: takes(z.object({ pair: z.tuple([z.int(), z.string()]) })),
  map: takes(z.object({ counts: z.record(z.string(), z.int()) })),
  'map-of-numbers': takes(z.object({ names: z.record(z.int(), z.string()) })),
  'free-form': takes(z.object({ options: z.record(z.string(), z.unknown()) })),
  anything: takes(z.object({ value: z.unknown() })),
  bounds: takes(z.object({ count: z.int().min(1).max(10), ratio: z.number().gt(0).lt(1) })),
  lengths: takes(
    z.object({
      code: z.string().regex(/^[A-Z]{3}$/),
      name: z.string().min(1).max(5),
      tags: z.array(z.string()).min(1).max(2)
    })
  ),
  formats: takes(z.object({ email: z.email(), link: z.url(), id: z.uuid() })),
  dates: takes(z.object({ day: z.iso.date(), at: z.iso.datetime() })),
  decimal: 'JavaScript has no decimal numbers',
  // https://zod.dev/api?id=transforms
  alias: takes(
    z.object({ userId: z.string() }).transform(({ userId }) => ({ user_id: userId })),
    ({ user_id }) => ({ userId: user_id })
  ),
  reserved: takes(
    z.object({ type: z.string(), class: z.string(), self: z.string(), schema: z.string(), arguments: z.string() })
  ),
  set: takes(z.object({ tags: z.set(z.string()) }), ({ tags }) => ({ tags: [...tags].sort() })),
  closed: takes(z.strictObject({ name: z.string() })),
  described: takes(z.object({ city: z.string().describe('The city') })),
  bytes: takes(z.object({ data: z.base64() })),
  'big-integer': takes(z.object({ count: z.int64() }), ({ count }) => ({ count: Number(count) })),
  'whole-number': takes(z.object({ count: z.bigint() }), ({ count }) => ({ count: Number(count) })),
  address: takes(z.object({ address: z.ipv4() })),
  'raw-value': 'zod has no type for JSON that stays a text',
  'json-text': takes(z.object({ value: integersAsJson }), ({ value }) => ({ value: integersAsJson.encode(value) })),
  digits: takes(z.object({ count: stringToInt }), ({ count }) => ({ count: stringToInt.encode(count) })),
  flags: 'zod has no set of flags',
  'named-tuple': takes(z.object({ point: z.tuple([z.number(), z.number()]) })),
  untyped: 'each member of a zod object has a type',
  'positional-only': 'the members of a zod object have no positions',
  'second-name': 'a member of a zod object has one name',
  'named-record': takes(z.object({ name: z.string() }).meta({ id: 'Args' })),
  'repeated-member': takes(z.object({ x: z.string() }).extend({ x: z.string() })),
  'any-case': takes(z.object({ code: z.string().regex(/^a+$/i) })),
  coerced: takes(z.object({ count: z.coerce.number() })),
  // https://zod.dev/api?id=coercion
  'date-object': takes(z.object({ at: z.coerce.date() }), ({ at }) => ({ at: at.toISOString().replace('.000Z', 'Z') })),
  'map-object': takes(z.object({ counts: z.map(z.string(), z.int()) }), ({ counts }) => ({
    counts: Object.fromEntries(counts)
  })),
  trimmed: takes(z.object({ name: z.string().trim().max(3) })),
  'made-default': takes(z.object({ tags: z.array(z.string()).default(() => ['x']) })),
  'null-default': 'by the types of zod, an integer has no default null',
  'any-names': takes(z.record(z.string(), z.int())),
  'inherited-names': takes(
    z.object({ copy: z.string(), toString: z.string().optional(), model_config: z.string().optional() })
  ),
  underscore: takes(z.object({ _id: z.string() })),
  link: takes(z.object({ link: z.url() })),
  duration: takes(z.object({ wait: z.iso.duration() })),
  'small-number': takes(z.object({ ratio: z.float32() })),
  'tag-default': takes(z.object({ shape: z.discriminatedUnion('kind', [Disk, Tile]) })),
  'named-embedding': 'JavaScript has no embedded records',

  // Arguments that are no data
  function: takes(z.object({ done: z.function() }), ({ done }) => ({ done: typeof done })),
  opaque: takes(z.object({ handle: z.symbol() }), ({ handle }) => ({ handle: handle.description })),
  'root-list': (server, name, description) =>
    server.registerTool(name, { description, inputSchema: z.array(z.string()) }, async names => structured({ names })),

  // Results
  'returns-record': returns(Person, { name: 'Ada', age: 36 }),
  'returns-texts': returns(z.array(z.string()), ['a', 'b']),
  'returns-records': returns(z.array(Person), [{ name: 'Ada', age: 36 }]),
  'returns-empty-list': returns(z.array(z.string()), []),
  'returns-integer': returns(z.int(), 7),
  'returns-text': returns(z.string(), 'hello'),
  'returns-boolean': returns(z.boolean(), false),
  'returns-null': returns(z.null(), null),
  'returns-optional': returns(z.object({ name: z.string() }).nullable(), null),
  'returns-either': returns(z.union([z.object({ name: z.string() }), z.object({ code: z.int() })]), { code: 7 }),
  'returns-tree': returns(Node, { value: 1, children: [{ value: 2, children: [] }] }),
  'returns-counts': returns(z.record(z.string(), z.int()), { a: 1, b: 2 }),
  'returns-times': returns(z.object({ day: z.iso.date(), at: z.iso.datetime() }), {
    day: '2026-07-28',
    at: '2026-07-28T12:00:00Z'
  }),
  'returns-alias': returns(z.object({ userId: z.string() }), { userId: 'u1' }),
  'returns-null-member': returns(z.object({ name: z.string(), note: z.string().nullable() }), {
    name: 'Ada',
    note: null
  }),
  'returns-left-out-member': returns(z.object({ name: z.string(), note: z.string().optional() }), { name: 'Ada' }),
  'returns-big-integer': returns(z.object({ count: z.bigint() }), { count: 9007199254740993n }),
  'returns-named-list': returns(z.array(z.string()).meta({ id: 'Names' }), ['a', 'b']),
  'returns-point': returns(z.tuple([z.number(), z.number()]), [1.5, 2.5]),
  'returns-color': returns(z.enum(Color), Color.Green),
  'returns-day': returns(z.date(), new Date('2026-07-28')),
  'returns-anything': returns(z.unknown(), { a: 1 }),

  // Results that are not of the type
  'returns-not-a-number': returns(z.object({ ratio: z.number() }), { ratio: NaN }),
  'returns-bytes': returns(z.object({ data: z.base64() }), { data: Buffer.from('hi').toString('base64') }),
  'returns-raw-bytes': returns(z.object({ data: z.base64() }), { data: Buffer.of(0xff, 0xfe).toString('base64') }),
  'returns-nil-list': returns(z.object({ tags: z.array(z.string()) }), { tags: null }),
  'returns-more-members': returns(z.object({ name: z.string() }), { name: 'Ada', age: 36 }),
  'returns-fewer-members': returns(Person, { name: 'Ada' }),
  'returns-wrong-type': returns(z.int(), 'seven'),
  'returns-image-beside': (server, name, description) =>
    server.registerTool(name, { description, outputSchema: z.object({ name: z.string() }) }, async () => {
      const { content, structuredContent } = structured({ name: 'Ada' });
      return { content: [...content, { type: 'image', data: cardPng, mimeType: 'image/png' }], structuredContent };
    }),
  'returns-nothing': (server, name, description) =>
    server.registerTool(name, { description }, async () => ({ content: [] })),
  'returns-renamed': 'a member of a zod object has one name',
  'returns-received-name': 'a member of a zod object has one name',
  'returns-own-form': returns(z.object({ id: z.int().transform(id => `#${String(id)}`) }), { id: 1 }),
  'returns-converted': returns(z.object({ count: z.coerce.number().int() }), { count: '7' }),
  'returns-computed': returns(z.strictObject({ name: z.string(), length: z.int() }), measured),
  'returns-hidden-member': 'zod has no member that is never sent',
  'returns-changed-member': returns(z.object({ count: z.int() }), changed),
  'returns-default-member': returns(z.object({ x: z.int(), y: z.int().default(5) }), { x: 1 }),
  'returns-trimmed': returns(z.object({ name: z.string().trim().max(3) }), { name: ' Ada ' }),
  'returns-half-character': returns(z.string(), '\ud800'),
  'returns-big-undeclared': (server, name, description) =>
    server.registerTool(name, { description }, async () => ({
      content: [{ type: 'text', text: '{"count":9007199254740993}' }],
      structuredContent: { count: 9007199254740993n }
    })),
  'returns-raw': 'zod has no type for JSON that stays a text',
  'returns-nil-map': 'JavaScript has no nil maps',
  'returns-nil-embedded': 'JavaScript has no embedded records',
  'returns-plain-object': returns(z.object({ name: z.string() }), new City('London')),
  'returns-fallback': returns(z.object({ count: z.int().catch(1) }), { count: 'x' }),
  'returns-word': returns(z.object({ loud: z.stringbool() }), { loud: 'yes' }),
  'breaks-off': (server, name, description) =>
    server.registerTool(name, { description }, async () => {
      throw new TypeError('Cannot read properties of undefined');
    }),
  exits: (server, name, description) => server.registerTool(name, { description }, async () => process.exit(2)),
  'returns-derived': 'zod has no derived types',
  // https://ts.sdk.modelcontextprotocol.io/v2/servers/errors
  'returns-failure': (server, name, description) =>
    server.registerTool(name, { description, outputSchema: z.object({ name: z.string() }) }, async () => ({
      content: [{ type: 'text', text: 'no name' }],
      isError: true
    })),
  'returns-reason': returns(z.object({ reason: z.instanceof(Error) }), { reason: new Error('no name') }),
  'returns-sequence': returns(z.array(z.int()), [1, 2].values()),

  // Forms
  'form-plain': asks(z.object({ name: z.string(), agree: z.boolean() })),
  'form-choice': asks(z.object({ color: z.enum(['red', 'green']) })),
  // https://github.com/modelcontextprotocol/typescript-sdk/blob/main/examples/elicitation/server.ts
  'form-titled-choice': asks(z.object({ color: z.enum(Color).meta({ enumNames: ['Red', 'Green'] }) })),
  'form-choices': asks(
    z.object({
      colors: z
        .array(z.enum(['red', 'green', 'blue']))
        .min(1)
        .max(2)
    })
  ),
  'form-titled-choices': asks(
    z.object({
      colors: z.array(z.enum(Color)).meta({
        items: {
          anyOf: [
            { const: '#f00', title: 'Red' },
            { const: '#0f0', title: 'Green' }
          ]
        }
      })
    })
  ),
  'form-defaults': asks(
    z.object({
      name: z.string().default('Ada'),
      count: z.int().default(3),
      ratio: z.number().default(0.5),
      agree: z.boolean().default(true)
    })
  ),
  'form-choice-default': asks(z.object({ color: z.enum(['red', 'green']).default('green') })),
  'form-optional': asks(z.object({ name: z.string(), note: z.string().optional() })),
  'form-nullable': asks(z.object({ note: z.string().nullable() })),
  'form-bounds': asks(z.object({ age: z.int().min(0).max(150), code: z.string().min(1).max(5) })),
  'form-date': asks(z.object({ day: z.iso.date() })),
  'form-nested': asks(z.object({ person: z.object({ name: z.string() }) })),
  'form-enum': asks(z.object({ color: z.enum(Color) })),
  'form-levels': asks(z.object({ level: z.literal([1, 2]) })),
  'form-above': asks(z.object({ count: z.int().positive() })),
  'form-texts': asks(z.object({ tags: z.array(z.string()) })),
  'form-uuid': asks(z.object({ id: z.uuid() })),
  'form-decimal': 'JavaScript has no decimal numbers',
  'form-union': asks(z.object({ value: z.union([z.int(), z.string()]) })),
  'form-counts': asks(z.object({ counts: z.record(z.string(), z.int()) })),
  'form-map': asks(z.record(z.string(), z.int())),
  'form-choices-default': asks(z.object({ colors: z.array(z.enum(['red', 'green'])).default(['red']) })),
  'form-single-choice': asks(z.object({ color: z.literal('red') })),
  'form-described': asks(z.object({ age: z.int().meta({ title: 'Your age', description: 'In years' }) })),
  'form-closed': asks(z.strictObject({ name: z.string() })),
  'form-note': asks(z.object({ note: z.string().optional() })),
  'form-alone': asks(z.string())
};
