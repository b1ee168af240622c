package repro

import io.modelcontextprotocol.kotlin.sdk.client.Client
import io.modelcontextprotocol.kotlin.sdk.client.ClientOptions
import io.modelcontextprotocol.kotlin.sdk.client.StdioClientTransport
import io.modelcontextprotocol.kotlin.sdk.types.ClientCapabilities
import io.modelcontextprotocol.kotlin.sdk.types.ElicitResult
import io.modelcontextprotocol.kotlin.sdk.types.EmptyJsonObject
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import kotlinx.coroutines.CompletableDeferred
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.jsonObject
import java.io.OutputStream
import java.io.PipedInputStream
import java.io.PipedOutputStream
import kotlin.concurrent.thread
import kotlin.system.exitProcess

private const val QUESTION =
    """{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"url",""" +
        """"message":"There, please.","url":"http://127.0.0.1/","elicitationId":"1"}}"""

/**
 * A client that declares only the mode form gives a question in URL mode to its handler, instead of the error -32602.
 * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#error-handling
 */
suspend fun main() {
    val capabilities = ClientCapabilities(elicitation = ClientCapabilities.Elicitation(form = EmptyJsonObject))
    val client = Client(Implementation("c", "1"), ClientOptions(capabilities))
    client.setElicitationHandler { ElicitResult(ElicitResult.Action.Decline) }
    val answer = ask(client)
    println("a client that declares only elicitation.form answered a question in URL mode by $answer")
    exitProcess(if ("\"result\"" in answer) 0 else 1)
}

/** Connects the client to a server, as over stdio, which asks after the initialization, and returns the answer. */
private suspend fun ask(client: Client): String {
    val toClient = PipedOutputStream()
    val fromClient = PipedInputStream()
    val input = PipedInputStream(toClient).asSource().buffered()
    val output = PipedOutputStream(fromClient).asSink().buffered()
    val answer = CompletableDeferred<String>()
    thread {
        val lines = fromClient.bufferedReader()
        val id = Json.parseToJsonElement(lines.readLine()).jsonObject["id"]
        toClient.send("""{"jsonrpc":"2.0","id":$id,"result":{"protocolVersion":"2025-11-25",$INFO}}""")
        lines.readLine() // notifications/initialized
        toClient.send(QUESTION)
        answer.complete(lines.readLine())
    }
    client.connect(StdioClientTransport(input, output))
    return answer.await()
}

private fun OutputStream.send(line: String) {
    write("$line\n".toByteArray())
    flush()
}
