# frozen_string_literal: true

module Casebook
  # Drives the SDK's client through a script and reports the results that its user would get.
  # https://ruby.sdk.modelcontextprotocol.io/client/
  module Drive
    NO_ELICITATION_OVER_STDIO =
      "over stdio the client receives no requests of the server: MCP::Client::Stdio has no on_server_request"

    class << self
      def run(request)
        Casebook.check_request(request)
        legacy_stdio = request["command"] && request["revision"] < "2026"
        raise Cannot, NO_ELICITATION_OVER_STDIO if legacy_stdio && request["answers"]

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
        MCP::Client::Stdio.new(command: program, args: arguments)
      end

      # https://ruby.sdk.modelcontextprotocol.io/client/lifecycle/#lifecycle-negotiation
      def connect(client, request)
        answers = request["answers"]
        client.on_elicitation(&elicitation_handler(answers)) if answers
        revision = request["revision"]
        client.connect(
          client_info: { name: "casebook", version: "1" },
          capabilities: request["declares"] || (answers ? { elicitation: { form: {} } } : {}),
          **(revision < "2026" ? { protocol_version: revision } : { mode: :modern }),
        )
      end

      def run_step(client, step)
        call = step["callTool"]
        return { "tools" => client.tools.map { |tool| wire_form(tool) } } unless call

        { "result" => client.call_tool(name: call["name"], arguments: call["arguments"])["result"] }
      rescue StandardError => e
        { "error" => Casebook.describe_error(e) }
      end

      def wire_form(tool)
        {
          "name" => tool.name,
          "description" => tool.description,
          "inputSchema" => tool.input_schema,
          "outputSchema" => tool.output_schema,
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
        warn(e.full_message)
      end
    end
  end
end
