"""The typed tools: functions and models from which `MCPServer` derives schemas and forms.

Those that need nothing of the SDK are in `casebook_typed`, `casebook_typed_results` and `casebook_typed_forms`.
"""

from typing import Annotated, Any, TypeVar

from mcp.server.mcpserver import AcceptedElicitation, Elicit, ElicitationResult, Image, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from casebook_typed import Function, tool, typed_function
from casebook_typed_forms import FORMS
from casebook_typed_results import Named

Form = TypeVar("Form", bound=BaseModel)

PNG = b"\x89PNG\r\n\x1a\n"


# A function may return the result itself: https://py.sdk.modelcontextprotocol.io/migration/
@tool("returns-image-beside")
def returns_image_beside() -> Annotated[CallToolResult, Named]:
    named = Named(name="Ada")
    return CallToolResult(
        content=[TextContent(text=named.model_dump_json()), Image(data=PNG, format="png").to_image_content()],
        structured_content=named.model_dump(),
    )


# https://py.sdk.modelcontextprotocol.io/servers/handling-errors/
@tool("returns-failure")
def returns_failure() -> Named:
    raise ToolError("no name")


# The titles of choices have no type. The SDK's example writes them into the schema:
# https://github.com/modelcontextprotocol/python-sdk/blob/main/examples/servers/everything-server/
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
    return asks(ALL_FORMS[name]) if name in ALL_FORMS else typed_function(name)


def asks(form: type[Form]) -> Function:
    """https://py.sdk.modelcontextprotocol.io/handlers/elicitation/#ask-with-a-resolver"""

    async def ask() -> Elicit[Form]:
        return Elicit("Please answer.", form)

    async def report(answer: Annotated[ElicitationResult[Form], Resolve(ask)]) -> dict[str, Any]:
        if isinstance(answer, AcceptedElicitation):
            return {"action": "accept", "content": answer.data}
        return {"action": answer.action}

    return report
