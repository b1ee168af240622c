// @ts-check
/**
 * Repairs the published package. Its file `dist/esm/package.json` contains `'{type: module}'`, which is
 * not JSON, so Node.js refuses to import any of its modules. The sources stay as they are.
 */
import { writeFileSync } from 'node:fs';

const manifest = new URL('node_modules/@modelcontextprotocol/sdk/dist/esm/package.json', import.meta.url);
writeFileSync(manifest, `${JSON.stringify({ type: 'module' })}\n`);
