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

/** A tool's body. */
private typealias Handler = suspend ClientConnection.(CallToolRequest) -> CallToolResult

/** How long the SDK waits for an answer: by default it is a minute, which is longer than a test may take. */
internal val PATIENCE = RequestOptions(timeout = 5.seconds)

/** The SDK's own reader, but one that says so where a value doesn't fit into the SDK's type. */
private val STRICT = Json(McpJson) {
    ignoreUnknownKeys = false
    isLenient = false
}

/** Reads a part of a fixture into the type that the SDK's API takes. */
internal fun <T> JsonElement.into(type: DeserializationStrategy<T>): T = try {
    STRICT.decodeFromJsonElement(type, this)
} catch (misfit: SerializationException) {
    throw Cannot("${type.descriptor.serialName} can't express it: ${misfit.message?.lineSequence()?.first()}")
}

/** https://github.com/modelcontextprotocol/kotlin-sdk#tools */
internal fun server(fixture: JsonObject): Server {
    val tools = fixture.getValue("tools").jsonArray.map { it.jsonObject }.map { declared(it) to handler(it) }
    val capabilities = ServerCapabilities(tools = ServerCapabilities.Tools())
    return try {
        Server(fixture.getValue("server").into(Implementation.serializer()), ServerOptions(capabilities)) {
            for ((tool, handler) in tools) addTool(tool, handler)
        }
    } catch (thrown: IllegalArgumentException) {
        throw Refused(thrown)
    }
}

private fun declared(tool: JsonObject) = Tool(
    name = tool.text("name"),
    // For a tool that declares none, the SDK's own default.
    inputSchema = tool["inputSchema"]?.into(ToolSchema.serializer()) ?: ToolSchema(),
    description = tool["description"]?.jsonPrimitive?.content,
    outputSchema = tool["outputSchema"]?.into(ToolSchema.serializer()),
    title = tool["title"]?.jsonPrimitive?.content,
)

private fun handler(tool: JsonObject): Handler {
    val (kind, does) = tool.getValue("does").jsonObject.entries.single()
    return when (kind) {
        "echo" -> { request -> CallToolResult(content = emptyList(), structuredContent = request.arguments) }
        "return" -> returned(does.jsonObject).let { result -> { result } }
        "elicit" -> asking(does.jsonObject)
        else -> { _ -> error(does.jsonPrimitive.content) }
    }
}

private fun returned(parts: JsonObject) = CallToolResult(
    content = parts["content"]?.into(ListSerializer(ContentBlock.serializer())).orEmpty(),
    isError = parts["isError"]?.jsonPrimitive?.boolean,
    structuredContent = parts["structuredContent"]?.into(JsonObject.serializer()),
)

/** Asks, and tells what was answered. */
private fun asking(does: JsonObject): Handler {
    val requestedSchema = does.getValue("requestedSchema").into(RequestedSchema.serializer())
    return {
        val answer = createElicitation(does.text("message"), requestedSchema, PATIENCE)
        val told = buildJsonObject {
            put("action", answer.action.name.lowercase())
            answer.content?.let { put("content", it) }
        }
        CallToolResult(content = emptyList(), structuredContent = told)
    }
}
