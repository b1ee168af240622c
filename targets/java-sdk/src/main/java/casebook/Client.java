package casebook;

import static casebook.Fixture.MAPPER;

import casebook.Unbuildable.Cannot;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.ClientCapabilities;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult;
import io.modelcontextprotocol.spec.McpSchema.Implementation;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JsonNode;

/** Drives the SDK's client through a script and reports the results that its user would get. */
final class Client {
  private Client() {}

  record DriveRequest(
      String revision,
      String variant,
      String url,
      List<String> command,
      JsonNode answers,
      Json declares,
      List<Step> script) {}

  /** One request of the client: a call of a tool or, without a call, a listing of the tools. */
  record Step(Call callTool) {}

  record Call(String name, Json arguments) {}

  /** Runs a script: https://java.sdk.modelcontextprotocol.io/latest/client/ */
  static Map<String, Object> drive(DriveRequest request) throws Cannot, IOException {
    Server.checkRevision(request.revision());
    var calls = new ArrayList<CallToolRequest>();
    for (var step : request.script()) {
      calls.add(step.callTool() == null ? null : callRequest(step.callTool()));
    }
    var specification = specification(request);
    McpSyncClient client = null;
    try {
      client = specification.build();
      client.initialize();
    } catch (RuntimeException thrown) {
      if (client != null) {
        client.closeGracefully();
      }
      return Map.of("connected", false, "steps", List.of(), "error", Adapter.describeError(thrown));
    }
    var steps = new ArrayList<Map<String, Object>>();
    for (var call : calls) {
      steps.add(runStep(client, call));
    }
    client.closeGracefully();
    return Map.of("connected", true, "steps", steps);
  }

  private static CallToolRequest callRequest(Call call) throws Cannot {
    var request = CallToolRequest.builder(call.name());
    return call.arguments() == null
        ? request.build()
        : request
            .arguments(Fixture.read("CallToolRequest.arguments", call.arguments(), Fixture.OBJECT))
            .build();
  }

  private static Map<String, Object> runStep(McpSyncClient client, CallToolRequest call)
      throws IOException {
    try {
      return call == null
          ? Map.of("tools", write(client.listTools().tools()))
          : Map.of("result", write(client.callTool(call)));
    } catch (RuntimeException thrown) {
      return Map.of("error", Adapter.describeError(thrown));
    }
  }

  /** Writes a value of the SDK with the SDK's own writer. */
  private static Json write(Object value) throws IOException {
    return new Json(MAPPER.writeValueAsString(value));
  }

  /** https://java.sdk.modelcontextprotocol.io/latest/client/#tool-schema-validation-and-caching */
  private static McpClient.SyncSpec specification(DriveRequest request) throws Cannot, IOException {
    var specification =
        McpClient.sync(transport(request))
            .clientInfo(Implementation.builder("casebook", "1").build())
            .enableCallToolSchemaCaching(Adapter.variant(request.variant()).equals("checked"));
    var answers = request.answers();
    if (answers != null) {
      var remaining = new Answers(answers);
      specification
          .capabilities(ClientCapabilities.builder().elicitation().build())
          .elicitation(elicitation -> remaining.next())
          .applyElicitationDefaults(remaining.anyAsPresented());
    }
    if (request.declares() != null) {
      specification.capabilities(capabilities(request.declares()));
    }
    return specification;
  }

  /** Reads capabilities. The SDK's reader ignores unknown ones, so compare what it would send. */
  private static ClientCapabilities capabilities(Json declares) throws Cannot, IOException {
    var capabilities =
        Fixture.read("ClientCapabilities", declares, new TypeRef<ClientCapabilities>() {});
    var written = write(capabilities).text();
    if (!Json.LINES.readTree(written).equals(Json.LINES.readTree(declares.text()))) {
      throw new Cannot("of these capabilities, ClientCapabilities can declare only " + written);
    }
    return capabilities;
  }

  /**
   * Creates a transport that offers only this revision. By default a client offers the newest one.
   * https://java.sdk.modelcontextprotocol.io/latest/client/#protocol-version-negotiation
   */
  private static McpClientTransport transport(DriveRequest request) {
    var revisions = List.of(request.revision());
    if (request.url() != null) {
      var url = URI.create(request.url());
      return HttpClientStreamableHttpTransport.builder("http://" + url.getAuthority())
          .endpoint(url.getRawPath())
          .supportedProtocolVersions(revisions)
          .build();
    }
    var command = request.command();
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
   * The answers to elicitations: each answer of a list once, or a single answer every time.
   * https://java.sdk.modelcontextprotocol.io/latest/client/#elicitation-support
   */
  private static final class Answers {
    private final Deque<JsonNode> answers = new ArrayDeque<>();
    private final boolean single;

    Answers(JsonNode answers) {
      single = !answers.isArray();
      if (single) {
        this.answers.add(answers);
      } else {
        answers.forEach(this.answers::add);
      }
    }

    /**
     * Returns whether any form is accepted as presented. The SDK's option to fill in defaults
     * applies to the whole client.
     */
    boolean anyAsPresented() {
      return answers.stream().anyMatch(answer -> answer.path("accept").isString());
    }

    synchronized ElicitResult next() {
      var answer = single ? answers.peek() : answers.poll();
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
