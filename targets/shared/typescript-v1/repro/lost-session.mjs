// After the status 404 for its session, the client sends the next request in the old session.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { startSessionLosingServer } from '../../typescript/mock.mjs';

const { url, begun, calls } = await startSessionLosingServer();
const client = new Client({ name: 'repro', version: '1' });
await client.connect(new StreamableHTTPClientTransport(url));
for (let call = 0; call < 2; call++) await client.callTool({ name: 't' }).catch(() => {});

const defect = calls.length > 1 && (begun.length < 2 || calls[1] === 'old');
if (defect) console.log(`after the 404, the second call was sent in the session "${calls[1]}"`);
else if (calls.length < 2) console.log('after the 404, the client sent no second call');
else console.log(`after the 404, the client began another session, and sent the second call in "${calls[1]}"`);
process.exit(defect ? 0 : 1);
