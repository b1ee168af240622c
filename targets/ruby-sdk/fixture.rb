# frozen_string_literal: true

module Casebook
  # Builds a server of what a fixture asks for.
  module Fixture
    ANSWER = "answer"

    class << self
      # https://ruby.sdk.modelcontextprotocol.io/server/tools/
      def server(order)
        fixture = order["fixture"]
        tools = fixture["tools"].map { |tool| [tool, handler(tool["does"], order["revision"])] }
        tools.each { |tool, _| check_schemas(tool) }
        build do
          MCP::Server.new(
            **fixture["server"].transform_keys(&:to_sym),
            tools: tools.map { |tool, handler| define(tool, handler) },
            configuration: configuration(order["variant"]),
          )
        end
      end

      # Tells what was answered. A tool's body runs as its tool, hence the name in front where this is called.
      def told(answer)
        MCP::Tool::Response.new(structured_content: answer.slice(:action, :content).compact)
      end

      private

      def build
        yield
      rescue StandardError
        raise Refused
      end

      # https://ruby.sdk.modelcontextprotocol.io/server/configuration/
      def configuration(variant)
        MCP::Configuration.new(validate_tool_call_results: true) if variant == "checked"
      end

      def define(tool, handler)
        MCP::Tool.define(
          name: tool["name"],
          title: tool["title"],
          description: tool["description"],
          input_schema: tool["inputSchema"],
          output_schema: tool["outputSchema"],
          &handler
        )
      end

      def check_schemas(tool)
        tool.slice("inputSchema", "outputSchema").each_value do |schema|
          raise Cannot, "a schema is given as a Hash" unless schema.is_a?(Hash)
        end
      end

      def handler(does, revision)
        kind, what = does.first
        case kind
        when "echo" then ->(server_context:, **arguments) { MCP::Tool::Response.new(structured_content: arguments) }
        when "return" then returning(what)
        when "elicit" then revision < "2026" ? asking(what) : requiring(what)
        when "raise" then ->(server_context:, **) { raise what }
        end
      end

      def returning(parts)
        if parts.key?("structuredContent") && parts["structuredContent"].nil?
          raise Cannot, "structured_content: nil stands for none"
        end

        content = parts.key?("content") ? [parts["content"]] : []
        response = MCP::Tool::Response.new(
          *content,
          structured_content: parts["structuredContent"],
          error: parts["isError"] || false,
        )
        ->(server_context:, **) { response }
      end

      # Asks the client in a request of its own: https://ruby.sdk.modelcontextprotocol.io/server/elicitation/
      def asking(question)
        lambda do |server_context:, **|
          answer = server_context.create_form_elicitation(
            message: question["message"],
            requested_schema: question["requestedSchema"],
          )
          Fixture.told(answer)
        end
      end

      # Asks in a result, and is called again with the answer:
      # https://ruby.sdk.modelcontextprotocol.io/server/multi-round-trip-results/
      def requiring(question)
        request = { method: "elicitation/create", params: question.slice("message", "requestedSchema") }
        lambda do |server_context:, **|
          answer = server_context.input_response(ANSWER)
          answer ? Fixture.told(answer) : MCP::Server::InputRequiredResult.new(input_requests: { ANSWER => request })
        end
      end
    end
  end
end
