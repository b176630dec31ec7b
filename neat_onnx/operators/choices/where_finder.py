"""Where: a sum of two products, one by a condition and the other by its opposite.

Import guards a product by 0 from a factor that may be infinite: an operand of that is 1 there.
Where needs no such guards.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.draft import copied, is_one_of
from neat_onnx.passes.elementwise import is_elementwise
from neat_onnx.short_form.groups.search import Floats, Found, Search, Sizes

_CONDITIONS = ("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal", "And", "Or", "Xor")
_SHAPES = ("Identity", "Reshape", "Flatten")
_SIDES = 2  # of a choice
_HALF = 0.5  # above which a number is true
_MAX_NODES_BACK = 8  # from the chosen value to the operands that give way


class Truth(NamedTuple):
    """A number that is 1 by a condition, else 0.

    Attributes:
        name: of the number.
        condition: its name.
        holds: whether the number is 1 where the condition holds, or where it does not.
    """

    name: str
    condition: str
    holds: bool


class Factor(NamedTuple):
    """A number that is 1 or 0, for each element.

    Attributes:
        name: of the tensor.
        axes: its own, as many as it is broadcast to.
    """

    name: str
    axes: Sizes


def find_where(search: Search, node: Node) -> Found | None:
    """The choice between two tensors, element by element."""
    sides = _sides(search, node)
    if len(sides) != _SIDES:
        return None
    chosen = {truth.holds: (truth, name) for truth, name in sides}
    condition = condition_of(search, *(truth for truth, _ in chosen.values()))
    if condition is None:
        return None
    if any(truth_of(search, truth.name) is None for truth, _ in sides):
        return _added(search, sides, node)
    nodes, reads = list[Node](), [condition]
    for holds in (True, False):
        guards = _Guards(search, condition, holds=holds)
        reads.append(_alone(search, guards.without(chosen[holds][1])))
        nodes += guards.nodes
    return node.output[0], [*nodes, search.draft.node("Where", reads, node.output)]


def _sides(search: Search, node: Node) -> list[tuple[Truth, str]]:
    """The operands of a choice, each with its number; one of these may be an input."""
    products = _products(search, node)
    found = [_side(search, factors) for factors in products]
    known = [side for side in found if side is not None]
    given = given_number(search, known[0][0]) if len(known) == 1 else None
    if given is None:
        return known
    sides = []
    for side, factors in zip(found, products, strict=True):
        others = [name for name in factors if search.unchanged(name) != given.name]
        sides += [side] if side else [(given, name) for name in others[: len(factors) - 1]]
    return sides


def _added(search: Search, sides: list[tuple[Truth, str]], node: Node) -> Found | None:
    """The sum of two products by numbers, one of which is an input."""
    end = node.output[0]
    axes, nodes, names = search.draft.axes(end), list[Node](), list[str]()
    for truth, value in sides:
        by = search.draft.axes(truth.name)
        if axes is None or by is None or len(by) != len(axes):
            return None
        names.append(search.draft.name("side"))
        nodes += weighed(search, Factor(truth.name, by), value, axes, names[-1])
    return end, [*nodes, search.draft.node("Add", names, [end])]


class _Guards:
    """The operands of one side of a choice that are other numbers where it is left out.

    Attributes:
        nodes: copies of others, which read the operands as they are everywhere.
    """

    def __init__(self, search: Search, condition: str, *, holds: bool) -> None:
        self._search, self._condition, self._holds = search, condition, holds
        self._known: dict[str, str] = {}
        self.nodes: list[Node] = []

    def without(self, name: str, depth: int = 0) -> str:
        """The tensor, or one that is computed without guards, the same where it is chosen."""
        if name not in self._known:
            self._known[name] = self._without(name, depth)
        return self._known[name]

    def _without(self, name: str, depth: int) -> str:
        node = self._search.made.get(name)
        if node is None or depth == _MAX_NODES_BACK:
            return name
        guarded = self._guarded(node)
        if guarded is not None:
            return self.without(guarded, depth + 1)
        if not is_elementwise(node):
            return name
        reads = [self.without(each, depth + 1) for each in node.input]
        if reads == list(node.input):
            return name
        end = self._search.draft.name(name)
        self.nodes.append(copied(node, name="", input=reads, output=[end]))
        return end

    def _guarded(self, node: Node) -> str | None:
        """The operand that a node hands on where the side is chosen, and gives 1 where not."""
        operands, ones = [], 0
        for name in _summands(self._search, node):
            side = _side(self._search, _factors(self._search, name))
            if side is not None and self._is(side[0].condition, holds=side[0].holds is self._holds):
                operands.append(side[1])
            elif (truth := truth_of(self._search, name)) is not None:
                ones += self._is(truth.condition, holds=truth.holds is not self._holds)
        return operands[0] if len(operands) == ones == 1 else None

    def _is(self, condition: str, *, holds: bool) -> bool:
        return holds and same_condition(self._search, condition, self._condition) is not None


def _alone(search: Search, name: str) -> str:
    """A tensor, or the number that it holds alone."""
    if not search.is_number(name):
        return name
    tensor = search.draft.tensors[name]
    return search.draft.constant("number", tensor.values.reshape(()), tensor.data_type)


def condition_of(search: Search, *truths: Truth) -> str | None:
    """The one condition of two numbers, one of which is 1 where it holds, the other elsewhere."""
    is_both = {truth.holds for truth in truths} == {True, False}
    return same_condition(search, *(truth.condition for truth in truths)) if is_both else None


def given_number(search: Search, opposite: Truth) -> Truth | None:
    """The number that is above one half where a truth value holds, given its opposite.

    An input of truth values is 1 or 0 itself where import chooses by it; of the opposite it makes
    neurons.
    """
    condition = search.made[opposite.condition]
    if opposite.holds or not is_one_of(condition, "Greater"):
        return None
    if search.number(condition.input[1]) != _HALF:
        return None
    name = search.draft.behind(search.unchanged(condition.input[0]), *_SHAPES)
    return Truth(name, opposite.condition, True)


def weighed(search: Search, factor: Factor, value: str, axes: Sizes, end: str) -> list[Node]:
    """The nodes that multiply a value by a number that is 1 or 0, broadcast to axes.

    Import makes a formula of a neuron and one number, and a weight of numbers along an axis that
    the neurons lack, and of an input. If they lack none, a Concat keeps the formula to them.
    """
    if not search.is_number(value):
        return [search.draft.node("Mul", [factor.name, value], [end])]
    tensor, nodes, name = search.draft.tensors[value], list[Node](), factor.name
    longer = [each for each, size in enumerate(factor.axes) if size < axes[each]][:1]
    shape = [axes[each] if each in longer else 1 for each in range(len(axes))]
    if not longer and factor.name in search.made:
        name = search.draft.name("alone")
        nodes.append(search.draft.node("Concat", [factor.name], [name], axis=1))
    weights = np.full(shape, tensor.values.item())
    weight = search.draft.constant("weight", weights, tensor.data_type)
    return [*nodes, search.draft.node("Mul", [name, weight], [end])]


def same_condition(search: Search, *conditions: str) -> str | None:
    """The one condition that two are, the one of them that reads no copy; None of others."""
    makers = {name: search.made[name] for name in conditions}
    reads = {name: [*map(search.unchanged, maker.input)] for name, maker in makers.items()}
    alike = {(makers[name].op_type, *reads[name]) for name in conditions}
    if len(conditions) != _SIDES or len(alike) > 1:
        return None
    return max(conditions, key=lambda name: makers[name].input == reads[name])


def _products(search: Search, node: Node) -> list[Sequence[str]]:
    """The factors of the products that are added by a node: an Add, a Gemm of ones side by side,
    or a ReduceSum of tensors side by side.
    """
    if is_one_of(node, "ReduceSum"):
        factors = _factors(search, node.input[0])
        joined = (search.draft.maker(name, "Concat") for name in factors)
        sides = [each.input for each in joined if each is not None]
        return [*zip(*sides, strict=False)] if len(sides) == _SIDES else []
    if is_one_of(node, "Add"):
        return [_weighed_factors(search, name, np.ones(1)) for name in node.input]
    return [_weighed_factors(search, *each) for each in _weighed(search, node)]


def _weighed_factors(search: Search, name: str, weights: Floats) -> Sequence[str]:
    """The factors of a product; of a number by a condition, or an input, that and its weights."""
    factors = _factors(search, name) if np.all(weights == 1.0) else ()
    if (
        factors
        or search.kind(name).is_discrete
        or not (truth_of(search, name) or search.unchanged(name) not in search.made)
    ):
        return factors
    return name, search.draft.constant("number", weights, search.kind(name))


def _summands(search: Search, node: Node) -> Sequence[str]:
    """The tensors that an Add adds, or a Gemm of ones to which they come side by side."""
    if is_one_of(node, "Add"):
        return node.input
    weighed = _weighed(search, node)
    return [name for name, _ in weighed] if all(np.all(each == 1.0) for _, each in weighed) else ()


def _weighed(search: Search, node: Node) -> list[tuple[str, Floats]]:
    """The two tensors that come side by side to a Gemm, and the weights of each one's elements: one
    number, or one for each.
    """
    weights, both = search.matrix(node), search.draft.maker(next(iter(node.input), ""), "Concat")
    if weights is None or both is None:
        return []
    if len(both.input) != _SIDES or weights.shape[1] != _SIDES * len(weights):
        return []
    parts = np.hsplit(weights, _SIDES)
    if any(np.any(part != np.diag(np.diag(part))) for part in parts):
        return []
    diagonals = [np.diag(part) for part in parts]
    numbers = [each[:1] if np.all(each == each[0]) else each for each in diagonals]
    return [*zip(both.input, numbers, strict=True)]


def truth_of(search: Search, name: str) -> Truth | None:
    """The condition that a number is 1 or 0 by, and whether it is 1 where that holds."""
    made = search.draft.maker(name, "Cast")
    if made is None:
        return None
    if (opposite := search.draft.maker(made.input[0], "Not")) is not None:
        return Truth(name, opposite.input[0], False)
    condition = search.draft.maker(made.input[0], *_CONDITIONS)
    return None if condition is None else Truth(name, made.input[0], True)


def _factors(search: Search, name: str) -> Sequence[str]:
    """The factors of a product, whatever its shape; none of another tensor."""
    product = search.computed_by(name)
    return product.input if product is not None and is_one_of(product, "Mul") else ()


def _side(search: Search, factors: Sequence[str]) -> tuple[Truth, str] | None:
    """The number by a condition that is a factor of a product, and the other factor."""
    for cast, other in (factors, factors[::-1]) if factors else ():
        truth = truth_of(search, cast)
        if truth is not None:
            return truth, other
    return None
