# frozen_string_literal: true

require "puma"
require "puma/server"
require "socket"

module Casebook
  HOST = "127.0.0.1"

  # Serves on the standard streams.
  module Serve
    class << self
      # https://ruby.sdk.modelcontextprotocol.io/server/transports/#stdio-transport
      def streams(request)
        Casebook.check_request(request)
        start(Fixture.server(request))
      end

      def start(server)
        MCP::Server::Transports::StdioTransport.new(server).open
      end
    end
  end

  # Serves on a connection instead of the standard streams. The SDK's transport does not accept streams: it reads $stdin
  # and writes $stdout. Each server therefore runs in a fork of this process, which has already loaded the SDK.
  # https://github.com/modelcontextprotocol/ruby-sdk/blob/v1.3.0/lib/mcp/server/transports/stdio_transport.rb
  class Stream
    def initialize(server, address)
      @pid = fork do
        connect(address)
        Serve.start(server)
      end
    end

    def close
      Process.kill(:KILL, @pid)
      Process.wait(@pid)
    end

    private

    def connect(address)
      connection = TCPSocket.new(HOST, address["port"])
      connection.setsockopt(:TCP, :NODELAY, true)
      connection.write("#{address["word"]}\n")
      $stdin.reopen(connection)
      $stdout.reopen(connection)
      # The fork must not keep open the connections and the listener of its parent, or a copy of its own connection.
      ObjectSpace.each_object(IO) { |io| io.close unless io.closed? || io.fileno <= 2 }
    end
  end

  # Serves each fixture: over HTTP under a path of its own on one listener, and over stdio on a stream of its own.
  class Listener
    def initialize
      @serving = {}
      @puma = Puma::Server.new(method(:call))
      @port = @puma.add_tcp_listener(HOST, 0).addr[1]
      @puma.run
    end

    def serve(id, request)
      Casebook.check_request(request)
      if request["stream"]
        @serving[id] = Stream.new(Fixture.server(request), request["stream"])
        { "serving" => {} }
      elsif request["transport"] == "http"
        # https://ruby.sdk.modelcontextprotocol.io/server/transports/#streamable-http-transport
        @serving[id] = MCP::Server::Transports::StreamableHTTPTransport.new(Fixture.server(request))
        { "serving" => { "url" => "http://#{HOST}:#{@port}/#{id}" } }
      else
        raise Cannot, "`serve` is for http and for streams; for the rest start --stdio-server"
      end
    end

    def stop(id)
      transport = @serving.delete(id)
      transport&.close
      { "stopped" => !transport.nil? }
    end

    def close
      @serving.each_value(&:close)
    end

    private

    def call(env)
      transport = @serving[env["PATH_INFO"].delete_prefix("/")]
      transport ? transport.call(env) : [404, {}, []]
    end
  end
end
