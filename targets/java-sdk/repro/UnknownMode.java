import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.ClientCapabilities;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult;
import java.util.Map;

/**
 * A client with forms answers a question of an unknown mode as a form, and a question in URL mode by the error -32603,
 * instead of by the error -32602.
 * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#error-handling
 */
class UnknownMode {
  /** A server that sends the question $1 during a call of a tool, and returns the client's answer in the result. */
  private static final String SERVER =
      """
      while read -r line; do
        id=$(printf '%s' "$line" | sed 's/.*"id":\\("[^"]*"\\).*/\\1/')
        case "$line" in
          *'"initialize"'*)
            printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25",' "$id"
            echo '"capabilities":{"tools":{}},"serverInfo":{"name":"repro","version":"1"}}}'
            ;;
          *'"tools/call"'*)
            printf '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":%s}\\n' "$1"
            read -r answer
            printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":%s}}\\n' "$id" "$answer"
            ;;
        esac
      done
      """;

  private static final String VOICE =
      """
      {"mode":"voice","message":"Your name?","requestedSchema":{"type":"object","properties":{}}}""";

  private static final String URL =
      """
      {"mode":"url","message":"There, please.","url":"http://127.0.0.1/","elicitationId":"1"}""";

  public static void main(String[] arguments) {
    var voice = ask(VOICE);
    var url = ask(URL);
    System.out.println("the mode voice was answered by " + voice + ", and the mode url by " + url);
    var wrong = url.get("error") instanceof Map<?, ?> error && !error.get("code").equals(-32602);
    System.exit(voice.containsKey("result") && wrong ? 0 : 1);
  }

  /** Asks a client that declares only forms, and returns its answer. */
  private static Map<?, ?> ask(String question) {
    var server = ServerParameters.builder("sh").args("-c", SERVER, "sh", question).build();
    var client =
        McpClient.sync(new StdioClientTransport(server, McpJsonDefaults.getMapper()))
            .capabilities(ClientCapabilities.builder().elicitation(true, false).build())
            .elicitation(request -> new ElicitResult(ElicitResult.Action.ACCEPT, Map.of()))
            .build();
    client.initialize();
    return (Map<?, ?>) client.callTool(CallToolRequest.builder("t").build()).structuredContent();
  }
}
