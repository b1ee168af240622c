// The other side of the programs in this folder, in memory: a server for the SDK's client, and a client for its servers.
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';

const protocolVersion = '2025-11-25';
const initialized = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' } };

// Connects a client to a server that answers each method by its result. The result of a call is for the method or, if
// there is one, for the tool.
export async function connectClient(client, results) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  far.onmessage = ({ id, method, params }) => {
    const result = { initialize: initialized, ...results }[method] ?? results[params?.name];
    if (id !== undefined) void far.send({ jsonrpc: '2.0', id, result });
  };
  await far.start();
  await client.connect(near);
}

// Connects a server to a client, and returns a function that sends a request and returns the answer.
export async function connectServer(server) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(near);
  const send = async (method, params) => {
    const answer = new Promise(resolve => (far.onmessage = resolve));
    await far.send({ jsonrpc: '2.0', id: 1, method, params });
    return answer;
  };
  await send('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } });
  return send;
}
