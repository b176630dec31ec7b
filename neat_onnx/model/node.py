"""Node: one operator application, and the registry of the operators.

An operator is a class, and the class is its registration:

    class LeakyReluAttributes(Attributes):
        alpha: float = 0.01

    class LeakyRelu(Node):
        inputs = (1, 1)
        since = 6
        attributes: LeakyReluAttributes = LeakyReluAttributes.defaults()

The class's name is the op_type. `node_class("LeakyRelu")` finds it, and a document's node is read
as the class that its op_type names.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from neat_onnx.errors import ModelError
from neat_onnx.model.attributes import Attributes
from neat_onnx.model.validation_errors import refusal

__all__ = ["Attributes", "Node", "node_class", "node_classes", "parse_node"]

_REGISTRY: dict[str, type["Node"]] = {}
_FINDERS: list[Callable[[], None]] = []
_READERS: list["Reader"] = []

OWN_DOMAIN = "neat_onnx"  # of the functions that an export writes: their names are any
RUNTIME_DOMAIN = "com.microsoft"  # of operators that onnxruntime adds to ONNX's
_ADVICE = {
    "com.microsoft.nchwc": ": onnxruntime laid the model out for one processor; have it optimize "
    "with ORT_ENABLE_EXTENDED at most"
}
OLDEST_TYPED = 13  # the classes describe the forms of this opset and of later ones


class Node(BaseModel):
    """One application of an operator to tensors, all of them by name.

    Attributes:
        op_type: the operator; the name of the class.
        name: the node's own name, for people.
        domain: the operator's domain, "" for ONNX's own ("ai.onnx" is the same).
        input: names of the tensors it reads; "" for an optional one that is left out.
        output: names of the tensors it produces.
        attributes: the operator's attributes.

    A subclass gives `inputs` and `outputs`, the least and the most of each (None: no limit), and
    `since`, the first opset that has the operator in this form; `whole` says that ONNX has no form
    of it that the class refuses.
    `class Shared(Node, abstract=True)` is a base for operators, not an operator.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    inputs: ClassVar[tuple[int, int | None]] = (1, 1)
    outputs: ClassVar[tuple[int, int | None]] = (1, 1)
    since: ClassVar[int] = 1
    whole: ClassVar[bool] = False

    op_type: str = Field("", validate_default=True)
    name: str = ""
    domain: str = ""
    input: list[str] = []
    output: list[str] = []
    attributes: Attributes = Attributes.defaults()

    def __init_subclass__(cls, **_: Any) -> None:
        super().__init_subclass__()

    @classmethod
    def __pydantic_init_subclass__(cls, *, abstract: bool = False, **_: Any) -> None:
        if abstract:
            return
        if cls.__name__ in _REGISTRY:
            raise ModelError(f"op_type {cls.__name__} is registered twice")
        _REGISTRY[cls.__name__] = cls

    @property
    def label(self) -> str:
        """How messages call it: `gemm_l1 (Gemm)`."""
        return f"{self.name or next(filter(None, self.output), '')} ({self.op_type})"

    @property
    def given_attributes(self) -> dict[str, Any]:
        """The values of the attributes that the node states, by name."""
        return {name: value for name, _, value in self.attributes.given()}

    def states(self) -> tuple[list[str], list[str]] | None:
        """The states that a node goes through a sequence with: before the first step, and after the
        last. None of a node that does not go through one.
        """
        return None

    def defaults_in_words(self) -> dict[str, Any]:
        """The values of attributes whose defaults ONNX gives in words, as 1 along each axis."""
        return {}

    @field_validator("op_type")
    @classmethod
    def _is_this_class(cls, op_type: str) -> str:
        if op_type not in ("", cls.__name__):
            raise ValueError(f"is '{op_type}', expected '{cls.__name__}'")
        return cls.__name__

    @field_validator("domain")
    @classmethod
    def _is_this_domain(cls, domain: str) -> str:
        own = _domain_of(cls)
        if domain not in (own, own or "ai.onnx"):
            refused = f"is '{domain}', op_type {cls.__name__} is known in '{own}' only"
            raise ValueError(refused + _ADVICE.get(domain, ""))
        return str(own)

    @model_validator(mode="after")
    def _arity(self) -> Self:
        for what, names, (least, most) in (
            ("inputs", self.input, self.inputs),
            ("outputs", self.output, self.outputs),
        ):
            if len(names) < least or (most is not None and len(names) > most):
                wanted = str(least) if least == most else f"{least} to {most or 'any number'}"
                raise ValueError(f"has {len(names)} {what}, expected {wanted}")
        return self

    @model_serializer(mode="wrap")
    def _document(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The JSON form, without empty fields."""
        document: dict[str, Any] = handler(self)
        return {
            key: value
            for key, value in document.items()
            if value or key not in ("name", "domain", "attributes")
        }


@cache  # pydantic looks fields up slowly, and a graph may have 100,000 nodes
def _domain_of(kind: type[Node]) -> str:
    return str(kind.model_fields["domain"].default)


def node_class(op_type: str) -> type[Node]:
    """The class of the operator `op_type`.

    Raises:
        ModelError: no such operator is registered.
    """
    while op_type not in _REGISTRY and _FINDERS:
        _FINDERS.pop(0)()
    found = _REGISTRY.get(op_type)
    if found is None:
        raise ModelError(
            f"unsupported op_type {op_type}",
            hint="If an exporter left it, ONNX has none of this name, or none with such inputs and "
            "attributes: write it in operators that it has. An operator of your own is a subclass "
            "of neat_onnx.model.node.Node",
        )
    return found


def node_classes() -> dict[str, type[Node]]:
    """Every registered operator by its op_type, in alphabetical order."""
    while _FINDERS:
        _FINDERS.pop(0)()
    return dict(sorted(_REGISTRY.items()))


def find_operators_with(finder: Callable[[], None]) -> Callable[[], None]:
    """Have `finder`, which imports operators, called when one is looked up that is not there.

    Of several, each is called if those before it did not find the operator.
    """
    _FINDERS.append(finder)
    return finder


Reader = Callable[[dict[str, Any], Any, str], Node | None]
"""Reads a node that no class describes, from its document, pydantic's context, and why its class
does not; None if it is not ONNX at all.
"""


def read_others_with(reader: Reader) -> Reader:
    """Have `reader` called with each node that no class describes."""
    _READERS.append(reader)
    return reader


def parse_node(document: Any, context: Any = None) -> Node:
    """The node that `document` describes.

    It is an instance of the class its op_type names. A node that the class refuses and ONNX allows
    is an `OpenNode`, as is an operator without a class, and every node of an opset before 13.

    Args:
        context: pydantic's, of the document that the node is part of; "opset" is its opset.

    Raises:
        ValueError: it is not a node, or not a right one (pydantic's ValidationError is one).
    """
    if isinstance(document, Node):
        return document
    if not isinstance(document, dict):
        raise ValueError("is not an object")
    op_type = document.get("op_type")
    if not isinstance(op_type, str) or not op_type:
        raise ValueError("has no op_type")
    if any("\ud800" <= letter <= "\udfff" for letter in op_type):
        raise ValueError("has half a surrogate pair in its op_type, which UTF-8 cannot hold")
    document = {"attributes": [], **document}  # an error is about the one that is missing then
    if not isinstance(document["attributes"], list | Attributes):
        raise ValueError("attributes is not a list")
    opset = (context or {}).get("opset", OLDEST_TYPED)
    plain = opset < OLDEST_TYPED or document.get("domain") == OWN_DOMAIN
    if plain and (found := _read_open(document, context, "")):
        return found
    try:
        kind = node_class(op_type)
    except ModelError as error:
        if found := _read_open(document, context, ""):
            return found
        raise PydanticCustomError(
            "unsupported_op", "{text}", {"text": error.message, "hint": error.hint}
        ) from None
    if _is_of_runtime(document, kind) and (found := _read_open(document, context, "")):
        return found
    try:
        return kind.model_validate(document, context=context)
    except ValidationError as error:
        problem = refusal(error, document).message
        if not kind.whole and (found := _read_open(document, context, problem)):
            return found
        raise


def _is_of_runtime(document: dict[str, Any], kind: type[Node]) -> bool:
    """Whether a node is of onnxruntime's operator that has the name of one of ONNX's classes."""
    return document.get("domain") == RUNTIME_DOMAIN and not _domain_of(kind)


def _read_open(document: dict[str, Any], context: Any, problem: str) -> Node | None:
    return next(filter(None, (reader(document, context, problem) for reader in _READERS)), None)
