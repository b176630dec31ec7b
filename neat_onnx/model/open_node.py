"""OpenNode: an operator application in a form that no class declares.

ONNX has more operators, and older forms of them, than there are classes. A node of these is held as
it is, with its attributes by name, so that it can be shown, rewritten by the passes, and saved.
"""

from functools import cache
from typing import Any, Self

from pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from neat_onnx.model.attributes import (
    Attributes,
    AttributeType,
    GivenValue,
    given_value,
    plain_value,
)
from neat_onnx.model.graph import DEFAULT_OPSET, ONNX_DOMAINS, Graph
from neat_onnx.model.node import Node, read_others_with
from neat_onnx.model.tensor import Tensor

_ML = "ai.onnx.ml"
_MAY_BE_NAN = "may_be_nan"
_ADDED = frozenset({"LayerNormalization", "SimplifiedLayerNormalization"})
"""Operators that onnxruntime writes in ONNX's own domain at opsets that lack them."""


class OpenAttributes(Attributes):
    """Attributes of any name, each with its type and value, in the order in which they stand."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    entries: dict[str, GivenValue] = Field({})

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, document: Any, info: ValidationInfo) -> Any:
        if not isinstance(document, list | tuple):
            return document
        entries: dict[str, GivenValue] = {}
        for entry in document:
            name = entry.get("name") if isinstance(entry, dict) else None
            if not isinstance(name, str) or name in entries:
                raise ValueError("each attribute is an object with a name of its own")
            try:
                entries[name] = _held(given_value(entry), info.context)
            except ValueError as error:
                if isinstance(error, ValidationError):
                    raise
                raise ValueError(f"{name} {error}") from None
        return {"entries": entries}

    def given(self) -> Any:
        """Name, type and value of each attribute."""
        return ((name, *given) for name, given in self.entries.items())


class OpenNode(Node, abstract=True):
    """A node whose attributes are not declared.

    Attributes:
        attributes: see `OpenAttributes`.
        problem: why its operator's class does not describe it; "" if there is no such class.
    """

    inputs = (0, None)
    outputs = (0, None)
    attributes: OpenAttributes = OpenAttributes.defaults()
    _problem: str = PrivateAttr("")

    @property
    def problem(self) -> str:
        """The reason why the declared form does not accept the node; empty if it does."""
        return self._problem

    @field_validator("op_type")
    @classmethod
    def _is_this_class(cls, op_type: str) -> str:
        return op_type

    @field_validator("domain")
    @classmethod
    def _is_this_domain(cls, domain: str) -> str:
        return "" if domain in ONNX_DOMAINS else domain

    @model_validator(mode="after")
    def _arity(self) -> Self:
        return self


@read_others_with
def read_open(document: dict[str, Any], context: Any, problem: str) -> OpenNode | None:
    """The node of `document`; None if ONNX has no such operator, or not in this form.

    A node of a domain that is not ONNX's own is always read.
    """
    domain = document.get("domain", "")
    opset = (context or {}).get("opset", DEFAULT_OPSET)
    known = domain in (*ONNX_DOMAINS, _ML)
    if (known and not _is_known(document, domain, opset)) or (problem and not known):
        return None
    context = {**(context or {}), _MAY_BE_NAN: domain == _ML}  # an Imputer puts numbers for NaN
    node = OpenNode.model_validate(document, context=context)
    node._problem = problem
    return node


def _held(given: GivenValue, context: Any) -> GivenValue:
    if given.type is AttributeType.TENSOR:
        return GivenValue(given.type, Tensor.model_validate(given.value, context=context))
    if given.type is AttributeType.GRAPH:
        return GivenValue(given.type, Graph.model_validate(given.value, context=context))
    return GivenValue(given.type, plain_value(given, (context or {}).get(_MAY_BE_NAN, False)))


def _is_known(document: dict[str, Any], domain: str, opset: int) -> bool:
    schema = schema_of(document["op_type"], domain, opset)
    if schema is None:
        return document["op_type"] in _ADDED
    kinds = {name: int(entry.type.value) for name, entry in schema.attributes.items()}
    types = (_type_of(entry) for entry in document.get("attributes", []))
    inputs, outputs = document.get("input", []), document.get("output", [])
    if not (isinstance(inputs, list | tuple) and isinstance(outputs, list | tuple)):
        return False
    return (
        all(name == "consumed_inputs" or kinds.get(name) == kind for name, kind in types)
        and schema.min_input <= len(inputs) <= schema.max_input
        and schema.min_output <= len(outputs) <= schema.max_output
    )


def _type_of(entry: Any) -> tuple[Any, int]:
    """The name and the type of an entry of an attribute list; 0 if it is no such entry."""
    try:
        name = entry["name"]
        kind = int(given_value(entry, AttributeType.INTS).type)
        return (name, kind) if isinstance(name, str) else (None, 0)
    except (TypeError, KeyError, ValueError):
        return None, 0


@cache
def schema_of(op_type: str, domain: str, opset: int) -> Any:
    """ONNX's schema of an operator at an opset of its own domain; None if it has none."""
    from onnx import defs  # noqa: PLC0415 - slow to import

    own = "" if domain in ONNX_DOMAINS else domain
    newest = defs.onnx_opset_version()
    try:
        return defs.get_schema(op_type, newest if own else max(0, min(opset, newest)), own)
    except defs.SchemaError:
        return None
