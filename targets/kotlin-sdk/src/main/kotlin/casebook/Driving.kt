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

/** The transport has Ktor's `post` read a reply whole, https://ktor.io/docs/client-responses.html#streaming */
private const val UNHEARD = "over HTTP the client reads an event stream to its end before it hears a question on it"

/**
 * Drives the SDK's client through a script, and hands back what its user would see.
 * https://github.com/modelcontextprotocol/kotlin-sdk#creating-a-client
 */
internal suspend fun drive(order: JsonObject): JsonObject {
    checkRevision(order)
    if ("url" in order && "answers" in order) throw Cannot(UNHEARD)
    val steps = order.getValue("script").jsonArray.map { it.jsonObject }
    val client = client(order)
    return connection(order).use { connection ->
        try {
            client.connect(connection.transport)
        } catch (thrown: Exception) {
            return buildJsonObject {
                put("connected", false)
                putJsonArray("steps") {}
                put("error", described(thrown))
            }
        }
        val taken = steps.map { client.take(it) }
        client.close()
        buildJsonObject {
            put("connected", true)
            put("steps", JsonArray(taken))
        }
    }
}

private suspend fun Client.take(step: JsonObject): JsonObject = try {
    val call = step["callTool"]?.jsonObject
    if (call == null) {
        buildJsonObject { put("tools", McpJson.encodeToJsonElement(ListSerializer(Tool.serializer()), allTools())) }
    } else {
        val parameters = CallToolRequestParams(call.text("name"), call["arguments"]?.into(JsonObject.serializer()))
        val result = callTool(CallToolRequest(parameters), PATIENCE)
        buildJsonObject { put("result", McpJson.encodeToJsonElement(CallToolResult.serializer(), result)) }
    }
} catch (unbuildable: Unbuildable) {
    throw unbuildable
} catch (thrown: Exception) {
    buildJsonObject { put("error", described(thrown)) }
}

/** Page by page: https://github.com/modelcontextprotocol/kotlin-sdk#pagination */
private suspend fun Client.allTools(): List<Tool> = buildList {
    var cursor: String? = null
    do {
        val page = listTools(ListToolsRequest(PaginatedRequestParams(cursor)))
        addAll(page.tools)
        cursor = page.nextCursor
    } while (cursor != null)
}

private fun client(order: JsonObject): Client {
    val answers = order["answers"]
    val usual = if (answers == null) ClientCapabilities() else ClientCapabilities(elicitation = ELICITATION)
    val capabilities = order["declares"]?.into(ClientCapabilities.serializer()) ?: usual
    val client = Client(Implementation("casebook", "1"), ClientOptions(capabilities))
    if (answers != null) {
        val answering = Answering(answers)
        client.setElicitationHandler { answering.next() }
    }
    return client
}

private val ELICITATION = ClientCapabilities.Elicitation(form = EmptyJsonObject)

/** Uses a list up, one answer an elicitation; a single answer it gives each time. */
private class Answering(answers: JsonElement) {
    private val left = if (answers is JsonArray) ArrayDeque(answers.map(::read)) else null
    private val always = if (answers is JsonArray) null else read(answers)

    @Synchronized
    fun next(): ElicitResult = always ?: left?.removeFirstOrNull() ?: error("the script has no answer left")

    /**
     * The SDK itself fills the defaults of a form into what is accepted.
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

/** A transport, and what has to be closed behind it. */
private class Connection(val transport: Transport, private val behind: AutoCloseable) : AutoCloseable by behind

private fun connection(order: JsonObject): Connection {
    order["url"]?.let { url ->
        val http = HttpClient(CIO) { install(SSE) }
        return Connection(StreamableHttpClientTransport(http, url.jsonPrimitive.content), http)
    }
    val command = order.getValue("command").jsonArray.map { it.jsonPrimitive.content }
    val process = ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start()
    val input = process.inputStream.asSource().buffered()
    val output = process.outputStream.asSink().buffered()
    return Connection(StdioClientTransport(input, output), process::destroy)
}
