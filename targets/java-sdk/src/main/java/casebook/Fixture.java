package casebook;

import casebook.Unbuildable.Cannot;
import casebook.Unbuildable.Refused;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.server.McpServer.SyncSpecification;
import io.modelcontextprotocol.server.McpServerFeatures.SyncToolSpecification;
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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

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

  /** The body of a tool. */
  interface Handler extends BiFunction<McpSyncServerExchange, CallToolRequest, CallToolResult> {}

  /**
   * Builds the server. It registers the tools before the transport starts, so that a client cannot
   * list them too early.
   *
   * <p>https://java.sdk.modelcontextprotocol.io/latest/server/#tool-specification
   */
  McpSyncServer build(SyncSpecification<?> specification) throws Unbuildable {
    var specifications = new ArrayList<SyncToolSpecification>();
    for (var tool : tools) {
      specifications.add(
          SyncToolSpecification.builder()
              .tool(definition(tool))
              .callHandler(handler(tool.does()))
              .build());
    }
    try {
      return specification
          .serverInfo(server)
          .capabilities(ServerCapabilities.builder().tools(true).build())
          .tools(specifications)
          .build();
    } catch (RuntimeException thrown) {
      throw new Refused(thrown);
    }
  }

  private static Tool definition(FixtureTool tool) throws Refused {
    try {
      var builder =
          Tool.builder(tool.name(), MAPPER, text(tool.inputSchema()))
              .title(tool.title())
              .description(tool.description());
      if (tool.outputSchema() != null) {
        builder.outputSchema(MAPPER, tool.outputSchema().text());
      }
      return builder.build();
    } catch (RuntimeException thrown) {
      throw new Refused(thrown);
    }
  }

  private static String text(Json json) {
    return json == null ? null : json.text();
  }

  private static Handler handler(Does does) throws Cannot {
    if (does.echo() != null) {
      return (exchange, request) -> echo(request.arguments());
    }
    if (does.returns() != null) {
      var result = result(does.returns());
      return (exchange, request) -> result;
    }
    if (does.elicit() != null) {
      var question =
          ElicitFormRequest.builder(
                  does.elicit().message(), read(does.elicit().requestedSchema(), OBJECT))
              .build();
      return (exchange, request) -> ask(exchange, question);
    }
    return (exchange, request) -> {
      throw new IllegalStateException(does.raise());
    };
  }

  private static CallToolResult echo(Map<String, Object> arguments) {
    var result = CallToolResult.builder();
    return arguments == null ? result.build() : result.structuredContent(arguments).build();
  }

  private static CallToolResult result(Parts parts) throws Cannot {
    var result = CallToolResult.builder();
    if (parts.content() != null) {
      result.content(read(parts.content(), new TypeRef<List<Content>>() {}));
    }
    if (parts.isError() != null) {
      result.isError(parts.isError());
    }
    if (parts.structuredContent() != null) {
      result.structuredContent(read(parts.structuredContent(), new TypeRef<Object>() {}));
    }
    return result.build();
  }

  /**
   * Asks the user and returns the answer.
   *
   * <p>https://java.sdk.modelcontextprotocol.io/latest/server/#using-elicitation-from-a-server
   */
  private static CallToolResult ask(McpSyncServerExchange exchange, ElicitFormRequest question) {
    var answer = exchange.createElicitation(question);
    var result = new LinkedHashMap<String, Object>();
    result.put("action", answer.action());
    if (answer.content() != null) {
      result.put("content", answer.content());
    }
    return CallToolResult.builder().structuredContent(result).build();
  }

  static final TypeRef<Map<String, Object>> OBJECT = new TypeRef<>() {};

  /**
   * Reads a part of a fixture into the type that the SDK's API expects. No such type accepts null.
   */
  static <T> T read(Json json, TypeRef<T> type) throws Cannot {
    try {
      var value = MAPPER.readValue(json.text(), type);
      if (value == null) {
        throw new Cannot("the SDK's API takes no null for " + type.getType().getTypeName());
      }
      return value;
    } catch (IOException | RuntimeException thrown) {
      throw new Cannot(thrown.getMessage());
    }
  }
}
