# frozen_string_literal: true

module Casebook
  # Builds a server from a fixture.
  module Fixture
    ANSWER = "answer"

    class << self
      # https://ruby.sdk.modelcontextprotocol.io/server/tools/
      def server(request)
        fixture = request["fixture"]
        tools = fixture["tools"].map { |tool| [tool, handler(tool["does"], request["revision"])] }
        tools.each { |tool, _| check_schemas(tool) }
        refusable do
          MCP::Server.new(
            **fixture["server"].transform_keys(&:to_sym),
            tools: tools.map { |tool, handler| define(tool, handler) },
            configuration: configuration(request["variant"]),
          )
        end
      end

      # Returns the answer as the result of a tool. The body of a tool runs in the context of the tool, so it must call
      # this method with the name of the module.
      def response(answer)
        MCP::Tool::Response.new(structured_content: answer.slice(:action, :content).compact)
      end

      private

      def refusable
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
        kind, value = does.first
        case kind
        when "echo" then ->(server_context:, **arguments) { MCP::Tool::Response.new(structured_content: arguments) }
        when "return" then return_handler(value)
        when "elicit" then revision < "2026" ? request_handler(value) : result_handler(value)
        when "raise" then ->(server_context:, **) { raise value }
        end
      end

      def return_handler(parts)
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

      # Asks with a request to the client: https://ruby.sdk.modelcontextprotocol.io/server/elicitation/
      def request_handler(question)
        lambda do |server_context:, **|
          answer = server_context.create_form_elicitation(
            message: question["message"],
            requested_schema: question["requestedSchema"],
          )
          Fixture.response(answer)
        end
      end

      # Asks with a result. The client then repeats the call with the answer:
      # https://ruby.sdk.modelcontextprotocol.io/server/multi-round-trip-results/
      def result_handler(question)
        request = { method: "elicitation/create", params: question.slice("message", "requestedSchema") }
        lambda do |server_context:, **|
          answer = server_context.input_response(ANSWER)
          answer ? Fixture.response(answer) : MCP::Server::InputRequiredResult.new(input_requests: { ANSWER => request })
        end
      end
    end
  end
end
