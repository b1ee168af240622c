"""The typed tools: functions and models from which FastMCP derives schemas and forms.

Those that need nothing of the SDK are in `casebook_typed`, `casebook_typed_results` and `casebook_typed_forms`.

https://gofastmcp.com/servers/tools#type-annotations
"""

from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.utilities.types import Image

from casebook_adapter import Cannot, Refused
from casebook_typed import Function, tool, typed_function
from casebook_typed_forms import FORMS
from casebook_typed_results import Named

from versions import ToolResult

PNG = b"\x89PNG\r\n\x1a\n"


# The schema of every function has `additionalProperties: false`.
@tool("closed")
def closed(name: str) -> dict[str, Any]:
    return {"name": name}


# https://gofastmcp.com/servers/tools#toolresult-and-metadata
@tool("returns-image-beside")
def returns_image_beside() -> ToolResult:
    image = Image(data=PNG, format="png").to_image_content()
    return ToolResult(content=[image], structured_content=Named(name="Ada"))


# https://gofastmcp.com/servers/tools#error-handling
@tool("returns-failure")
def returns_failure() -> Named:
    raise ToolError("no name")


# https://gofastmcp.com/servers/elicitation#scalar-types
NO_MODELS: dict[str, Any] = {"form-map": dict[str, int], "form-alone": str}

# https://gofastmcp.com/servers/elicitation#titled-options
TITLED_FORMS = {"form-titled-choice", "form-titled-choices"}


def register(server: FastMCP, name: str, description: str, modern: bool) -> None:
    """Registers the tool that its author writes by hand. On revisions that are `modern`, a tool asks by its result."""
    function = asks(name, modern) if name in FORMS or name in TITLED_FORMS else typed_function(name)
    try:
        server.tool(function, name=name, description=description)
    except Exception as error:
        raise Refused(error, name) from error


def asks(name: str, modern: bool) -> Function:
    """https://gofastmcp.com/servers/elicitation#structured-responses"""
    if modern:
        raise Cannot("the SDK derives no form from a type on 2026-07-28, where Context.elicit raises an error")
    if name in TITLED_FORMS:
        raise Cannot("Context.elicit has options with titles only for an answer of one field, which it names `value`")
    form = NO_MODELS.get(name, FORMS[name])

    async def ask(ctx: Context) -> dict[str, Any]:
        answer = await ctx.elicit("Please answer.", response_type=form)
        if answer.action == "accept":
            return {"action": "accept", "content": answer.data}
        return {"action": answer.action}

    return ask
