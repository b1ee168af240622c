# frozen_string_literal: true

module Casebook
  # Builds a server from a fixture.
  module Fixture
    ANSWER = "answer"

    class << self
      # https://ruby.sdk.modelcontextprotocol.io/server/tools/
      def server(request)
        fixture = request["fixture"]
        tools = fixture["tools"].map do |tool|
          refusable(tool["name"]) { define(tool, handler(tool["does"], request)) }
        end
        refusable do
          MCP::Server.new(
            **fixture["server"].transform_keys(&:to_sym),
            tools: tools,
            configuration: configuration(request["variant"]),
          )
        end
      end

      # Returns structured content and its JSON as text, as the documentation shows. The server writes the text itself
      # if the structured content is no object. The body of a tool runs in the context of the tool, so it must call this
      # method with the name of the module.
      # https://ruby.sdk.modelcontextprotocol.io/server/tools/#tool-responses-with-structured-content
      def response(structured_content, **options)
        content = [[{ type: "text", text: structured_content.to_json }]] if structured_content.is_a?(Hash)
        MCP::Tool::Response.new(*content, structured_content: structured_content, **options)
      end

      def answer_response(answer)
        response(answer.slice(:action, :content).compact)
      end

      private

      def refusable(tool = nil)
        yield
      rescue StandardError
        raise Refused, tool
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

      def handler(does, request)
        kind, value = does.first
        case kind
        when "echo" then ->(server_context:, **arguments) { Fixture.response(arguments) }
        when "return" then return_handler(value)
        when "elicit" then request_to_client?(request) ? request_handler(value) : result_handler(value)
        when "raise" then ->(server_context:, **) { raise value }
        end
      end

      def return_handler(parts)
        structured_content = parts["structuredContent"]
        error = parts["isError"] || false
        lambda do |server_context:, **|
          next Fixture.response(structured_content, error: error) unless parts.key?("content")

          MCP::Tool::Response.new(parts["content"], structured_content: structured_content, error: error)
        end
      end

      # From 2026-07-28, a server may ask only with a result.
      def request_to_client?(request)
        request["revision"] < "2026" && request["variant"] != "multi-round-trip"
      end

      # Asks with a request to the client: https://ruby.sdk.modelcontextprotocol.io/server/elicitation/
      def request_handler(question)
        lambda do |server_context:, **|
          answer = server_context.create_form_elicitation(
            message: question["message"],
            requested_schema: question["requestedSchema"],
          )
          Fixture.answer_response(answer)
        end
      end

      # Asks with a result. The client then repeats the call with the answer:
      # https://ruby.sdk.modelcontextprotocol.io/server/multi-round-trip-results/
      def result_handler(question)
        request = { method: "elicitation/create", params: question.slice("message", "requestedSchema") }
        lambda do |server_context:, **|
          answer = server_context.input_response(ANSWER)
          next MCP::Server::InputRequiredResult.new(input_requests: { ANSWER => request }) unless answer

          Fixture.answer_response(answer)
        end
      end
    end
  end
end
