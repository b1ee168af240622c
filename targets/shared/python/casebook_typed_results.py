"""The typed tools with results, for SDKs that derive schemas from functions and pydantic models.

https://py.sdk.modelcontextprotocol.io/servers/structured-output/
"""

import json
import math
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Annotated, Any, NotRequired

from pydantic import BaseModel, ConfigDict, Field, RootModel, StringConstraints, computed_field, field_serializer
from typing_extensions import TypedDict

from casebook_typed import Color, Node, Place, tool


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


class Sent(BaseModel):
    user_id: str = Field(serialization_alias="userId")


class Received(BaseModel):
    user_id: str = Field(validation_alias="userId")


# https://docs.pydantic.dev/latest/api/functional_serializers/#pydantic.functional_serializers.field_serializer
class Numbered(BaseModel):
    id: int

    @field_serializer("id")
    def with_sign(self, id: int):
        return f"#{id}"


class Counted(BaseModel):
    count: int


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


class Placed(BaseModel):
    x: int
    y: int = 5


class Trimmed(BaseModel):
    name: Annotated[str, StringConstraints(strip_whitespace=True)]


class Names(RootModel[list[str]]):
    pass


class NamedKey(Named):
    key: str


class Failed(BaseModel):
    reason: Any


class Label:
    name: str

    def __init__(self, name: str) -> None:
        self.name = name


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


@tool("returns-renamed")
def returns_renamed() -> Sent:
    return Sent(user_id="u1")


@tool("returns-received-name")
def returns_received_name() -> Received:
    return Received.model_validate({"userId": "u1"})


@tool("returns-own-form")
def returns_own_form() -> Numbered:
    return Numbered(id=1)


@tool("returns-converted")
def returns_converted() -> Counted:
    return Counted.model_validate({"count": "7"})


@tool("returns-computed")
def returns_computed() -> Measuring:
    return Measuring(name="Ada")


@tool("returns-hidden-member")
def returns_hidden_member() -> Keyed:
    return Keyed(name="Ada", key="k1")


@tool("returns-default-member")
def returns_default_member() -> Placed:
    return Placed(x=1)


@tool("returns-trimmed")
def returns_trimmed() -> Trimmed:
    return Trimmed(name=" Ada ")


@tool("returns-big-integer")
def returns_big_integer() -> Counted:
    return Counted(count=9007199254740993)


@tool("returns-big-undeclared")
def returns_big_undeclared():
    return {"count": 9007199254740993}


@tool("returns-plain-object")
def returns_plain_object() -> Label:
    return Label("Ada")


# https://docs.pydantic.dev/latest/concepts/models/#rootmodel-and-custom-root-types
@tool("returns-named-list")
def returns_named_list() -> Names:
    return Names(["a", "b"])


@tool("returns-point")
def returns_point() -> Place:
    return Place(1.5, 2.5)


@tool("returns-color")
def returns_color() -> Color:
    return Color.GREEN


@tool("returns-day")
def returns_day() -> date:
    return date(2026, 7, 28)


@tool("returns-anything")
def returns_anything() -> Any:
    return {"a": 1}


@tool("returns-derived")
def returns_derived() -> Named:
    return NamedKey(name="Ada", key="k1")


@tool("returns-sequence")
def returns_sequence() -> Iterator[int]:
    yield 1
    yield 2


@tool("returns-reason")
def returns_reason() -> Failed:
    return Failed(reason=ValueError("no name"))


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


@tool("returns-changed-member")
def returns_changed_member() -> Counted:
    counted = Counted(count=7)
    counted.count = json.loads('"seven"')
    return counted


@tool("returns-half-character")
def returns_half_character() -> str:
    return json.loads(r'"\ud800"')


@tool("breaks-off")
def breaks_off() -> Named:
    names: list[str] = []
    return Named(name=names[0])


# As `argparse` does when it cannot read an argument.
@tool("exits")
def exits() -> Named:
    sys.exit(2)


@tool("returns-wrong-type")
def returns_wrong_type() -> int:
    return json.loads('"seven"')


@tool("returns-nothing")
def returns_nothing() -> None:
    pass
