"""FastMCP takes arguments that the schemas it listed refuse: pydantic's types are wider than their schemas."""

import sys
from enum import IntFlag
from typing import Annotated, Any, NamedTuple

import anyio
from fastmcp import Client, FastMCP
from jsonschema import Draft202012Validator
from pydantic import AliasChoices, Field, StringConstraints

server = FastMCP("repro")


class Rights(IntFlag):
    READ = 1
    WRITE = 2


class Place(NamedTuple):
    x: float
    y: float


@server.tool
def flags(rights: Rights) -> str:
    return repr(rights)


@server.tool
def named_tuple(point: Place) -> str:
    return repr(point)


@server.tool
def second_name(user_id: Annotated[str, Field(validation_alias=AliasChoices("userId", "uid"))]) -> str:
    return user_id


@server.tool
def trimmed(name: Annotated[str, StringConstraints(strip_whitespace=True, max_length=3)]) -> str:
    return name


CALLS: dict[str, dict[str, Any]] = {
    "flags": {"rights": 8},
    "named_tuple": {"point": {"x": 1.5, "y": 2.5}},
    "second_name": {"uid": "u1"},
    "trimmed": {"name": "  Ada  "},
}


async def main() -> int:
    taken = []
    async with Client(server) as client:
        schemas = {tool.name: tool.input_schema for tool in await client.list_tools()}
        for name, arguments in CALLS.items():
            result = await client.call_tool_mcp(name, arguments)
            if not Draft202012Validator(schemas[name]).is_valid(arguments) and not result.is_error:
                taken.append(name)
    print(f"arguments that the listed schema refuses are taken by: {', '.join(taken)}")
    return 0 if taken == list(CALLS) else 1


sys.exit(anyio.run(main))
