"""Writes the JSON Schemas of a fixture as Python annotations, for SDKs that derive schemas from functions and models.

The author of such a tool does not write a JSON Schema. These functions choose the annotations by which an author
would say a given one, and `equivalent` compares it with the schema that the SDK derives from them. If the two differ,
the SDK cannot express the fixture. Pydantic's `WithJsonSchema`, which replaces a derived schema by any other, is not
used: it says nothing of the values that the SDK accepts.
"""

import json
from datetime import date, datetime
from enum import Enum
from inspect import Parameter
from keyword import iskeyword
from typing import Annotated, Any, ForwardRef, Literal, NotRequired, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError, create_model
from typing_extensions import TypeAliasType, TypedDict, is_typeddict

from casebook_adapter import Cannot

try:
    from pydantic.experimental.missing_sentinel import MISSING
except ImportError:  # It came with pydantic 2.12.
    MISSING: Any = None

Schema = dict[str, Any]


RECURSIVE: list[Any] = []
"""The types of all definitions. Pydantic evaluates the name of a type in this module."""


class Absent(Enum):
    """The value of an argument that the caller left out and that has no default."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT

TYPES = {"string": str, "number": float, "integer": int, "boolean": bool, "null": None}
FORMATS = {"date": date, "date-time": datetime, "uuid": UUID}
NUMERIC = {"minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt"}
CONSTRAINTS = {
    "string": {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"},
    "number": {**NUMERIC, "multipleOf": "multiple_of"},
    "integer": {**NUMERIC, "multipleOf": "multiple_of"},
    "array": {"minItems": "min_length", "maxItems": "max_length"},
    "object": {"minProperties": "min_length", "maxProperties": "max_length"},
}
"""The parameters of pydantic's `Field` that say the keywords of each type."""


def parameters(schema: Any) -> list[Parameter]:
    """Returns the parameters of a function that takes the arguments of an `inputSchema`.

    An argument that is neither required nor has a default gets `ABSENT` from a `default_factory`, because pydantic
    adds a default value, also None, to the schema. An argument whose name is no Python identifier has an alias.
    """
    found = []
    for name, (annotation, required, default) in members(schema, Annotations(schema)).items():
        field: dict[str, Any] = {}
        if not required and default is ABSENT:
            field["default_factory"] = lambda: ABSENT
        parameter = name
        if not name.isidentifier() or iskeyword(name) or name.startswith("_"):
            parameter = f"argument_{len(found)}"
            field["validation_alias"] = name
        if field:
            annotation = Annotated[annotation, Field(**field)]
        value = Parameter.empty if default is ABSENT else default
        found.append(Parameter(parameter, Parameter.KEYWORD_ONLY, annotation=annotation, default=value))
    return found


def received(found: list[Parameter], arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments that a caller sent, by the names in the schema."""
    names = {}
    for parameter in found:
        alias = (getattr(field, "validation_alias", None) for field in get_args(parameter.annotation)[1:])
        names[parameter.name] = next(filter(None, alias), parameter.name)
    return {names[key]: value for key, value in arguments.items() if value is not ABSENT}


def form(schema: Any, *, literals: bool) -> type[BaseModel]:
    """Returns the pydantic model of an elicitation's form.

    If `literals` is false, the choices of a field are only in its schema, and the SDK accepts other answers too.
    """
    fields: dict[str, Any] = {}
    for name, (annotation, required, default) in members(schema, FormAnnotations(schema, literals)).items():
        if name.startswith("_"):
            raise Cannot("the name of a model's field must not start with an underscore")
        if default is not ABSENT:
            fields[name] = (annotation, default)
        else:
            fields[name] = (annotation, ... if required else Field(default_factory=lambda: ABSENT))
    return create_model("Form", **fields)


def submitted(answer: BaseModel) -> dict[str, Any]:
    """Returns the fields of a submitted form as its tool sees them, with the defaults that the SDK filled in."""
    absent = {name for name, value in answer if value is ABSENT}
    return answer.model_dump(mode="json", exclude=absent)


def result(schema: Any, *, model: bool = False) -> Any:
    """Returns the annotation of a function's result that conforms to an `outputSchema`.

    For an object with properties it is a `TypedDict` or, for SDKs that read every member of a `TypedDict` as one with a
    value, a model. For a result that is no object it is a `RootModel`, because the SDKs wrap other types in an object.
    """
    annotations = Annotations(schema)
    annotation = annotations.of(schema, "Result")
    if get_origin(annotation) is dict:
        return annotation
    if not is_typeddict(annotation):
        return create_model("Result", __base__=RootModel[annotation])
    found = annotations.members(schema)
    if not model or (MISSING is None and not all(required for _, required, _ in found.values())):
        return annotation
    fields: dict[str, Any] = {
        name: (hint, ...) if required else (hint | MISSING, MISSING) for name, (hint, required, _) in found.items()
    }
    return create_model("Result", __config__=getattr(annotation, "__pydantic_config__", None), **fields)


def returned(annotation: Any, value: Any) -> Any:
    """Returns a value as the author of a function with this annotation does.

    A bare `None` is the result of a function that returns nothing. One whose result can be null returns its type.
    """
    if value is None and isinstance(annotation, type) and issubclass(annotation, RootModel):
        try:
            return annotation(None)
        except ValidationError:
            return None
    return value


def members(schema: Any, annotations: "Annotations") -> dict[str, tuple[Any, bool, Any]]:
    """Returns the annotation of each property at the root of a schema, whether it is required, and its default."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise Cannot("the schema that pydantic derives from a function or model always has the type object")
    for keyword in schema:
        if keyword not in {"type", "properties", "required", "title", "$defs"}:
            raise Cannot(f"the schema that pydantic derives from a function or model has no `{keyword}` at its root")
    return annotations.members(schema)


class Annotations:
    """Chooses the annotations for a schema and for its definitions."""

    def __init__(self, root: Any) -> None:
        self.definitions = root.get("$defs", {}) if isinstance(root, dict) else {}
        self.aliases: dict[str, Any] = {}

    def of(self, schema: Any, name: str, presented: Schema | None = None) -> Any:
        """Returns the annotation of a schema. The keywords in `presented` are only added to the derived schema."""
        if schema is True or schema == {}:
            return Any
        if not isinstance(schema, dict):
            raise Cannot("Python types and pydantic's Field do not say this schema, which is not an object")
        keywords = {key: value for key, value in schema.items() if key not in ("$defs", "default")}
        field = {key: keywords.pop(key) for key in ("title", "description", "examples") if key in keywords}
        extra = {key: keywords.pop(key) for key in list(keywords) if key.startswith("x-")} | (presented or {})
        kind = keywords.pop("type", None)
        annotation = self.take(kind, keywords, name, field, extra)
        for keyword in keywords:
            raise Cannot(f"neither a Python type nor a constraint of pydantic's Field says `{keyword}` here")
        if extra:
            field["json_schema_extra"] = extra
        return Annotated[annotation, Field(**field)] if field else annotation

    def take(self, kind: Any, keywords: Schema, name: str, field: Schema, extra: Schema) -> Any:
        """Returns a type, and moves the keywords that go with it to the parameters of `Field`."""
        if "enum" in keywords:
            return self.literal(keywords.pop("enum"))
        if "const" in keywords:
            return self.literal([keywords.pop("const")])
        if kind is None and "$ref" in keywords:
            return self.reference(keywords.pop("$ref"))
        if kind is None and "anyOf" in keywords:
            return self.union(keywords.pop("anyOf"), name)
        if kind is None or (isinstance(kind, list) and keywords):
            return Any  # The caller rejects the remaining keywords.
        if isinstance(kind, list):
            return self.union([{"type": one} for one in kind], name)
        if not isinstance(kind, str) or kind not in {*TYPES, *CONSTRAINTS}:
            raise Cannot("Python types and pydantic's Field do not say an invalid schema")

        said = CONSTRAINTS.get(kind, {})
        for keyword in said.keys() & keywords.keys():
            value = keywords[keyword]
            # A boolean is an int of Python, and an author who writes one as a bound has made the mistake alone.
            if isinstance(value, bool) or not isinstance(value, str if keyword == "pattern" else int | float):
                raise Cannot("a type checker rejects a constraint that is not a number")
        field |= {said[keyword]: keywords.pop(keyword) for keyword in list(keywords) if keyword in said}
        if kind == "array":
            items = self.of(keywords.pop("items", {}), name)
            return set[items] if keywords.pop("uniqueItems", False) is True else list[items]
        if kind == "object":
            return self.object(keywords, name)
        if kind == "string" and keywords.get("format") in FORMATS:
            return FORMATS[keywords.pop("format")]
        if "format" in keywords:
            extra["format"] = keywords.pop("format")
        return TYPES[kind]

    def object(self, keywords: Schema, name: str) -> Any:
        """Returns a dict or, if there are properties, a `TypedDict`, which keeps missing members missing."""
        if "properties" not in keywords and "required" not in keywords:
            others = keywords.pop("additionalProperties", {})
            if others is not False:
                return dict[str, self.of(others, name)]
            keywords["additionalProperties"] = False
        fields = {
            key: annotation if required else NotRequired[annotation]
            for key, (annotation, required, _) in self.members(keywords).items()
        }
        keywords.pop("properties", None)
        keywords.pop("required", None)
        # A type checker wants the name and the members of the type in the source.
        found: Any = TypedDict(name, fields)  # pyright: ignore[reportArgumentType]
        if keywords.get("additionalProperties") is False:
            del keywords["additionalProperties"]
            found.__pydantic_config__ = ConfigDict(extra="forbid")
        return found

    def members(self, schema: Schema) -> dict[str, tuple[Any, bool, Any]]:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        if not isinstance(properties, dict) or not isinstance(required, list):
            raise Cannot("Python types and pydantic's Field do not say an invalid schema")
        found = {}
        for name, inner in {**properties, **{name: {} for name in required if name not in properties}}.items():
            default = inner.get("default", ABSENT) if isinstance(inner, dict) else ABSENT
            if default is not ABSENT and not has_type(default, inner):
                raise Cannot("a type checker rejects a default that is not of the annotated type")
            presented = {}
            if name in required and default is not ABSENT:
                # In Python, a parameter or field that has a default is not required.
                presented, default = {"default": default}, ABSENT
            type_name = "".join(filter(str.isalnum, name.title()))
            found[name] = (self.of(inner, type_name, presented), name in required, default)
        return found

    def literal(self, values: Any) -> Any:
        if not isinstance(values, list) or not values:
            raise Cannot("Python types and pydantic's Field do not say an invalid schema")
        if not all(value is None or isinstance(value, str | int) for value in values):
            raise Cannot("typing.Literal takes no numbers with a fraction, lists or objects")
        return Literal[tuple(values)]

    def union(self, schemas: Any, name: str) -> Any:
        if not isinstance(schemas, list) or not schemas:
            raise Cannot("Python types and pydantic's Field do not say an invalid schema")
        return Union[tuple(self.of(schema, name) for schema in schemas)]  # noqa: UP007

    def reference(self, reference: Any) -> Any:
        """Returns the type with the name of a definition."""
        name = str(reference).removeprefix("#/$defs/")
        if name not in self.definitions:
            raise Cannot("the schemas that pydantic derives refer only to their own definitions")
        if name not in self.aliases:
            # In the definition itself, the name stands for the type, as in `type Node = dict[str, "Node"]`.
            self.aliases[name] = ForwardRef(f"RECURSIVE[{len(RECURSIVE)}]")
            RECURSIVE.append(None)
            place = len(RECURSIVE) - 1
            alias = TypeAliasType(name, self.of(self.definitions[name], name))  # pyright: ignore[reportGeneralTypeIssues]
            self.aliases[name] = RECURSIVE[place] = alias
        return self.aliases[name]


class FormAnnotations(Annotations):
    """Chooses the annotations for a form, whose fields are primitive values or lists of choices."""

    def __init__(self, root: Any, literals: bool) -> None:
        super().__init__(root)
        self.literals = literals

    def take(self, kind: Any, keywords: Schema, name: str, field: Schema, extra: Schema) -> Any:
        """Leaves the choices that a `Literal` does not say to `json_schema_extra`, as the SDKs' examples do."""
        if kind == "string":
            titled = "enumNames" in keywords or not keywords.get("enum")
            presented = {"oneOf", "enumNames", "format"} | ({"enum"} if titled or not self.literals else set())
            extra |= {keyword: keywords.pop(keyword) for keyword in list(keywords) if keyword in presented}
        elif kind == "array" and isinstance(items := keywords.get("items"), dict):
            if not (self.literals and items.get("enum")):
                extra["items"] = items
                keywords["items"] = {"type": "string"}
        return super().take(kind, keywords, name, field, extra)


def has_type(value: Any, schema: Schema) -> bool:
    """Returns whether a type checker accepts a default. Constraints such as a maximum are not a part of the type."""
    if "enum" in schema:
        return value in schema["enum"]
    match schema.get("type"):
        case "string":
            return isinstance(value, str) and schema.get("format") not in FORMATS
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            items = schema.get("items", {})
            return isinstance(value, list) and all(has_type(item, items) for item in value)
    return True


def equivalent(given: Any, derived: Any) -> bool:
    """Returns whether a derived schema accepts the same values as the given one, with the same defaults and choices.

    Titles are ignored, because pydantic gives one to every model and field. So are keywords that change nothing (a
    type beside a choice of values of this type, `additionalProperties: true`, empty lists of required members), and
    whether a schema stands in `$defs` or at the place of its use.
    """

    def text(schema: Any) -> str:
        definitions = schema.get("$defs", {}) if isinstance(schema, dict) else {}
        return json.dumps(canonical(schema, definitions), sort_keys=True)

    return text(given) == text(derived)


def canonical(schema: Any, definitions: Schema, inside: tuple[str, ...] = ()) -> Any:
    if schema is True:
        return {}
    if not isinstance(schema, dict):
        return schema
    found: Schema = {}
    for keyword, value in schema.items():
        match keyword, value:
            case (("title" | "$defs"), _):
                continue
            case "$ref", str() if value.startswith("#/$defs/"):
                name = value.removeprefix("#/$defs/")
                if name in inside or name not in definitions:
                    found[keyword] = value
                else:
                    found |= canonical(definitions[name], definitions, (*inside, name))
            case "properties", dict():
                found[keyword] = {name: canonical(inner, definitions, inside) for name, inner in value.items()}
            case (("items" | "additionalProperties"), _):
                found[keyword] = canonical(value, definitions, inside)
            case "anyOf", list():
                found[keyword] = [canonical(inner, definitions, inside) for inner in value]
            case "type", list() if len(schema.keys() - {"title"}) == 1:
                found["anyOf"] = [{"type": one} for one in value]
            case "required", list():
                found[keyword] = sorted(value)
            case "const", _:
                found["enum"] = [value]
            case "type", "null":
                found["enum"] = [None]
            case _:
                found[keyword] = without_fraction(value)
    if all(has_type(value, {"type": found.get("type")}) for value in found.get("enum", [])) and "enum" in found:
        found.pop("type", None)
    if "additionalProperties" not in found and "properties" in found:
        found["properties"] = {name: inner for name, inner in found["properties"].items() if inner != {}}
    return {key: value for key, value in found.items() if key == "default" or value not in ({}, [])}


def without_fraction(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value
