import type { CallToolResult } from '@modelcontextprotocol/server';

/**
 * Returns structured content, with its JSON beside it.
 * https://ts.sdk.modelcontextprotocol.io/v2/servers/tools#return-structured-output
 */
export function structured(output: unknown): CallToolResult {
  if (output === undefined) return { content: [] };
  return { content: [{ type: 'text', text: JSON.stringify(output) }], structuredContent: output };
}
