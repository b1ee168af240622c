"""The forms of typed tools that the SDKs derive from the same pydantic models.

https://py.sdk.modelcontextprotocol.io/handlers/elicitation/
"""

from datetime import date
from decimal import Decimal
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, RootModel

from casebook_typed import Color


class Choice(BaseModel):
    color: Literal["red", "green"]


class Choices(BaseModel):
    colors: list[Literal["red", "green", "blue"]] = Field(min_length=1, max_length=2)


class ChoiceDefault(BaseModel):
    color: Literal["red", "green"] = "green"


class Plain(BaseModel):
    name: str
    agree: bool


class Defaults(BaseModel):
    name: str = "Ada"
    count: int = 3
    ratio: float = 0.5
    agree: bool = True


class Optional(BaseModel):
    name: str
    note: str | None = None


class Nullable(BaseModel):
    note: str | None


class Bounds(BaseModel):
    age: int = Field(ge=0, le=150)
    code: str = Field(min_length=1, max_length=5)


class Dated(BaseModel):
    day: date


class Person(BaseModel):
    name: str


class Nested(BaseModel):
    person: Person


class Enumerated(BaseModel):
    color: Color


class Levels(BaseModel):
    level: Literal[1, 2]


class Above(BaseModel):
    count: int = Field(gt=0)


class Texts(BaseModel):
    tags: list[str]


class Identified(BaseModel):
    id: UUID


class Priced(BaseModel):
    price: Decimal


class Either(BaseModel):
    value: int | str


class Counts(BaseModel):
    counts: dict[str, int]


class CountMap(RootModel[dict[str, int]]):
    pass


class ChoicesDefault(BaseModel):
    colors: list[Literal["red", "green"]] = ["red"]


class SingleChoice(BaseModel):
    color: Literal["red"]


class Described(BaseModel):
    age: int = Field(title="Your age", description="In years")


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str


class Note(BaseModel):
    note: str | None = None


class Alone(RootModel[str]):
    pass


FORMS: dict[str, type[BaseModel]] = {
    "form-plain": Plain,
    "form-choice": Choice,
    "form-choices": Choices,
    "form-choice-default": ChoiceDefault,
    "form-defaults": Defaults,
    "form-optional": Optional,
    "form-nullable": Nullable,
    "form-bounds": Bounds,
    "form-date": Dated,
    "form-nested": Nested,
    "form-enum": Enumerated,
    "form-levels": Levels,
    "form-above": Above,
    "form-texts": Texts,
    "form-uuid": Identified,
    "form-decimal": Priced,
    "form-union": Either,
    "form-counts": Counts,
    "form-map": CountMap,
    "form-choices-default": ChoicesDefault,
    "form-single-choice": SingleChoice,
    "form-described": Described,
    "form-closed": Closed,
    "form-note": Note,
    "form-alone": Alone,
}
"""The forms by the names of the tools."""
