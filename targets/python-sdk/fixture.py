"""From a fixture to a server, with the SDK's low-level `Server`: the tier to which its documentation sends those
who bring a JSON Schema of their own. Nothing is checked, repaired or filled in on the SDK's behalf.

https://py.sdk.modelcontextprotocol.io/advanced/low-level-server/
"""

from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

REVISIONS = ["2025-06-18", "2025-11-25", "2026-07-28"]
VARIANTS = ["low"]

QUESTION = "question"
"""The key of the one question that a tool asks."""


class Cannot(Exception):
    """The SDK's public API has no way to express what was asked for."""

    def answer(self) -> dict[str, Any]:
        return {"cannot": str(self)}


class Refused(Exception):
    """The SDK raised, the cause, while the server was being built."""

    def __init__(self, tool: Any) -> None:
        self.tool = tool

    def answer(self) -> dict[str, Any]:
        tool = {"tool": self.tool} if isinstance(self.tool, str) else {}
        return {"refused": {"type": type(self.__cause__).__name__, "message": str(self.__cause__), **tool}}


def build(order: dict[str, Any]) -> Server:
    """Builds the server of a `serve` order.

    It would speak every revision, whichever the order names: there is nothing to switch off.
    https://py.sdk.modelcontextprotocol.io/run/legacy-clients/
    """
    if order["revision"] not in REVISIONS:
        raise Cannot(f"the SDK does not speak {order['revision']}")
    if order.get("variant", VARIANTS[0]) not in VARIANTS:
        raise Cannot(f"there is no variant {order['variant']}")

    tools = order["fixture"]["tools"]
    listed = [declare(tool) for tool in tools]

    async def list_tools(_ctx: ServerRequestContext, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=listed)

    async def call_tool(
        ctx: ServerRequestContext, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        # Dispatch is the author's on this tier, and so is this error: it is the one of the documentation.
        # https://py.sdk.modelcontextprotocol.io/advanced/low-level-server/#two-tools-one-handler
        does = next((tool["does"] for tool in tools if tool["name"] == params.name), None)
        if does is None:
            raise ValueError(f"Unknown tool: {params.name}")
        return await perform(does, ctx, params)

    return Server(**order["fixture"]["server"], on_list_tools=list_tools, on_call_tool=call_tool)


def declare(tool: dict[str, Any]) -> Tool:
    try:
        return Tool(**{key: value for key, value in tool.items() if key != "does"})
    except Exception as error:
        raise Refused(tool.get("name")) from error


async def perform(
    does: dict[str, Any], ctx: ServerRequestContext, params: CallToolRequestParams
) -> CallToolResult | InputRequiredResult:
    """The body of a tool. `content` has no default in the SDK: an author who has none writes an empty list."""
    match does:
        case {"echo": _}:
            return CallToolResult(content=[], structured_content=params.arguments or {})
        case {"return": parts}:
            return CallToolResult(**{"content": [], **parts})
        case {"elicit": {"message": message, "requestedSchema": schema}}:
            answer = await ask(message, schema, ctx, params)
            if isinstance(answer, InputRequiredResult):
                return answer
            got = answer.model_dump(include={"action", "content"}, exclude_unset=True)
            return CallToolResult(content=[], structured_content=got)
        case {"raise": message}:
            raise RuntimeError(message)
        case _:
            raise NotImplementedError(f"a tool that does {list(does)}")


async def ask(
    message: str, schema: Any, ctx: ServerRequestContext, params: CallToolRequestParams
) -> ElicitResult | InputRequiredResult:
    """Asks the user: by a request to the client, or from 2026-07-28 on by returning the question.

    https://py.sdk.modelcontextprotocol.io/handlers/multi-round-trip/#the-server-side
    """
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        # Unrelated to the call, the question would wait for a stream that the client need not open.
        return await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
    answer = (params.input_responses or {}).get(QUESTION)
    if isinstance(answer, ElicitResult):
        return answer
    question = ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))
    return InputRequiredResult(input_requests={QUESTION: question})
