/** The mcp-casebook adapter for the TypeScript SDK. */
import { runAdapter } from '../shared/typescript/adapter.js';
import { installedPackage } from '../shared/typescript/package.js';
import { drive } from './drive.js';
import { variants } from './fixture.js';
import { serveHttp, serveStdio } from './serve.js';

const { name, version } = installedPackage(import.meta.resolve('@modelcontextprotocol/server'));

runAdapter({
  identity: {
    sdk: name,
    version,
    api: 'McpServer.registerTool with fromJsonSchema; low: Server.setRequestHandler',
    revisions: ['2025-06-18', '2025-11-25', '2026-07-28'],
    variants: Object.keys(variants)
  },
  serveHttp,
  serveStdio,
  drive
});
