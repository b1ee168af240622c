# frozen_string_literal: true

# The client passes a question of an unknown mode to the handler for forms instead of answering with the error -32602.
# https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#error-handling

require "mcp"
require "socket"

ANSWERS = Queue.new
QUESTION = {
  jsonrpc: "2.0",
  id: "q",
  method: "elicitation/create",
  params: { mode: "voice", message: "Your name?", requestedSchema: { type: "object", properties: {} } },
}.freeze

def respond(connection, message)
  info = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "repro", version: "1" } }
  case message["method"]
  when "initialize"
    text = JSON.generate({ jsonrpc: "2.0", id: message["id"], result: info })
    connection.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: #{text.bytesize}\r\n\r\n#{text}")
  when "tools/call"
    connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    connection.write("event: message\ndata: #{JSON.generate(QUESTION)}\n\n")
    ANSWERS << ANSWERS.pop
    connection.write("data: #{JSON.generate({ jsonrpc: "2.0", id: message["id"], result: { content: [] } })}\n\n")
  else
    ANSWERS << message if message["id"] == "q"
    connection.write("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
  end
end

def handle(connection)
  method = connection.gets.to_s
  length = 0
  while (line = connection.gets.to_s.chomp) != ""
    length = line.split.last.to_i if line.downcase.start_with?("content-length:")
  end
  if method.start_with?("POST")
    respond(connection, JSON.parse(connection.read(length)))
  else
    connection.write("HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
  end
  connection.close
end

listener = TCPServer.new("127.0.0.1", 0)
Thread.new { loop { Thread.new(listener.accept) { |connection| handle(connection) } } }
client = MCP::Client.new(transport: MCP::Client::HTTP.new(url: "http://127.0.0.1:#{listener.addr[1]}/"))
client.connect(
  client_info: { name: "c", version: "1" }, capabilities: { elicitation: { form: {} } }, protocol_version: "2025-11-25",
)
client.on_elicitation { { action: "accept", content: {} } }
client.call_tool(name: "t", arguments: {})
answer = ANSWERS.pop

if answer.key?("result")
  puts("a question of the mode voice was answered by #{answer["result"]}")
else
  puts("the client answered #{answer}")
  exit(1)
end
