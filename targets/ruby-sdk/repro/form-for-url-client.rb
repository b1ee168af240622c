# frozen_string_literal: true

# The server sends a form to a client that declares only the mode url.
# https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#capabilities

require "mcp"

tool = MCP::Tool.define(name: "ask") do |server_context:, **|
  server_context.create_form_elicitation(message: "Your name?", requested_schema: { type: "object", properties: {} })
  MCP::Tool::Response.new([])
end
server = MCP::Server.new(name: "repro", tools: [tool])
input, to_server = IO.pipe
from_server, output = IO.pipe
child = fork do
  $stdin.reopen(input)
  $stdout.reopen(output)
  MCP::Server::Transports::StdioTransport.new(server).open
end
info = { protocolVersion: "2025-11-25", capabilities: { elicitation: { url: {} } }, clientInfo: { name: "c", version: "1" } }
to_server.puts(JSON.generate({ jsonrpc: "2.0", id: 1, method: "initialize", params: info }))
from_server.gets
to_server.puts('{"jsonrpc":"2.0","method":"notifications/initialized"}')
to_server.puts('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{}}}')
answer = from_server.gets.chomp
Process.kill(:KILL, child)

if answer.include?("elicitation/create")
  puts("a client that declares only elicitation.url got: #{answer}")
else
  puts(answer)
  exit(1)
end
