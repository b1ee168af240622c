/** Drives the SDK's client through a script and reports the results that its user would get. */
import { Client, type ClientOptions } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, type Tool } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';

import { describeError, elicitationHandler, formCapability, runStep, type Requests } from '../typescript/client.js';
import { Cannot, type Answer, type DriveRequest, type Drove, type StepAnswer } from '../typescript/protocol.js';
import { since } from './release.js';
import { revisions } from './server.js';

// 1.21 brought the option jsonSchemaValidator.
const ajv = since('1.21.0') ? await import('./ajv-2020.js') : undefined;

/**
 * Runs a script. The client always offers 2025-11-25 and then uses the revision that the server chooses: the SDK has no
 * option for it.
 */
export async function drive(request: DriveRequest): Promise<Drove> {
  if (!revisions.includes(request.revision)) throw new Cannot(`the SDK does not support ${request.revision}`);
  checkOptions(request);
  const steps: StepAnswer[] = [];
  const transport = connection(request);
  let client: Client;
  try {
    client = createClient(request);
    await client.connect(transport);
  } catch (error) {
    return { connected: false, steps, error: describeError(error) };
  }
  try {
    const requests = clientRequests(client, request.requestTimeout);
    for (const step of request.script) steps.push(await runStep(requests, step));
    return { connected: true, steps };
  } finally {
    // https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/src/examples/client/simpleStreamableHttp.ts
    if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(console.error);
    await client.close();
  }
}

function connection({ url, command }: DriveRequest): StdioClientTransport | StreamableHTTPClientTransport {
  if (url !== undefined) return new StreamableHTTPClientTransport(new URL(url));
  if (!command) throw new Cannot('there is neither a url nor a command to connect to');
  const [program, ...args] = command;
  return new StdioClientTransport({ command: program, args });
}

/** Throws if the SDK has no option that the author of this client would set. */
function checkOptions({ variant, answers = [], declares }: DriveRequest): void {
  if (variant === 'ajv-2020' && !ajv) throw new Cannot('before 1.21, Client has no option jsonSchemaValidator');
  if (!declares && formCapability(answers).applyDefaults && !since('1.22.0'))
    throw new Cannot('before 1.22, Client has no option applyDefaults');
}

function createClient({ variant, answers, declares }: DriveRequest): Client {
  const options: ClientOptions = {};
  if (declares) options.capabilities = declares;
  // https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/docs/capabilities.md#default-values
  else if (answers !== undefined) options.capabilities = elicitation(answers);
  if (variant === 'ajv-2020') options.jsonSchemaValidator = ajv?.ajv2020();
  const client = new Client({ name: 'casebook', version: '1' }, options);
  client.onerror = console.error;
  if (answers !== undefined) client.setRequestHandler(ElicitRequestSchema, elicitationHandler(answers));
  return client;
}

/** The capability of a client that answers forms. 1.23 brought the modes of elicitation. */
function elicitation(answers: Answer | Answer[]): ClientOptions['capabilities'] {
  const form = formCapability(answers);
  return { elicitation: since('1.23.0') ? { form } : form };
}

/** https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/docs/protocol.md#progress-notifications */
function clientRequests(client: Client, timeout?: number): Requests {
  const options = timeout === undefined ? undefined : { timeout };
  return {
    listTools: () => listAllTools(client, options),
    callTool: call => client.callTool(call, undefined, options),
    request: request => client.request(request, z.record(z.string(), z.unknown()), options)
  };
}

/** https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/docs/protocol.md#pagination */
async function listAllTools(client: Client, options?: { timeout: number }): Promise<Tool[]> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  do {
    const result = await client.listTools({ cursor }, options);
    tools.push(...result.tools);
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  return tools;
}
