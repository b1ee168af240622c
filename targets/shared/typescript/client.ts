/** What the clients of all TypeScript SDKs do alike. */
import {
  Cannot,
  type Answer,
  type Call,
  type ErrorDescription,
  type Message,
  type Step,
  type StepAnswer
} from './protocol.js';

/** The requests of an SDK's client, as its user makes them. */
export interface Requests {
  listTools(): Promise<unknown[]>;
  callTool(call: Call): Promise<unknown>;
  request(request: Message): Promise<unknown>;
}

/** Performs a step of a script. Several calls begin at the same time. */
export async function runStep(client: Requests, step: Step): Promise<StepAnswer> {
  try {
    if (step.listTools) return { tools: await client.listTools() };
    if (step.callTool) return { result: await client.callTool(step.callTool) };
    if (step.request) return { result: await client.request(step.request) };
  } catch (error) {
    return { error: describeError(error) };
  }
  if (step.callTools)
    return { results: await Promise.all(step.callTools.map(callTool => runStep(client, { callTool }))) };
  throw new Cannot(`the adapter has no step ${Object.keys(step).join()}`);
}

/** The part of the SDKs' `ElicitResult` that a user's answer has. */
type ElicitResult = { action: 'accept' | 'decline' | 'cancel' } | { action: 'accept'; content: FormContent };

type FormContent = Record<string, string | number | boolean | string[]>;

/**
 * Returns the capability for forms. With `applyDefaults`, the SDK itself fills in the defaults of a form that the user
 * accepts without an edit. The option applies to the whole client.
 */
export function formCapability(answers: Answer | Answer[]): { applyDefaults?: boolean } {
  const unedited = [answers].flat().some(answer => typeof answer === 'object' && answer.accept === 'as presented');
  return unedited ? { applyDefaults: true } : {};
}

/** Creates an elicitation handler, which gives the answers of a list in their order, or always the same single answer. */
export function elicitationHandler(answers: Answer | Answer[]): () => ElicitResult {
  const remaining = Array.isArray(answers) ? [...answers] : undefined;
  return () => {
    const answer = remaining ? remaining.shift() : (answers as Answer);
    if (answer === undefined) throw new Error('the script has no answer left');
    if (typeof answer === 'string') return { action: answer };
    // An answer of a case can be one that the type excludes.
    return { action: 'accept', content: answer.accept === 'as presented' ? {} : (answer.accept as FormContent) };
  };
}

/**
 * Describes an error. Where its `code` is a string instead of a JSON-RPC number, as in errors of the SDK and of the
 * system, the string is appended to the type.
 */
export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const type = error.constructor.name;
  const { message } = error;
  const code = 'code' in error ? error.code : undefined;
  if (typeof code === 'string') return { type: `${type}.${code}`, message };
  return typeof code === 'number' ? { type, code, message } : { type, message };
}
