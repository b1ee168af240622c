import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.ClientCapabilities;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult;
import java.util.Map;

/**
 * The client answers a question of an unknown mode as a form, instead of by the error -32602.
 * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#error-handling
 */
class UnknownMode {
  /** A server that asks during a call of a tool, and returns the client's answer in the result. */
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
            printf '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"voice",'
            echo '"message":"Your name?","requestedSchema":{"type":"object","properties":{}}}}'
            read -r answer
            printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":%s}}\\n' "$id" "$answer"
            ;;
        esac
      done
      """;

  public static void main(String[] arguments) {
    var server = ServerParameters.builder("sh").args("-c", SERVER).build();
    var client =
        McpClient.sync(new StdioClientTransport(server, McpJsonDefaults.getMapper()))
            .capabilities(ClientCapabilities.builder().elicitation().build())
            .elicitation(request -> new ElicitResult(ElicitResult.Action.ACCEPT, Map.of()))
            .build();
    client.initialize();
    var answer = (Map<?, ?>) client.callTool(CallToolRequest.builder("t").build()).structuredContent();
    System.out.println("a question of the mode voice was answered by " + answer);
    System.exit(answer.containsKey("result") ? 0 : 1);
  }
}
