package casebook

import io.ktor.client.HttpClient
import io.ktor.client.engine.cio.CIO
import io.ktor.client.plugins.sse.SSE
import io.modelcontextprotocol.kotlin.sdk.client.Client
import io.modelcontextprotocol.kotlin.sdk.client.ClientOptions
import io.modelcontextprotocol.kotlin.sdk.client.StdioClientTransport
import io.modelcontextprotocol.kotlin.sdk.client.StreamableHttpClientTransport
import io.modelcontextprotocol.kotlin.sdk.client.StreamableHttpError
import io.modelcontextprotocol.kotlin.sdk.shared.RequestOptions
import io.modelcontextprotocol.kotlin.sdk.shared.Transport
import io.modelcontextprotocol.kotlin.sdk.types.CallToolRequest
import io.modelcontextprotocol.kotlin.sdk.types.CallToolRequestParams
import io.modelcontextprotocol.kotlin.sdk.types.CallToolResult
import io.modelcontextprotocol.kotlin.sdk.types.ClientCapabilities
import io.modelcontextprotocol.kotlin.sdk.types.ElicitResult
import io.modelcontextprotocol.kotlin.sdk.types.EmptyJsonObject
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.ListToolsRequest
import io.modelcontextprotocol.kotlin.sdk.types.McpJson
import io.modelcontextprotocol.kotlin.sdk.types.PaginatedRequestParams
import io.modelcontextprotocol.kotlin.sdk.types.Tool
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.coroutineScope
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered
import kotlinx.serialization.builtins.ListSerializer
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.long
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonArray
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/**
 * The time limit for a call. The SDK's default of one minute is longer than casebook waits, and a call in which the
 * server asks always ends by the limit over HTTP. The SDK ends it in the same way after either limit. It is longer than
 * the time for which a server sends a client away (`retry`).
 */
private val CALL_LIMIT = RequestOptions(timeout = 3.seconds)

/**
 * Drives the SDK's client through a script and reports the results that its user would get.
 * https://github.com/modelcontextprotocol/kotlin-sdk#creating-a-client
 */
internal suspend fun drive(request: JsonObject): JsonObject {
    checkRevision(request)
    val steps = request.getValue("script").jsonArray.map { it.jsonObject }
    val limit = request["requestTimeout"]?.let { RequestOptions(timeout = it.jsonPrimitive.long.milliseconds) }
    val capabilities = capabilities(request)
    if (steps.any { "request" in it }) throw Cannot("CustomRequest has no parameters but _meta, and $NO_RESULT")
    return connection(request).use { connection ->
        val client = try {
            client(capabilities, request["answers"]).apply { connect(connection.transport) }
        } catch (thrown: Exception) {
            return buildJsonObject {
                put("connected", false)
                putJsonArray("steps") {}
                put("error", describeError(thrown))
            }
        }
        val outcomes = steps.map { client.runStep(it, limit) }
        connection.endSession()
        client.close()
        buildJsonObject {
            put("connected", true)
            put("steps", JsonArray(outcomes))
        }
    }
}

private suspend fun Client.runStep(step: JsonObject, limit: RequestOptions?): JsonObject {
    step["callTool"]?.let { return call(it.jsonObject, limit) }
    step["callTools"]?.let { calls ->
        // The calls are made at the same time.
        val results = coroutineScope { calls.jsonArray.map { async { call(it.jsonObject, limit) } }.awaitAll() }
        return buildJsonObject { put("results", JsonArray(results)) }
    }
    return reported {
        buildJsonObject {
            put("tools", McpJson.encodeToJsonElement(ListSerializer(Tool.serializer()), allTools(limit)))
        }
    }
}

private suspend fun Client.call(call: JsonObject, limit: RequestOptions?): JsonObject = reported {
    val arguments = call["arguments"]?.intoObject("CallToolRequestParams.arguments")
    val request = CallToolRequest(CallToolRequestParams(call.text("name"), arguments))
    val result = callTool(request, limit ?: CALL_LIMIT)
    buildJsonObject { put("result", McpJson.encodeToJsonElement(CallToolResult.serializer(), result)) }
}

private suspend fun reported(request: suspend () -> JsonObject): JsonObject = try {
    request()
} catch (unbuildable: Unbuildable) {
    throw unbuildable
} catch (thrown: Exception) {
    buildJsonObject { put("error", describeError(thrown)) }
}

/** Requests all pages: https://github.com/modelcontextprotocol/kotlin-sdk#pagination */
private suspend fun Client.allTools(limit: RequestOptions?): List<Tool> = buildList {
    var cursor: String? = null
    do {
        val page = listTools(ListToolsRequest(PaginatedRequestParams(cursor)), limit)
        addAll(page.tools)
        cursor = page.nextCursor
    } while (cursor != null)
}

private fun capabilities(request: JsonObject) =
    request["declares"]?.into("ClientOptions.capabilities", ClientCapabilities.serializer())
        ?: ClientCapabilities(elicitation = ClientCapabilities.elicitation.takeIf { "answers" in request })

private fun client(capabilities: ClientCapabilities, answers: JsonElement?): Client {
    val client = object : Client(Implementation("casebook", "1"), ClientOptions(capabilities)) {
        override fun onError(error: Throwable) = error.printStackTrace()
    }
    if (answers != null) {
        val remaining = Answers(answers)
        client.setElicitationHandler { remaining.next() }
    }
    return client
}

/** The answers to elicitations: each answer of a list once, or a single answer every time. */
private class Answers(answers: JsonElement) {
    private val remaining = if (answers is JsonArray) ArrayDeque(answers.map(::read)) else null
    private val always = if (answers is JsonArray) null else read(answers)

    @Synchronized
    fun next(): ElicitResult = always ?: remaining?.removeFirstOrNull() ?: error("the script has no answer left")

    /**
     * Reads one answer. The SDK itself fills the defaults of a form into accepted content.
     * https://kotlin.sdk.modelcontextprotocol.io/kotlin-sdk-client/io.modelcontextprotocol.kotlin.sdk.client/-client/set-elicitation-handler.html
     */
    private fun read(answer: JsonElement) = when (answer) {
        JsonPrimitive("decline") -> ElicitResult(ElicitResult.Action.Decline)
        JsonPrimitive("cancel") -> ElicitResult(ElicitResult.Action.Cancel)
        JsonPrimitive("accept") -> ElicitResult(ElicitResult.Action.Accept)
        else -> {
            val content = answer.jsonObject.getValue("accept") as? JsonObject
            ElicitResult(ElicitResult.Action.Accept, content ?: EmptyJsonObject)
        }
    }
}

/** A transport, and the resource to close after it. */
private class Connection(val transport: Transport, private val resource: AutoCloseable) : AutoCloseable by resource {
    /** Ends the session, which closing the client does not do. A server may have ended it already. */
    suspend fun endSession() {
        try {
            (transport as? StreamableHttpClientTransport)?.terminateSession()
        } catch (_: StreamableHttpError) {
            return
        }
    }
}

private fun connection(request: JsonObject): Connection {
    request["url"]?.let { url ->
        val http = HttpClient(CIO) { install(SSE) }
        return Connection(StreamableHttpClientTransport(http, url.jsonPrimitive.content), http)
    }
    val command = request.getValue("command").jsonArray.map { it.jsonPrimitive.content }
    val process = ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start()
    val input = process.inputStream.asSource().buffered()
    val output = process.outputStream.asSink().buffered()
    return Connection(StdioClientTransport(input, output), process::destroy)
}
