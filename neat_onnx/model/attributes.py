"""Attributes: the configuration of an operator, declared as typed fields.

    class GemmAttributes(Attributes):
        alpha: float = 1.0
        transB: Literal[0, 1] = 0

The annotation gives ONNX's attribute type: float FLOAT, int INT, str STRING, Tensor TENSOR, a Graph
GRAPH; a tuple of them FLOATS, INTS, STRINGS; a Literal the type of its values; `| None` may be
absent. The JSON form is ONNX's list, `[{"name": "alpha", "type": "FLOAT", "f": 2.0}]`, of the
fields that were set, in the order of their declaration.
"""

from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Self, Union, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, model_serializer, model_validator
from pydantic_core import PydanticCustomError

from neat_onnx.errors import printable
from neat_onnx.model.data_type import MAY_BE_NAN, as_text, finite, integer
from neat_onnx.model.tensor import Tensor
from neat_onnx.parsing import Plain


class AttributeType(IntEnum):
    """The kinds of attribute, by ONNX's numbers."""

    FLOAT = 1
    INT = 2
    STRING = 3
    TENSOR = 4
    GRAPH = 5
    FLOATS = 6
    INTS = 7
    STRINGS = 8

    @property
    def key(self) -> str:
        """The key that ONNX keeps a value of this type under, as "f" or "floats"."""
        name = self.name.lower()
        return name if name.endswith("s") else name[0]


class GivenValue(NamedTuple):
    """The type that an entry states, and its value."""

    type: AttributeType
    value: Any


_KINDS = {kind.key: kind for kind in AttributeType}
_SCALARS: dict[type, AttributeType] = {
    float: AttributeType.FLOAT,
    int: AttributeType.INT,
    str: AttributeType.STRING,
    Tensor: AttributeType.TENSOR,  # any other model is a Graph, which is made of nodes
}
_LISTS = {
    AttributeType.FLOAT: AttributeType.FLOATS,
    AttributeType.INT: AttributeType.INTS,
    AttributeType.STRING: AttributeType.STRINGS,
}


class Attributes(BaseModel, metaclass=Plain):
    """The attributes of one operator: a base with none. See the module's docstring.

    `Attributes(alpha=2.0)` takes values by name, reading takes ONNX's list. Only fields that were
    given explicitly are written; a field that was not given has its default.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True, allow_inf_nan=False)

    @classmethod
    def defaults(cls) -> Self:
        """With no field given, for attributes that need none. Nothing is validated.

        The default of a node's class; a validator for it, made whenever the class is imported,
        would take longer than all else that a class needs.
        """
        return cast("Self", cls.model_construct())

    @classmethod
    @cache
    def types(cls) -> dict[str, AttributeType]:
        """The ONNX attribute type of each field, in the order of declaration."""
        return {name: _type_of(field.annotation) for name, field in cls.model_fields.items()}

    @classmethod
    @cache
    def may_hold_graphs(cls) -> bool:
        """Whether a field is of a graph, or any attribute may be given: those of few nodes."""
        return AttributeType.GRAPH in cls.types().values()

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, document: Any) -> Any:
        """ONNX's list as keyword arguments."""
        if not isinstance(document, list | tuple):
            return document
        if not document:
            return {}
        types, fields = cls.types(), cls.model_fields
        values: dict[str, Any] = {}
        for entry in document:
            name = _name(entry, types)
            if name in values:
                raise ValueError(f"attribute '{name}' is given twice")
            try:
                given = given_value(entry, types[name])
                if given.type is not types[name]:
                    raise ValueError(f"is of type {given.type.name}, expected {types[name].name}")
                values[name] = plain_value(given, MAY_BE_NAN in fields[name].metadata)
            except ValueError as error:
                raise ValueError(f"{name} {error}") from None
        return values

    def given(self) -> Iterator[tuple[str, AttributeType, Any]]:
        """Name, type and value of each field that was set and is not None, as declared."""
        chosen = self.model_fields_set
        for name, kind in self.types().items() if chosen else ():
            if name in chosen and (value := getattr(self, name)) is not None:
                yield name, kind, value

    @model_serializer
    def _document(self) -> list[dict[str, Any]]:
        """ONNX's list."""
        written: dict[type, Callable[[Any], Any]] = {tuple: list, float: as_text}
        return [
            {
                "name": name,
                "type": kind.name,
                kind.key: written[type(value)](value) if type(value) in written else value,
            }
            for name, kind, value in self.given()
        ]


def _type_of(annotation: Any) -> AttributeType:
    """The ONNX attribute type of a field's annotation."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Annotated, Union, UnionType):  # of a value, or None
        return _type_of(arguments[0])
    if origin is tuple:
        return _LISTS[_type_of(arguments[0])]
    plain = type(arguments[0]) if origin is Literal else annotation
    return _SCALARS.get(plain, AttributeType.GRAPH)


def _name(entry: Any, types: dict[str, AttributeType]) -> str:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise ValueError("each attribute is an object with a name")
    name: str = entry["name"]
    if name not in types:
        raise PydanticCustomError(
            "unknown_attribute",
            "unknown attribute '{name}'",
            {"name": printable(name), "hint": f"Known: {', '.join(types) or 'none'}"},
        )
    return name


def attribute_list(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """ONNX's list of attributes with these values; an empty list is one of integers."""
    entries = []
    for name, value in values.items():
        is_list = isinstance(value, tuple | list)
        kind = type(next(iter(value), 0)) if is_list else type(value)
        stated = _SCALARS.get(kind, AttributeType.GRAPH)
        stated, held = (_LISTS[stated], [*value]) if is_list else (stated, value)
        entries.append({"name": name, "type": stated.name, stated.key: held})
    return entries


def plain_value(given: GivenValue, may_be_nan: bool) -> Any:
    """The value with its numbers checked, and lists as tuples; tensors and graphs as they are.

    With `may_be_nan` a float may be NaN or infinite.

    Raises:
        ValueError: it is not of its type; the text goes on from the attribute's name.
    """
    value = given.value
    if given.type in _LISTS.values() and not isinstance(value, list | tuple):
        raise ValueError("is not a list")
    match given.type:
        case AttributeType.FLOAT if not (may_be_nan and isinstance(value, float)):
            return finite(value, infinite=may_be_nan)
        case AttributeType.INT:
            return integer(value)
        case AttributeType.FLOATS:
            return tuple(map(finite, value))
        case AttributeType.INTS:
            return tuple(map(integer, value))
        case AttributeType.STRINGS:
            return tuple(value)
        case _:
            return value


def given_value(entry: dict[str, Any], wanted: AttributeType | None = None) -> GivenValue:
    """The type and the value that an entry of ONNX's list states, not checked yet.

    The type may be left out where the key says it, or an empty list is `wanted`.

    Raises:
        ValueError: there is no value, or more than one, or the type and the key contradict.
    """
    rest = {key: value for key, value in entry.items() if key not in ("name", "type")}
    stated = _stated_type(entry["type"]) if "type" in entry else None
    if not rest and (stated or wanted) in _LISTS.values():
        kind = cast("AttributeType", stated or wanted)
        return GivenValue(kind, [])  # protobuf's JSON drops an empty list
    if len(rest) != 1:
        raise ValueError(f"has {len(rest)} values, expected one")
    ((key, value),) = rest.items()
    found = _KINDS.get(key)
    if found is None or stated not in (None, found):
        raise ValueError(f"has a wrong key '{key}'")
    return GivenValue(found, value)


def _stated_type(value: Any) -> AttributeType:
    """An AttributeType by its name, as protobuf's JSON writes it, or by its number."""
    try:
        return AttributeType[value] if isinstance(value, str) else AttributeType(integer(value))
    except (KeyError, ValueError):
        raise ValueError(f"has the unsupported type {value!r}") from None
