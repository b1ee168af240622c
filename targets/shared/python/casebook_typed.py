"""The typed tools with arguments, for SDKs that derive schemas from functions and pydantic models.

Each tool is a plain function without an import from an SDK, as the first examples of the documentation write it. Its
result is what it received, and the annotation `dict[str, Any]` makes that structured.

https://py.sdk.modelcontextprotocol.io/servers/tools/
"""

import json
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntFlag
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

from pydantic import AliasChoices, AnyUrl, BaseModel, EmailStr, Field, Json, StringConstraints

from casebook_adapter import Cannot

Function = Callable[..., Any]

TOOLS: dict[str, Function] = {}
"""The functions of all typed tools, by the names of the tools."""

CANNOT = {
    "root-union": "a tool has the parameters of a function, and no signature is a union of objects",
    "closed": "no signature says whether a tool takes other arguments, and the SDK has no option for it",
    "named-record": "a tool has the parameters of a function, which are no record with a name",
    "repeated-member": "a tool has the parameters of a function, which embed no record",
    "small-number": "Python has no numbers of 32 bits",
    "named-embedding": "a tool has the parameters of a function, which embed no record",
    "root-list": "a tool has the parameters of a function, which have names",
    "raw-value": "Python has no type for JSON that is kept as text",
    "digits": "pydantic has no integer that is a text in JSON",
    "coerced": "pydantic makes a number of a text for every float, so that no other type says it",
    "returns-raw": "Python has no type for JSON that is kept as text",
    "returns-nil-map": "Python has no nil maps: None is a value of another type",
    "returns-nil-embedded": "Python has no embedded records",
}


def tool(name: str) -> Callable[[Function], Function]:
    """Registers a function in the table, as the decorator `tool(name=…)` of an SDK does in a server."""

    def register(function: Function) -> Function:
        TOOLS[name] = function
        return function

    return register


def typed_function(name: str) -> Function:
    """Returns the function that the author of a typed tool writes."""
    if name not in TOOLS:
        raise Cannot(CANNOT.get(name, f"the adapter has no typed tool {name}"))
    return TOOLS[name]


class Color(Enum):
    RED = "#f00"
    GREEN = "#0f0"


class Rights(IntFlag):
    READ = 1
    WRITE = 2


class Place(NamedTuple):
    x: float
    y: float


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: float


class Square(BaseModel):
    kind: Literal["square"]
    side: float


# A tag with a default, so that the code need not repeat it: `Disk(radius=2)`.
class Disk(BaseModel):
    kind: Literal["circle"] = "circle"
    radius: float


class Tile(BaseModel):
    kind: Literal["square"] = "square"
    side: float


class Address(BaseModel):
    city: str


class Resident(BaseModel):
    name: str
    address: Address


class Point(BaseModel):
    x: int
    y: int


class Node(BaseModel):
    value: int
    children: list["Node"]


class Handle:
    def __init__(self, number: int) -> None:
        self.number = number


@tool("plain")
def plain(text: str) -> dict[str, Any]:
    return {"text": text}


@tool("none")
def none() -> dict[str, Any]:
    return {}


@tool("required")
def required(name: str, count: int) -> dict[str, Any]:
    return {"name": name, "count": count}


@tool("optional")
def optional(name: str, count: int | None = None) -> dict[str, Any]:
    return {"name": name, "count": count}


@tool("nullable")
def nullable(note: str | None) -> dict[str, Any]:
    return {"note": note}


@tool("optional-nullable")
def optional_nullable(name: str, note: str | None = None) -> dict[str, Any]:
    return {"name": name, "note": note}


@tool("defaults")
def defaults(
    title: str = "a",
    ratio: float = 1.5,
    count: int = 3,
    loud: bool = False,
    tags: list[str] = ["x"],  # noqa: B006
) -> dict[str, Any]:
    return {"title": title, "ratio": ratio, "count": count, "loud": loud, "tags": tags}


@tool("literals")
def literals(color: Literal["red", "green"], level: Literal[1, 2]) -> dict[str, Any]:
    return {"color": color, "level": level}


@tool("mixed-literals")
def mixed_literals(mode: Literal["auto", 1, True]) -> dict[str, Any]:
    return {"mode": mode}


@tool("enum")
def enumeration(color: Color) -> dict[str, Any]:
    return {"color": color.value}


@tool("union")
def union(value: int | str) -> dict[str, Any]:
    return {"value": value}


@tool("tagged-union")
def tagged_union(shape: Annotated[Circle | Square, Field(discriminator="kind")]) -> dict[str, Any]:
    return {"shape": shape}


@tool("nested")
def nested(person: Resident) -> dict[str, Any]:
    return {"person": person}


@tool("shared")
def shared(start: Annotated[Point, Field(alias="from")], to: Point) -> dict[str, Any]:
    return {"from": start, "to": to}


@tool("recursive")
def recursive(tree: Node) -> dict[str, Any]:
    return {"tree": tree}


@tool("lists")
def lists(names: list[str], points: list[Point]) -> dict[str, Any]:
    return {"names": names, "points": points}


@tool("tuple")
def fixed_list(pair: tuple[int, str]) -> dict[str, Any]:
    return {"pair": pair}


@tool("map")
def mapping(counts: dict[str, int]) -> dict[str, Any]:
    return {"counts": counts}


@tool("map-of-numbers")
def mapping_of_numbers(names: dict[int, str]) -> dict[str, Any]:
    return {"names": names}


@tool("free-form")
def free_form(options: dict[str, Any]) -> dict[str, Any]:
    return {"options": options}


@tool("anything")
def anything(value: Any) -> dict[str, Any]:
    return {"value": value}


@tool("bounds")
def bounds(count: Annotated[int, Field(ge=1, le=10)], ratio: Annotated[float, Field(gt=0, lt=1)]) -> dict[str, Any]:
    return {"count": count, "ratio": ratio}


@tool("lengths")
def lengths(
    code: Annotated[str, Field(pattern="^[A-Z]{3}$")],
    name: Annotated[str, Field(min_length=1, max_length=5)],
    tags: Annotated[list[str], Field(min_length=1, max_length=2)],
) -> dict[str, Any]:
    return {"code": code, "name": name, "tags": tags}


@tool("formats")
def formats(email: EmailStr, link: AnyUrl, id: UUID) -> dict[str, Any]:
    return {"email": email, "link": link, "id": id}


@tool("dates")
def dates(day: date, at: datetime) -> dict[str, Any]:
    return {"day": day, "at": at}


@tool("decimal")
def decimal(price: Decimal) -> dict[str, Any]:
    return {"price": float(price)}


# `alias` is pydantic's first way to name a field.
@tool("alias")
def alias(user_id: Annotated[str, Field(alias="userId")]) -> dict[str, Any]:
    return {"userId": user_id}


@tool("reserved")
def reserved(
    type: str, class_: Annotated[str, Field(alias="class")], self: str, schema: str, arguments: str
) -> dict[str, Any]:
    return {"type": type, "class": class_, "self": self, "schema": schema, "arguments": arguments}


@tool("set")
def unique_tags(tags: set[str]) -> dict[str, Any]:
    return {"tags": sorted(tags)}


@tool("described")
def described(city: Annotated[str, Field(description="The city")]) -> dict[str, Any]:
    return {"city": city}


@tool("bytes")
def binary(data: bytes) -> dict[str, Any]:
    return {"data": data}


@tool("big-integer")
def big_integer(count: int) -> dict[str, Any]:
    return {"count": count}


@tool("whole-number")
def whole_number(count: int) -> dict[str, Any]:
    return {"count": count}


@tool("address")
def ip_address(address: IPv4Address) -> dict[str, Any]:
    return {"address": address}


# https://docs.pydantic.dev/latest/api/types/#pydantic.types.Json
@tool("json-text")
def json_text(value: Json[list[int]]) -> dict[str, Any]:
    return {"value": json.dumps(value)}


@tool("flags")
def flags(rights: Rights) -> dict[str, Any]:
    return {"rights": rights}


@tool("named-tuple")
def named_tuple(point: Place) -> dict[str, Any]:
    return {"point": point}


@tool("untyped")
def untyped(value) -> dict[str, Any]:
    return {"value": value}


@tool("positional-only")
def positional_only(name: str, /) -> dict[str, Any]:
    return {"name": name}


# https://docs.pydantic.dev/latest/concepts/alias/#aliaspath-and-aliaschoices
@tool("second-name")
def second_name(user_id: Annotated[str, Field(validation_alias=AliasChoices("userId", "uid"))]) -> dict[str, Any]:
    return {"userId": user_id}


@tool("any-case")
def any_case(code: Annotated[str, Field(pattern="(?i)^a+$")]) -> dict[str, Any]:
    return {"code": code}


@tool("date-object")
def date_object(at: datetime) -> dict[str, Any]:
    return {"at": at}


@tool("map-object")
def map_object(counts: dict[str, int]) -> dict[str, Any]:
    return {"counts": counts}


# https://docs.pydantic.dev/latest/api/types/#pydantic.types.StringConstraints
@tool("trimmed")
def trimmed(name: Annotated[str, StringConstraints(strip_whitespace=True, max_length=3)]) -> dict[str, Any]:
    return {"name": name}


# https://docs.pydantic.dev/latest/concepts/fields/#default-values
@tool("made-default")
def made_default(tags: Annotated[list[str], Field(default_factory=lambda: ["x"])]) -> dict[str, Any]:
    return {"tags": tags}


@tool("null-default")
def null_default(count: int = None) -> dict[str, Any]:  # type: ignore[assignment]  # noqa: RUF013
    return {"count": count}


@tool("any-names")
def any_names(**counts: int) -> dict[str, Any]:
    return {**counts}


@tool("inherited-names")
def inherited_names(copy: str, toString: str | None = None, model_config: str | None = None) -> dict[str, Any]:  # noqa: N803
    return {"copy": copy, "toString": toString, "model_config": model_config}


@tool("underscore")
def underscore(_id: str) -> dict[str, Any]:
    return {"_id": _id}


@tool("link")
def link(link: AnyUrl) -> dict[str, Any]:
    return {"link": link}


@tool("duration")
def duration(wait: timedelta) -> dict[str, Any]:
    return {"wait": wait}


@tool("tag-default")
def tag_default(shape: Annotated[Disk | Tile, Field(discriminator="kind")]) -> dict[str, Any]:
    return {"shape": shape}


@tool("function")
def function(done: Callable[[], None]) -> dict[str, Any]:
    done()
    return {}


@tool("opaque")
def opaque(handle: Handle) -> dict[str, Any]:
    return {"handle": handle.number}
