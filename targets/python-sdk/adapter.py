"""The mcp-casebook adapter for the Python SDK.

Reads one JSON request per line from standard input and writes one JSON answer per line to standard output, in the
same order. Each server over stdio uses a loopback connection of its own. With `--stdio-server FILE`, the process
serves one fixture on its standard streams instead.
"""

import json
import math
import socket
import sys
import traceback
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from anyio.abc import TaskGroup, TaskStatus
from mcp.server import Server
from mcp.server.stdio import stdio_server
from starlette.applications import Starlette
from starlette.routing import Mount

from fixture import REVISIONS, VARIANTS, Cannot, Refused, build
from script import drive

Message = dict[str, Any]

MAX_JSON_DEPTH = 25_000
"""The recursion limit for reading and writing JSON. Generated fixtures are at most 10,000 levels deep."""


class Adapter:
    """Handles the requests of the adapter protocol and keeps track of the running servers."""

    def __init__(self, tasks: TaskGroup, listener: socket.socket) -> None:
        self.tasks = tasks
        self.origin = "http://{}:{}".format(*listener.getsockname())
        self.app = Starlette()
        self.serving: dict[str, Callable[[], None]] = {}
        self.handlers: dict[str, Callable[[Any, str], Awaitable[Message]]] = {
            "hello": self.hello,
            "serve": self.serve,
            "stop": self.stop,
            "drive": self.drive,
        }

    async def answer(self, message: Message) -> Message:
        kind = next((kind for kind in self.handlers if kind in message), None)
        if kind is None:
            return {"unsupported": f"expected one of {list(self.handlers)}"}
        try:
            return await self.handlers[kind](message[kind], message["id"])
        except (Cannot, Refused) as error:
            return error.answer()

    async def hello(self, _request: Message, _id: str) -> Message:
        return {
            "hello": {
                "sdk": "mcp",
                "version": version("mcp"),
                "language": "python",
                "api": "low: mcp.server.lowlevel.Server; client: mcp.Client",
                "roles": ["server", "client"],
                "transports": ["stdio", "http"],
                "revisions": REVISIONS,
                "variants": VARIANTS,
                "streams": True,
            }
        }

    async def serve(self, request: Message, id: str) -> Message:
        server = build(request)
        if request["transport"] == "stdio":
            self.serving[id] = await self.tasks.start(self.connect, server, request["stream"])
            return {"serving": {}}
        path, self.serving[id] = await self.tasks.start(self.publish, server)
        return {"serving": {"url": f"{self.origin}{path}/mcp"}}

    async def publish(self, server: Server, *, task_status: TaskStatus[tuple[str, Callable[[], None]]]) -> None:
        """Mounts a server under a path of its own until `stop` is called.

        It runs as a task of its own, because the session manager must be entered and left in the same task.

        https://py.sdk.modelcontextprotocol.io/run/asgi/#two-servers-one-app
        """
        mount = Mount(f"/{uuid.uuid4()}", app=server.streamable_http_app())

        def stop() -> None:
            self.app.routes.remove(mount)
            scope.cancel()

        with anyio.CancelScope() as scope:
            async with server.session_manager.run():
                self.app.routes.append(mount)
                task_status.started((mount.path, stop))
                await anyio.sleep_forever()

    async def connect(self, server: Server, stream: Message, *, task_status: TaskStatus[Callable[[], None]]) -> None:
        """Serves over stdio on a connection instead of the process's streams, until the input or the server ends.

        An exception ends only this server. Its traceback is printed, as it would be by a process of its own.
        """
        with socket.create_connection(("127.0.0.1", stream["port"])) as connection, anyio.CancelScope() as scope:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(f"{stream['word']}\n".encode())

            def stop() -> None:
                # The threads that read and write cannot be cancelled. Shutting the connection down wakes them.
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
                scope.cancel()

            task_status.started(stop)
            try:
                # stdio_server wraps the process's standard streams with these settings.
                with (
                    connection.makefile("r", encoding="utf-8", errors="replace") as stdin,
                    connection.makefile("w", encoding="utf-8") as stdout,
                ):
                    await serve_streams(server, anyio.wrap_file(stdin), anyio.wrap_file(stdout))
            except Exception:
                traceback.print_exc()

    async def stop(self, request: Message, _id: str) -> Message:
        stop = self.serving.pop(request["serving"], None)
        if stop is not None:
            stop()
        return {"stopped": stop is not None}

    async def drive(self, request: Message, _id: str) -> Message:
        return {"drove": await drive(request)}


async def control() -> None:
    """Runs the control loop and the HTTP listener that all fixtures share."""
    # asyncio sets TCP_NODELAY only on sockets with an explicit protocol. Without it, each event stream waits 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    # Each server over stdio occupies a thread while it waits for its next line.
    anyio.to_thread.current_default_thread_limiter().total_tokens = math.inf
    async with anyio.create_task_group() as tasks:
        adapter = Adapter(tasks, listener)
        # Idle connections stay open, because closing one would race with casebook's next request.
        config = uvicorn.Config(
            adapter.app, lifespan="off", log_config=None, timeout_keep_alive=3600, timeout_graceful_shutdown=0
        )
        tasks.start_soon(partial(uvicorn.Server(config).serve, sockets=[listener]))
        async for line in anyio.wrap_file(sys.stdin.buffer):
            message = decode(line)
            print(encode({"id": message["id"], **await adapter.answer(message)}), flush=True)
        for stop in adapter.serving.values():
            stop()
        tasks.cancel_scope.cancel()


async def serve_streams(
    server: Server, stdin: anyio.AsyncFile[str] | None = None, stdout: anyio.AsyncFile[str] | None = None
) -> None:
    """https://py.sdk.modelcontextprotocol.io/advanced/low-level-server/#the-other-handlers"""
    async with stdio_server(stdin, stdout) as (read, write):
        await server.run(read, write, server.create_initialization_options())


def decode(text: bytes) -> Message:
    with raised_recursion_limit():
        return json.loads(text)


def encode(message: Message) -> str:
    with raised_recursion_limit():
        return json.dumps(message)


@contextmanager
def raised_recursion_limit() -> Iterator[None]:
    """Raises the recursion limit for Python's `json`. The SDK itself runs with the default limit."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(MAX_JSON_DEPTH)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def main() -> None:
    match sys.argv[1:]:
        case []:
            anyio.run(control)
        case ["--stdio-server", file]:
            try:
                server = build(decode(Path(file).read_bytes()))
            except (Cannot, Refused) as error:
                print(encode(error.answer()), file=sys.stderr)
                sys.exit(3)
            anyio.run(serve_streams, server)
        case _:
            sys.exit("usage: adapter.py [--stdio-server FILE]")


if __name__ == "__main__":
    main()
