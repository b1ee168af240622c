# frozen_string_literal: true

# The server refuses a string id with a space, and answers without the id.
# https://modelcontextprotocol.io/specification/2025-11-25/basic#requests

require "mcp"

server = MCP::Server.new(name: "repro")
answer = server.handle_json('{"jsonrpc":"2.0","id":"my id","method":"ping"}')

if answer.include?('"id":null')
  puts("a request with the id \"my id\" was answered by: #{answer}")
else
  puts(answer)
  exit(1)
end
