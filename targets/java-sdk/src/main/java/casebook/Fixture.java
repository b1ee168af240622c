package casebook;

import casebook.Unbuildable.Cannot;
import casebook.Unbuildable.Refused;
import com.fasterxml.jackson.annotation.JsonAnySetter;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.server.McpServer.StatelessSyncSpecification;
import io.modelcontextprotocol.server.McpServer.SyncSpecification;
import io.modelcontextprotocol.server.McpStatelessSyncServer;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.Content;
import io.modelcontextprotocol.spec.McpSchema.ElicitFormRequest;
import io.modelcontextprotocol.spec.McpSchema.ElicitRequest;
import io.modelcontextprotocol.spec.McpSchema.ElicitUrlRequest;
import io.modelcontextprotocol.spec.McpSchema.Icon;
import io.modelcontextprotocol.spec.McpSchema.Implementation;
import io.modelcontextprotocol.spec.McpSchema.LoggingLevel;
import io.modelcontextprotocol.spec.McpSchema.LoggingMessageNotification;
import io.modelcontextprotocol.spec.McpSchema.ProgressNotification;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import io.modelcontextprotocol.spec.McpSchema.ToolAnnotations;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/** The description of a server, in the SDK's types. */
record Fixture(Implementation server, List<FixtureTool> tools) {

  /** The SDK's own reader. A value that it cannot read cannot be passed to the SDK. */
  static final McpJsonMapper MAPPER = McpJsonDefaults.getMapper();

  record FixtureTool(
      String name,
      String title,
      String description,
      Json inputSchema,
      Json outputSchema,
      Json annotations,
      Json icons,
      @JsonProperty("_meta") Json meta,
      Does does,
      @JsonAnySetter Map<String, Json> others) {}

  /** The code of a tool. Exactly one of its members is present. */
  record Does(
      Boolean echo,
      @JsonProperty("return") Parts returns,
      Elicit elicit,
      String raise,
      Log log,
      Progress progress,
      @JsonProperty("wait") Json waits,
      @JsonAnySetter Map<String, Json> others) {}

  record Parts(Json structuredContent, Json content, Boolean isError) {}

  record Elicit(
      String mode, String message, Json requestedSchema, String url, String elicitationId) {}

  record Log(String level, Json data, String logger) {}

  record Progress(double progress, Double total, String message) {}

  /** Builds a server that can ask the client: over stdio, or with sessions over HTTP. */
  McpSyncServer build(SyncSpecification<?> specification) throws Unbuildable {
    for (var tool : tools) {
      var handler = handler(tool.does());
      register(tool, definition -> specification.toolCall(definition, handler));
    }
    try {
      return specification.serverInfo(server).capabilities(capabilities()).build();
    } catch (RuntimeException thrown) {
      throw new Refused(thrown);
    }
  }

  /** Builds a server without sessions. */
  McpStatelessSyncServer build(StatelessSyncSpecification specification) throws Unbuildable {
    for (var tool : tools) {
      var handler = statelessHandler(tool.does());
      register(tool, definition -> specification.toolCall(definition, handler));
    }
    try {
      return specification.serverInfo(server).capabilities(capabilities()).build();
    } catch (RuntimeException thrown) {
      throw new Refused(thrown);
    }
  }

  private ServerCapabilities capabilities() {
    var capabilities = ServerCapabilities.builder().tools(true);
    var logs = tools.stream().anyMatch(tool -> tool.does().log() != null);
    return logs ? capabilities.logging().build() : capabilities.build();
  }

  /**
   * Registers a tool on the builder of the server. Over stdio a client can list the tools as soon
   * as the server is built, so that it would be too late then.
   *
   * <p>https://java.sdk.modelcontextprotocol.io/latest/server/#tool-specification
   */
  private static void register(FixtureTool tool, Consumer<Tool> registration) throws Unbuildable {
    if (!tool.others().isEmpty()) {
      var members = String.join(", ", tool.others().keySet());
      throw new Cannot("Tool.Builder has no method for the member " + members);
    }
    var annotations =
        readWhole("Tool.annotations", tool.annotations(), new TypeRef<ToolAnnotations>() {});
    var icons = readWhole("Tool.icons", tool.icons(), new TypeRef<List<Icon>>() {});
    var meta = read("Tool.meta", tool.meta(), OBJECT);
    try {
      var builder =
          builder(tool)
              .title(tool.title())
              .description(tool.description())
              .annotations(annotations)
              .icons(icons)
              .meta(meta);
      if (tool.outputSchema() != null) {
        builder.outputSchema(MAPPER, tool.outputSchema().text());
      }
      registration.accept(builder.build());
    } catch (RuntimeException thrown) {
      throw new Refused(thrown, tool.name());
    }
  }

  // The deprecated method is the only one that takes no inputSchema.
  @SuppressWarnings("deprecation")
  private static Tool.Builder builder(FixtureTool tool) {
    return tool.inputSchema() == null
        ? Tool.builder(tool.name())
        : Tool.builder(tool.name(), MAPPER, tool.inputSchema().text());
  }

  private static BiFunction<McpSyncServerExchange, CallToolRequest, CallToolResult> handler(
      Does does) throws Cannot {
    if (does.elicit() != null) {
      var question = question(does.elicit());
      return (exchange, request) -> ask(exchange, question);
    }
    if (does.log() != null) {
      var message = message(does.log());
      return (exchange, request) -> {
        exchange.loggingNotification(message);
        return echo(request.arguments());
      };
    }
    if (does.progress() != null) {
      return (exchange, request) -> {
        notifyProgress(exchange, request, does.progress());
        return echo(request.arguments());
      };
    }
    var body = body(does);
    return (exchange, request) -> body.apply(request);
  }

  private static BiFunction<McpTransportContext, CallToolRequest, CallToolResult> statelessHandler(
      Does does) throws Cannot {
    if (does.elicit() != null) {
      throw new Cannot(
          "the handler of a stateless server gets a McpTransportContext,"
              + " which has no createElicitation");
    }
    if (does.log() != null || does.progress() != null) {
      throw new Cannot(
          "the handler of a stateless server gets a McpTransportContext,"
              + " which sends no notifications");
    }
    var body = body(does);
    return (context, request) -> body.apply(request);
  }

  /** Returns the code of a tool that does not ask. */
  private static Function<CallToolRequest, CallToolResult> body(Does does) throws Cannot {
    if (does.echo() != null) {
      return request -> echo(request.arguments());
    }
    if (does.returns() != null) {
      return returning(does.returns());
    }
    if (does.raise() != null) {
      return request -> {
        throw new IllegalStateException(does.raise());
      };
    }
    // https://java.sdk.modelcontextprotocol.io/latest/client/#request-timeouts-and-cancellation
    throw new Cannot(
        does.waits() != null
            ? "the SDK does not process notifications/cancelled, so no handler gets a signal"
            : "this adapter has no code for " + does.others().keySet());
  }

  private static CallToolResult echo(Map<String, Object> arguments) {
    var result = CallToolResult.builder();
    return arguments == null ? result.build() : result.structuredContent(arguments).build();
  }

  private static Function<CallToolRequest, CallToolResult> returning(Parts parts) throws Cannot {
    var content = read("CallToolResult.content", parts.content(), new TypeRef<List<Content>>() {});
    var structuredContent =
        read("CallToolResult.structuredContent", parts.structuredContent(), new TypeRef<>() {});
    return request -> {
      var result = CallToolResult.builder();
      if (parts.content() != null) {
        result.content(content);
      }
      if (parts.isError() != null) {
        result.isError(parts.isError());
      }
      if (parts.structuredContent() != null) {
        result.structuredContent(structuredContent);
      }
      return result.build();
    };
  }

  private static ElicitRequest question(Elicit elicit) throws Cannot {
    if (elicit.mode() == null || elicit.mode().equals(ElicitFormRequest.MODE)) {
      var schema = read("ElicitFormRequest.requestedSchema", elicit.requestedSchema(), OBJECT);
      return ElicitFormRequest.builder(elicit.message(), schema).build();
    }
    if (elicit.mode().equals(ElicitUrlRequest.MODE)) {
      return ElicitUrlRequest.builder(elicit.message(), elicit.url(), elicit.elicitationId())
          .build();
    }
    throw new Cannot("there is no ElicitRequest with the mode " + elicit.mode());
  }

  /** https://java.sdk.modelcontextprotocol.io/latest/server/#logging-support */
  private static LoggingMessageNotification message(Log log) throws Cannot {
    var level = LoggingLevel.fromValue(log.level());
    var data = Json.LINES.readTree(log.data().text());
    if (level == null || !data.isString()) {
      throw new Cannot("LoggingMessageNotification has a LoggingLevel, and a String as data");
    }
    return LoggingMessageNotification.builder(level, data.asString()).logger(log.logger()).build();
  }

  /** Reports progress, if the request has a token. */
  private static void notifyProgress(
      McpSyncServerExchange exchange, CallToolRequest request, Progress progress) {
    var token = request.meta() == null ? null : request.meta().get("progressToken");
    if (token != null) {
      exchange.progressNotification(
          ProgressNotification.builder(token, progress.progress())
              .total(progress.total())
              .message(progress.message())
              .build());
    }
  }

  /**
   * Asks the user and returns the answer.
   *
   * <p>https://java.sdk.modelcontextprotocol.io/latest/server/#using-elicitation-from-a-server
   */
  private static CallToolResult ask(McpSyncServerExchange exchange, ElicitRequest question) {
    var answer = exchange.createElicitation(question);
    var result = new LinkedHashMap<String, Object>();
    result.put("action", answer.action());
    if (answer.content() != null) {
      result.put("content", answer.content());
    }
    return CallToolResult.builder().structuredContent(result).build();
  }

  static final TypeRef<Map<String, Object>> OBJECT = new TypeRef<>() {};

  /** Reads a value into the type of a parameter of the SDK's API. A missing value stays missing. */
  static <T> T read(String parameter, Json json, TypeRef<T> type) throws Cannot {
    if (json == null) {
      return null;
    }
    try {
      return MAPPER.readValue(json.text(), type);
    } catch (IOException | RuntimeException thrown) {
      throw new Cannot(parameter + " cannot take this value: " + thrown.getMessage());
    }
  }

  /** Reads a value of which the SDK's type must have every member: its reader skips others. */
  static <T> T readWhole(String parameter, Json json, TypeRef<T> type) throws Cannot {
    var value = read(parameter, json, type);
    if (json != null) {
      try {
        var written = MAPPER.writeValueAsString(value);
        if (!Json.LINES.readTree(written).equals(Json.LINES.readTree(json.text()))) {
          throw new Cannot("of this value, " + parameter + " can hold only " + written);
        }
      } catch (IOException thrown) {
        throw new Cannot(parameter + " cannot take this value: " + thrown.getMessage());
      }
    }
    return value;
  }
}
