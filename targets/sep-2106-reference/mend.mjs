// @ts-check
/**
 * Mends the package as it was published: the file that marks its modules as such holds
 * `'{type: module}'`, on which Node.js refuses to import any of them. Its sources are left alone.
 */
import { writeFileSync } from 'node:fs';

const mark = new URL('node_modules/@olaservo/mcp-sdk/dist/esm/package.json', import.meta.url);
writeFileSync(mark, `${JSON.stringify({ type: 'module' })}\n`);
