"""What older releases of FastMCP lack or spell in another way. The adapter runs on every release since 2.10."""

from importlib.metadata import version as installed_version
from inspect import Parameter, signature
from typing import Any

from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from mcp import types
from starlette.routing import Mount

from casebook_adapter import Cannot

try:
    from fastmcp.tools import ToolResult
except ImportError:  # Since 3.0, it is found there.
    from fastmcp.tools.tool import ToolResult  # pyright: ignore[reportMissingImports]

try:  # FastMCP 4.0 is built on mcp 2, which brought the revision 2026-07-28.
    from mcp import MCPError
    from mcp.types import version

    MODERN_PROTOCOL_VERSIONS = version.MODERN_PROTOCOL_VERSIONS
    SPOKEN = (*version.HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS)
except ImportError:
    from mcp import McpError as MCPError  # pyright: ignore[reportAttributeAccessIssue]
    from mcp.shared import version  # pyright: ignore[reportAttributeAccessIssue]

    MODERN_PROTOCOL_VERSIONS = ()
    SPOKEN = version.SUPPORTED_PROTOCOL_VERSIONS

__all__ = ["MODERN_PROTOCOL_VERSIONS", "MCPError", "ToolResult"]

REVISIONS = [revision for revision in ("2025-06-18", "2025-11-25", "2026-07-28") if revision in SPOKEN]

# Since 2.11.3, the path has no slash at its end. Before, it was answered with a redirect.
HTTP_PATH = "/mcp/" if isinstance(FastMCP().http_app(path="/mcp").routes[0], Mount) else "/mcp"

# 2.11 brought `meta`, and 2.13 `icons`.
TOOL_PARAMETERS = signature(FastMCP.tool).parameters

# Since 3.4, a tool can return an error. Before, its author raises a `ToolError`, which has a text.
RETURNS_ERRORS = "is_error" in signature(ToolResult).parameters


# 2.13 does not find a parameter with a Context in the `__signature__` that the adapter gives to its functions. The
# functions of an author have their own.
IS_2_13 = installed_version("fastmcp").startswith("2.13.")


def check_context(own: list[Parameter]) -> None:
    """Raises `Cannot` if a function that the adapter makes cannot have these parameters beside its arguments."""
    if IS_2_13 and own:
        raise Cannot("the adapter cannot make a function with a Context for FastMCP 2.13, although an author can")


def check_error(does: dict[str, Any]) -> None:
    """Raises `Cannot` if a tool returns an error that the SDK has no way to express."""
    match does:
        case {"return": {"isError": True} as parts} if not RETURNS_ERRORS and tool_error(parts) is None:
            raise Cannot("ToolResult has no is_error before FastMCP 3.4, and ToolError has only a text")


def tool_error(parts: dict[str, Any]) -> ToolError | None:
    """Returns the exception by which the author of a tool reports an error before 3.4."""
    match parts:
        case {"isError": True, "content": [{"type": "text", "text": text, **more}], **others} if not RETURNS_ERRORS:
            return None if more or others else ToolError(text)
    return None


def in_mode(mode: str) -> dict[str, Any]:
    """Returns the argument of `Client` for a mode. 4.0 brought modes, and before, every client is like "legacy"."""
    if "mode" in signature(Client).parameters:
        return {"mode": mode}
    if mode != "legacy":
        raise Cannot(f"Client has no mode {mode} before FastMCP 4.0")
    return {}


def strict() -> dict[str, Any]:
    """Returns the argument of `FastMCP` for strict validation."""
    if "strict_input_validation" not in signature(FastMCP).parameters:
        raise Cannot("FastMCP has no strict_input_validation before 2.13")
    return {"strict_input_validation": True}


def check_asks_for_url(does: dict[str, Any]) -> None:
    match does:
        case {"elicit": {"mode": "url"}} if not hasattr(types, "ElicitRequestURLParams"):
            raise Cannot("mcp before 1.23, which FastMCP used until 2.13, has no elicitation by URL")


async def elicit_form(session: Any, message: str, schema: dict[str, Any], id: str) -> types.ElicitResult:
    """mcp 1.23 gave it this name."""
    elicit = session.elicit_form if hasattr(session, "elicit_form") else session.elicit
    return await elicit(message, schema, related_request_id=id)
