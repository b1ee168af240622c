"""The typed tools with results, for SDKs that derive schemas from functions and pydantic models.

https://py.sdk.modelcontextprotocol.io/servers/structured-output/
"""

import json
import math
from datetime import UTC, date, datetime
from typing import NotRequired

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from casebook_typed import Node, tool


class Named(BaseModel):
    name: str


class Coded(BaseModel):
    code: int


class Person(BaseModel):
    name: str
    age: int


class Times(BaseModel):
    day: date
    at: datetime


class User(BaseModel):
    user_id: str = Field(alias="userId")


class Noted(BaseModel):
    name: str
    note: str | None


class MaybeNoted(TypedDict):
    name: str
    note: NotRequired[str]


class Measured(BaseModel):
    ratio: float


class Binary(BaseModel):
    data: bytes


class Tagged(BaseModel):
    tags: list[str]


@tool("returns-record")
def returns_record() -> Person:
    return Person(name="Ada", age=36)


@tool("returns-texts")
def returns_texts() -> list[str]:
    return ["a", "b"]


@tool("returns-records")
def returns_records() -> list[Person]:
    return [Person(name="Ada", age=36)]


@tool("returns-empty-list")
def returns_empty_list() -> list[str]:
    return []


@tool("returns-integer")
def returns_integer() -> int:
    return 7


@tool("returns-text")
def returns_text() -> str:
    return "hello"


@tool("returns-boolean")
def returns_boolean() -> bool:
    return False


@tool("returns-null")
def returns_null() -> None:
    return None


@tool("returns-optional")
def returns_optional() -> Named | None:
    return None


@tool("returns-either")
def returns_either() -> Named | Coded:
    return Coded(code=7)


@tool("returns-tree")
def returns_tree() -> Node:
    return Node(value=1, children=[Node(value=2, children=[])])


@tool("returns-counts")
def returns_counts() -> dict[str, int]:
    return {"a": 1, "b": 2}


@tool("returns-times")
def returns_times() -> Times:
    return Times(day=date(2026, 7, 28), at=datetime(2026, 7, 28, 12, tzinfo=UTC))


@tool("returns-bytes")
def returns_bytes() -> Binary:
    return Binary(data=b"hi")


@tool("returns-alias")
def returns_alias() -> User:
    return User(userId="u1")


@tool("returns-null-member")
def returns_null_member() -> Noted:
    return Noted(name="Ada", note=None)


@tool("returns-left-out-member")
def returns_left_out_member() -> MaybeNoted:
    return {"name": "Ada"}


# Values that the declared type does not have. They come from a place without types, as in this example:
# https://py.sdk.modelcontextprotocol.io/servers/structured-output/#validation


@tool("returns-not-a-number")
def returns_not_a_number() -> Measured:
    return Measured(ratio=math.nan)


@tool("returns-raw-bytes")
def returns_raw_bytes() -> Binary:
    return Binary(data=b"\xff\xfe")


@tool("returns-nil-list")
def returns_nil_list() -> Tagged:
    return json.loads('{"tags": null}')


@tool("returns-more-members")
def returns_more_members() -> Named:
    return json.loads('{"name": "Ada", "age": 36}')


@tool("returns-fewer-members")
def returns_fewer_members() -> Person:
    return json.loads('{"name": "Ada"}')


@tool("returns-wrong-type")
def returns_wrong_type() -> int:
    return json.loads('"seven"')


@tool("returns-nothing")
def returns_nothing() -> None:
    pass
