"""What older releases of the SDK lack or spell in another way. The adapter runs on every release since 1.10."""

from inspect import signature
from typing import Any

from mcp import ClientSession
from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.utilities import func_metadata
from mcp.server.session import ServerSession
from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS
from mcp.types import ElicitResult, ListToolsResult, PaginatedRequestParams
from starlette.routing import Mount

from casebook_adapter import Cannot

try:
    from mcp.client.streamable_http import streamable_http_client
except ImportError:  # 1.24 gave it this name.
    from mcp.client.streamable_http import streamablehttp_client as streamable_http_client

__all__ = ["streamable_http_client"]

# 2025-11-25 came with 1.23.1.
REVISIONS = [revision for revision in ("2025-06-18", "2025-11-25") if revision in SUPPORTED_PROTOCOL_VERSIONS]

# Since 1.12, FastMCP serves the path without a slash at its end. Before, it answered it with a redirect.
HTTP_PATH = "/mcp/" if isinstance(FastMCP().streamable_http_app().routes[0], Mount) else "/mcp"

# Icons came with 1.15, and `meta` with 1.19.
ADD_TOOL = signature(FastMCP.add_tool).parameters

# Since 1.19, a tool can return a `CallToolResult`.
RETURNS_RESULTS = hasattr(func_metadata, "CallToolResult")


def check_returns_results() -> None:
    if not RETURNS_RESULTS:
        raise Cannot("mcp before 1.19 has no tools that return a CallToolResult")


def code_of(tool: dict[str, Any]) -> dict[str, Any]:
    """Returns what a tool does. Before 1.19, its author reports an error by an exception."""
    match tool["does"]:
        case {"return": {"isError": True, "content": [{"type": "text", "text": text}], **others}} if (
            not RETURNS_RESULTS and not others
        ):
            return {"raise": text}
        case does:
            return does


def check_asks_for_url() -> None:
    if not hasattr(ServerSession, "elicit_url"):
        raise Cannot("mcp before 1.23 has no elicitation by URL")


async def elicit_form(session: ServerSession, message: str, schema: dict[str, Any]) -> ElicitResult:
    """Asks with a form, by the method that got this name with 1.23."""
    if not hasattr(session, "elicit_form"):
        return await session.elicit(message, schema)
    return await session.elicit_form(message, schema)


async def next_page(session: ClientSession, cursor: str) -> ListToolsResult:
    """Lists the tools after a cursor, which is a part of `params` since 1.18."""
    if "params" not in signature(session.list_tools).parameters:
        return await session.list_tools(cursor)
    return await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
