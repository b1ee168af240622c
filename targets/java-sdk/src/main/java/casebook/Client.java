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
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.Supplier;
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
      List<Step> script,
      Long requestTimeout) {}

  /**
   * A call of a tool, calls of several tools at the same time or, without both, a listing of the
   * tools.
   */
  record Step(Call callTool, List<Call> callTools) {}

  record Call(String name, Json arguments) {}

  /** Runs a script: https://java.sdk.modelcontextprotocol.io/latest/client/ */
  static Map<String, Object> drive(DriveRequest request) throws Cannot, IOException {
    Server.checkRevision(request.revision());
    var script = new ArrayList<Function<McpSyncClient, Map<String, Object>>>();
    for (var step : request.script()) {
      script.add(read(step));
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
    for (var step : script) {
      steps.add(step.apply(client));
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

  private static Function<McpSyncClient, Map<String, Object>> read(Step step) throws Cannot {
    if (step.callTool() != null) {
      var call = callRequest(step.callTool());
      return client -> run("result", () -> client.callTool(call));
    }
    if (step.callTools() != null) {
      var calls = new ArrayList<CallToolRequest>();
      for (var call : step.callTools()) {
        calls.add(callRequest(call));
      }
      return client -> Map.of("results", callAtOnce(client, calls));
    }
    return client -> run("tools", () -> client.listTools().tools());
  }

  /** Calls several tools at the same time, each on a thread of its own. */
  private static List<Map<String, Object>> callAtOnce(
      McpSyncClient client, List<CallToolRequest> calls) {
    var threads = Executors.newCachedThreadPool();
    try {
      return calls.stream()
          .map(call -> threads.submit(() -> run("result", () -> client.callTool(call))))
          .toList()
          .stream()
          .map(Client::join)
          .toList();
    } finally {
      threads.shutdown();
    }
  }

  private static <T> T join(Future<T> future) {
    try {
      return future.get();
    } catch (ExecutionException | InterruptedException fault) {
      throw new IllegalStateException(fault);
    }
  }

  private static Map<String, Object> run(String kind, Supplier<Object> request) {
    try {
      return Map.of(kind, write(request.get()));
    } catch (RuntimeException thrown) {
      return Map.of("error", Adapter.describeError(thrown));
    } catch (IOException fault) {
      throw new UncheckedIOException(fault);
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
    if (request.requestTimeout() != null) {
      specification.requestTimeout(Duration.ofMillis(request.requestTimeout()));
    }
    var remaining = request.answers() == null ? null : new Answers(request.answers());
    if (remaining != null) {
      specification
          .capabilities(ClientCapabilities.builder().elicitation().build())
          .elicitation(question -> remaining.next())
          .applyElicitationDefaults(remaining.anyAsPresented());
    }
    if (request.declares() != null) {
      var type = new TypeRef<ClientCapabilities>() {};
      var declared = Fixture.readWhole("ClientCapabilities", request.declares(), type);
      specification.capabilities(declared);
      var elicitation = declared.elicitation();
      if (remaining != null && elicitation != null && elicitation.url() != null) {
        specification
            .urlElicitation(question -> remaining.next())
            .elicitationCompleteConsumer(completion -> {});
      }
    }
    return specification;
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

    /** Returns the content, or null for an answer that is accepted without content. */
    private static Map<String, Object> content(JsonNode accepted) {
      if (accepted == null) {
        return null;
      }
      return accepted.isString()
          ? Map.of()
          : Json.LINES.convertValue(accepted, new TypeReference<Map<String, Object>>() {});
    }
  }
}
