/** The mcp-casebook adapter for the TypeScript SDK 1.x. */
import { runAdapter } from '../shared/typescript/adapter.js';
import { drive } from '../shared/typescript-v1/client.js';
import { variants } from '../shared/typescript-v1/fixture.js';
import { dependencies, name, version } from '../shared/typescript-v1/release.js';
import { revisions, serveHttp, serveStdio } from '../shared/typescript-v1/server.js';

runAdapter({
  identity: {
    sdk: name,
    version,
    api: 'zod: McpServer.registerTool; low: Server.setRequestHandler; ajv-2020: Client with jsonSchemaValidator',
    revisions,
    variants: [...Object.keys(variants), 'ajv-2020'],
    dependencies
  },
  serveHttp,
  serveStdio,
  drive
});
