package repro

import io.modelcontextprotocol.kotlin.sdk.client.Client
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import kotlin.system.exitProcess

/**
 * After a response with the status 404, the client sends the next request in the same session.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
suspend fun main() {
    val server = Mock(losesSessions = true)
    val client = Client(Implementation("c", "1"))
    client.connect(server.transport())
    repeat(2) { runCatching { client.callTool("t", emptyMap()) } }
    println("the sessions of two calls that got the status 404: ${server.sessions}")
    exitProcess(if (server.sessions.toList() == listOf("old", "old")) 0 else 1)
}
