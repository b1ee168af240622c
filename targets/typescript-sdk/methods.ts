/** What a proposal adds to a server: https://ts.sdk.modelcontextprotocol.io/v2/advanced/custom-methods */
import { McpServer, ProtocolError } from '@modelcontextprotocol/server';
import * as z from 'zod/v4';

import type { Fixture } from '../shared/typescript/protocol.js';
import { answerers } from '../shared/typescript/tool.js';
import type { BuildServer } from './fixture.js';

const Params = z.looseObject({});
const Result = z.looseObject({});

/** Returns the function that creates a server with the methods and capabilities of the fixture beside its tools. */
export function addMethods(fixture: Fixture, build: BuildServer): BuildServer {
  // https://ts.sdk.modelcontextprotocol.io/v2/servers/errors
  const answers = answerers(fixture, ({ code, message, data }) => new ProtocolError(code, message, data));
  return () => {
    const built = build();
    const server = built instanceof McpServer ? built.server : built;
    for (const [method, answer] of answers)
      server.setRequestHandler(method, { params: Params, result: Result }, (params, ctx) =>
        answer(params, notification => ctx.mcpReq.notify(notification))
      );
    if (fixture.capabilities) server.registerCapabilities(fixture.capabilities);
    return built;
  };
}
