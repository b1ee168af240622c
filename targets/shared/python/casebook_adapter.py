"""The parts of an mcp-casebook adapter that do not depend on the SDK under test.

Reads one JSON request per line from standard input and writes one JSON answer per line to standard output, in the
same order. Each server over stdio uses a loopback connection of its own. With `--stdio-server FILE`, the process
serves one fixture on its standard streams instead.

An adapter describes its SDK by an `Sdk` and calls `main`.
"""

import json
import math
import socket
import sys
import traceback
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, BinaryIO, Generic, TextIO, TypeVar

import anyio
import uvicorn
from anyio.abc import TaskGroup, TaskStatus
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp

Message = dict[str, Any]
Server = TypeVar("Server")

TARGETS = Path(__file__).resolve().parents[2]
"""The folder of all targets. Their adapters and this module are in it, and so are their virtual environments."""

KNOWS = ["elicit-url", "state", "wait", "log", "progress", "callTools", "requestTimeout", "as-presented"]
"""The parts of the adapter protocol beyond its first version, all of which the adapters in Python handle."""

MAX_JSON_DEPTH = 25_000
"""The recursion limit for reading and writing JSON. Generated fixtures are at most 10,000 levels deep."""


class Cannot(Exception):
    """The SDK's public API cannot express the requested fixture or script."""

    def answer(self) -> Message:
        return {"cannot": str(self)}


class Refused(Exception):
    """The SDK raised an exception while the server was being built. `tool` is the name of the tool at hand."""

    def __init__(self, error: Exception, tool: Any = None) -> None:
        self.error = error
        self.tool = tool

    def answer(self) -> Message:
        tool = {"tool": self.tool} if isinstance(self.tool, str) else {}
        return {"refused": {"type": type(self.error).__name__, "message": str(self.error), **tool}}


def installed(packages: Sequence[str]) -> dict[str, str]:
    """Returns the versions of those packages that are installed."""
    versions = {}
    for package in packages:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


def no_server(_argument: Any) -> Any:
    raise Cannot("the SDK has only a client")


@dataclass(frozen=True, kw_only=True)
class Sdk(Generic[Server]):
    """An SDK under test. One that has only a client gives no functions for a server."""

    package: str
    api: str
    roles: Sequence[str] = ("server", "client")
    revisions: list[str]
    variants: list[str]
    knows: Sequence[str] = ()
    """The parts of the adapter protocol beyond `KNOWS`."""
    dependencies: Sequence[str] = ("pydantic", "jsonschema")

    build: Callable[[Message], Awaitable[Server]] = no_server
    """Builds the server for a `serve` request. It may raise `Cannot` or `Refused`."""

    http_app: Callable[[Server], AbstractAsyncContextManager[ASGIApp]] = no_server
    """Runs a server over Streamable HTTP in an async context. Its application serves `http_path`."""

    http_path: str = "/mcp"

    serve_stdio: Callable[[Server], Awaitable[None]] = no_server
    """Serves over stdio, on `sys.stdin` and `sys.stdout`, until the input ends."""

    drive: Callable[[Message], Awaitable[Message]]
    """Runs the client that a `drive` request describes. It may raise `Cannot`."""

    def check(self, request: Message) -> None:
        if request["revision"] not in self.revisions:
            raise Cannot(f"the SDK does not support {request['revision']}")
        if "variant" in request and request["variant"] not in self.variants:
            raise Cannot(f"there is no variant {request['variant']}")


class TaskStream:
    """A standard stream that a task can redirect to a file of its own.

    The SDKs' functions that run a server over stdio accept no streams. They use the buffers of `sys.stdin` and
    `sys.stdout`, which the user of an SDK may replace.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.own = ContextVar[BinaryIO](stream.name)

    @property
    def buffer(self) -> BinaryIO:
        return self.own.get(self.stream.buffer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class Adapter(Generic[Server]):
    """Handles the requests of the adapter protocol and keeps track of the running servers."""

    def __init__(self, sdk: Sdk[Server], tasks: TaskGroup, listener: socket.socket) -> None:
        self.sdk = sdk
        self.tasks = tasks
        sys.stdin = self.stdin = TaskStream(sys.stdin)
        sys.stdout = self.stdout = TaskStream(sys.stdout)
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
        except Exception as error:
            # What the adapter does by itself says nothing about the SDK.
            if not is_own(error):
                raise
            traceback.print_exc()
            return {"unsupported": f"the adapter failed: {type(error).__name__}: {error}"}

    async def hello(self, _request: Message, _id: str) -> Message:
        return {
            "hello": {
                "sdk": self.sdk.package,
                "version": version(self.sdk.package),
                "language": "python",
                "api": self.sdk.api,
                "roles": list(self.sdk.roles),
                "transports": ["stdio", "http"],
                "revisions": self.sdk.revisions,
                "variants": self.sdk.variants,
                "dependencies": installed(self.sdk.dependencies),
                "knows": [*KNOWS, *self.sdk.knows],
                "streams": True,
            }
        }

    async def serve(self, request: Message, id: str) -> Message:
        self.sdk.check(request)
        server = await self.sdk.build(request)
        if request["transport"] == "stdio":
            self.serving[id] = await self.tasks.start(self.connect, server, request["stream"])
            return {"serving": {}}
        path, self.serving[id] = await self.tasks.start(self.publish, server)
        return {"serving": {"url": f"{self.origin}{path}{self.sdk.http_path}"}}

    async def publish(self, server: Server, *, task_status: TaskStatus[tuple[str, Callable[[], None]]]) -> None:
        """Mounts a server under a path of its own until `stop` is called.

        It runs as a task of its own, because an SDK's context must be entered and left in the same task.
        """
        with anyio.CancelScope() as scope:
            async with self.sdk.http_app(server) as app:
                mount = Mount(f"/{uuid.uuid4()}", app=app)
                self.app.routes.append(mount)

                def stop() -> None:
                    self.app.routes.remove(mount)
                    scope.cancel()

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
                with connection.makefile("rb") as stdin, connection.makefile("wb") as stdout:
                    self.stdin.own.set(stdin)
                    self.stdout.own.set(stdout)
                    await self.sdk.serve_stdio(server)
            except Exception:
                traceback.print_exc()

    async def stop(self, request: Message, _id: str) -> Message:
        stop = self.serving.pop(request["serving"], None)
        if stop is not None:
            stop()
        return {"stopped": stop is not None}

    async def drive(self, request: Message, _id: str) -> Message:
        self.sdk.check(request)
        return {"drove": await self.sdk.drive(request)}


def is_own(error: Exception) -> bool:
    """Tells whether an exception was raised by an adapter and not by a package that it uses."""
    *_, innermost = traceback.extract_tb(error.__traceback__)
    return ".venv" not in Path(innermost.filename).parts and Path(innermost.filename).is_relative_to(TARGETS)


def main(sdk: Sdk[Any]) -> None:
    match sys.argv[1:]:
        case []:
            anyio.run(control, sdk)
        case ["--stdio-server", file]:
            anyio.run(serve_process, sdk, Path(file))
        case _:
            sys.exit("usage: adapter.py [--stdio-server FILE]")


async def serve_process(sdk: Sdk[Any], file: Path) -> None:
    """Serves one fixture on the standard streams of the process."""
    request = decode(file.read_bytes())
    try:
        sdk.check(request)
        server = await sdk.build(request)
    except (Cannot, Refused) as error:
        print(encode(error.answer()), file=sys.stderr)
        sys.exit(3)
    await sdk.serve_stdio(server)


async def control(sdk: Sdk[Any]) -> None:
    """Runs the control loop and the HTTP listener that all fixtures share."""
    # asyncio sets TCP_NODELAY only on sockets with an explicit protocol. Without it, each event stream waits 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    # Each server over stdio occupies a thread while it waits for its next line.
    anyio.to_thread.current_default_thread_limiter().total_tokens = math.inf
    async with anyio.create_task_group() as tasks:
        adapter = Adapter(sdk, tasks, listener)
        # Idle connections stay open, because closing one would race with casebook's next request.
        config = uvicorn.Config(
            adapter.app,
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_keep_alive=3600,
            timeout_graceful_shutdown=0,
        )
        tasks.start_soon(partial(uvicorn.Server(config).serve, sockets=[listener]))
        async for line in anyio.wrap_file(sys.stdin.buffer):
            message = decode(line)
            print(encode({"id": message["id"], **await adapter.answer(message)}), flush=True)
        for stop in adapter.serving.values():
            stop()
        tasks.cancel_scope.cancel()


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
