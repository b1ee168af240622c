"""The casebook's adapter for FastMCP: one JSON object a line on standard input, one answer a line on
standard output, in order. Servers over stdio speak on a loopback connection each; `--stdio-server FILE` serves one
fixture on the process's standard streams instead.
"""

import json
import math
import socket
import sys
import traceback
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import anyio
import uvicorn
from anyio.abc import TaskGroup, TaskStatus
from fastmcp import FastMCP
from starlette.applications import Starlette
from starlette.routing import Mount

from fixture import REVISIONS, VARIANTS, Cannot, Refused, build

Message = dict[str, Any]

DEEPEST = 25_000
"""Levels of JSON that are read and written here; the casebook's generators end at 10,000."""


class TaskStream:
    """A standard stream whose bytes are those of a task's own file, where the task has one.

    `FastMCP.run_async` can't be handed streams. It serves on the buffers of `sys.stdin` and `sys.stdout`, which are
    its user's to replace.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.own = ContextVar[BinaryIO](stream.name)

    @property
    def buffer(self) -> BinaryIO:
        return self.own.get(self.stream.buffer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class Adapter:
    """What is asked for, and what is being served."""

    def __init__(self, tasks: TaskGroup, listener: socket.socket) -> None:
        self.tasks = tasks
        self.origin = "http://{}:{}".format(*listener.getsockname())
        self.front = Starlette()
        self.serving: dict[str, Callable[[], None]] = {}
        self.kinds: dict[str, Callable[[Any, str], Awaitable[Message]]] = {
            "hello": self.hello,
            "serve": self.serve,
            "stop": self.stop,
            "drive": self.drive,
        }

    async def answer(self, request: Message) -> Message:
        kind = next((kind for kind in self.kinds if kind in request), None)
        if kind is None:
            return {"unsupported": f"one of {list(self.kinds)} was expected"}
        try:
            return await self.kinds[kind](request[kind], request["id"])
        except (Cannot, Refused) as error:
            return error.answer()

    async def hello(self, _order: Message, _id: str) -> Message:
        return {
            "hello": {
                "sdk": "fastmcp",
                "version": version("fastmcp"),
                "language": "python",
                "api": "tool: a subclass of fastmcp.tools.Tool; client: fastmcp.Client",
                "roles": ["server", "client"],
                "transports": ["stdio", "http"],
                "revisions": REVISIONS,
                "variants": VARIANTS,
                "streams": True,
            }
        }

    async def serve(self, order: Message, id: str) -> Message:
        server = build(order)
        if order["transport"] == "stdio":
            self.serving[id] = await self.tasks.start(self.connect, server, order["stream"])
            return {"serving": {}}
        path, self.serving[id] = await self.tasks.start(self.publish, server)
        return {"serving": {"url": f"{self.origin}{path}/mcp"}}

    async def publish(self, server: FastMCP, *, task_status: TaskStatus[tuple[str, Callable[[], None]]]) -> None:
        """Mounts a server under a path of its own until it is stopped; a task of its own, for the lifespan's sake.

        https://gofastmcp.com/deployment/http#mounting-in-starlette
        """
        app = server.http_app(path="/mcp")
        mount = Mount(f"/{uuid.uuid4()}", app=app)

        def stop() -> None:
            self.front.routes.remove(mount)
            scope.cancel()

        with anyio.CancelScope() as scope:
            async with app.lifespan(app):
                self.front.routes.append(mount)
                task_status.started((mount.path, stop))
                await anyio.sleep_forever()

    async def connect(self, server: FastMCP, stream: Message, *, task_status: TaskStatus[Callable[[], None]]) -> None:
        """Serves over stdio on a connection in place of the process's streams, until the input or the server ends.

        A server that fails ends alone, as its process would: with a traceback.
        """
        with socket.create_connection(("127.0.0.1", stream["port"])) as connection, anyio.CancelScope() as scope:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(f"{stream['word']}\n".encode())

            def stop() -> None:
                # Threads read and write, and can't be cancelled: the connection's end wakes them.
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
                scope.cancel()

            task_status.started(stop)
            try:
                with connection.makefile("rb") as stdin, connection.makefile("wb") as stdout:
                    sys.stdin.own.set(stdin)
                    sys.stdout.own.set(stdout)
                    await serve_streams(server)
            except Exception:
                traceback.print_exc()

    async def stop(self, order: Message, _id: str) -> Message:
        stop = self.serving.pop(order["serving"], None)
        if stop is not None:
            stop()
        return {"stopped": stop is not None}

    async def drive(self, order: Message, _id: str) -> Message:
        # The client takes 0.3 s to import, which a process for one server has no use for.
        from script import drive

        return {"drove": await drive(order)}


async def control() -> None:
    """The control loop, beside the one listener of all fixtures."""
    # Without the protocol's number, asyncio would leave TCP_NODELAY off, and each event stream would wait 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    # While a server over stdio waits for its next line, it keeps a thread.
    anyio.to_thread.current_default_thread_limiter().total_tokens = math.inf
    async with anyio.create_task_group() as tasks:
        adapter = Adapter(tasks, listener)
        # An idle connection stays open: closing it would race with the harness's next request.
        config = uvicorn.Config(
            adapter.front, lifespan="off", log_config=None, timeout_keep_alive=3600, timeout_graceful_shutdown=0
        )
        tasks.start_soon(partial(uvicorn.Server(config).serve, sockets=[listener]))
        async for line in anyio.wrap_file(sys.stdin.buffer):
            request = decode(line)
            print(encode({"id": request["id"], **await adapter.answer(request)}), flush=True)
        for stop in adapter.serving.values():
            stop()
        tasks.cancel_scope.cancel()


async def serve_streams(server: FastMCP) -> None:
    """https://gofastmcp.com/deployment/running-server#stdio-transport-default"""
    await server.run_async(transport="stdio", show_banner=False)


def decode(text: bytes) -> Message:
    with deep():
        return json.loads(text)


def encode(message: Message) -> str:
    with deep():
        return json.dumps(message)


@contextmanager
def deep() -> Iterator[None]:
    """Python's json needs the recursion limit raised; the SDK runs with the limit that its users have."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(DEEPEST)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def main() -> None:
    match sys.argv[1:]:
        case []:
            sys.stdin, sys.stdout = TaskStream(sys.stdin), TaskStream(sys.stdout)
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
