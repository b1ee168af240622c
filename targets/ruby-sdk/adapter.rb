# frozen_string_literal: true

# The casebook's adapter for the Ruby SDK: one JSON object a line on standard input, one answer a line on standard
# output, in order. `--stdio-server FILE` serves one fixture on the standard streams instead.

require "json"
require "mcp"
require_relative "fixture"
require_relative "drive"
require_relative "serve"

module Casebook
  REVISIONS = ["2025-06-18", "2025-11-25", "2026-07-28"].freeze
  VARIANTS = ["default", "checked"].freeze

  # The SDK's public API has no way to express the fixture.
  class Cannot < StandardError; end

  # The SDK raised at what it was given to build; the cause is what it raised.
  class Refused < StandardError; end

  # Lines can be thousands of levels deep.
  UNBOUNDED = { max_nesting: false }.freeze

  class << self
    def control
      listener = Listener.new
      $stdin.each_line do |line|
        request = JSON.parse(line, UNBOUNDED)
        puts JSON.generate({ "id" => request["id"] }.merge(answer(listener, request)), UNBOUNDED)
        $stdout.flush
      end
      listener.close
    end

    def stdio_server(file)
      Serve.streams(JSON.parse(File.read(file), UNBOUNDED))
    rescue Cannot, Refused => e
      warn(JSON.generate(unbuildable(e)))
      exit(3)
    end

    # Tells a JSON-RPC error from those of the SDK's own.
    def described(error)
      code = error.code if error.respond_to?(:code)
      { "type" => error.class.name, "code" => code, "message" => error.message }.compact
    end

    # The SDK negotiates a revision by itself, among those that it knows.
    def check(order)
      raise Cannot, "the SDK does not speak #{order["revision"]}" unless REVISIONS.include?(order["revision"])
      raise Cannot, "there is no variant #{order["variant"]}" unless [nil, *VARIANTS].include?(order["variant"])
    end

    private

    def answer(listener, request)
      kind, order = request.except("id").first
      case kind
      when "hello" then { "hello" => hello }
      when "serve" then listener.serve(request["id"], order)
      when "stop" then listener.stop(order["serving"])
      when "drive" then { "drove" => Drive.run(order) }
      else { "unsupported" => "one of hello, serve, stop and drive was expected" }
      end
    rescue Cannot, Refused => e
      unbuildable(e)
    end

    def unbuildable(error)
      error.is_a?(Cannot) ? { "cannot" => error.message } : { "refused" => described(error.cause) }
    end

    def hello
      {
        "sdk" => "mcp",
        "version" => MCP::VERSION,
        "language" => "ruby",
        "api" => "MCP::Server; MCP::Client",
        "roles" => ["server", "client"],
        "transports" => ["stdio", "http"],
        "revisions" => REVISIONS,
        "variants" => VARIANTS,
        "streams" => Process.respond_to?(:fork),
      }
    end
  end
end

case ARGV
in [] then Casebook.control
in ["--stdio-server", file] then Casebook.stdio_server(file)
else abort("usage: adapter.rb [--stdio-server FILE]")
end
