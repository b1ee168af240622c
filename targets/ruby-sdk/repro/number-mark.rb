# frozen_string_literal: true

# The client does not exclude a tool with x-mcp-header on a number.
# https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header

require "mcp"
require "socket"

# Answers the client's requests over HTTP on a port of its own. The block gives the result of a request by its method.
def serve
  listener = TCPServer.new("127.0.0.1", 0)
  Thread.new do
    loop do
      connection = listener.accept
      length = 0
      while (line = connection.gets.to_s.chomp) != ""
        length = line.split.last.to_i if line.downcase.start_with?("content-length:")
      end
      message = JSON.parse(connection.read(length))
      text = JSON.generate({ jsonrpc: "2.0", id: message["id"], result: yield(message["method"]) })
      connection.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: #{text.bytesize}\r\n")
      connection.write("Connection: close\r\n\r\n#{text}")
      connection.close
    end
  end
  "http://127.0.0.1:#{listener.addr[1]}/"
end

DISCOVERED = {
  resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ttlMs: 0, cacheScope: "private",
}.freeze

url = serve do |method|
  next DISCOVERED if method == "server/discover"

  schema = { type: "object", properties: { v: { type: "number", "x-mcp-header": "V" } } }
  { resultType: "complete", tools: [{ name: "marked", inputSchema: schema }], ttlMs: 0, cacheScope: "private" }
end
client = MCP::Client.new(transport: MCP::Client::HTTP.new(url: url))
client.connect(client_info: { name: "c", version: "1" }, mode: :modern)
tools = client.tools.map(&:name)

if tools == ["marked"]
  puts("the client returned the tool with x-mcp-header on a number")
else
  puts("the client returned #{tools}")
  exit(1)
end
