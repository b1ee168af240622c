package casebook

import io.modelcontextprotocol.kotlin.sdk.LIB_VERSION
import io.modelcontextprotocol.kotlin.sdk.types.McpException
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.add
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonArray
import java.io.File
import java.io.PrintStream
import kotlin.system.exitProcess

/** The parts of the adapter protocol beyond its first version, all of which this adapter handles. */
private val KNOWS =
    listOf("elicit-url", "state", "wait", "log", "progress", "callTools", "requestTimeout", "as-presented") +
        listOf("methods", "capabilities", "request")

/** The revisions of the SDK that casebook also supports. */
private val REVISIONS = listOf("2025-06-18", "2025-11-25")

/**
 * The mcp-casebook adapter for the Kotlin SDK.
 *
 * Reads one JSON request per line from standard input and writes one JSON answer per line to standard output, in the
 * same order. With `--stdio-server FILE`, the process serves one fixture on its standard streams instead.
 */
suspend fun main(arguments: Array<String>) {
    when {
        arguments.isEmpty() -> control()
        arguments.size == 2 && arguments[0] == "--stdio-server" -> serveOnce(File(arguments[1]))
        else -> fail(status = 2, "usage: adapter [--stdio-server FILE]")
    }
}

private suspend fun serveOnce(file: File) = try {
    serveProcess(Json.parseToJsonElement(file.readText()).jsonObject)
} catch (unbuildable: Unbuildable) {
    fail(status = 3, unbuildable.answer().toString())
}

private fun fail(status: Int, why: String): Nothing {
    System.err.println(why)
    exitProcess(status)
}

// The loop runs on this thread, because it would block a thread on which the SDK's coroutines run.
private fun control() = runBlocking {
    val out = PrintStream(System.out, true, Charsets.UTF_8)
    // The SDK's logger prints a start-up message on standard output.
    System.setOut(System.err)
    val servers = Servers()
    for (line in generateSequence(System.`in`.bufferedReader()::readLine)) {
        val message = Json.parseToJsonElement(line).jsonObject
        out.println(JsonObject(mapOf("id" to message.getValue("id")) + answer(servers, message)))
    }
    servers.stopAll()
}

private suspend fun answer(servers: Servers, message: JsonObject): JsonObject = try {
    val (kind, request) = message.entries.single { it.key != "id" }
    when (kind) {
        "hello" -> buildJsonObject { put("hello", hello()) }
        "serve" -> servers.serve(message.text("id"), request.jsonObject)
        "stop" -> servers.stop(request.jsonObject.text("serving"))
        "drive" -> buildJsonObject { put("drove", drive(request.jsonObject)) }
        else -> buildJsonObject { put("unsupported", "expected hello, serve, stop or drive") }
    }
} catch (unbuildable: Unbuildable) {
    unbuildable.answer()
}

private fun hello() = buildJsonObject {
    put("sdk", "io.modelcontextprotocol:kotlin-sdk")
    put("version", LIB_VERSION)
    put("language", "kotlin")
    put("api", "Server.addTool; Client")
    putJsonArray("roles") { listOf("server", "client").forEach(::add) }
    putJsonArray("transports") { listOf("stdio", "http").forEach(::add) }
    putJsonArray("revisions") { REVISIONS.forEach(::add) }
    putJsonArray("variants") {}
    putJsonArray("knows") { KNOWS.forEach(::add) }
    put("streams", true)
}

/** Rejects unsupported revisions. The SDK cannot be restricted to one: it accepts each supported one from the peer. */
internal fun checkRevision(request: JsonObject) {
    val revision = request.text("revision")
    if (revision !in REVISIONS) throw Cannot("the SDK does not support $revision")
}

/** Describes an exception, with its code if it is a JSON-RPC error. */
internal fun describeError(thrown: Throwable) = buildJsonObject {
    put("type", thrown::class.qualifiedName)
    if (thrown is McpException) put("code", thrown.code)
    put("message", thrown.message.toString())
}

internal fun JsonObject.text(key: String): String = getValue(key).jsonPrimitive.content

/** A fixture or a script that cannot be built. Any other exception is a fault of this adapter. */
internal sealed class Unbuildable(message: String?) : Exception(message) {
    abstract fun answer(): JsonObject
}

/** The SDK's public API cannot express the fixture or the script. */
internal class Cannot(private val why: String) : Unbuildable(why) {
    override fun answer() = buildJsonObject { put("cannot", why) }
}

/** The SDK threw an exception while it registered a tool. */
internal class Refused(private val thrown: Throwable, private val tool: String) : Unbuildable(thrown.message) {
    override fun answer() = buildJsonObject {
        put("refused", JsonObject(describeError(thrown) + ("tool" to JsonPrimitive(tool))))
    }
}
