# frozen_string_literal: true

# The server serves a call whose header Mcp-Param-Region differs from the argument.
# https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header

require "mcp"
require "rack"

schema = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } }
tool = MCP::Tool.define(name: "deploy", input_schema: schema) { |region:| MCP::Tool::Response.new([{ type: "text", text: region }]) }
transport = MCP::Server::Transports::StreamableHTTPTransport.new(MCP::Server.new(name: "repro", tools: [tool]))
meta = {
  "io.modelcontextprotocol/protocolVersion" => "2026-07-28",
  "io.modelcontextprotocol/clientInfo" => { name: "c", version: "1" },
  "io.modelcontextprotocol/clientCapabilities" => {},
}
params = { name: "deploy", arguments: { region: "eu" }, _meta: meta }
status, _headers, body = transport.call(
  Rack::MockRequest.env_for(
    "http://127.0.0.1/",
    method: "POST",
    input: JSON.generate({ jsonrpc: "2.0", id: 1, method: "tools/call", params: params }),
    "CONTENT_TYPE" => "application/json",
    "HTTP_ACCEPT" => "application/json, text/event-stream",
    "HTTP_MCP_PROTOCOL_VERSION" => "2026-07-28",
    "HTTP_MCP_METHOD" => "tools/call",
    "HTTP_MCP_NAME" => "deploy",
    "HTTP_MCP_PARAM_REGION" => "us",
  ),
)
text = body.respond_to?(:each) ? body.each.to_a.join : ""

if status == 200
  puts("a call with Mcp-Param-Region: us and the argument eu got status 200 #{text}")
else
  puts("the call got status #{status} #{text}")
  exit(1)
end
