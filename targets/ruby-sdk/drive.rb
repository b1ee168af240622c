# frozen_string_literal: true

module Casebook
  # Drives the SDK's client through a script, and hands back what its user would see.
  # https://ruby.sdk.modelcontextprotocol.io/client/
  module Drive
    UNHEARD = "over stdio the client hears no requests of the server: MCP::Client::Stdio has no on_server_request"

    class << self
      def run(order)
        Casebook.check(order)
        raise Cannot, UNHEARD if order["command"] && order["answers"] && order["revision"] < "2026"

        transport = transport(order)
        client = MCP::Client.new(transport: transport)
        connect(client, order)
        steps = order["script"].map { |step| take(client, step) }
        { "connected" => true, "steps" => steps }
      rescue Cannot
        raise
      rescue StandardError => e
        { "connected" => !steps.nil?, "steps" => steps || [], "error" => Casebook.described(e) }
      ensure
        close(transport)
      end

      private

      # https://ruby.sdk.modelcontextprotocol.io/client/transports/
      def transport(order)
        return MCP::Client::HTTP.new(url: order["url"]) if order["url"]

        program, *arguments = order["command"]
        MCP::Client::Stdio.new(command: program, args: arguments)
      end

      # https://ruby.sdk.modelcontextprotocol.io/client/lifecycle/#lifecycle-negotiation
      def connect(client, order)
        answers = order["answers"]
        client.on_elicitation(&answering(answers)) if answers
        revision = order["revision"]
        client.connect(
          client_info: { name: "casebook", version: "1" },
          capabilities: order["declares"] || (answers ? { elicitation: { form: {} } } : {}),
          **(revision < "2026" ? { protocol_version: revision } : { mode: :modern }),
        )
      end

      def take(client, step)
        call = step["callTool"]
        return { "tools" => client.tools.map { |tool| listed(tool) } } unless call

        { "result" => client.call_tool(name: call["name"], arguments: call["arguments"])["result"] }
      rescue StandardError => e
        { "error" => Casebook.described(e) }
      end

      def listed(tool)
        {
          "name" => tool.name,
          "description" => tool.description,
          "inputSchema" => tool.input_schema,
          "outputSchema" => tool.output_schema,
        }.compact
      end

      # Uses a list up, one answer an elicitation; a single answer it gives each time.
      # https://ruby.sdk.modelcontextprotocol.io/server/elicitation/#default-values-and-enums
      def answering(answers)
        left = answers.dup if answers.is_a?(Array)
        lambda do |params|
          answer = left ? left.shift : answers
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

      # What goes wrong in a good-bye is no part of the script.
      def close(transport)
        transport&.close
      rescue StandardError => e
        warn(e.full_message)
      end
    end
  end
end
