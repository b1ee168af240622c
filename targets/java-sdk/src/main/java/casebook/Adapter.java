package casebook;

import casebook.Unbuildable.Cannot;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.ProtocolVersions;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The mcp-casebook adapter for the Java SDK.
 *
 * <p>Reads one JSON request per line from standard input and writes one JSON answer per line to
 * standard output, in the same order. With {@code --stdio-server FILE}, the process serves one
 * fixture on its standard streams instead.
 */
public final class Adapter {
  /** The parts of the adapter protocol beyond its first version, which this adapter handles. */
  private static final List<String> KNOWS =
      List.of(
          "elicit-url",
          "state",
          "wait",
          "log",
          "progress",
          "callTools",
          "requestTimeout",
          "as-presented");

  static final List<String> REVISIONS =
      List.of(ProtocolVersions.MCP_2025_06_18, ProtocolVersions.MCP_2025_11_25);

  private static final List<String> VARIANTS = List.of("default", "checked", "stateless");

  /** One line of the control stream. Exactly one of its kinds is present. */
  record Request(
      String id, Object hello, Server.ServeRequest serve, Stop stop, Client.DriveRequest drive) {}

  record Stop(String serving) {}

  private Adapter() {}

  public static void main(String[] arguments) throws Exception {
    if (arguments.length == 0) {
      try {
        control();
        System.exit(0);
      } catch (Exception fault) {
        fault.printStackTrace();
        System.exit(1);
      }
    }
    if (arguments.length != 2 || !arguments[0].equals("--stdio-server")) {
      System.err.println("usage: adapter [--stdio-server FILE]");
      System.exit(2);
    }
    try {
      Stdio.serveProcess(Path.of(arguments[1]));
    } catch (Unbuildable unbuildable) {
      System.err.println(Json.LINES.writeValueAsString(unbuildable.answer()));
      System.exit(3);
    }
  }

  private static void control() throws Exception {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    var server = new Server();
    for (var line = in.readLine(); line != null; line = in.readLine()) {
      var request = Json.LINES.readValue(line, Request.class);
      var answer = new LinkedHashMap<String, Object>();
      answer.put("id", request.id());
      answer.putAll(answer(server, request));
      out.println(Json.LINES.writeValueAsString(answer));
    }
  }

  private static Map<String, Object> answer(Server server, Request request) throws Exception {
    try {
      if (request.hello() != null) {
        return Map.of("hello", hello());
      }
      if (request.serve() != null) {
        return server.serve(request.id(), request.serve());
      }
      if (request.stop() != null) {
        return server.stop(request.stop().serving());
      }
      if (request.drive() != null) {
        return Map.of("drove", Client.drive(request.drive()));
      }
    } catch (Unbuildable unbuildable) {
      return unbuildable.answer();
    }
    return Map.of("unsupported", "expected hello, serve, stop or drive");
  }

  private static Map<String, Object> hello() {
    return Map.of(
        "sdk",
        "io.modelcontextprotocol.sdk:mcp",
        "version",
        McpClient.class.getPackage().getImplementationVersion(),
        "language",
        "java",
        "api",
        "McpServer.sync; McpClient.sync",
        "roles",
        List.of("server", "client"),
        "transports",
        List.of("stdio", "http"),
        "revisions",
        REVISIONS,
        "variants",
        VARIANTS,
        "knows",
        KNOWS,
        "streams",
        true);
  }

  /** Returns the name of the variant, the first one if the request has none. */
  static String variant(String name) throws Cannot {
    if (name != null && !VARIANTS.contains(name)) {
      throw new Cannot("there is no variant " + name);
    }
    return name == null ? VARIANTS.get(0) : name;
  }

  /** Describes an exception, with its code if it is a JSON-RPC error. */
  static Map<String, Object> describeError(Throwable thrown) {
    var error = new LinkedHashMap<String, Object>();
    error.put("type", thrown.getClass().getName());
    if (thrown instanceof McpError mcpError && mcpError.getJsonRpcError() != null) {
      error.put("code", mcpError.getJsonRpcError().code());
    }
    error.put("message", String.valueOf(thrown.getMessage()));
    return error;
  }
}
