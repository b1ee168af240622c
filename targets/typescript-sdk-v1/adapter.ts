/** The mcp-casebook adapter for the TypeScript SDK 1.x. */
import { runAdapter } from '../shared/typescript/adapter.js';
import { packageVersion } from '../shared/typescript/package.js';
import { drive } from '../shared/typescript-v1/client.js';
import { variants } from '../shared/typescript-v1/fixture.js';
import { revisions, serveHttp, serveStdio } from '../shared/typescript-v1/server.js';

const sdk = '@modelcontextprotocol/sdk';

runAdapter({
  identity: {
    sdk,
    version: packageVersion(sdk, import.meta.resolve('@modelcontextprotocol/sdk/types.js')),
    api: 'zod: McpServer.registerTool; low: Server.setRequestHandler; ajv-2020: Client with jsonSchemaValidator',
    revisions,
    variants: [...Object.keys(variants), 'ajv-2020']
  },
  serveHttp,
  serveStdio,
  drive
});
