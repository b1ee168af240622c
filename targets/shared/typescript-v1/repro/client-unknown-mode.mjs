// The client answers an elicitation in a mode that it did not declare with another code than -32602.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [near, far] = InMemoryTransport.createLinkedPair();
const serverInfo = { name: 'raw', version: '1' };
const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo };
const answer = new Promise(resolve => {
  far.onmessage = message => {
    if (message.method === 'initialize') void far.send({ jsonrpc: '2.0', id: message.id, result });
    if (message.id === 'question') resolve(message);
  };
});
await far.start();
const client = new Client({ name: 'repro', version: '1' }, { capabilities: { elicitation: { form: {} } } });
client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }));
await client.connect(near);
await far.send({
  jsonrpc: '2.0',
  id: 'question',
  method: 'elicitation/create',
  params: { mode: 'voice', message: 'm' }
});
const { error } = await answer;
console.log(`the answer to an elicitation in the mode voice has the code ${error?.code}`);
process.exit(error && error.code !== -32602 ? 0 : 1);
