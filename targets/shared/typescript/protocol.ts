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
}

export interface Fixture {
  server: { name: string; version: string };
  tools: Tool[];
}

/** A tool. Its schemas are any JSON value, because a fixture may be invalid on purpose. */
export interface Tool {
  name: string;
  title?: string;
  description?: string;
  inputSchema?: unknown;
  outputSchema?: unknown;
  does: Does;
}

/** The body of a tool: one of these members is present. */
export interface Does {
  echo?: true;
  return?: { structuredContent?: unknown; content?: unknown[]; isError?: boolean };
  elicit?: Elicit;
  raise?: string;
}

export interface Elicit {
  message: string;
  requestedSchema: unknown;
}

export interface ServeRequest {
  revision: string;
  variant?: string;
  fixture: Fixture;
}

export interface DriveRequest {
  revision: string;
  variant?: string;
  url?: string;
  command?: [string, ...string[]];
  answers?: Answer | Answer[];
  declares?: Record<string, unknown>;
  script: Step[];
}

/** A user's answer to an elicitation. */
export type Answer = { accept: Record<string, unknown> | 'as presented' } | 'decline' | 'cancel';

export interface Step {
  listTools?: Record<string, never>;
  callTool?: { name: string; arguments?: Record<string, unknown> };
}

export interface Drove {
  connected: boolean;
  steps: StepAnswer[];
  error?: ErrorDescription;
}

export type StepAnswer = { tools: unknown[] } | { result: unknown } | { error: ErrorDescription };

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
