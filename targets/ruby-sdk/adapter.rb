# frozen_string_literal: true

# The mcp-casebook adapter for the Ruby SDK.
#
# Reads one JSON request per line from standard input and writes one JSON answer per line to standard output, in the
# same order. With `--stdio-server FILE`, the process serves one fixture on its standard streams instead.

require "json"
require "mcp"
require_relative "fixture"
require_relative "drive"
require_relative "serve"

module Casebook
  # The parts of the adapter protocol beyond its first version, all of which this adapter handles.
  KNOWS = ["elicit-url", "state", "wait", "log", "progress", "callTools", "requestTimeout", "as-presented"].freeze
  REVISIONS = ["2025-06-18", "2025-11-25", "2026-07-28"].freeze
  VARIANTS = ["default", "multi-round-trip", "checked"].freeze

  # The SDK's public API cannot express the fixture or the script.
  class Cannot < StandardError; end

  # The SDK raised an exception (the cause) while it built the server.
  class Refused < StandardError
    def initialize(tool)
      super()
      @tool = tool
    end

    # The exception, and the name of the tool at which the SDK raised it.
    def description
      Casebook.describe_error(cause).merge({ "tool" => @tool }.compact)
    end
  end

  # The JSON of a line can be thousands of levels deep.
  UNBOUNDED = { max_nesting: false }.freeze

  class << self
    def control
      listener = Listener.new
      $stdin.each_line do |line|
        message = JSON.parse(line, UNBOUNDED)
        puts JSON.generate({ "id" => message["id"] }.merge(answer(listener, message)), UNBOUNDED)
        $stdout.flush
      end
      listener.close
    end

    def stdio_server(file)
      Serve.streams(JSON.parse(File.read(file), UNBOUNDED))
    rescue Cannot, Refused => e
      warn(JSON.generate(error_answer(e)))
      exit(3)
    end

    # Describes an exception, with its code if it is a JSON-RPC error.
    def describe_error(error)
      code = error.code if error.respond_to?(:code)
      { "type" => error.class.name, "code" => code, "message" => error.message }.compact
    end

    # Rejects unsupported revisions and variants. The SDK negotiates the revision by itself.
    def check_request(request)
      raise Cannot, "the SDK does not support #{request["revision"]}" unless REVISIONS.include?(request["revision"])
      raise Cannot, "there is no variant #{request["variant"]}" unless [nil, *VARIANTS].include?(request["variant"])
    end

    private

    def answer(listener, message)
      kind, request = message.except("id").first
      case kind
      when "hello" then { "hello" => hello }
      when "serve" then listener.serve(message["id"], request)
      when "stop" then listener.stop(request["serving"])
      when "drive" then { "drove" => Drive.run(request) }
      else { "unsupported" => "expected hello, serve, stop or drive" }
      end
    rescue Cannot, Refused => e
      error_answer(e)
    end

    def error_answer(error)
      error.is_a?(Cannot) ? { "cannot" => error.message } : { "refused" => error.description }
    end

    def hello
      gem = Gem.loaded_specs.fetch("mcp")
      {
        "sdk" => gem.name,
        "version" => gem.version.to_s,
        "language" => "ruby",
        "api" => "MCP::Server; MCP::Client",
        "roles" => ["server", "client"],
        "transports" => ["stdio", "http"],
        "revisions" => REVISIONS,
        "variants" => VARIANTS,
        "knows" => KNOWS,
        "streams" => Process.respond_to?(:fork),
      }
    end
  end
end

# By default, the SDK drops the exceptions of tools: https://ruby.sdk.modelcontextprotocol.io/server/configuration/
MCP.configure do |config|
  config.exception_reporter = ->(exception, _context) { warn(exception.full_message(highlight: false)) }
end

case ARGV
in [] then Casebook.control
in ["--stdio-server", file] then Casebook.stdio_server(file)
else abort("usage: adapter.rb [--stdio-server FILE]")
end
