"""The forms of typed tools that the SDKs derive from the same pydantic models.

https://py.sdk.modelcontextprotocol.io/handlers/elicitation/
"""

from datetime import date

from pydantic import BaseModel, Field


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


FORMS: dict[str, type[BaseModel]] = {
    "form-plain": Plain,
    "form-defaults": Defaults,
    "form-optional": Optional,
    "form-nullable": Nullable,
    "form-bounds": Bounds,
    "form-date": Dated,
    "form-nested": Nested,
}
"""The forms by the names of the tools."""
