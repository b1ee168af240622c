// Sends a raw request to a handler of createMcpHandler, and returns its response.
export async function post(handler, method, params, headers = {}) {
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  });
  return handler.fetch(request);
}

// The same, but for the body of the response.
export async function send(handler, method, params, headers = {}) {
  return (await post(handler, method, params, headers)).text();
}

// Calls the tool `t`, whose argument `region` has the header `Mcp-Param-Region`, in a request of 2026-07-28.
export async function callWithHeader(handler, region, header) {
  const version = '2026-07-28';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'repro', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {}
  };
  const headers = {
    'MCP-Protocol-Version': version,
    'Mcp-Method': 'tools/call',
    'Mcp-Name': 't',
    'Mcp-Param-Region': header
  };
  const response = await post(handler, 'tools/call', { name: 't', arguments: { region }, _meta }, headers);
  return `${response.status} ${(await response.text()).includes('"result"') ? 'result' : 'error'}`;
}
