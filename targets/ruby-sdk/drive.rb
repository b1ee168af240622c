# frozen_string_literal: true

module Casebook
  # Drives the SDK's client through a script and reports the results that its user would get.
  # https://ruby.sdk.modelcontextprotocol.io/client/
  module Drive
    # https://github.com/modelcontextprotocol/ruby-sdk/blob/v1.3.0/lib/mcp/client.rb (`on_elicitation`)
    NO_REQUESTS_OVER_STDIO =
      "over stdio the client answers no request of the server: only MCP::Client::HTTP has on_server_request"

    # https://github.com/modelcontextprotocol/ruby-sdk/blob/v1.3.0/lib/mcp/client/stdio.rb (`read_response`)
    ONE_REQUEST_OVER_STDIO =
      "over stdio the client has one request at a time: each thread that reads drops the responses to other requests"

    # The documentation's first example sets a time-out too. Without one, a client over stdio waits for ever for a server
    # that waits for the client's answer. casebook itself waits 10 seconds.
    READ_TIMEOUT = 8

    class << self
      def run(request)
        Casebook.check_request(request)
        legacy_stdio = request["command"] && request["revision"] < "2026"
        raise Cannot, NO_REQUESTS_OVER_STDIO if legacy_stdio && request["answers"]

        calls_at_once = request["script"].any? { |step| step.key?("callTools") }
        raise Cannot, ONE_REQUEST_OVER_STDIO if request["command"] && calls_at_once

        transport = transport(request)
        client = MCP::Client.new(transport: transport)
        connect(client, request)
        steps = request["script"].map { |step| run_step(client, step) }
        { "connected" => true, "steps" => steps }
      rescue Cannot
        raise
      rescue StandardError => e
        { "connected" => !steps.nil?, "steps" => steps || [], "error" => Casebook.describe_error(e) }
      ensure
        close(transport)
      end

      private

      # The time limit of a request is that of the transport, or of the Faraday connection that its user customizes.
      # https://ruby.sdk.modelcontextprotocol.io/client/transports/#customizing-the-faraday-connection
      def transport(request)
        limit = request["requestTimeout"]&.fdiv(1000)
        if request["url"]
          return MCP::Client::HTTP.new(url: request["url"]) { |faraday| faraday.options.timeout = limit if limit }
        end

        program, *arguments = request["command"]
        MCP::Client::Stdio.new(command: program, args: arguments, read_timeout: limit || READ_TIMEOUT)
      end

      # https://ruby.sdk.modelcontextprotocol.io/client/lifecycle/#lifecycle-negotiation
      def connect(client, request)
        answers = request["answers"]
        client.connect(
          client_info: { name: "casebook", version: "1" },
          capabilities: request["declares"] || (answers ? { elicitation: { form: {} } } : {}),
          **lifecycle(request),
        )
        client.on_elicitation(&elicitation_handler(answers)) if answers
      end

      # By default the client determines the revision.
      def lifecycle(request)
        revision, negotiate = request.values_at("revision", "negotiate")
        return {} if negotiate

        revision < "2026" ? { protocol_version: revision } : { mode: :modern }
      end

      def run_step(client, step)
        kind, value = step.first
        case kind
        when "callTool" then { "result" => call_tool(client, value) }
        when "callTools" then { "results" => call_at_once(client, value) }
        else { "tools" => client.tools.map { |tool| wire_form(tool) } }
        end
      rescue StandardError => e
        { "error" => Casebook.describe_error(e) }
      end

      def call_tool(client, call)
        client.call_tool(**call.transform_keys(&:to_sym))["result"]
      end

      # Calls several tools at the same time, each on a thread of its own, as the page "Cancellation" shows.
      def call_at_once(client, calls)
        calls.map { |call| Thread.new { run_step(client, { "callTool" => call }) } }.map(&:value)
      end

      def wire_form(tool)
        {
          "name" => tool.name,
          "description" => tool.description,
          "inputSchema" => tool.input_schema,
          "outputSchema" => tool.output_schema,
          "annotations" => tool.annotations,
        }.compact
      end

      # Creates the elicitation handler. It takes the next answer of a list, or always the same single answer.
      # https://ruby.sdk.modelcontextprotocol.io/server/elicitation/#default-values-and-enums
      def elicitation_handler(answers)
        remaining = answers.dup if answers.is_a?(Array)
        lambda do |params|
          answer = remaining ? remaining.shift : answers
          case answer
          when nil then raise "the script has no answer left"
          when String then { action: answer }
          else { action: "accept", content: content(answer["accept"], params["requestedSchema"]) }
          end
        end
      end

      def content(accepted, schema)
        accepted == "as presented" ? MCP::Client::Elicitation.apply_defaults(schema) : accepted
      end

      # An error while closing is not part of the script.
      def close(transport)
        transport&.close
      rescue StandardError => e
        warn(e.full_message(highlight: false))
      end
    end
  end
end
