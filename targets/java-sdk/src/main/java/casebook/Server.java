package casebook;

import static casebook.Fixture.MAPPER;

import casebook.Unbuildable.Cannot;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.transport.DefaultServerTransportSecurityValidator;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.server.transport.ServerHttpHeaderValidator;
import java.util.HashMap;
import java.util.Map;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ContextHandlerCollection;

/** The servers that stand: over HTTP each has a path of one listener, over stdio a stream. */
final class Server {
  private static final String ENDPOINT = "/mcp";

  /** https://java.sdk.modelcontextprotocol.io/latest/#features */
  private static final ServerHttpHeaderValidator OWN_ORIGIN =
      DefaultServerTransportSecurityValidator.builder()
          .allowedOrigin("http://127.0.0.1:*")
          .allowedHost("127.0.0.1:*")
          .build();

  record Order(
      String revision, String transport, String variant, Stdio.Place stream, Fixture fixture) {}

  private final org.eclipse.jetty.server.Server jetty = new org.eclipse.jetty.server.Server();
  private final ServerConnector connector = new ServerConnector(jetty);
  private final ContextHandlerCollection contexts = new ContextHandlerCollection();
  private final Map<String, AutoCloseable> serving = new HashMap<>();

  Server() throws Exception {
    connector.setHost("127.0.0.1");
    jetty.addConnector(connector);
    jetty.setHandler(contexts);
    jetty.start();
  }

  Map<String, Object> serve(String id, Order order) throws Exception {
    checkRevision(order.revision());
    if (order.transport().equals("http")) {
      return Map.of("serving", Map.of("url", serveHttp(id, order)));
    }
    serving.put(id, Stdio.serveStream(order));
    return Map.of("serving", Map.of());
  }

  /** https://java.sdk.modelcontextprotocol.io/latest/server/#streamable-http */
  private String serveHttp(String id, Order order) throws Exception {
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
    AutoCloseable served =
        () -> {
          contexts.removeHandler(context);
          server.close();
          context.stop();
        };
    serving.put(id, served);
    return "http://127.0.0.1:" + connector.getLocalPort() + "/" + id + ENDPOINT;
  }

  Map<String, Object> stop(String id) throws Exception {
    var served = serving.remove(id);
    if (served != null) {
      served.close();
    }
    return Map.of("stopped", served != null);
  }

  /** The SDK's transports negotiate a revision by themselves, among those that it knows. */
  static void checkRevision(String revision) throws Cannot {
    if (!Adapter.REVISIONS.contains(revision)) {
      throw new Cannot("the SDK does not speak " + revision);
    }
  }
}
