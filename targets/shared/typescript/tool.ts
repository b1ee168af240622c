/** What the tools of all TypeScript SDKs do alike. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';

import {
  Cannot,
  type Does,
  type Elicit,
  type Fixture,
  type Message,
  type Reply,
  type Tool,
  type Wait
} from './protocol.js';

const verbs = ['echo', 'return', 'elicit', 'raise', 'wait', 'log', 'progress'];

/** Throws if a tool does something that the adapter has no code for. */
export function checkVerbs(tools: Tool[]): void {
  for (const { name, does } of tools) {
    const unknown = Object.keys(does).find(verb => !verbs.includes(verb));
    if (unknown !== undefined) throw new Cannot(`the adapter has no code for a tool that does ${unknown}: ${name}`);
  }
}

/** Throws if a tool has a member that the API has no parameter for. */
export function refuseMembers(members: object, api: string): void {
  const [member] = Object.keys(members);
  if (member !== undefined) throw new Cannot(`${api} has no option for the member ${member} of a tool`);
}

/** States whether a tool sends log messages, so that the author of its server declares the capability. */
export function logs(tools: { does: Does }[]): boolean {
  return tools.some(({ does }) => does.log !== undefined);
}

/** States whether the tools are those that the author of a server writes by hand. A fixture has no others beside them. */
export function isTyped({ tools }: Fixture): boolean {
  return tools.some(({ typed }) => typed !== undefined);
}

/** Answers a request for a method that a proposal adds. */
export type Answerer = (
  params: Record<string, unknown>,
  notify: (notification: Message) => Promise<void>
) => Promise<Record<string, unknown>>;

/**
 * Returns what answers the requests for each method of a proposal. All servers of a fixture share it, because the SDK can
 * create one for each request, and the replies are those of the fixture.
 */
export function answerers(
  { methods = {} }: Fixture,
  toError: (error: NonNullable<Reply['error']>) => Error
): [method: string, answer: Answerer][] {
  return Object.entries(methods).map(([method, replies]) => {
    const remaining = [...replies];
    return [
      method,
      async ({ _meta, ...params }, notify) => {
        const reply = remaining.length > 1 ? remaining.shift() : remaining[0];
        for (const notification of reply?.notify ?? []) await notify(notification);
        if (reply?.error) throw toError(reply.error);
        return reply?.result ?? { params };
      }
    ];
  });
}

/** Returns the parameters of the request for a question. The author of a tool chooses the id of a URL. */
export function elicitParams({ state, ...elicit }: Elicit): Omit<Elicit, 'state'> {
  return elicit.mode === 'url' ? { elicitationId: randomUUID(), ...elicit } : { mode: 'form', ...elicit };
}

/** Waits until the SDK aborts the signal of a request, and tells casebook when it started and when it stopped. */
export async function waitForCancellation({ started, stopped }: Wait, signal: AbortSignal): Promise<void> {
  await fetch(started);
  if (!signal.aborted) await once(signal, 'abort', { signal: AbortSignal.timeout(30_000) });
  await fetch(stopped);
}
