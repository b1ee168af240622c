# frozen_string_literal: true

module Casebook
  # Drives the SDK's client through a script and reports the results that its user would get.
  # https://ruby.sdk.modelcontextprotocol.io/client/
  module Drive
    # https://github.com/modelcontextprotocol/ruby-sdk/blob/v1.3.0/lib/mcp/client.rb (`on_elicitation`)
    NO_REQUESTS_OVER_STDIO =
      "over stdio the client answers no request of the server: only MCP::Client::HTTP has on_server_request"

    # The documentation's first example sets a time-out too. Without one, a client over stdio waits for ever for a server
    # that waits for the client's answer. casebook itself waits 10 seconds.
    READ_TIMEOUT = 8

    class << self
      def run(request)
        Casebook.check_request(request)
        legacy_stdio = request["command"] && request["revision"] < "2026"
        raise Cannot, NO_REQUESTS_OVER_STDIO if legacy_stdio && request["answers"]

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

      # https://ruby.sdk.modelcontextprotocol.io/client/transports/
      def transport(request)
        return MCP::Client::HTTP.new(url: request["url"]) if request["url"]

        program, *arguments = request["command"]
        MCP::Client::Stdio.new(command: program, args: arguments, read_timeout: READ_TIMEOUT)
      end

      # https://ruby.sdk.modelcontextprotocol.io/client/lifecycle/#lifecycle-negotiation
      def connect(client, request)
        answers, revision = request.values_at("answers", "revision")
        client.connect(
          client_info: { name: "casebook", version: "1" },
          capabilities: request["declares"] || (answers ? { elicitation: { form: {} } } : {}),
          **(revision < "2026" ? { protocol_version: revision } : { mode: :modern }),
        )
        client.on_elicitation(&elicitation_handler(answers)) if answers
      end

      def run_step(client, step)
        call = step["callTool"]
        return { "tools" => client.tools.map { |tool| wire_form(tool) } } unless call

        { "result" => client.call_tool(**call.transform_keys(&:to_sym))["result"] }
      rescue StandardError => e
        { "error" => Casebook.describe_error(e) }
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
