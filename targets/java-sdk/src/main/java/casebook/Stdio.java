package casebook;

import static casebook.Fixture.MAPPER;

import casebook.Unbuildable.Cannot;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Servers over stdio: one on the standard streams, or several with a connection each. */
final class Stdio {
  /** The port on which casebook listens for one stream, and the first line to send on it. */
  record StreamAddress(int port, String word) {}

  private Stdio() {}

  /** Serves on the standard streams. The process ends when the SDK's transport threads end. */
  static void serveProcess(Path file) throws IOException, Unbuildable {
    var request = Json.LINES.readValue(Files.readAllBytes(file), Server.ServeRequest.class);
    Server.checkRevision(request.revision());
    build(request, new StdioServerTransportProvider(MAPPER));
  }

  /**
   * Serves on a connection and returns a function that stops the server. The SDK builds a server
   * and starts its transport in one call, so the connection must exist before the SDK can refuse
   * the fixture. After a refusal the connection is closed.
   */
  static AutoCloseable serveStream(Server.ServeRequest request) throws Exception {
    var socket = new Socket("127.0.0.1", request.stream().port());
    socket.setTcpNoDelay(true);
    var input = socket.getInputStream();
    // Like System.out, a PrintStream is buffered and ignores errors after the reader has left.
    var output = new PrintStream(new BufferedOutputStream(socket.getOutputStream()));
    output.print(request.stream().word() + "\n");
    output.flush();

    var building =
        new FutureTask<>(
            () -> build(request, new StdioServerTransportProvider(MAPPER, input, output)));
    Runnable serving =
        () -> {
          try (socket) {
            building.run();
            awaitThreads();
          } catch (IOException | InterruptedException fault) {
            fault.printStackTrace();
          }
        };
    new Thread(new ThreadGroup("stream"), serving).start();
    try {
      var server = building.get();
      return () -> {
        server.close();
        socket.close();
      };
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof Unbuildable unbuildable) {
        throw unbuildable;
      }
      throw failed;
    }
  }

  /** Builds a server over stdio: https://java.sdk.modelcontextprotocol.io/latest/server/#stdio */
  private static McpSyncServer build(
      Server.ServeRequest request, StdioServerTransportProvider transport) throws Unbuildable {
    if (Adapter.variant(request.variant()).equals("stateless")) {
      throw new Cannot("the SDK has no stateless transport over stdio");
    }
    return request.fixture().build(McpServer.sync(transport));
  }

  /**
   * Waits for the non-daemon threads in the group of this thread. The SDK has no callback for the
   * end of a transport, but the transport's own threads are the last to end.
   */
  private static void awaitThreads() throws InterruptedException {
    var group = Thread.currentThread().getThreadGroup();
    for (var ended = true; ended; ) {
      ended = false;
      var threads = new Thread[group.activeCount() + 8];
      var count = group.enumerate(threads);
      for (var thread : Arrays.asList(threads).subList(0, count)) {
        if (!thread.isDaemon() && thread != Thread.currentThread()) {
          thread.join();
          ended = true;
        }
      }
    }
  }
}
