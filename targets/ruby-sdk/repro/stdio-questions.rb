# frozen_string_literal: true

# Over stdio, on the revisions of 2025, the client answers no request of the server, not even with an error.
# https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#error-handling

require "mcp"

# A server that asks in a call of a tool. It ends the call after one second without an answer.
SERVER = <<~'RUBY'
  require "json"
  $stdout.sync = true
  answer = ->(id, result) { puts(JSON.generate({ jsonrpc: "2.0", id: id, result: result })) }
  while (line = $stdin.gets)
    message = JSON.parse(line)
    case message["method"]
    when "initialize"
      info = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "repro", version: "1" } }
      answer.call(message["id"], info)
    when "tools/call"
      puts('{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://example.com/","elicitationId":"e"}}')
      received = $stdin.wait_readable(1) ? $stdin.gets : "nothing"
      answer.call(message["id"], { content: [{ type: "text", text: received }] })
    end
  end
RUBY

client = MCP::Client.new(transport: MCP::Client::Stdio.new(command: "ruby", args: ["-rio/wait", "-e", SERVER], read_timeout: 20))
client.connect(client_info: { name: "c", version: "1" }, protocol_version: "2025-11-25")
received = client.call_tool(name: "t", arguments: {}).dig("result", "content", 0, "text")
client.transport.close

if received == "nothing"
  puts("within a second, the client sent no answer to elicitation/create")
else
  puts("the client answered #{received}")
  exit(1)
end
