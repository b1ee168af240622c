package casebook

import io.ktor.client.HttpClient
import io.ktor.client.engine.cio.CIO
import io.ktor.client.plugins.sse.SSE
import io.modelcontextprotocol.kotlin.sdk.client.Client
import io.modelcontextprotocol.kotlin.sdk.client.ClientOptions
import io.modelcontextprotocol.kotlin.sdk.client.StdioClientTransport
import io.modelcontextprotocol.kotlin.sdk.client.StreamableHttpClientTransport
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
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonArray

/** The transport uses Ktor's `post`, which reads a whole reply: https://ktor.io/docs/client-responses.html#streaming */
private const val NO_ELICITATION_OVER_HTTP =
    "over HTTP the client reads an event stream to its end before it hears a question on it"

/**
 * Drives the SDK's client through a script and reports the results that its user would get.
 * https://github.com/modelcontextprotocol/kotlin-sdk#creating-a-client
 */
internal suspend fun drive(request: JsonObject): JsonObject {
    checkRevision(request)
    if ("url" in request && "answers" in request) throw Cannot(NO_ELICITATION_OVER_HTTP)
    val steps = request.getValue("script").jsonArray.map { it.jsonObject }
    val client = client(request)
    return connection(request).use { connection ->
        try {
            client.connect(connection.transport)
        } catch (thrown: Exception) {
            return buildJsonObject {
                put("connected", false)
                putJsonArray("steps") {}
                put("error", describeError(thrown))
            }
        }
        val outcomes = steps.map { client.runStep(it) }
        client.close()
        buildJsonObject {
            put("connected", true)
            put("steps", JsonArray(outcomes))
        }
    }
}

private suspend fun Client.runStep(step: JsonObject): JsonObject = try {
    val call = step["callTool"]?.jsonObject
    if (call == null) {
        buildJsonObject { put("tools", McpJson.encodeToJsonElement(ListSerializer(Tool.serializer()), allTools())) }
    } else {
        val parameters = CallToolRequestParams(call.text("name"), call["arguments"]?.into(JsonObject.serializer()))
        val result = callTool(CallToolRequest(parameters), ANSWER_TIMEOUT)
        buildJsonObject { put("result", McpJson.encodeToJsonElement(CallToolResult.serializer(), result)) }
    }
} catch (unbuildable: Unbuildable) {
    throw unbuildable
} catch (thrown: Exception) {
    buildJsonObject { put("error", describeError(thrown)) }
}

/** Requests all pages: https://github.com/modelcontextprotocol/kotlin-sdk#pagination */
private suspend fun Client.allTools(): List<Tool> = buildList {
    var cursor: String? = null
    do {
        val page = listTools(ListToolsRequest(PaginatedRequestParams(cursor)))
        addAll(page.tools)
        cursor = page.nextCursor
    } while (cursor != null)
}

private fun client(request: JsonObject): Client {
    val answers = request["answers"]
    val default = if (answers == null) ClientCapabilities() else ClientCapabilities(elicitation = ELICITATION)
    val capabilities = request["declares"]?.into(ClientCapabilities.serializer()) ?: default
    val client = Client(Implementation("casebook", "1"), ClientOptions(capabilities))
    if (answers != null) {
        val remaining = Answers(answers)
        client.setElicitationHandler { remaining.next() }
    }
    return client
}

private val ELICITATION = ClientCapabilities.Elicitation(form = EmptyJsonObject)

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
        else -> {
            val content = answer.jsonObject.getValue("accept") as? JsonObject
            ElicitResult(ElicitResult.Action.Accept, content ?: EmptyJsonObject)
        }
    }
}

/** A transport, and the resource to close after it. */
private class Connection(val transport: Transport, private val resource: AutoCloseable) : AutoCloseable by resource

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
