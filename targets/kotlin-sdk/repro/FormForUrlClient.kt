package repro

import io.modelcontextprotocol.kotlin.sdk.server.Server
import io.modelcontextprotocol.kotlin.sdk.server.ServerOptions
import io.modelcontextprotocol.kotlin.sdk.types.CallToolResult
import io.modelcontextprotocol.kotlin.sdk.types.ElicitRequestParams.RequestedSchema
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.ServerCapabilities
import kotlin.system.exitProcess

/**
 * The server sends a form to a client that declares only the mode url.
 * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#capabilities
 */
suspend fun main() {
    val server = Server(
        Implementation("repro", "1"),
        ServerOptions(ServerCapabilities(tools = ServerCapabilities.Tools())),
    )
    server.addTool("ask", "Ask.") {
        createElicitation("Your name?", RequestedSchema(properties = emptyMap()))
        CallToolResult(content = emptyList())
    }
    val answer = exchange(server, INITIALIZE, INITIALIZED, call("ask", "{}"))
    if ("elicitation/create" in answer) {
        println("a client that declares only elicitation.url got: $answer")
        exitProcess(0)
    }
    println("the server answered $answer")
    exitProcess(1)
}
