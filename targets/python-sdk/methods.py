"""The methods and capabilities that a proposal adds to a server."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import chain, repeat
from typing import Any

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.types import RequestParams

from casebook_adapter import Cannot

Handler = Callable[[ServerRequestContext[Any], "Params"], Awaitable[dict[str, Any]]]


class Params(RequestParams, extra="allow"):
    """The parameters of any method."""


def handlers(fixture: dict[str, Any]) -> dict[str, Handler]:
    """https://py.sdk.modelcontextprotocol.io/advanced/low-level-server/#a-method-of-your-own"""
    return {method: handler(replies) for method, replies in fixture.get("methods", {}).items()}


def handler(replies: list[dict[str, Any]]) -> Handler:
    if any(reply.get("notify") for reply in replies):
        # https://github.com/modelcontextprotocol/python-sdk/blob/main/examples/stories/custom_methods/README.md#caveats
        raise Cannot("ServerSession.send_notification takes only the notifications that the SDK knows")
    next_replies = chain(replies, repeat(replies[-1]))

    async def answer(_ctx: ServerRequestContext[Any], params: Params) -> dict[str, Any]:
        match next(next_replies):
            case {"result": result}:
                return result
            case {"error": {"code": code, "message": message, **rest}}:
                raise MCPError(code, message, rest.get("data"))
            case _:
                return {"params": params.model_extra}

    return answer


def extension_settings(fixture: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Returns the capability for extensions, the only one that the author of a server chooses."""
    capabilities = fixture.get("capabilities", {})
    for name in capabilities:
        if name != "extensions":
            raise Cannot(f"the SDK derives a server's capabilities from its handlers: no parameter is for {name}")
    return capabilities.get("extensions", {})


class Proposal(Extension):
    """An extension, by which an `MCPServer` serves methods.

    https://py.sdk.modelcontextprotocol.io/advanced/extensions/#serving-your-own-methods
    """

    def __init__(self, identifier: str, settings: dict[str, Any], methods: Sequence[MethodBinding]) -> None:
        self.identifier = identifier
        self._settings = settings
        self._methods = methods

    def settings(self) -> dict[str, Any]:
        return self._settings

    def methods(self) -> Sequence[MethodBinding]:
        return self._methods


def extensions(fixture: dict[str, Any]) -> list[Extension]:
    """Returns the extensions of the fixture. The first one has the methods, and gets a name if it has none."""
    methods = [MethodBinding(method, Params, handler) for method, handler in handlers(fixture).items()]
    settings = extension_settings(fixture) or ({"casebook/methods": {}} if methods else {})
    return [Proposal(name, settings[name], [] if index else methods) for index, name in enumerate(settings)]
