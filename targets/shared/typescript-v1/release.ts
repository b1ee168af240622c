/** What differs between the releases of the SDK on which the adapter runs. It is compiled with the types of the locked one. */
import type { Express } from 'express';

import { installedPackage } from '../typescript/package.js';

export const { name, version } = installedPackage(import.meta.resolve('@modelcontextprotocol/sdk/types.js'));

export const dependencies = {
  zod: installedPackage(import.meta.resolve('zod')).version,
  ajv: installedPackage(import.meta.resolve('ajv')).version
};

/** States whether the installed SDK is this release, or a later one. */
export function since(release: string): boolean {
  return version.localeCompare(release, 'en', { numeric: true }) >= 0;
}

/** Creates the web application of the SDK's first example. */
export const createApp = await appFactory();

async function appFactory(): Promise<() => Express> {
  // 1.24.0 brought the function, and 1.24.2 its module.
  if (since('1.24.2')) return (await import('@modelcontextprotocol/sdk/server/express.js')).createMcpExpressApp;
  const server: object = await import('@modelcontextprotocol/sdk/server/index.js');
  if ('createMcpExpressApp' in server) return server.createMcpExpressApp as () => Express;
  const { default: express } = await import('express');
  return () => express().use(express.json());
}
