"""The results that a tool returns, in functions and in subclasses of `Tool`."""

from typing import Any

from fastmcp import Context
from mcp import types
from mcp.types import ContentBlock, ElicitResult
from pydantic import TypeAdapter

from casebook_adapter import Cannot
from casebook_tool import state_seconds

from versions import MODERN_PROTOCOL_VERSIONS, ToolResult, tool_error

QUESTION = "question"
"""The key of the only question that a tool asks."""


def is_modern(revision: str) -> bool:
    """Returns whether a tool asks by its result on a revision, and not by a request of its own."""
    return revision in MODERN_PROTOCOL_VERSIONS


def is_connection_modern(ctx: Context) -> bool:
    request = ctx.request_context
    # 4.0 has the revision.
    return request is not None and is_modern(getattr(request, "protocol_version", ""))


def tool_result(parts: dict[str, Any]) -> ToolResult:
    """https://gofastmcp.com/servers/tools#toolresult-and-metadata"""
    if error := tool_error(parts):
        raise error
    names = {"structuredContent": "structured_content", "isError": "is_error"}
    given = {names.get(key, key): value for key, value in parts.items()}
    if "content" in given:
        # The SDK turns every item that is not a content block into a text block.
        given["content"] = TypeAdapter(list[ContentBlock]).validate_python(given["content"])
    return ToolResult(**given)


def server_options(request: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of `FastMCP` that follow from a fixture.

    https://gofastmcp.com/servers/elicitation#carrying-state-across-rounds
    """
    server = request["fixture"]["server"]
    seconds = state_seconds(request["fixture"]["tools"])
    if seconds is None or not MODERN_PROTOCOL_VERSIONS:
        return server
    from mcp.server.request_state import RequestStateSecurity  # 4.0 brought states.

    return server | {"request_state_security": RequestStateSecurity.ephemeral(ttl=seconds)}


def question(elicit: dict[str, Any]) -> "types.InputRequiredResult":
    """https://gofastmcp.com/servers/elicitation#elicitation-on-the-modern-protocol"""
    if elicit.get("mode") == "url":
        params = types.ElicitRequestURLParams(message=elicit["message"], url=elicit["url"])
    else:
        params = types.ElicitRequestFormParams(message=elicit["message"], requested_schema=elicit["requestedSchema"])
    state = elicit["state"]["value"] if "state" in elicit else None
    return types.InputRequiredResult(input_requests={QUESTION: types.ElicitRequest(params=params)}, request_state=state)


def received_answer(elicit: dict[str, Any], ctx: Context) -> dict[str, Any] | None:
    """Returns the answer that came with the call, if it is one to the question.

    https://gofastmcp.com/servers/elicitation#reading-answers
    """
    answer = (ctx.input_responses or {}).get(QUESTION)
    if not isinstance(answer, ElicitResult):
        return None
    return answer_parts(answer) | ({"state": ctx.request_state} if "state" in elicit else {})


def check_log(does: dict[str, Any]) -> None:
    """Raises `Cannot` if a tool logs what the SDK's function does not take."""
    if "log" in does and not isinstance(does["log"]["data"], str):
        raise Cannot("Context.log takes only a text as its message")


async def log(ctx: Context, level: Any, data: str, logger: str | None = None) -> None:
    """https://gofastmcp.com/servers/logging"""
    await ctx.log(data, level=level, logger_name=logger)


async def report_progress(
    ctx: Context, progress: float, total: float | None = None, message: str | None = None
) -> None:
    """https://gofastmcp.com/servers/progress"""
    await ctx.report_progress(progress, total, message)


def answer_parts(answer: ElicitResult) -> dict[str, Any]:
    return answer.model_dump(include={"action", "content"}, exclude_unset=True)
