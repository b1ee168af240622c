package repro

import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpServer
import io.ktor.client.HttpClient
import io.ktor.client.engine.cio.CIO
import io.ktor.client.plugins.sse.SSE
import io.modelcontextprotocol.kotlin.sdk.client.StreamableHttpClientTransport
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonObject
import java.net.InetSocketAddress
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit

internal const val INFO = """"capabilities":{"tools":{}},"serverInfo":{"name":"repro","version":"1"}"""

private const val QUESTION =
    """{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Your name?",""" +
        """"requestedSchema":{"type":"object","properties":{}}}}"""

/**
 * A server over HTTP that asks on the event stream of a call, and keeps the stream open for four seconds. If it loses
 * sessions, it answers each call with the status 404 instead.
 */
internal class Mock(private val losesSessions: Boolean = false) {
    /** Open until the client has answered the question. */
    val unanswered = CountDownLatch(1)

    /** The MCP-Protocol-Version headers of the requests after initialize. */
    val versions = CopyOnWriteArrayList<String?>()

    /** The sessions of the calls. */
    val sessions = CopyOnWriteArrayList<String?>()

    private val listener = HttpServer.create(InetSocketAddress("127.0.0.1", 0), 0).apply {
        executor = Executors.newCachedThreadPool()
        createContext("/") { exchange -> exchange.use(::answer) }
        start()
    }

    fun transport() =
        StreamableHttpClientTransport(HttpClient(CIO) { install(SSE) }, "http://127.0.0.1:${listener.address.port}/")

    private fun answer(exchange: HttpExchange) {
        if (exchange.requestMethod != "POST") return exchange.sendResponseHeaders(405, -1)
        val message = Json.parseToJsonElement(exchange.requestBody.reader().readText()).jsonObject
        val method = (message["method"] as? JsonPrimitive)?.content
        if (method != "initialize") versions += exchange.requestHeaders.getFirst("MCP-Protocol-Version")
        when (method) {
            "initialize" -> {
                if (losesSessions) exchange.responseHeaders.add("Mcp-Session-Id", if (versions.isEmpty()) "old" else "new")
                send(exchange, message, """{"protocolVersion":"2025-11-25",$INFO}""")
            }

            "tools/list" -> send(exchange, message, """{"tools":[]}""")

            "tools/call" -> {
                sessions += exchange.requestHeaders.getFirst("Mcp-Session-Id")
                if (losesSessions) return exchange.sendResponseHeaders(404, -1)
                exchange.responseHeaders.add("Content-Type", "text/event-stream")
                exchange.sendResponseHeaders(200, 0)
                exchange.responseBody.write("event: message\ndata: $QUESTION\n\n".toByteArray())
                exchange.responseBody.flush()
                unanswered.await(4, TimeUnit.SECONDS)
            }

            else -> {
                if ("result" in message) unanswered.countDown()
                exchange.sendResponseHeaders(202, -1)
            }
        }
    }

    private fun send(exchange: HttpExchange, request: JsonObject, result: String) {
        val text = """{"jsonrpc":"2.0","id":${request["id"]},"result":$result}""".toByteArray()
        exchange.responseHeaders.add("Content-Type", "application/json")
        exchange.sendResponseHeaders(200, text.size.toLong())
        exchange.responseBody.write(text)
    }
}
