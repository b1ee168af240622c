package casebook;

import casebook.Unbuildable.Cannot;
import casebook.Unbuildable.Refused;
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
import io.modelcontextprotocol.spec.McpSchema.Implementation;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
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
      Does does) {}

  /** The code of a tool. Exactly one of its members is present. */
  record Does(Boolean echo, @JsonProperty("return") Parts returns, Elicit elicit, String raise) {}

  record Parts(Json structuredContent, Json content, Boolean isError) {}

  record Elicit(String message, Json requestedSchema) {}

  /** Builds a server that can ask the client: over stdio, or with sessions over HTTP. */
  McpSyncServer build(SyncSpecification<?> specification) throws Unbuildable {
    for (var tool : tools) {
      var handler = handler(tool.does());
      register(tool, definition -> specification.toolCall(definition, handler));
    }
    try {
      return specification.serverInfo(server).capabilities(CAPABILITIES).build();
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
      return specification.serverInfo(server).capabilities(CAPABILITIES).build();
    } catch (RuntimeException thrown) {
      throw new Refused(thrown);
    }
  }

  private static final ServerCapabilities CAPABILITIES =
      ServerCapabilities.builder().tools(true).build();

  /**
   * Registers a tool on the builder of the server. Over stdio a client can list the tools as soon
   * as the server is built, so that it would be too late then.
   *
   * <p>https://java.sdk.modelcontextprotocol.io/latest/server/#tool-specification
   */
  private static void register(FixtureTool tool, Consumer<Tool> registration) throws Refused {
    try {
      var builder = builder(tool).title(tool.title()).description(tool.description());
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
      var message = does.elicit().message();
      var requestedSchema =
          read("ElicitFormRequest.requestedSchema", does.elicit().requestedSchema(), OBJECT);
      return (exchange, request) -> ask(exchange, message, requestedSchema);
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
    return request -> {
      throw new IllegalStateException(does.raise());
    };
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

  /**
   * Asks the user and returns the answer.
   *
   * <p>https://java.sdk.modelcontextprotocol.io/latest/server/#using-elicitation-from-a-server
   */
  private static CallToolResult ask(
      McpSyncServerExchange exchange, String message, Map<String, Object> requestedSchema) {
    var answer =
        exchange.createElicitation(ElicitFormRequest.builder(message, requestedSchema).build());
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
}
