// @ts-check
/**
 * Drives the SDK's client through a script and reports the results that its user would get.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { Cannot, eras } from './serve.mjs';

/**
 * @typedef {{ accept: Record<string, any> | 'as presented' } | 'decline' | 'cancel'} Answer
 * @typedef {{ listTools?: {}, callTool?: { name: string, arguments?: Record<string, unknown> } }} Step
 * @typedef {{ revision: string, url?: string, command?: string[], answers?: Answer | Answer[], script: Step[] }} Drive
 */

/** @param {Drive} request */
export async function drive({ revision, url, command, answers, script }) {
  const client = createClient(revision, answers);
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
    // https://ts.sdk.modelcontextprotocol.io/v2/clients/connect#disconnect-cleanly
    if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(console.error);
    await client.close();
  }
}

/**
 * Creates a client that offers only this revision. By default a client offers the newest revision of
 * its era.
 *
 * @param {string} revision
 * @param {Answer | Answer[] | undefined} answers
 */
function createClient(revision, answers) {
  const era = eras[revision];
  if (!era) throw new Cannot(`the SDK does not support ${revision}`);
  const client = new Client(
    { name: 'casebook', version: '1' },
    {
      capabilities: answers === undefined ? {} : { elicitation: { form: formCapability(answers) } },
      ...(era === 'modern'
        ? { versionNegotiation: { mode: { pin: revision } } }
        : { supportedProtocolVersions: [revision] })
    }
  );
  if (answers !== undefined) client.setRequestHandler('elicitation/create', elicitationHandler(answers));
  return client;
}

/**
 * Returns the capability for forms. With `applyDefaults`, the SDK itself fills the defaults of a form
 * that the user accepts without an edit. The option applies to the whole client.
 * https://ts.sdk.modelcontextprotocol.io/v2/servers/elicitation#prefill-a-field-with-a-default
 *
 * @param {Answer | Answer[]} answers
 * @returns {Record<string, boolean>}
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
 * @returns {() => Promise<import('@modelcontextprotocol/client').ElicitResult>}
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
    if (step.listTools) return { tools: (await client.listTools()).tools };
    if (step.callTool) return { result: await client.callTool(step.callTool) };
  } catch (error) {
    return { error: describeError(error) };
  }
  throw new Cannot(`there is no step ${Object.keys(step)}`);
}

/**
 * Describes an error. The `code` of an `SdkError` is a string instead of a JSON-RPC number, so the
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
