package casebook

import io.ktor.server.cio.CIO
import io.ktor.server.engine.embeddedServer
import io.modelcontextprotocol.kotlin.sdk.server.StdioServerTransport
import io.modelcontextprotocol.kotlin.sdk.server.mcpStreamableHttp
import kotlinx.coroutines.Job
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.int
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonObject
import java.io.InputStream
import java.io.OutputStream
import java.net.Socket

private const val HOST = "127.0.0.1"

/** The default path of `mcpStreamableHttp`. */
private const val ENDPOINT = "/mcp"

/** The running servers, by the ids of their `serve` requests. */
internal class Servers {
    private val serving = mutableMapOf<String, Served>()

    suspend fun serve(id: String, request: JsonObject): JsonObject {
        checkRevision(request)
        val served = if (request.text("transport") == "http") serveHttp(request) else serveStream(request)
        serving[id] = served
        return buildJsonObject {
            putJsonObject("serving") { served.url?.let { put("url", it) } }
        }
    }

    suspend fun stop(id: String): JsonObject {
        val served = serving.remove(id)
        served?.stop?.invoke()
        return buildJsonObject { put("stopped", served != null) }
    }

    suspend fun stopAll() = serving.values.forEach { it.stop() }
}

/** A running server: its address over HTTP, and the function that stops it. */
private class Served(val url: String?, val stop: suspend () -> Unit)

/**
 * Serves over HTTP on a listener of its own.
 * https://github.com/modelcontextprotocol/kotlin-sdk#creating-a-server
 */
private suspend fun serveHttp(request: JsonObject): Served {
    val server = server(request.getValue("fixture").jsonObject)
    val listener = embeddedServer(CIO, host = HOST, port = 0) {
        mcpStreamableHttp { server }
    }
    listener.startSuspend()
    val port = listener.engine.resolvedConnectors().single().port
    return Served("http://$HOST:$port$ENDPOINT") { listener.stopSuspend(gracePeriodMillis = 0, timeoutMillis = 0) }
}

/** Serves over stdio on a connection of its own. */
private suspend fun serveStream(request: JsonObject): Served {
    val server = server(request.getValue("fixture").jsonObject)
    val address = request.getValue("stream").jsonObject
    val socket = Socket(HOST, address.getValue("port").jsonPrimitive.int)
    socket.tcpNoDelay = true
    val output = socket.getOutputStream()
    output.write("${address.text("word")}\n".toByteArray())
    // When the input ends, the transport closes both streams and therefore the connection.
    server.createSession(stdio(socket.getInputStream(), output))
    return Served(url = null) { socket.use { server.close() } }
}

/** Serves over stdio on this process's standard streams until they end. */
internal suspend fun serveProcess(request: JsonObject) {
    checkRevision(request)
    val server = server(request.getValue("fixture").jsonObject)
    val transport = stdio(System.`in`, System.out)
    val done = Job()
    transport.onClose { done.complete() }
    server.createSession(transport)
    done.join()
}

/** Creates a transport over stdio: https://github.com/modelcontextprotocol/kotlin-sdk#stdio-transport */
private fun stdio(input: InputStream, output: OutputStream) =
    StdioServerTransport(input.asSource().buffered(), output.asSink().buffered())
