package casebook

import io.ktor.server.cio.CIO
import io.ktor.server.cio.CIOApplicationEngine
import io.ktor.server.engine.EmbeddedServer
import io.ktor.server.engine.embeddedServer
import io.modelcontextprotocol.kotlin.sdk.server.StdioServerTransport
import io.modelcontextprotocol.kotlin.sdk.server.mcpStreamableHttp
import kotlinx.coroutines.Job
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonObject

private const val HOST = "127.0.0.1"
private const val ENDPOINT = "/mcp"

/** A listener for each fixture that is served over Streamable HTTP. */
internal class Listeners {
    private val serving = mutableMapOf<String, EmbeddedServer<CIOApplicationEngine, *>>()

    /** https://github.com/modelcontextprotocol/kotlin-sdk#streamable-http-transport */
    suspend fun serve(id: String, order: JsonObject): JsonObject {
        if (order.text("transport") != "http") throw Cannot("`serve` is for http; for the rest start --stdio-server")
        checkRevision(order)
        val fixture = order.getValue("fixture").jsonObject
        checkQuestions(fixture)
        val server = server(fixture)
        val listener = embeddedServer(CIO, host = HOST, port = 0) {
            mcpStreamableHttp(path = ENDPOINT) { server }
        }
        listener.startSuspend()
        serving[id] = listener
        val port = listener.engine.resolvedConnectors().single().port
        return buildJsonObject {
            putJsonObject("serving") { put("url", "http://$HOST:$port$ENDPOINT") }
        }
    }

    suspend fun stop(id: String): JsonObject {
        val listener = serving.remove(id)
        listener?.stopSuspend(gracePeriodMillis = 0, timeoutMillis = 0)
        return buildJsonObject { put("stopped", listener != null) }
    }
}

/** What `mcpStreamableHttp` answers a POST with is JSON, which leaves a question the GET stream only. */
private fun checkQuestions(fixture: JsonObject) {
    val asks = fixture.getValue("tools").jsonArray.any { "elicit" in it.jsonObject.getValue("does").jsonObject }
    if (asks) throw Cannot("mcpStreamableHttp has no event stream in answer to a POST, on which a tool could ask")
}

/**
 * Speaks MCP on this process's standard streams until they end.
 * https://github.com/modelcontextprotocol/kotlin-sdk#stdio-transport
 */
internal suspend fun serveStreams(order: JsonObject) {
    checkRevision(order)
    val server = server(order.getValue("fixture").jsonObject)
    val transport = StdioServerTransport(System.`in`.asSource().buffered(), System.out.asSink().buffered())
    val done = Job()
    transport.onClose { done.complete() }
    server.createSession(transport)
    done.join()
}
