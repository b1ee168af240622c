package casebook

import io.modelcontextprotocol.kotlin.sdk.LIB_VERSION
import io.modelcontextprotocol.kotlin.sdk.types.McpException
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.add
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonArray
import java.io.File
import java.io.PrintStream
import kotlin.system.exitProcess

/** Those that have what the casebook asks about, of the revisions that the SDK speaks. */
private val REVISIONS = listOf("2025-06-18", "2025-11-25")

/**
 * The casebook's adapter for the Kotlin SDK: one JSON object a line on standard input, one answer a line on standard
 * output, in order. `--stdio-server FILE` serves one fixture on the standard streams instead.
 */
suspend fun main(arguments: Array<String>) {
    when {
        arguments.isEmpty() -> control()
        arguments.size == 2 && arguments[0] == "--stdio-server" -> serveOnce(File(arguments[1]))
        else -> fail(status = 2, "usage: adapter [--stdio-server FILE]")
    }
    // The SDK's and Ktor's own threads may still be at work.
    exitProcess(0)
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

// On this thread and no other: it would block one of those on which the SDK's coroutines run.
private fun control() = runBlocking {
    val out = PrintStream(System.out, true, Charsets.UTF_8)
    // The SDK's logger greets on standard output.
    System.setOut(System.err)
    val servers = Servers()
    for (line in generateSequence(System.`in`.bufferedReader()::readLine)) {
        val request = Json.parseToJsonElement(line).jsonObject
        out.println(JsonObject(mapOf("id" to request.getValue("id")) + answer(servers, request)))
    }
}

private suspend fun answer(servers: Servers, request: JsonObject): JsonObject = try {
    val (kind, order) = request.entries.single { it.key != "id" }
    when (kind) {
        "hello" -> buildJsonObject { put("hello", hello()) }
        "serve" -> servers.serve(request.text("id"), order.jsonObject)
        "stop" -> servers.stop(order.jsonObject.text("serving"))
        "drive" -> buildJsonObject { put("drove", drive(order.jsonObject)) }
        else -> buildJsonObject { put("unsupported", "one of hello, serve, stop and drive was expected") }
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
    put("streams", true)
}

/** Neither side of the SDK can be held to one revision: each settles on the peer's, among those that it speaks. */
internal fun checkRevision(order: JsonObject) {
    val revision = order.text("revision")
    if (revision !in REVISIONS) throw Cannot("the SDK does not speak $revision")
}

/** Tells a JSON-RPC error from those of the SDK's own. */
internal fun described(thrown: Throwable) = buildJsonObject {
    put("type", thrown::class.qualifiedName)
    if (thrown is McpException) put("code", thrown.code)
    put("message", thrown.message.toString())
}

internal fun JsonObject.text(key: String): String = getValue(key).jsonPrimitive.content

/** A way in which a fixture comes to nothing; other exceptions are this adapter's own faults. */
internal sealed class Unbuildable(message: String?) : Exception(message) {
    abstract fun answer(): JsonObject
}

/** The SDK's public API has no way to express the fixture. */
internal class Cannot(private val why: String) : Unbuildable(why) {
    override fun answer() = buildJsonObject { put("cannot", why) }
}

/** The SDK threw at what it was given to build. */
internal class Refused(private val thrown: Throwable) : Unbuildable(thrown.message) {
    override fun answer() = buildJsonObject { put("refused", described(thrown)) }
}
