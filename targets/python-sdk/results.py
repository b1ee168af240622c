"""Builds results by hand, as the authors of low-level servers do."""

from typing import Any

from mcp.types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequiredResult,
    InputResponses,
    TextContent,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from casebook_adapter import encode

QUESTION = "question"
"""The key of the only question that a tool asks."""


def is_modern(request: dict[str, Any]) -> bool:
    """Returns whether a tool asks by its result on the revision of a request, and not by a request of its own."""
    return request["revision"] in MODERN_PROTOCOL_VERSIONS


def call_tool_result(parts: dict[str, Any]) -> CallToolResult:
    """Builds a result. The text beside structured content is its JSON, unless the fixture has a content.

    https://py.sdk.modelcontextprotocol.io/advanced/low-level-server/#structured-output-by-hand
    """
    text = [TextContent(type="text", text=encode(parts["structuredContent"]))] if "structuredContent" in parts else []
    return CallToolResult(**{"content": text, **parts})


def question(elicit: dict[str, Any]) -> InputRequiredResult:
    """Builds the result that asks the user from 2026-07-28 on, with the state that the tool remembers.

    https://py.sdk.modelcontextprotocol.io/handlers/multi-round-trip/#the-server-side
    """
    if elicit.get("mode") == "url":
        params = ElicitRequestURLParams(message=elicit["message"], url=elicit["url"])
    else:
        params = ElicitRequestFormParams(message=elicit["message"], requested_schema=elicit["requestedSchema"])
    state = elicit["state"]["value"] if "state" in elicit else None
    return InputRequiredResult(input_requests={QUESTION: ElicitRequest(params=params)}, request_state=state)


def received_answer(
    elicit: dict[str, Any], responses: InputResponses | None, state: str | None
) -> dict[str, Any] | None:
    """Returns the answer that came with the call, if it is one to the question."""
    answer = (responses or {}).get(QUESTION)
    if not isinstance(answer, ElicitResult):
        return None
    return answer_parts(answer) | ({"state": state} if "state" in elicit else {})


def answer_parts(answer: ElicitResult) -> dict[str, Any]:
    return answer.model_dump(include={"action", "content"}, exclude_unset=True)
