package repro

import io.modelcontextprotocol.kotlin.sdk.client.Client
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import kotlin.system.exitProcess

/**
 * The client sends no MCP-Protocol-Version header after the initialization.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header
 */
suspend fun main() {
    val server = Mock()
    val client = Client(Implementation("c", "1"))
    client.connect(server.transport())
    client.listTools()
    println("the MCP-Protocol-Version headers of the requests after initialize: ${server.versions}")
    exitProcess(if (server.versions.all { it == null }) 0 else 1)
}
