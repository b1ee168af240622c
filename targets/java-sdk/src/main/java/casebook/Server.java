package casebook;

import static casebook.Fixture.MAPPER;

import casebook.Unbuildable.Cannot;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.transport.DefaultServerTransportSecurityValidator;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.server.transport.ServerHttpHeaderValidator;
import jakarta.servlet.http.HttpServlet;
import java.util.HashMap;
import java.util.Map;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ContextHandlerCollection;

/** The running servers: over HTTP each has a path of one listener, over stdio a stream. */
final class Server {
  private static final String ENDPOINT = "/mcp";

  /** Accepts only local origins: https://java.sdk.modelcontextprotocol.io/latest/#features */
  private static final ServerHttpHeaderValidator LOCAL_ORIGIN =
      DefaultServerTransportSecurityValidator.builder()
          .allowedOrigin("http://127.0.0.1:*")
          .allowedHost("127.0.0.1:*")
          .build();

  record ServeRequest(
      String revision,
      String transport,
      String variant,
      Stdio.StreamAddress stream,
      Fixture fixture) {}

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

  Map<String, Object> serve(String id, ServeRequest request) throws Exception {
    checkRevision(request.revision());
    if (request.transport().equals("http")) {
      return Map.of("serving", Map.of("url", serveHttp(id, request)));
    }
    serving.put(id, Stdio.serveStream(request));
    return Map.of("serving", Map.of());
  }

  private String serveHttp(String id, ServeRequest request) throws Exception {
    HttpServlet servlet;
    AutoCloseable server;
    if (Adapter.variant(request.variant()).equals("stateless")) {
      var transport = statelessTransport();
      servlet = transport;
      server = request.fixture().build(McpServer.sync(transport))::close;
    } else {
      var transport = transport(Adapter.variant(request.variant()));
      servlet = transport;
      server = request.fixture().build(McpServer.sync(transport))::close;
    }

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

  /** https://java.sdk.modelcontextprotocol.io/latest/server/#streamable-http */
  private static HttpServletStreamableServerTransportProvider transport(String variant) {
    var transport =
        HttpServletStreamableServerTransportProvider.builder()
            .jsonMapper(MAPPER)
            .mcpEndpoint(ENDPOINT);
    return variant.equals("checked")
        ? transport.httpHeaderValidator(LOCAL_ORIGIN).build()
        : transport.build();
  }

  /** https://java.sdk.modelcontextprotocol.io/latest/server/#server-types */
  private static HttpServletStatelessServerTransport statelessTransport() {
    return HttpServletStatelessServerTransport.builder()
        .jsonMapper(MAPPER)
        .messageEndpoint(ENDPOINT)
        .build();
  }

  Map<String, Object> stop(String id) throws Exception {
    var served = serving.remove(id);
    if (served != null) {
      served.close();
    }
    return Map.of("stopped", served != null);
  }

  /** Rejects unsupported revisions. The SDK's transports negotiate the revision by themselves. */
  static void checkRevision(String revision) throws Cannot {
    if (!Adapter.REVISIONS.contains(revision)) {
      throw new Cannot("the SDK does not support " + revision);
    }
  }
}
