package casebook

import io.modelcontextprotocol.kotlin.sdk.server.ClientConnection
import io.modelcontextprotocol.kotlin.sdk.server.Server
import io.modelcontextprotocol.kotlin.sdk.server.ServerOptions
import io.modelcontextprotocol.kotlin.sdk.shared.RequestOptions
import io.modelcontextprotocol.kotlin.sdk.types.CallToolRequest
import io.modelcontextprotocol.kotlin.sdk.types.CallToolResult
import io.modelcontextprotocol.kotlin.sdk.types.ContentBlock
import io.modelcontextprotocol.kotlin.sdk.types.ElicitRequestParams.RequestedSchema
import io.modelcontextprotocol.kotlin.sdk.types.ElicitResult
import io.modelcontextprotocol.kotlin.sdk.types.Icon
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.LoggingMessageNotification
import io.modelcontextprotocol.kotlin.sdk.types.LoggingMessageNotificationParams
import io.modelcontextprotocol.kotlin.sdk.types.McpJson
import io.modelcontextprotocol.kotlin.sdk.types.ProgressNotification
import io.modelcontextprotocol.kotlin.sdk.types.ProgressNotificationParams
import io.modelcontextprotocol.kotlin.sdk.types.ServerCapabilities
import io.modelcontextprotocol.kotlin.sdk.types.TextContent
import io.modelcontextprotocol.kotlin.sdk.types.Tool
import io.modelcontextprotocol.kotlin.sdk.types.ToolAnnotations
import io.modelcontextprotocol.kotlin.sdk.types.ToolExecution
import io.modelcontextprotocol.kotlin.sdk.types.ToolSchema
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.delay
import kotlinx.coroutines.withContext
import kotlinx.serialization.KSerializer
import kotlinx.serialization.SerializationException
import kotlinx.serialization.builtins.ListSerializer
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.boolean
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.double
import kotlinx.serialization.json.doubleOrNull
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.put
import java.net.URI
import kotlin.time.Duration.Companion.seconds

/** The body of a tool. */
private typealias Handler = suspend ClientConnection.(CallToolRequest) -> CallToolResult

/**
 * The time limit for an answer of the user. The SDK's default of one minute is longer than casebook waits for a call. The
 * SDK ends the call in the same way after either limit.
 */
private val ANSWER_LIMIT = RequestOptions(timeout = 5.seconds)

/** The time after which a call ends that is never cancelled. */
private val WAIT_LIMIT = 30.seconds

/** The SDK's own reader, with strict settings: it throws if a value does not fit the SDK's type. */
private val STRICT = Json(McpJson) {
    ignoreUnknownKeys = false
    isLenient = false
}

/** Reads a value into the type of a parameter of the SDK's API. */
internal fun <T> JsonElement.into(parameter: String, type: KSerializer<T>): T = try {
    STRICT.decodeFromJsonElement(type, this)
} catch (thrown: SerializationException) {
    throw Cannot("$parameter cannot take this value: ${thrown.message?.lineSequence()?.first()}")
}

/** Reads a value that the type must hold with each of its members. The serializer also accepts texts for numbers. */
private fun <T> JsonElement.intoWhole(parameter: String, type: KSerializer<T>): T {
    val value = into(parameter, type)
    if (!isKeptIn(McpJson.encodeToJsonElement(type, value))) throw Cannot("$parameter cannot take this value")
    return value
}

/** Reads a value for a parameter that takes a JsonObject or null. */
internal fun JsonElement.intoObject(parameter: String): JsonObject? = when (this) {
    is JsonObject -> this
    is JsonNull -> null
    else -> throw Cannot("$parameter takes only a JsonObject")
}

/** Builds a server: https://github.com/modelcontextprotocol/kotlin-sdk#creating-a-server */
internal fun server(fixture: JsonObject): Server {
    val tools = fixture.getValue("tools").jsonArray.map { it.jsonObject }
    val logging = ServerCapabilities.Logging.takeIf { tools.any { "log" in it.getValue("does").jsonObject } }
    val capabilities = addedCapabilities(fixture).copy(tools = ServerCapabilities.Tools(), logging = logging)
    if ("methods" in fixture) throw Cannot("Server has no function for other methods, and $NO_RESULT")
    val server = Server(
        serverInfo = fixture.getValue("server").into("Server.serverInfo", Implementation.serializer()),
        options = ServerOptions(capabilities),
    )
    for (tool in tools) {
        val definition = definition(tool)
        val handler = handler(tool)
        try {
            server.addTool(definition, handler)
        } catch (thrown: Exception) {
            throw Refused(thrown, definition.name)
        }
    }
    return server
}

/** Why the SDK's user can neither answer nor send the request of a proposal. */
internal const val NO_RESULT = "RequestResult is sealed, with types only for the results of methods that the SDK knows"

private fun addedCapabilities(fixture: JsonObject) =
    fixture["capabilities"]?.into("ServerOptions.capabilities", ServerCapabilities.serializer()) ?: ServerCapabilities()

/** The members of a fixture's tool for which the constructor of Tool has a parameter, and the code of the tool. */
private val MEMBERS = setOf(
    "name",
    "inputSchema",
    "description",
    "outputSchema",
    "title",
    "annotations",
    "icons",
    "execution",
    "_meta",
    "does",
)

private fun definition(tool: JsonObject): Tool {
    (tool.keys - MEMBERS).firstOrNull()?.let { throw Cannot("the constructor of Tool has no parameter for $it") }
    return Tool(
        name = tool.text("name"),
        // The default of the parameter inputSchema of Server.addTool, which also requires a description.
        inputSchema = tool["inputSchema"]?.intoToolSchema("Tool.inputSchema") ?: ToolSchema(),
        description = tool["description"]?.jsonPrimitive?.content,
        outputSchema = tool.known("outputSchema")?.intoToolSchema("Tool.outputSchema"),
        title = tool["title"]?.jsonPrimitive?.content,
        annotations = tool.known("annotations")?.intoWhole("Tool.annotations", ToolAnnotations.serializer()),
        icons = tool.known("icons")?.intoWhole("Tool.icons", ListSerializer(Icon.serializer())),
        execution = tool.known("execution")?.intoWhole("Tool.execution", ToolExecution.serializer()),
        meta = tool["_meta"]?.intoObject("Tool.meta"),
    )
}

/** Returns a member, or null for a JSON null, which the SDK's types cannot tell from a missing member. */
private fun JsonObject.known(member: String) = get(member)?.takeUnless { it is JsonNull }

/** Reads the schema of a tool. The serializer accepts any type, which an author has no way to set. */
private fun JsonElement.intoToolSchema(parameter: String): ToolSchema {
    val schema = into(parameter, ToolSchema.serializer())
    if (schema.type != "object") {
        throw Cannot("$parameter is a ToolSchema, and its constructor has no type: it is always object")
    }
    return schema
}

private fun handler(tool: JsonObject): Handler {
    val (kind, does) = tool.getValue("does").jsonObject.entries.single()
    return when (kind) {
        "echo" -> { request -> structuredResult(request.arguments) }
        "return" -> returnHandler(does.jsonObject)
        "elicit" -> elicitHandler(does.jsonObject)
        "raise" -> { _ -> error(does.jsonPrimitive.content) }
        "wait" -> waitHandler(does.jsonObject)
        "log" -> logHandler(
            does.into("LoggingMessageNotificationParams", LoggingMessageNotificationParams.serializer()),
        )
        "progress" -> progressHandler(does.jsonObject)
        else -> throw Cannot("this adapter has no code for $kind")
    }
}

/** Creates a result with the same JSON as text, because the constructor requires content for the model to read. */
private fun structuredResult(structuredContent: JsonObject?) = CallToolResult(
    content = listOfNotNull(structuredContent?.let { TextContent(it.toString()) }),
    structuredContent = structuredContent,
)

private fun returnHandler(parts: JsonObject): Handler {
    val structuredContent = parts["structuredContent"]?.intoObject("CallToolResult.structuredContent")
    val content = parts["content"]?.into("CallToolResult.content", ListSerializer(ContentBlock.serializer()))
    val isError = parts["isError"]?.jsonPrimitive?.boolean
    return {
        val result = structuredResult(structuredContent)
        result.copy(content = content ?: result.content, isError = isError)
    }
}

/** Creates a handler that asks the user and returns the answer. */
private fun elicitHandler(does: JsonObject): Handler {
    val message = does.text("message")
    return when (val mode = does["mode"]?.jsonPrimitive?.content ?: "form") {
        "form" -> {
            val requestedSchema = does.getValue("requestedSchema").intoRequestedSchema()
            answerHandler { createElicitation(message, requestedSchema, ANSWER_LIMIT) }
        }

        "url" -> {
            val id = does["elicitationId"] ?: throw Cannot("createElicitation requires an elicitationId for a URL")
            answerHandler { createElicitation(message, id.jsonPrimitive.content, does.text("url"), ANSWER_LIMIT) }
        }

        else -> throw Cannot("createElicitation has no parameters for the mode $mode")
    }
}

/** Creates a handler that returns the user's answer. */
private fun answerHandler(ask: suspend ClientConnection.() -> ElicitResult): Handler = {
    val answer = ask()
    structuredResult(
        buildJsonObject {
            put("action", answer.action.name.lowercase())
            answer.content?.let { put("content", it) }
        },
    )
}

/** Creates a handler that waits until its call is cancelled: the SDK then cancels the handler's coroutine. */
private fun waitHandler(does: JsonObject): Handler = {
    get(does.text("started"))
    try {
        delay(WAIT_LIMIT)
    } catch (cancelled: CancellationException) {
        withContext(NonCancellable) { get(does.text("stopped")) }
        throw cancelled
    }
    error("the call was not cancelled")
}

private suspend fun get(url: String) {
    withContext(Dispatchers.IO) { URI(url).toURL().readBytes() }
}

/** Creates a handler that logs: https://github.com/modelcontextprotocol/kotlin-sdk#logging */
private fun logHandler(message: LoggingMessageNotificationParams): Handler = { request ->
    sendLoggingMessage(LoggingMessageNotification(message))
    structuredResult(request.arguments)
}

/** Creates a handler that reports progress, if the request has a token. */
private fun progressHandler(does: JsonObject): Handler = { request ->
    request.params.meta?.progressToken?.let { token ->
        val progress = does.getValue("progress").jsonPrimitive.double
        val total = does["total"]?.jsonPrimitive?.double
        val message = does["message"]?.jsonPrimitive?.content
        notification(ProgressNotification(ProgressNotificationParams(token, progress, total, message)))
    }
    structuredResult(request.arguments)
}

/**
 * Reads a schema of a form. The serializer accepts values that an author cannot pass to the constructors: any type of
 * the root, and texts for numbers and booleans.
 */
private fun JsonElement.intoRequestedSchema(): RequestedSchema {
    val type = RequestedSchema.serializer()
    val schema = into("ElicitRequestParams.RequestedSchema", type).copy()
    if (!isKeptIn(McpJson.encodeToJsonElement(type, schema))) {
        throw Cannot("the constructors of the fields of ElicitRequestParams.RequestedSchema cannot take this value")
    }
    return schema
}

/** Returns whether all members of this value are in the other one. The SDK adds types and omits nulls. */
private fun JsonElement.isKeptIn(other: JsonElement?): Boolean = when (this) {
    is JsonNull -> other == null
    is JsonObject -> other is JsonObject && all { (key, value) -> value.isKeptIn(other[key]) }
    is JsonArray -> other is JsonArray && size == other.size && indices.all { this[it].isKeptIn(other[it]) }
    is JsonPrimitive -> this == other || other is JsonPrimitive && isSameNumberAs(other)
}

private fun JsonPrimitive.isSameNumberAs(other: JsonPrimitive) =
    !isString && !other.isString && doubleOrNull != null && doubleOrNull == other.doubleOrNull
