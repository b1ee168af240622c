import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * The transport serves a request with an invalid MCP-Protocol-Version.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header
 */
class IgnoredVersion {
  private static final String INITIALIZE =
      """
      {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",\
      "capabilities":{},"clientInfo":{"name":"c","version":"1"}}}""";

  public static void main(String[] arguments) throws Exception {
    var transport =
        HttpServletStreamableServerTransportProvider.builder().mcpEndpoint("/mcp").build();
    McpServer.sync(transport)
        .serverInfo("repro", "1")
        .capabilities(ServerCapabilities.builder().tools(true).build())
        .build();
    var url = serve(transport);
    var session = post(url, INITIALIZE).headers().firstValue("Mcp-Session-Id").orElseThrow();
    post(url, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", "Mcp-Session-Id", session);
    var list = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}";
    var response = post(url, list, "Mcp-Session-Id", session, "MCP-Protocol-Version", "1900-01-01");
    System.out.println("tools/list with MCP-Protocol-Version: 1900-01-01 got status " + response.statusCode());
    System.exit(response.statusCode() == 200 ? 0 : 1);
  }

  /** Serves over HTTP on a free port, and returns the URL. */
  private static String serve(HttpServletStreamableServerTransportProvider transport) throws Exception {
    var jetty = new Server();
    var connector = new ServerConnector(jetty);
    connector.setHost("127.0.0.1");
    jetty.addConnector(connector);
    var context = new ServletContextHandler("/");
    var holder = new ServletHolder(transport);
    holder.setAsyncSupported(true);
    context.addServlet(holder, "/mcp");
    jetty.setHandler(context);
    jetty.start();
    return "http://127.0.0.1:" + connector.getLocalPort() + "/mcp";
  }

  private static HttpResponse<String> post(String url, String body, String... headers) throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create(url))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
  }
}
