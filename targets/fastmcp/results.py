"""The results that a tool returns, in functions and in subclasses of `Tool`."""

from typing import Any

from fastmcp import Context
from fastmcp.tools import ToolResult
from mcp.types import ContentBlock, ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter

QUESTION = "question"
"""The key of the only question that a tool asks."""


def is_modern(request: dict[str, Any]) -> bool:
    """Returns whether a tool asks by its result on the revision of a request, and not by a request of its own."""
    return request["revision"] in MODERN_PROTOCOL_VERSIONS


def tool_result(parts: dict[str, Any]) -> ToolResult:
    """https://gofastmcp.com/servers/tools#toolresult-and-metadata"""
    names = {"structuredContent": "structured_content", "isError": "is_error"}
    given = {names.get(key, key): value for key, value in parts.items()}
    if "content" in given:
        # The SDK turns every item that is not a content block into a text block.
        given["content"] = TypeAdapter(list[ContentBlock]).validate_python(given["content"])
    return ToolResult(**given)


def question(message: str, schema: Any) -> InputRequiredResult:
    """https://gofastmcp.com/servers/elicitation#elicitation-on-the-modern-protocol"""
    asked = ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))
    return InputRequiredResult(input_requests={QUESTION: asked})


def received_answer(ctx: Context) -> dict[str, Any] | None:
    """Returns the answer that came with the call, if it is one to the question.

    https://gofastmcp.com/servers/elicitation#reading-answers
    """
    answer = (ctx.input_responses or {}).get(QUESTION)
    return answer_parts(answer) if isinstance(answer, ElicitResult) else None


def answer_parts(answer: ElicitResult) -> dict[str, Any]:
    return answer.model_dump(include={"action", "content"}, exclude_unset=True)
