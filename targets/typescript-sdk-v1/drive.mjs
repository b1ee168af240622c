// @ts-check
/**
 * Drives the SDK's client through a script, and hands back what its user would see.
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
 * The client always offers 2025-11-25, and then speaks what the server chooses.
 *
 * @param {Drive} order
 */
export async function drive({ revision, url, command, answers, script }) {
  if (!revisions.includes(revision)) throw new Cannot(`the SDK does not speak ${revision}`);
  const client = connector(answers);
  const transport = url ? new StreamableHTTPClientTransport(new URL(url)) : launch(command);
  try {
    await client.connect(transport);
  } catch (error) {
    return { steps: [], connected: false, error: described(error) };
  }
  try {
    const steps = [];
    for (const step of script) steps.push(await taken(client, step));
    return { steps, connected: true };
  } finally {
    // https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/src/examples/client/simpleStreamableHttp.ts
    if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(console.error);
    await client.close();
  }
}

/** @param {Answer | Answer[] | undefined} answers */
function connector(answers) {
  const info = { name: 'casebook', version: '1' };
  if (answers === undefined) return new Client(info);
  const client = new Client(info, { capabilities: { elicitation: { form: form(answers) } } });
  client.setRequestHandler(ElicitRequestSchema, answering(answers));
  return client;
}

/**
 * `applyDefaults` is the SDK's own help with a form that nobody edits. It holds for the whole client.
 * https://github.com/modelcontextprotocol/typescript-sdk/blob/v1.x/docs/capabilities.md#default-values
 *
 * @param {Answer | Answer[]} answers
 * @returns {{ applyDefaults?: boolean }}
 */
function form(answers) {
  const presented = [answers].flat().some(answer => typeof answer === 'object' && answer.accept === 'as presented');
  return presented ? { applyDefaults: true } : {};
}

/**
 * A list is used up, one answer an elicitation; a single answer is given each time.
 *
 * @param {Answer | Answer[]} answers
 * @returns {() => Promise<import('@modelcontextprotocol/sdk/types.js').ElicitResult>}
 */
function answering(answers) {
  const left = Array.isArray(answers) ? answers[Symbol.iterator]() : undefined;
  return async () => {
    const answer = left ? left.next().value : /** @type {Answer} */ (answers);
    if (answer === undefined) throw new Error('the script has no answer left');
    if (typeof answer === 'string') return { action: answer };
    return { action: 'accept', content: answer.accept === 'as presented' ? {} : answer.accept };
  };
}

/**
 * @param {Client} client
 * @param {Step} step
 */
async function taken(client, step) {
  try {
    if (step.listTools) return { tools: await listed(client) };
    if (step.callTool) return { result: await client.callTool(step.callTool) };
  } catch (error) {
    return { error: described(error) };
  }
  throw new Cannot(`there is no step ${Object.keys(step)}`);
}

/**
 * `listTools` hands out a page; its user goes on with the cursor.
 * https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination
 *
 * @param {Client} client
 */
async function listed(client) {
  let page = await client.listTools();
  const { tools } = page;
  while (page.nextCursor !== undefined) {
    page = await client.listTools({ cursor: page.nextCursor });
    tools.push(...page.tools);
  }
  return tools;
}

/**
 * Not every `code` is JSON-RPC's: the system's errors have words there.
 *
 * @param {any} error
 */
function described(error) {
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
