// @ts-check
/**
 * Drives the SDK's client through a script, and hands back what its user would see.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { Cannot, eras } from './serve.mjs';

/**
 * @typedef {{ accept: Record<string, any> | 'as presented' } | 'decline' | 'cancel'} Answer
 * @typedef {{ listTools?: {}, callTool?: { name: string, arguments?: Record<string, unknown> } }} Step
 * @typedef {{ revision: string, url?: string, command?: string[], answers?: Answer | Answer[], script: Step[] }} Drive
 */

/** @param {Drive} order */
export async function drive({ revision, url, command, answers, script }) {
  const client = connector(revision, answers);
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
    // https://ts.sdk.modelcontextprotocol.io/v2/clients/connect#disconnect-cleanly
    if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(console.error);
    await client.close();
  }
}

/**
 * A client of exactly this revision; the default would offer the newest of its era.
 *
 * @param {string} revision
 * @param {Answer | Answer[] | undefined} answers
 */
function connector(revision, answers) {
  const era = eras[revision];
  if (!era) throw new Cannot(`the SDK does not speak ${revision}`);
  const client = new Client(
    { name: 'casebook', version: '1' },
    {
      capabilities: answers === undefined ? {} : { elicitation: { form: form(answers) } },
      ...(era === 'modern'
        ? { versionNegotiation: { mode: { pin: revision } } }
        : { supportedProtocolVersions: [revision] })
    }
  );
  if (answers !== undefined) client.setRequestHandler('elicitation/create', answering(answers));
  return client;
}

/**
 * `applyDefaults` is the SDK's own help with a form that nobody edits. It holds for the whole client.
 * https://ts.sdk.modelcontextprotocol.io/v2/servers/elicitation#prefill-a-field-with-a-default
 *
 * @param {Answer | Answer[]} answers
 * @returns {Record<string, boolean>}
 */
function form(answers) {
  const presented = [answers].flat().some(answer => typeof answer === 'object' && answer.accept === 'as presented');
  return presented ? { applyDefaults: true } : {};
}

/**
 * A list is used up, one answer an elicitation; a single answer is given each time.
 *
 * @param {Answer | Answer[]} answers
 * @returns {() => Promise<import('@modelcontextprotocol/client').ElicitResult>}
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
    if (step.listTools) return { tools: (await client.listTools()).tools };
    if (step.callTool) return { result: await client.callTool(step.callTool) };
  } catch (error) {
    return { error: described(error) };
  }
  throw new Cannot(`there is no step ${Object.keys(step)}`);
}

/**
 * `SdkError` carries a word in the place of JSON-RPC's number: it goes with the type.
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
