package casebook

import io.modelcontextprotocol.kotlin.sdk.server.ClientConnection
import io.modelcontextprotocol.kotlin.sdk.server.Server
import io.modelcontextprotocol.kotlin.sdk.server.ServerOptions
import io.modelcontextprotocol.kotlin.sdk.shared.RequestOptions
import io.modelcontextprotocol.kotlin.sdk.types.CallToolRequest
import io.modelcontextprotocol.kotlin.sdk.types.CallToolResult
import io.modelcontextprotocol.kotlin.sdk.types.ContentBlock
import io.modelcontextprotocol.kotlin.sdk.types.ElicitRequestParams.RequestedSchema
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.McpJson
import io.modelcontextprotocol.kotlin.sdk.types.ServerCapabilities
import io.modelcontextprotocol.kotlin.sdk.types.Tool
import io.modelcontextprotocol.kotlin.sdk.types.ToolSchema
import kotlinx.serialization.DeserializationStrategy
import kotlinx.serialization.SerializationException
import kotlinx.serialization.builtins.ListSerializer
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.boolean
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.put
import kotlin.time.Duration.Companion.seconds

/** The body of a tool. */
private typealias Handler = suspend ClientConnection.(CallToolRequest) -> CallToolResult

/** The SDK's time limit for answers. The default of one minute is longer than a test may take. */
internal val ANSWER_TIMEOUT = RequestOptions(timeout = 5.seconds)

/** The SDK's own reader, with strict settings: it throws if a value does not fit the SDK's type. */
private val STRICT = Json(McpJson) {
    ignoreUnknownKeys = false
    isLenient = false
}

/** Reads a part of a fixture into the type that the SDK's API expects. */
internal fun <T> JsonElement.into(type: DeserializationStrategy<T>): T = try {
    STRICT.decodeFromJsonElement(type, this)
} catch (thrown: SerializationException) {
    throw Cannot("${type.descriptor.serialName} can't express it: ${thrown.message?.lineSequence()?.first()}")
}

/** Builds a server: https://github.com/modelcontextprotocol/kotlin-sdk#tools */
internal fun server(fixture: JsonObject): Server {
    val tools = fixture.getValue("tools").jsonArray.map { it.jsonObject }.map { definition(it) to handler(it) }
    val capabilities = ServerCapabilities(tools = ServerCapabilities.Tools())
    return try {
        Server(fixture.getValue("server").into(Implementation.serializer()), ServerOptions(capabilities)) {
            for ((tool, handler) in tools) addTool(tool, handler)
        }
    } catch (thrown: IllegalArgumentException) {
        throw Refused(thrown)
    }
}

private fun definition(tool: JsonObject) = Tool(
    name = tool.text("name"),
    // A tool without a schema gets the SDK's default.
    inputSchema = tool["inputSchema"]?.into(ToolSchema.serializer()) ?: ToolSchema(),
    description = tool["description"]?.jsonPrimitive?.content,
    outputSchema = tool["outputSchema"]?.into(ToolSchema.serializer()),
    title = tool["title"]?.jsonPrimitive?.content,
)

private fun handler(tool: JsonObject): Handler {
    val (kind, does) = tool.getValue("does").jsonObject.entries.single()
    return when (kind) {
        "echo" -> { request -> CallToolResult(content = emptyList(), structuredContent = request.arguments) }
        "return" -> result(does.jsonObject).let { result -> { result } }
        "elicit" -> elicitHandler(does.jsonObject)
        else -> { _ -> error(does.jsonPrimitive.content) }
    }
}

private fun result(parts: JsonObject) = CallToolResult(
    content = parts["content"]?.into(ListSerializer(ContentBlock.serializer())).orEmpty(),
    isError = parts["isError"]?.jsonPrimitive?.boolean,
    structuredContent = parts["structuredContent"]?.into(JsonObject.serializer()),
)

/** Creates a handler that asks the user and returns the answer. */
private fun elicitHandler(does: JsonObject): Handler {
    val requestedSchema = does.getValue("requestedSchema").into(RequestedSchema.serializer())
    return {
        val answer = createElicitation(does.text("message"), requestedSchema, ANSWER_TIMEOUT)
        val content = buildJsonObject {
            put("action", answer.action.name.lowercase())
            answer.content?.let { put("content", it) }
        }
        CallToolResult(content = emptyList(), structuredContent = content)
    }
}
