/**
 * The messages of the adapter protocol, as far as the adapters read and write them:
 * https://github.com/mcp-casebook/mcp-casebook/blob/main/docs/adapter-protocol.md
 */

/** The answer to `hello`, without the parts that are the same for all adapters in TypeScript. */
export interface Identity {
  sdk: string;
  version: string;
  api: string;
  revisions: string[];
  variants: string[];
  /** The versions of the packages that write schemas and validate. */
  dependencies?: Record<string, string>;
}

export interface Fixture {
  server: { name: string; version: string };
  tools: Tool[];
  /** The capabilities that a proposal adds. */
  capabilities?: Record<string, unknown>;
  /** The methods that a proposal adds, with the replies to their requests. */
  methods?: Record<string, Reply[]>;
}

/** A reply: one of `result`, `error` and `echo` is present. */
export interface Reply {
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
  echo?: true;
  /** What is sent before the reply. */
  notify?: Message[];
}

/** A request or a notification. */
export interface Message {
  method: string;
  params?: Record<string, unknown>;
}

/**
 * A tool. Its members are any JSON value, because a fixture may be invalid on purpose. It may have further members,
 * which no revision of MCP defines.
 */
export interface Tool {
  name: string;
  title?: string;
  description?: string;
  /** What the author of the tool writes, in words. The SDK makes the schemas of it, and the adapter ignores those here. */
  typed?: string;
  inputSchema?: unknown;
  outputSchema?: unknown;
  annotations?: unknown;
  icons?: unknown;
  execution?: unknown;
  _meta?: unknown;
  does: Does;
}

/** The body of a tool: one of these members is present. */
export interface Does {
  echo?: true;
  return?: { structuredContent?: unknown; content?: unknown[]; isError?: boolean };
  elicit?: Elicit;
  raise?: string;
  wait?: Wait;
  log?: { level: LogLevel; data: unknown; logger?: string };
  progress?: { progress: number; total?: number; message?: string };
}

/** A question: a form, or in the mode `url` an address. */
export interface Elicit {
  message: string;
  mode?: 'form' | 'url';
  requestedSchema?: unknown;
  url?: string;
  elicitationId?: string;
  state?: State;
}

/** What a tool remembers between its question and the answer, on revisions that have a request state. */
export interface State {
  value: string;
  seconds?: number;
}

/** The URLs that a tool gets when it starts to wait, and when the SDK has told it that the call was cancelled. */
export interface Wait {
  started: string;
  stopped: string;
}

export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

export interface ServeRequest {
  revision: string;
  variant?: string;
  fixture: Fixture;
}

export interface DriveRequest {
  revision: string;
  /** Set if the client determines the revision of the server. */
  negotiate?: boolean;
  variant?: string;
  url?: string;
  command?: [string, ...string[]];
  answers?: Answer | Answer[];
  declares?: Record<string, unknown>;
  /** The time limit of each request, in milliseconds. */
  requestTimeout?: number;
  script: Step[];
}

/** A user's answer to an elicitation. */
export type Answer = { accept: Record<string, unknown> | 'as presented' } | 'accept' | 'decline' | 'cancel';

export interface Step {
  listTools?: Record<string, never>;
  callTool?: Call;
  callTools?: Call[];
  request?: Message;
}

export interface Call {
  name: string;
  arguments?: Record<string, unknown>;
}

export interface Drove {
  connected: boolean;
  steps: StepAnswer[];
  error?: ErrorDescription;
}

export type StepAnswer =
  { tools: unknown[] } | { result: unknown } | { results: StepAnswer[] } | { error: ErrorDescription };

export interface ErrorDescription {
  type: string;
  code?: number;
  message: string;
}

/** The public API of the SDK cannot express the fixture or the script. */
export class Cannot extends Error {}

/** The SDK threw while its user built the server. */
export class Refused extends Error {
  constructor(
    override readonly cause: unknown,
    readonly tool?: string
  ) {
    super('the SDK refused to build this server', { cause });
  }
}
