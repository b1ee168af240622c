package casebook;

import static casebook.Fixture.MAPPER;

import casebook.Unbuildable.Cannot;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.transport.DefaultServerTransportSecurityValidator;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.server.transport.ServerHttpHeaderValidator;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ContextHandlerCollection;

/** One listener, which serves each fixture under a path of its own. */
final class Server {
  private static final String ENDPOINT = "/mcp";

  /** https://java.sdk.modelcontextprotocol.io/latest/#features */
  private static final ServerHttpHeaderValidator OWN_ORIGIN =
      DefaultServerTransportSecurityValidator.builder()
          .allowedOrigin("http://127.0.0.1:*")
          .allowedHost("127.0.0.1:*")
          .build();

  record Order(String revision, String transport, String variant, Fixture fixture) {}

  private record Served(McpSyncServer server, ServletContextHandler context) {}

  private final org.eclipse.jetty.server.Server jetty = new org.eclipse.jetty.server.Server();
  private final ServerConnector connector = new ServerConnector(jetty);
  private final ContextHandlerCollection contexts = new ContextHandlerCollection();
  private final Map<String, Served> serving = new HashMap<>();

  Server() throws Exception {
    connector.setHost("127.0.0.1");
    jetty.addConnector(connector);
    jetty.setHandler(contexts);
    jetty.start();
  }

  /** https://java.sdk.modelcontextprotocol.io/latest/server/#streamable-http */
  Map<String, Object> serve(String id, Order order) throws Exception {
    if (!order.transport().equals("http")) {
      throw new Cannot("`serve` is for http; for the rest start --stdio-server");
    }
    checkRevision(order.revision());
    var transport =
        HttpServletStreamableServerTransportProvider.builder()
            .jsonMapper(MAPPER)
            .mcpEndpoint(ENDPOINT);
    if (Adapter.checked(order.variant())) {
      transport.httpHeaderValidator(OWN_ORIGIN);
    }
    var servlet = transport.build();
    var server = order.fixture().build(McpServer.sync(servlet));

    var context = new ServletContextHandler("/" + id);
    var holder = new ServletHolder(servlet);
    holder.setAsyncSupported(true);
    context.addServlet(holder, ENDPOINT);
    contexts.addHandler(context);
    context.start();
    serving.put(id, new Served(server, context));
    var url = "http://127.0.0.1:" + connector.getLocalPort() + "/" + id + ENDPOINT;
    return Map.of("serving", Map.of("url", url));
  }

  Map<String, Object> stop(String id) throws Exception {
    var served = serving.remove(id);
    if (served != null) {
      contexts.removeHandler(served.context());
      served.server().close();
      served.context().stop();
    }
    return Map.of("stopped", served != null);
  }

  /**
   * Speaks MCP on this process's standard streams; the SDK ends with them.
   * https://java.sdk.modelcontextprotocol.io/latest/server/#stdio
   */
  static void serveStreams(Path file) throws IOException, Unbuildable {
    var order = Json.LINES.readValue(Files.readAllBytes(file), Order.class);
    checkRevision(order.revision());
    order.fixture().build(McpServer.sync(new StdioServerTransportProvider(MAPPER)));
  }

  /** The SDK's transports negotiate a revision by themselves, among those that it knows. */
  static void checkRevision(String revision) throws Cannot {
    if (!Adapter.REVISIONS.contains(revision)) {
      throw new Cannot("the SDK does not speak " + revision);
    }
  }
}
