// @ts-check
/**
 * Drives the SDK's client through a script and reports the results that its user would get.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { Cannot } from './fixture.mjs';
import { revisions } from './serve.mjs';

/**
 * @typedef {{ accept: Record<string, any> | 'as presented' } | 'decline' | 'cancel'} Answer
 * @typedef {{ listTools?: {}, callTool?: { name: string, arguments?: Record<string, unknown> } }} Step
 * @typedef {{ revision: string, url?: string, command?: string[], answers?: Answer | Answer[], script: Step[] }} Drive
 */

/**
 * Runs a script. The client always offers 2025-11-25 and then uses the revision that the server
 * chooses.
 *
 * @param {Drive} request
 */
export async function drive({ revision, url, command, answers, script }) {
  if (!revisions.includes(revision)) throw new Cannot(`the SDK does not support ${revision}`);
  const client = createClient(answers);
  const transport = url ? new StreamableHTTPClientTransport(new URL(url)) : launch(command);
  try {
    await client.connect(transport);
  } catch (error) {
    return { steps: [], connected: false, error: describeError(error) };
  }
  try {
    const steps = [];
    for (const step of script) steps.push(await runStep(client, step));
    return { steps, connected: true };
  } finally {
    // https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/src/examples/client/simpleStreamableHttp.ts
    if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(console.error);
    await client.close();
  }
}

/** @param {Answer | Answer[] | undefined} answers */
function createClient(answers) {
  const info = { name: 'casebook', version: '1' };
  if (answers === undefined) return new Client(info);
  const client = new Client(info, { capabilities: { elicitation: { form: formCapability(answers) } } });
  client.setRequestHandler(ElicitRequestSchema, elicitationHandler(answers));
  return client;
}

/**
 * Returns the capability for forms. With `applyDefaults`, the SDK itself fills the defaults of a form
 * that the user accepts without an edit. The option applies to the whole client.
 * https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/docs/capabilities.md#default-values
 *
 * @param {Answer | Answer[]} answers
 * @returns {{ applyDefaults?: boolean }}
 */
function formCapability(answers) {
  const unedited = [answers].flat().some(answer => typeof answer === 'object' && answer.accept === 'as presented');
  return unedited ? { applyDefaults: true } : {};
}

/**
 * Creates the elicitation handler. It takes the next answer of a list, or always the same single
 * answer.
 *
 * @param {Answer | Answer[]} answers
 * @returns {() => Promise<import('@modelcontextprotocol/sdk/types.js').ElicitResult>}
 */
function elicitationHandler(answers) {
  const remaining = Array.isArray(answers) ? answers[Symbol.iterator]() : undefined;
  return async () => {
    const answer = remaining ? remaining.next().value : /** @type {Answer} */ (answers);
    if (answer === undefined) throw new Error('the script has no answer left');
    if (typeof answer === 'string') return { action: answer };
    return { action: 'accept', content: answer.accept === 'as presented' ? {} : answer.accept };
  };
}

/**
 * @param {Client} client
 * @param {Step} step
 */
async function runStep(client, step) {
  try {
    if (step.listTools) return { tools: await listAllTools(client) };
    if (step.callTool) return { result: await client.callTool(step.callTool) };
  } catch (error) {
    return { error: describeError(error) };
  }
  throw new Cannot(`there is no step ${Object.keys(step)}`);
}

/**
 * Lists all tools. `listTools` returns one page, and its user requests the next one with the cursor.
 * https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination
 *
 * @param {Client} client
 */
async function listAllTools(client) {
  let page = await client.listTools();
  const { tools } = page;
  while (page.nextCursor !== undefined) {
    page = await client.listTools({ cursor: page.nextCursor });
    tools.push(...page.tools);
  }
  return tools;
}

/**
 * Describes an error. The `code` of a system error is a string instead of a JSON-RPC number, so the
 * string is appended to the type.
 *
 * @param {any} error
 */
function describeError(error) {
  const type = error?.constructor?.name ?? typeof error;
  const message = String(error?.message ?? error);
  if (typeof error?.code === 'string') return { type: `${type}.${error.code}`, message };
  return { type, code: error?.code, message };
}

/** @param {string[] | undefined} command */
function launch(command) {
  if (!command) throw new Cannot('there is neither a url nor a command to connect to');
  return new StdioClientTransport({ command: command[0], args: command.slice(1) });
}
