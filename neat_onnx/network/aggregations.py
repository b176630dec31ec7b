"""The aggregations: how a neuron makes one number of its weighted inputs v_1 … v_k.

Each is written once, as an expression over the array v whose last axis is reduced; how many inputs
there are is known when it is built, so a median is spelt out for each k.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from neat_onnx.arguments import TEXT, optional, shown, takes
from neat_onnx.errors import NetworkError
from neat_onnx.network.expression import (
    VARIABLE,
    Array,
    Expression,
    largest,
    ordered,
    parts_of,
    pick,
    product,
    smallest,
    total,
    where_largest,
)
from neat_onnx.network.formulas import Registry, check_shape, expression_of

Formula = Callable[[Expression, int], Expression]


@dataclass(frozen=True)
class Aggregation:
    """An aggregation function.

    Attributes:
        name: its name in a Network.
        formula: (v, k) to the expression for k inputs.
        empty: its value where there are no inputs.
        builtin: it came with the package.
    """

    name: str
    formula: Formula
    empty: float = 0.0
    builtin: bool = False

    @property
    def linear(self) -> bool:
        """It is a weighted sum, divided by k or not, so that a matrix product computes it."""
        return self.name in ("sum", "mean")

    @property
    def takes_first(self) -> bool:
        """Of several that tie, it takes the first: the order of the inputs belongs to it."""
        return any(part.op == "where_largest" for part in parts_of(self.expression(2)))

    def expression(self, k: int) -> Expression:
        """The expression for k ≥ 1 weighted inputs."""
        return _expression(self.formula, k)

    def __call__(self, v: Array) -> Array:
        """Aggregate the last axis: (..., k) to (...), k ≥ 1."""
        return self.expression(v.shape[-1]).evaluate(v)


@cache
def _expression(formula: Formula, k: int) -> Expression:
    return formula(VARIABLE, k)


AGGREGATIONS = Registry[Aggregation]("aggregation")


@takes(library=optional(TEXT))
def register_aggregation(
    name: str, formula: Formula, *, empty: float = 0.0, library: str | None = None
) -> Aggregation:
    """Make `name` an aggregation: evaluated, exported, and recognised on import.

    Args:
        name: the name that networks use for it.
        formula: takes v and the number of inputs k and gives the expression, in the functions of
            `neat_onnx.network.expression`; for example `lambda v, k: largest(v) - smallest(v)`.
        empty: the value of a neuron without inputs.
        library: the library whose custom function has this name, such as "neat-python": the name
            may then be one of the library's own or of ours, and the formula a known one.

    Returns:
        The aggregation; it can be called with an array.

    Raises:
        NetworkError: the name is taken or no name, or the formula is no function of v and k that
            reduces the last axis.
        OptionError: there is no such library.
    """
    AGGREGATIONS.check(name, library)
    if not isinstance(empty, int | float) or not math.isfinite(empty):
        raise NetworkError(
            f"the aggregation '{name}' is {shown(empty)} where empty, expected a number"
        )
    for k in (1, 2, 3):
        expression = expression_of("aggregation", name, formula, VARIABLE, k)
        check_shape("aggregation", name, expression, np.ones((2, k)), (2,))
    own = Aggregation(name, formula, empty)
    if library:
        same = (other for other in AGGREGATIONS.values() if _is_same(own, other))
        own = next(same, replace(own, name=f"{library} {name}"))
        AGGREGATIONS.of_libraries[library, name] = own.name
    AGGREGATIONS[own.name] = own
    return own


def _is_same(one: Aggregation, other: Aggregation) -> bool:
    """Whether two aggregations are one formula of up to five inputs."""
    return one.empty == other.empty and all(
        one.expression(k) == other.expression(k) for k in range(1, 6)
    )


@takes(name=TEXT, library=optional(TEXT))
def unregister_aggregation(name: str, library: str | None = None) -> None:
    """Forget an aggregation that was registered with `register_aggregation`.

    Networks that use it stay as they are; they can no longer be run or exported.

    Args:
        name: the name it was registered by.
        library: the library that it was registered for, if it was.

    Raises:
        NetworkError: there is none of this name, or it came with the package.
    """
    AGGREGATIONS.forget(name, library)
    if library is not None:
        AGGREGATIONS.pop(f"{library} {name}", None)


def aggregation_named(name: str) -> Aggregation:
    """The aggregation a Network calls `name`.

    Raises:
        NetworkError: there is none; the hint lists those there are.
    """
    return AGGREGATIONS.named(
        name, "Add your own with neat_onnx.register_aggregation(name, formula)"
    )


def _median(v: Expression, k: int) -> Expression:
    if k % 2:
        return ordered(v, k // 2)
    return (ordered(v, k // 2 - 1) + ordered(v, k // 2)) / 2.0


for _each in (
    Aggregation("sum", lambda v, k: total(v), builtin=True),
    Aggregation("mean", lambda v, k: total(v) / float(k), builtin=True),
    Aggregation("product", lambda v, k: product(v), empty=1.0, builtin=True),
    Aggregation("max", lambda v, k: largest(v), builtin=True),
    Aggregation("min", lambda v, k: smallest(v), builtin=True),
    Aggregation("maxabs", lambda v, k: largest(pick(v, where_largest(abs(v)))), builtin=True),
    Aggregation("median", _median, builtin=True),
):
    AGGREGATIONS[_each.name] = _each
