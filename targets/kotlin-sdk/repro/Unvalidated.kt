package repro

import io.modelcontextprotocol.kotlin.sdk.server.Server
import io.modelcontextprotocol.kotlin.sdk.server.ServerOptions
import io.modelcontextprotocol.kotlin.sdk.types.CallToolResult
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.ServerCapabilities
import io.modelcontextprotocol.kotlin.sdk.types.ToolSchema
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonObject
import kotlin.system.exitProcess

/**
 * The server lists the schemas of a tool but applies neither of them.
 * https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations
 */
suspend fun main() {
    val server = Server(
        Implementation("repro", "1"),
        ServerOptions(ServerCapabilities(tools = ServerCapabilities.Tools())),
    )
    val input = buildJsonObject {
        putJsonObject("n") { put("type", "integer") }
    }
    val output = ToolSchema(required = listOf("missing"))
    server.addTool("echo", "Echo.", ToolSchema(properties = input), outputSchema = output) { request ->
        CallToolResult(content = emptyList(), structuredContent = request.arguments)
    }
    server.addTool("silent", "Returns nothing.", ToolSchema(), outputSchema = output) { CallToolResult(emptyList()) }
    val answer = exchange(server, INITIALIZE, INITIALIZED, call("echo", """{"n":"no integer"}"""))
    val silence = exchange(server, INITIALIZE, INITIALIZED, call("silent", "{}"))
    if ("\"structuredContent\":{\"n\":\"no integer\"}" in answer && "\"content\":[]" in silence) {
        println("an invalid argument reached the tool, and its invalid result was sent: $answer; and none: $silence")
        exitProcess(0)
    }
    println("the server answered $answer and $silence")
    exitProcess(1)
}
