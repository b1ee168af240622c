# frozen_string_literal: true

# By default, the server sends results that do not conform to the outputSchema of the tool.
# https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema

require "mcp"

schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] }
tool = MCP::Tool.define(name: "t", output_schema: schema) do |**|
  MCP::Tool::Response.new([], structured_content: { n: "no integer" })
end
server = MCP::Server.new(name: "repro", tools: [tool])
answer = server.handle_json('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{}}}')

if answer.include?('"n":"no integer"') && !answer.include?('"isError":true')
  puts("the server sent the violating result: #{answer}")
else
  puts(answer)
  exit(1)
end
