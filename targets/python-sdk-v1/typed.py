"""The typed tools: functions and models from which `FastMCP` derives schemas and forms.

Those that need nothing of the SDK are in `casebook_typed`, `casebook_typed_results` and `casebook_typed_forms`.
"""

from typing import Annotated, Any

from mcp.server.fastmcp import Context, Image
from mcp.server.fastmcp.exceptions import ToolError
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from casebook_typed import Function, tool, typed_function
from casebook_typed_forms import FORMS
from casebook_typed_results import Named

from versions import check_returns_results

PNG = b"\x89PNG\r\n\x1a\n"


# https://py.sdk.modelcontextprotocol.io/v1/server/#advanced-direct-calltoolresult
@tool("returns-image-beside")
def returns_image_beside() -> Annotated[CallToolResult, Named]:
    named = Named(name="Ada")
    text = TextContent(type="text", text=named.model_dump_json())
    return CallToolResult(
        content=[text, Image(data=PNG, format="png").to_image_content()],
        structuredContent=named.model_dump(),
    )


@tool("returns-failure")
def returns_failure() -> Named:
    raise ToolError("no name")


# The titles of choices have no type. The SDK's example writes them into the schema:
# https://github.com/modelcontextprotocol/python-sdk/tree/v1.x/examples/servers/everything-server
TITLES: list[Any] = [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}]


class TitledChoice(BaseModel):
    color: str = Field(json_schema_extra={"oneOf": TITLES})


class TitledChoices(BaseModel):
    colors: list[str] = Field(json_schema_extra={"items": {"anyOf": TITLES}})


ALL_FORMS = FORMS | {
    "form-titled-choice": TitledChoice,
    "form-titled-choices": TitledChoices,
}


def function(name: str) -> Function:
    if name == "returns-image-beside":
        check_returns_results()
    return asks(ALL_FORMS[name]) if name in ALL_FORMS else typed_function(name)


def asks(form: type[BaseModel]) -> Function:
    """https://py.sdk.modelcontextprotocol.io/v1/server/#elicitation"""

    async def ask(ctx: Context) -> dict[str, Any]:
        answer = await ctx.elicit(message="Please answer.", schema=form)
        if answer.action == "accept":
            return {"action": "accept", "content": answer.data}
        return {"action": answer.action}

    return ask
