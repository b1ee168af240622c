package repro

import io.modelcontextprotocol.kotlin.sdk.client.Client
import io.modelcontextprotocol.kotlin.sdk.client.ClientOptions
import io.modelcontextprotocol.kotlin.sdk.shared.RequestOptions
import io.modelcontextprotocol.kotlin.sdk.types.CallToolRequest
import io.modelcontextprotocol.kotlin.sdk.types.CallToolRequestParams
import io.modelcontextprotocol.kotlin.sdk.types.ClientCapabilities
import io.modelcontextprotocol.kotlin.sdk.types.ElicitResult
import io.modelcontextprotocol.kotlin.sdk.types.EmptyJsonObject
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.McpException
import kotlin.system.exitProcess
import kotlin.time.Duration.Companion.seconds

/**
 * Over HTTP, the client reads an event stream to its end before it handles the messages in it, so it does not answer a
 * question on that stream.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
suspend fun main() {
    val server = Mock()
    val capabilities = ClientCapabilities(elicitation = ClientCapabilities.elicitation)
    val client = Client(Implementation("c", "1"), ClientOptions(capabilities))
    client.setElicitationHandler { ElicitResult(ElicitResult.Action.Accept, EmptyJsonObject) }
    client.connect(server.transport())
    try {
        client.callTool(CallToolRequest(CallToolRequestParams("t")), RequestOptions(timeout = 2.seconds))
    } catch (_: McpException) {
        // The call ends by its time limit.
    }
    if (server.unanswered.count == 1L) {
        println("within 2 s the client did not answer the question on the event stream of its call")
        exitProcess(0)
    }
    println("the client answered the question")
    exitProcess(1)
}
