"""MCPServer lists a model as it is read, and sends it as it is written: its client refuses the results."""

import sys

import anyio
from mcp import Client
from mcp.server import MCPServer
from pydantic import BaseModel, ConfigDict, Field, computed_field

server = MCPServer("repro")


class Sent(BaseModel):
    user_id: str = Field(serialization_alias="userId")


class Received(BaseModel):
    user_id: str = Field(validation_alias="userId")


class Measuring(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str

    @computed_field
    @property
    def length(self) -> int:
        return len(self.name)


class Keyed(BaseModel):
    name: str
    key: str = Field(exclude=True)


@server.tool()
def serialization_alias() -> Sent:
    return Sent(user_id="u1")


@server.tool()
def validation_alias() -> Received:
    return Received(userId="u1")


@server.tool()
def computed() -> Measuring:
    return Measuring(name="Ada")


@server.tool()
def excluded() -> Keyed:
    return Keyed(name="Ada", key="k1")


async def main() -> int:
    refused = []
    async with Client(server) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        for name in names:
            try:
                await client.call_tool(name, {})
            except RuntimeError as error:  # The client compares the result with the schema; the server does not.
                if "Invalid structured content" in str(error):
                    refused.append(name)
    print(f"the client refuses the results of: {', '.join(refused)}")
    return 0 if len(refused) == len(names) == 4 else 1


sys.exit(anyio.run(main))
