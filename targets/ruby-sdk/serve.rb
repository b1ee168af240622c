# frozen_string_literal: true

require "puma"
require "puma/server"

module Casebook
  # Serves on the standard streams.
  module Serve
    class << self
      # https://ruby.sdk.modelcontextprotocol.io/server/transports/#stdio-transport
      def streams(order)
        Casebook.check(order)
        MCP::Server::Transports::StdioTransport.new(Fixture.server(order)).open
      end
    end
  end

  # One listener, which serves each fixture under a path of its own.
  class Listener
    HOST = "127.0.0.1"

    def initialize
      @serving = {}
      @puma = Puma::Server.new(method(:call))
      @port = @puma.add_tcp_listener(HOST, 0).addr[1]
      @puma.run
    end

    # https://ruby.sdk.modelcontextprotocol.io/server/transports/#streamable-http-transport
    def serve(id, order)
      raise Cannot, "`serve` is for http; for the rest start --stdio-server" unless order["transport"] == "http"

      Casebook.check(order)
      @serving[id] = MCP::Server::Transports::StreamableHTTPTransport.new(Fixture.server(order))
      { "serving" => { "url" => "http://#{HOST}:#{@port}/#{id}" } }
    end

    def stop(id)
      transport = @serving.delete(id)
      transport&.close
      { "stopped" => !transport.nil? }
    end

    private

    def call(env)
      transport = @serving[env["PATH_INFO"].delete_prefix("/")]
      transport ? transport.call(env) : [404, {}, []]
    end
  end
end
