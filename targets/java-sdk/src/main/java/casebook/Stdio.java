package casebook;

import static casebook.Fixture.MAPPER;

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

/** Servers over stdio: one on the standard streams, or several on a connection each. */
final class Stdio {
  /** The port to which a stream is connected, and the word that comes first on it. */
  record Place(int port, String word) {}

  private Stdio() {}

  /** Serves on the standard streams; the process ends with the threads of the SDK's transport. */
  static void serveProcess(Path file) throws IOException, Unbuildable {
    var order = Json.LINES.readValue(Files.readAllBytes(file), Server.Order.class);
    Server.checkRevision(order.revision());
    build(order, new StdioServerTransportProvider(MAPPER));
  }

  /**
   * Serves on a connection, and returns what stops the server. The SDK builds a server and starts
   * its transport in one call, which takes the streams: one that it refuses has its connection
   * closed again.
   */
  static AutoCloseable serveStream(Server.Order order) throws Exception {
    var socket = new Socket("127.0.0.1", order.stream().port());
    socket.setTcpNoDelay(true);
    var input = socket.getInputStream();
    // As System.out is: buffered, and silent when nobody reads it any more.
    var output = new PrintStream(new BufferedOutputStream(socket.getOutputStream()));
    output.print(order.stream().word() + "\n");
    output.flush();

    var building =
        new FutureTask<>(
            () -> build(order, new StdioServerTransportProvider(MAPPER, input, output)));
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

  /** https://java.sdk.modelcontextprotocol.io/latest/server/#stdio */
  private static McpSyncServer build(Server.Order order, StdioServerTransportProvider transport)
      throws Unbuildable {
    return order.fixture().build(McpServer.sync(transport));
  }

  /**
   * Waits for the threads in this thread's group that would keep a process alive. The SDK has no
   * callback for the end of a transport, but the transport's own threads are the last to end.
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
