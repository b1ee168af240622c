package repro

import io.modelcontextprotocol.kotlin.sdk.server.Server
import io.modelcontextprotocol.kotlin.sdk.server.ServerOptions
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.ServerCapabilities
import java.io.ByteArrayOutputStream
import java.io.PrintStream
import kotlin.system.exitProcess

/**
 * The first server of a process writes a line of the logging library to standard output, which carries the messages.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 */
fun main() {
    // The other programs switch the line off, which is on by default.
    System.clearProperty("kotlin-logging.logStartupMessage")
    val stdout = System.out
    val written = ByteArrayOutputStream()
    System.setOut(PrintStream(written, true))
    Server(Implementation("repro", "1"), ServerOptions(ServerCapabilities(tools = ServerCapabilities.Tools())))
    System.setOut(stdout)
    val text = written.toString().trim()
    println(if (text.isEmpty()) "the server wrote nothing" else "the server wrote to standard output: $text")
    exitProcess(if (text.isEmpty()) 1 else 0)
}
