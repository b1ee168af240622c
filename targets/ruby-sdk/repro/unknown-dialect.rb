# frozen_string_literal: true

# The server validates a schema of an unknown dialect by 2020-12 instead of reporting that it does not support it.
# https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage

require "mcp"

schema = { "$schema": "https://example.com/no-dialect", type: "object", properties: { v: { type: "integer" } } }
tool = MCP::Tool.define(name: "t", input_schema: schema) { |**| MCP::Tool::Response.new([{ type: "text", text: "done" }]) }
server = MCP::Server.new(name: "repro", tools: [tool])
list = server.handle_json('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
call = server.handle_json('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{"v":1}}}')

if list.include?('"name":"t"') && call.include?("done")
  puts("a tool whose schema names an unknown dialect is listed, and its call succeeds: #{call}")
else
  puts("#{list} #{call}")
  exit(1)
end
