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
from pydantic_core import ErrorDetails

from neat_onnx.errors import ModelError
from neat_onnx.model.attributes import Attributes
from neat_onnx.parsing import Plain, complaint, json_path

_REGISTRY: dict[str, type["Node"]] = {}
_DECLARED: dict[str, Callable[[], type["Node"]]] = {}  # made when they are looked up
_FINDERS: list[Callable[[], None]] = []

_OWN_ERRORS = ("external_data", "unknown_attribute", "unsupported_op")  # types of our own errors
RUNTIME_DOMAIN = "com.microsoft"  # of operators that onnxruntime adds to ONNX's
_ADVICE = {
    "com.microsoft.nchwc": ": onnxruntime laid the model out for one processor; have it optimize "
    "with ORT_ENABLE_EXTENDED at most"
}
OLDEST_TYPED = 13  # the classes describe the forms of this opset and of later ones


class Node(BaseModel, metaclass=Plain):
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
        if cls.__name__ in _REGISTRY or cls.__name__ in _DECLARED:
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
        own = domain_of(cls)
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
def domain_of(kind: type[Node]) -> str:
    """The domain of an operator's class."""
    return str(kind.model_fields["domain"].default)


def node_class(op_type: str) -> type[Node]:
    """The class of the operator `op_type`.

    Raises:
        ModelError: no such operator is registered.
    """
    while op_type not in _REGISTRY and op_type not in _DECLARED and _FINDERS:
        _FINDERS.pop(0)()
    make = _DECLARED.pop(op_type, None)
    found = _REGISTRY.get(op_type) if make is None else make()
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
    for op_type in list(_DECLARED):
        node_class(op_type)
    return dict(sorted(_REGISTRY.items()))


def declare_operator(op_type: str, make: Callable[[], type[Node]]) -> None:
    """Have the class of an operator made when it is looked up: most programs need few of them."""
    if op_type in _REGISTRY or op_type in _DECLARED:
        raise ModelError(f"op_type {op_type} is registered twice")
    _DECLARED[op_type] = make


def find_operators_with(finder: Callable[[], None]) -> Callable[[], None]:
    """Have `finder`, which imports operators, called when one is looked up that is not there."""
    _FINDERS.append(finder)
    return finder


def refusal(error: ValidationError, document: Any) -> ModelError:
    """The first thing that `error` found wrong in `document`.

    The message calls initializers and nodes by name; `where` is the JSON path. The values
    themselves are not shown: metadata may be private, and a tensor is long.
    """
    first = error.errors(include_url=False)[0]
    location = tuple(step for step in first["loc"] if step != "values")  # no key of the document
    label, depth = _label(location, document)
    subject = _subject(location[depth:], first)
    text = f"{subject} {complaint(first, private=True)}".lstrip()
    return ModelError(
        f"{label}: {text}" if label else text,
        where=json_path(location) or None,
        hint=first.get("ctx", {}).get("hint"),
    )


def _subject(inner: tuple[int | str, ...], detail: ErrorDetails) -> str:
    """The subject of the error's text; nothing where our validator names it in its text."""
    if isinstance(detail["input"], list | dict) and detail["type"] in ("value_error", *_OWN_ERRORS):
        return ""
    return json_path(inner[-2:] if inner and isinstance(inner[-1], int) else inner[-1:])


def _label(location: tuple[int | str, ...], document: Any) -> tuple[str, int]:
    """How to call the innermost named thing on the way to `location`, and how deep that is."""
    label, depth = "", 0
    value = document
    for at, step in enumerate(location):
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            break
        if isinstance(step, int) and at and isinstance(value, dict):
            name = _name(location[at - 1], step, value)
            label, depth = (name, at + 1) if name else (label, depth)
    return label, depth


def _name(collection: int | str, at: int, value: dict[str, Any]) -> str | None:
    name = value.get("name") or at
    match collection:
        case "initializer":
            return f"initializer {name}"
        case "inputs" | "outputs":
            return f"graph {str(collection)[:-1]} {name}"
        case "node":
            outputs = value.get("output")
            name = value.get("name") or (
                outputs[0] if outputs and isinstance(outputs, list) else at
            )
            return f"node {name} ({value.get('op_type', 'no op_type')})"
        case _:
            return None
