/** Drives the SDK's client through a script and reports the results that its user gets. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker';
import * as z from 'zod/v4';

import {
  describeError,
  elicitationHandler,
  formCapability,
  runStep,
  type Requests
} from '../shared/typescript/client.js';
import { Cannot, type DriveRequest, type Drove, type StepAnswer } from '../shared/typescript/protocol.js';

export async function drive(request: DriveRequest): Promise<Drove> {
  const steps: StepAnswer[] = [];
  const transport = createTransport(request);
  let client;
  try {
    client = createClient(request);
    await client.connect(transport);
  } catch (error) {
    return { steps, connected: false, error: describeError(error) };
  }
  try {
    const requests = clientRequests(client, request.requestTimeout);
    for (const step of request.script) steps.push(await runStep(requests, step));
    return { steps, connected: true };
  } finally {
    // https://ts.sdk.modelcontextprotocol.io/v2/clients/connect#disconnect-cleanly
    if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(console.error);
    await client.close();
  }
}

function createTransport({ url, command }: DriveRequest): StreamableHTTPClientTransport | StdioClientTransport {
  if (url !== undefined) return new StreamableHTTPClientTransport(new URL(url));
  if (!command) throw new Cannot('there is neither a url nor a command to connect to');
  const [file, ...args] = command;
  return new StdioClientTransport({ command: file, args });
}

/** Creates a client that offers only this revision. By default a client offers all revisions of an era. */
function createClient({ revision, variant, answers, declares, negotiate }: DriveRequest): Client {
  const derived = answers === undefined ? {} : { elicitation: { form: formCapability(answers) } };
  const client = new Client(
    { name: 'casebook', version: '1' },
    {
      capabilities: declares ?? derived,
      // https://ts.sdk.modelcontextprotocol.io/v2/advanced/schema-libraries#pick-the-validator-for-your-runtime
      ...(variant === 'cfworker' && { jsonSchemaValidator: new CfWorkerJsonSchemaValidator() }),
      // https://ts.sdk.modelcontextprotocol.io/v2/protocol-versions#pin-an-era
      ...(revision >= '2026-07-28'
        ? { versionNegotiation: { mode: negotiate ? 'auto' : { pin: revision } } }
        : { supportedProtocolVersions: [revision] })
    }
  );
  client.onerror = console.error;
  if (answers !== undefined) client.setRequestHandler('elicitation/create', elicitationHandler(answers));
  return client;
}

/** https://ts.sdk.modelcontextprotocol.io/v2/clients/calling#check-the-connection */
function clientRequests(client: Client, timeout?: number): Requests {
  const options = timeout === undefined ? undefined : { timeout };
  return {
    listTools: async () => (await client.listTools(undefined, options)).tools,
    callTool: call => client.callTool(call, options),
    // https://ts.sdk.modelcontextprotocol.io/v2/advanced/custom-methods#call-it-from-the-client
    request: request => client.request(request, z.looseObject({}), options)
  };
}
