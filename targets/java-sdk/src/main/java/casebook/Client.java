package casebook;

import static casebook.Fixture.MAPPER;

import casebook.Unbuildable.Cannot;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.ClientCapabilities;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult;
import io.modelcontextprotocol.spec.McpSchema.Implementation;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JsonNode;

/** Drives the SDK's client through a script, and hands back what its user would see. */
final class Client {
  private Client() {}

  record Order(
      String revision,
      String variant,
      String url,
      List<String> command,
      JsonNode answers,
      List<Step> script) {}

  /** One call of the client: of a tool, or else for the list of them. */
  record Step(Call callTool) {}

  record Call(String name, Json arguments) {}

  /** https://java.sdk.modelcontextprotocol.io/latest/client/ */
  static Map<String, Object> drive(Order order) throws Cannot {
    Server.checkRevision(order.revision());
    var calls = new ArrayList<CallToolRequest>();
    for (var step : order.script()) {
      calls.add(step.callTool() == null ? null : request(step.callTool()));
    }
    var client = client(order);
    try {
      client.initialize();
    } catch (RuntimeException thrown) {
      client.closeGracefully();
      return Map.of("connected", false, "steps", List.of(), "error", Adapter.described(thrown));
    }
    var steps = new ArrayList<Map<String, Object>>();
    for (var call : calls) {
      steps.add(taken(client, call));
    }
    client.closeGracefully();
    return Map.of("connected", true, "steps", steps);
  }

  private static CallToolRequest request(Call call) throws Cannot {
    var request = CallToolRequest.builder(call.name());
    return call.arguments() == null
        ? request.build()
        : request.arguments(Fixture.read(call.arguments(), Fixture.OBJECT)).build();
  }

  private static Map<String, Object> taken(McpSyncClient client, CallToolRequest call) {
    try {
      return call == null
          ? Map.of("tools", client.listTools().tools())
          : Map.of("result", client.callTool(call));
    } catch (RuntimeException thrown) {
      return Map.of("error", Adapter.described(thrown));
    }
  }

  /** https://java.sdk.modelcontextprotocol.io/latest/client/#tool-schema-validation-and-caching */
  private static McpSyncClient client(Order order) throws Cannot {
    var specification =
        McpClient.sync(transport(order))
            .clientInfo(Implementation.builder("casebook", "1").build())
            .enableCallToolSchemaCaching(Adapter.checked(order.variant()));
    var answers = order.answers();
    if (answers != null) {
      var answering = new Answering(answers);
      specification
          .capabilities(ClientCapabilities.builder().elicitation().build())
          .elicitation(request -> answering.next())
          .applyElicitationDefaults(answering.asPresented());
    }
    return specification.build();
  }

  /**
   * A client of exactly this revision; the default would offer the newest.
   * https://java.sdk.modelcontextprotocol.io/latest/client/#protocol-version-negotiation
   */
  private static McpClientTransport transport(Order order) {
    var revisions = List.of(order.revision());
    if (order.url() != null) {
      var url = URI.create(order.url());
      return HttpClientStreamableHttpTransport.builder("http://" + url.getAuthority())
          .endpoint(url.getRawPath())
          .supportedProtocolVersions(revisions)
          .build();
    }
    var command = order.command();
    var server =
        ServerParameters.builder(command.get(0)).args(command.subList(1, command.size())).build();
    return new StdioClientTransport(server, MAPPER) {
      @Override
      public List<String> protocolVersions() {
        return revisions;
      }
    };
  }

  /**
   * Uses a list up, one answer an elicitation; a single answer it gives each time.
   * https://java.sdk.modelcontextprotocol.io/latest/client/#elicitation-support
   */
  private static final class Answering {
    private final Deque<JsonNode> left = new ArrayDeque<>();
    private final boolean single;

    Answering(JsonNode answers) {
      single = !answers.isArray();
      if (single) {
        left.add(answers);
      } else {
        answers.forEach(left::add);
      }
    }

    /** The SDK's own help with a form that nobody edits holds for the whole client. */
    boolean asPresented() {
      return left.stream().anyMatch(answer -> answer.path("accept").isString());
    }

    synchronized ElicitResult next() {
      var answer = single ? left.peek() : left.poll();
      if (answer == null) {
        throw new IllegalStateException("the script has no answer left");
      }
      return switch (answer.asString("accept")) {
        case "decline" -> new ElicitResult(ElicitResult.Action.DECLINE, null);
        case "cancel" -> new ElicitResult(ElicitResult.Action.CANCEL, null);
        default -> new ElicitResult(ElicitResult.Action.ACCEPT, content(answer.get("accept")));
      };
    }

    private static Map<String, Object> content(JsonNode accepted) {
      return accepted.isString()
          ? Map.of()
          : Json.LINES.convertValue(accepted, new TypeReference<Map<String, Object>>() {});
    }
  }
}
