"""Operators: one function each, whose signature is the schema.

    @operator("Softmax")
    def softmax(x: Tensor, *, axis: int = -1) -> Tensor:
        spread = exp(x - x.max(axis, keepdims=True))
        return spread / spread.sum(axis, keepdims=True)

- Positional parameters are the inputs, in ONNX's order and with ONNX's names: `b: Tensor | None =
  None` may be left out, `*xs: Tensor` is any number of them, `axes: Array` has to be numbers, not
  neurons. An input that an older opset has as an attribute is found by its name: `axes` of Squeeze
  is either.
- Keyword-only parameters are the attributes, with ONNX's names: `int`, `float`, `str`, `bool` (an
  INT of 0 or 1), `Ints`, `Floats`, `Texts` (tuples), `Array` (a TENSOR), `Graph`; `| None = None`
  for one without a default; `Literal[…]` where only some values are supported. One that has no
  default has to be given.
  Attributes that another function declares are `**given`, under `operator(…, like=function)`.
- Three keywords are no attributes, and are given where they are declared: `opset: int`, the version
  of the operator's domain in the model; `outputs: int`, how many outputs the node has; `run:
  Runner`, which runs graphs that are attributes.

It returns a tensor, or a tuple of them. A fault is a ValueError: `refuse` says which argument.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar, Union, get_args, get_origin

import numpy as np

from neat_onnx.errors import Hint, ModelError
from neat_onnx.lifting.pending import is_neurons
from neat_onnx.lifting.tape import Array
from neat_onnx.model import Graph, Node
from neat_onnx.model import Tensor as Constant

__all__ = [
    "Array", "Floats", "Graph", "Ints", "Refusal", "Runner", "Texts", "axis_within", "operator",
    "refuse",
]  # fmt: skip

Ints = tuple[int, ...]
Floats = tuple[float, ...]
Texts = tuple[str, ...]
Arguments = tuple[dict[str, Any], dict[str, Array]]
"""Attributes of a node, and those of its attributes that are inputs in newer opsets."""
Function = TypeVar("Function", bound=Callable[..., Any])

_CONSTANT = "Export it with inputs of fixed sizes, or make it a constant"
_GIVEN = ("opset", "outputs", "run")


class Runner(Protocol):
    """Runs graphs that are attributes of nodes."""

    def __call__(self, graph: Graph, *inputs: Any) -> list[Any]:
        """The outputs of a graph for these inputs; it reads tensors around it as well."""


class Refusal(ValueError):
    """An argument of a node is not supported; the message names it.

    Attributes:
        hint: what to do.
    """

    def __init__(self, message: str, hint: Hint | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def refuse(argument: str, found: Any, wanted: str, hint: Hint | None = None) -> Refusal:
    """Return the error of an argument whose value is not supported, to be raised."""
    return Refusal(f"{argument} is {found}, expected {wanted}", hint)


def axis_within(axis: Any, rank: int, name: str = "axis") -> int:
    """An axis counted from 0 on, of tensors with `rank` axes.

    Raises:
        Refusal: there is none.
    """
    if not -rank <= int(axis) < rank:
        raise refuse(name, int(axis), f"{-rank} to {rank - 1}")
    return int(axis) % rank


def numbers_of(tensor: Constant) -> Array:
    """The numbers of a constant; floats are float64, integers of their own type."""
    kind = tensor.data_type.dtype
    return tensor.values if kind.kind == "f" else tensor.values.astype(kind)


def _list_of(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def of(value: Any) -> Any:
        found = tuple(map(read, value)) if isinstance(value, tuple | list) else (None,)
        return None if None in found else found

    return of


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _number(value: Any) -> float | None:
    return float(np.float32(value)) if isinstance(value, float | int) else None  # as runtimes do


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


_KINDS: dict[Any, tuple[str, Callable[[Any], Any]]] = {
    int: ("an integer", _integer),
    float: ("a number", _number),
    str: ("a text", _text),
    bool: ("0 or 1", lambda value: bool(value) if value in (0, 1) else None),
    Ints: ("integers", _list_of(_integer)),
    Floats: ("numbers", _list_of(_number)),
    Texts: ("texts", _list_of(_text)),
    Array: ("a tensor", lambda value: numbers_of(value) if isinstance(value, Constant) else None),
    Graph: ("a graph", lambda value: value if isinstance(value, Graph) else None),
}
"""By the type of a keyword: what its values are called, and their reader, which gives None for
another value."""


@dataclass(frozen=True)
class Attribute:
    """A keyword of an operator's function.

    Attributes:
        kind: its type, as in `_KINDS`.
        allowed: the values that are supported; () for all.
        required: there is no default.
    """

    kind: Any
    allowed: tuple[Any, ...] = ()
    required: bool = False

    def read(self, name: str, value: Any) -> Any:
        """The value as the function takes it.

        Raises:
            Refusal: it has another type, or is not supported.
        """
        wanted, reader = _KINDS[self.kind]
        read = reader(value)
        if self.allowed and read is not None and read not in self.allowed:
            allowed = (str(int(each)) if each is True else repr(each) for each in self.allowed)
            read, wanted = None, " or ".join(allowed)
        if read is None:
            named = {Graph: "a graph", Constant: "a tensor"}
            shown = next(
                (word for kind, word in named.items() if isinstance(value, kind)), repr(value)
            )
            raise refuse(name, shown, wanted)
        return read


@dataclass(frozen=True)
class Operator:
    """A registered operator.

    Attributes:
        name, domain: as in a node.
        since: the first opset of the domain that has it.
        function: computes it.
        inputs: the names of its inputs.
        required: how many have to be given.
        variadic: there may be any number of them.
        attributes: by name.
        given: keywords that are no attributes.
        numbers: positions of inputs that have to be numbers: they are an `Array`, and no `Tensor`.
    """

    name: str
    domain: str
    since: int
    function: Callable[..., Any]
    inputs: tuple[str, ...]
    required: int
    variadic: bool
    attributes: dict[str, Attribute]
    given: frozenset[str] = field(default_factory=frozenset)
    numbers: frozenset[int] = field(default_factory=frozenset)

    def check(self, node: Node) -> Arguments:
        """The attributes of a node, and those that are inputs in newer opsets.

        Raises:
            Refusal: they, or its inputs, are not those of the operator.
        """
        attributes: dict[str, Any] = {}
        old: dict[str, Array] = {}
        for name, value in node.given_attributes.items():
            if name in self.attributes:
                attributes[name] = self.attributes[name].read(name, value)
            elif name in self.inputs:
                old[name] = np.asarray(numbers_of(value) if isinstance(value, Constant) else value)
            elif name not in _IGNORED and not name.startswith("_"):
                wanted = ", ".join(self.attributes) or "none"
                raise Refusal(f"unknown attribute {name}", f"Known: {wanted}")
        for name, each in self.attributes.items():
            if each.required and name not in attributes:
                raise Refusal(f"the attribute {name} is missing")
        count = max([len(node.input), *(1 + self.inputs.index(name) for name in old)])
        if count < self.required or (count > len(self.inputs) and not self.variadic):
            most = "any number" if self.variadic else str(len(self.inputs))
            exact = self.required == len(self.inputs) and not self.variadic
            raise Refusal(
                f"{count} inputs, expected {'' if exact else f'{self.required} to '}{most}"
            )
        return attributes, old

    def call(
        self, inputs: Sequence[Any], arguments: Arguments, known: dict[str, Any]
    ) -> Sequence[Any]:
        """Compute the outputs of a node.

        Args:
            inputs: its tensors, None for one that is left out.
            arguments: what `check` gives for it.
            known: values of the keywords that are no attributes.
        """
        attributes, old = arguments
        if old:
            by_name = dict(zip(self.inputs, inputs, strict=False)) | old
            inputs = [by_name.get(name) for name in self.inputs]
            for name, value in zip(self.inputs[: self.required], inputs, strict=False):
                if value is None:
                    raise Refusal(f"{name} is missing")
        if self.given:
            attributes = attributes | {name: known[name] for name in self.given}
        for k in self.numbers:
            if k < len(inputs) and is_neurons(inputs[k]):
                raise refuse(
                    self.inputs[k], "computed from inputs", "numbers that are known", _CONSTANT
                )
        found = self.function(*inputs, **attributes)
        return found if isinstance(found, tuple | list) else (found,)


_IGNORED = frozenset({"consumed_inputs"})
"""Attributes of any operator that change nothing, as those that begin with an underscore."""

OPERATORS: dict[tuple[str, str], Operator] = {}


def operator(
    name: str, *, domain: str = "", since: int = 1, like: Callable[..., Any] | None = None
) -> Callable[[Function], Function]:
    """Register the decorated function as an operator; see the module.

    Args:
        name: the op_type.
        domain: "" for ONNX's own.
        since: the first opset of the domain in which nodes may have it.
        like: a function whose attributes it has as well.

    Raises:
        ModelError: there is one already, or a parameter is of no type that attributes have.
    """

    def register(function: Function) -> Function:
        made = _declared(name, domain, since, function)
        if like is not None:
            shared = _declared(name, domain, since, like).attributes
            made = replace(made, attributes=shared | made.attributes)
        add_operator(made)
        return function

    return register


def add_operator(made: Operator) -> None:
    """Register an operator.

    Raises:
        ModelError: there is one already.
    """
    if (made.domain, made.name) in OPERATORS:
        raise ModelError(f"the operator {made.name} is registered twice", where=made.domain or None)
    OPERATORS[made.domain, made.name] = made


def _declared(name: str, domain: str, since: int, function: Callable[..., Any]) -> Operator:
    try:
        signature = inspect.signature(function, eval_str=True)
    except (NameError, TypeError, ValueError) as error:
        raise ModelError(f"the signature of the operator {name} is unknown: {error}") from error
    inputs: list[inspect.Parameter] = []
    variadic, given, attributes = False, set(), {}
    for each in signature.parameters.values():
        if each.kind is each.VAR_POSITIONAL:
            variadic = True
        elif each.kind is each.KEYWORD_ONLY and each.name in _GIVEN:
            given.add(each.name)
        elif each.kind is each.KEYWORD_ONLY:
            required = each.default is each.empty
            attributes[each.name] = attribute_of(f"{name}.{each.name}", each.annotation, required)
        elif each.kind is not each.VAR_KEYWORD:
            inputs.append(each)
    return Operator(
        name,
        domain,
        since,
        function,
        inputs=tuple(each.name for each in inputs),
        required=sum(each.default is each.empty for each in inputs),
        variadic=variadic,
        attributes=attributes,
        given=frozenset(given),
        numbers=frozenset(
            k for k, each in enumerate(inputs) if each.annotation in (Array, Array | None)
        ),
    )


def attribute_of(name: str, kind: Any, required: bool) -> Attribute:
    """The attribute of an annotation.

    Raises:
        ModelError: no attribute has such a type.
    """
    if get_origin(kind) in (Union, types.UnionType):
        kinds = [each for each in get_args(kind) if each is not type(None)]
        kind = kinds[0] if len(kinds) == 1 else None
    if get_origin(kind) is Literal:
        values = get_args(kind)
        return Attribute(type(values[0]), values, required)
    if kind not in _KINDS:
        raise ModelError(f"the attribute {name} has no type of an attribute")
    return Attribute(kind, (), required)
