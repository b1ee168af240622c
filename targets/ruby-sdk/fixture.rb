# frozen_string_literal: true

require "net/http"

module Casebook
  # Builds a server from a fixture.
  module Fixture
    ANSWER = "answer"

    # The keyword arguments of `MCP::Tool.define`, by the members of a fixture's tool.
    MEMBERS = {
      "name" => :name,
      "title" => :title,
      "description" => :description,
      "icons" => :icons,
      "inputSchema" => :input_schema,
      "outputSchema" => :output_schema,
      "annotations" => :annotations,
      "_meta" => :meta,
    }.freeze

    # The keyword arguments of `MCP::Icon.new` and of `MCP::Tool::Annotations.new`.
    ICON = { "src" => :src, "mimeType" => :mime_type, "sizes" => :sizes, "theme" => :theme }.freeze
    ANNOTATIONS = {
      "title" => :title,
      "readOnlyHint" => :read_only_hint,
      "destructiveHint" => :destructive_hint,
      "idempotentHint" => :idempotent_hint,
      "openWorldHint" => :open_world_hint,
    }.freeze

    # The key for states: https://ruby.sdk.modelcontextprotocol.io/server/multi-round-trip-results/#securing-requeststate
    STATE_KEY = "the states of a fixture's server"

    # The time in seconds after which a call ends that is never cancelled, and the time between two looks.
    WAIT_LIMIT = 30
    WAIT_STEP = 0.05

    class << self
      # https://ruby.sdk.modelcontextprotocol.io/server/tools/
      def server(request)
        fixture = request["fixture"]
        remove_states(fixture["tools"]) if request["revision"] < "2026"
        tools = fixture["tools"].map do |tool|
          refusable(tool["name"]) { define(tool, handler(tool["does"], request)) }
        end
        refusable do
          MCP::Server.new(
            **fixture["server"].transform_keys(&:to_sym),
            tools: tools,
            configuration: configuration(request["variant"]),
            request_state_security: state_security(fixture["tools"]),
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

      def answer_response(answer, state = {})
        response(answer.slice(:action, :content).compact.merge(state))
      end

      # Waits until the call is cancelled: https://ruby.sdk.modelcontextprotocol.io/server/cancellation/
      def wait(addresses, server_context)
        Net::HTTP.get(URI(addresses["started"]))
        (WAIT_LIMIT / WAIT_STEP).to_i.times do
          if server_context.cancelled?
            Net::HTTP.get(URI(addresses["stopped"]))
            return MCP::Tool::Response.new([])
          end
          sleep(WAIT_STEP)
        end
        raise "the call was not cancelled"
      end

      private

      # The revisions of 2025 have no state.
      def remove_states(tools)
        tools.each { |tool| tool["does"]["elicit"]&.delete("state") }
      end

      def refusable(tool = nil)
        yield
      rescue Cannot
        raise
      rescue StandardError
        raise Refused, tool
      end

      # https://ruby.sdk.modelcontextprotocol.io/server/configuration/
      def configuration(variant)
        MCP::Configuration.new(validate_tool_call_results: true) if variant == "checked"
      end

      # Seals states. The lifetime belongs to the server, not to a single state.
      def state_security(tools)
        states = tools.filter_map { |tool| tool["does"].dig("elicit", "state") if tool["does"].key?("elicit") }
        return if states.empty?

        lifetimes = states.map { |state| state["seconds"] }.uniq
        raise Cannot, "RequestStateSecurity has one lifetime for all states" if lifetimes.size > 1

        MCP::Server::RequestStateSecurity.new(key: STATE_KEY, **{ ttl: lifetimes.first }.compact)
      end

      def define(tool, handler)
        definition = keywords("MCP::Tool.define", MEMBERS, tool.except("does"))
        if definition[:icons]
          definition[:icons] = definition[:icons].map { |icon| MCP::Icon.new(**keywords("MCP::Icon", ICON, icon)) }
        end
        if definition[:annotations]
          definition[:annotations] = keywords("MCP::Tool::Annotations", ANNOTATIONS, definition[:annotations])
        end
        MCP::Tool.define(**definition, &handler)
      end

      def keywords(method, names, members)
        members.to_h do |member, value|
          [names.fetch(member) { raise Cannot, "#{method} has no keyword argument for #{member}" }, value]
        end
      end

      def handler(does, request)
        kind, value = does.first
        case kind
        when "echo" then ->(server_context:, **arguments) { Fixture.response(arguments) }
        when "return" then return_handler(value)
        when "elicit" then request_to_client?(request) ? request_handler(value) : result_handler(value)
        when "raise" then ->(server_context:, **) { raise value }
        when "wait" then ->(server_context:, **) { Fixture.wait(value, server_context) }
        when "log" then log_handler(value)
        when "progress" then progress_handler(value)
        else raise Cannot, "this adapter has no code for #{kind}"
        end
      end

      # https://ruby.sdk.modelcontextprotocol.io/server/logging/
      def log_handler(message)
        lambda do |server_context:, **arguments|
          server_context.notify_log_message(**message.transform_keys(&:to_sym))
          Fixture.response(arguments)
        end
      end

      # https://ruby.sdk.modelcontextprotocol.io/server/progress/
      def progress_handler(report)
        lambda do |server_context:, **arguments|
          server_context.report_progress(report["progress"], total: report["total"], message: report["message"])
          Fixture.response(arguments)
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
        return url_request_handler(question) if question["mode"] == "url"

        lambda do |server_context:, **|
          answer = server_context.create_form_elicitation(
            message: question["message"],
            requested_schema: question["requestedSchema"],
          )
          Fixture.answer_response(answer)
        end
      end

      # https://ruby.sdk.modelcontextprotocol.io/server/elicitation/#url-mode
      def url_request_handler(question)
        lambda do |server_context:, **|
          answer = server_context.create_url_elicitation(
            message: question["message"],
            url: question["url"],
            elicitation_id: question["elicitationId"],
          )
          Fixture.answer_response(answer)
        end
      end

      # Asks with a result. The client then repeats the call with the answer:
      # https://ruby.sdk.modelcontextprotocol.io/server/multi-round-trip-results/
      def result_handler(question)
        requests = { ANSWER => { method: "elicitation/create", params: question.except("state") } }
        state = question.dig("state", "value")
        lambda do |server_context:, **|
          answer = server_context.input_response(ANSWER)
          unless answer
            next MCP::Server::InputRequiredResult.new(input_requests: requests, request_state: state)
          end

          Fixture.answer_response(answer, state ? { state: server_context.request_state } : {})
        end
      end
    end
  end
end
