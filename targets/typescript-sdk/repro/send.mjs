// Sends a raw request to a handler of createMcpHandler, and returns the body of its response.
export async function send(handler, method, params, headers = {}) {
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  });
  return (await handler.fetch(request)).text();
}
