package repro

import io.modelcontextprotocol.kotlin.sdk.server.Server
import io.modelcontextprotocol.kotlin.sdk.server.StdioServerTransport
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered
import java.io.PipedInputStream
import java.io.PipedOutputStream

internal const val INITIALIZE =
    """{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",""" +
        """"capabilities":{"elicitation":{"url":{}}},"clientInfo":{"name":"c","version":"1"}}}"""

internal const val INITIALIZED = """{"jsonrpc":"2.0","method":"notifications/initialized"}"""

internal fun call(tool: String, arguments: String) =
    """{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"$tool","arguments":$arguments}}"""

/** Sends lines to a server, as over stdio, and returns the line with which it answers the last one. */
internal suspend fun exchange(server: Server, vararg lines: String): String {
    val toServer = PipedOutputStream()
    val fromServer = PipedInputStream()
    val input = PipedInputStream(toServer).asSource().buffered()
    val output = PipedOutputStream(fromServer).asSink().buffered()
    server.createSession(StdioServerTransport(input, output))
    val answers = fromServer.bufferedReader()
    var answer = ""
    for (line in lines) {
        toServer.write("$line\n".toByteArray())
        toServer.flush()
        if ("\"id\"" in line) answer = answers.readLine()
    }
    return answer
}
