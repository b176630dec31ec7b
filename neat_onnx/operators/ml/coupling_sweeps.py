"""The probabilities of more than two labels, as onnxruntime finds them by pairwise coupling.

Pairwise coupling (Wu, Lin and Weng, 2004) minimizes p · Qp over probabilities p of sum 1, where

    Q[t, t] = Σ r[j, t]²  over the other labels j        Q[t, j] = -r[j, t] · r[t, j]

and r[i, j] is the probability of label i if it is one of i and j. It begins with equal ones, and
sweeps over the labels: with p = v / Σv, u = Qv and m = p · Qp = v · u / Σv², each label t takes

    step = (m · Σv - u[t]) / Q[t, t]        v[t] += step        u += step · Q[t]

onnxruntime stops before a sweep once no |Qp[t] - m| reaches 0.005 / labels. Whatever r is, few
sweeps come before: a search for those r that need the most found as many as are written here.
"""

from itertools import combinations

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand
from neat_onnx.model import Node
from neat_onnx.network.expression import (
    VARIABLE,
    Expression,
    clip,
    greater_or_equal,
    number,
    reciprocal,
    sigmoid,
)
from neat_onnx.operators.algebra import Algebra, rearranged
from neat_onnx.operators.formulas.formula import formula_of
from neat_onnx.operators.layout.arranging import combined

_LEAST, _MOST = np.float32(1e-7), np.float32(1.0 - 1e-7)  # of the probabilities of a pair
_TOLERANCE = np.float32(0.005)  # of Qp, times the labels


def coupled(ctx: LiftingContext, node: Node, odds: Operand, labels: int) -> Operand:
    """The probabilities of labels.

    Args:
        ctx: the import.
        node: the node that has them.
        odds: the log odds of the second label of each pair, [N, pairs].
        labels: how many there are.

    Returns:
        [N, labels].
    """
    descent = _Descent(ctx, node, odds, labels)
    tolerance = float(_TOLERANCE / np.float32(labels))
    now, before = descent.start(), []
    for _ in range(_sweeps(labels)):
        before.append((descent.is_far(*now[1:], tolerance), now[0]))
        now = descent.swept(*now)
    found = now[0]
    for goes_on, earlier in reversed(before):
        found = descent.chosen(goes_on, found, earlier)
    return found


def _sweeps(labels: int) -> int:
    """The most that are needed."""
    return 2 + (labels + 1) // 2


class _Descent:
    """Sweeps over the labels: p and u = Qp, [N, labels], and m = p · u, [N, 1]."""

    def __init__(self, ctx: LiftingContext, node: Node, odds: Operand, labels: int) -> None:
        self._ctx, self._node, self._tensors = ctx, node, Algebra(ctx, node)
        pairs = list(combinations(range(labels), 2))
        first = self._formula(odds, clip(sigmoid(-VARIABLE), float(_LEAST), float(_MOST)))
        minus_other = self._neurons("sub", first, 1.0)
        products = self._neurons("mul", first, minus_other)
        both = self._joined(minus_other, first)
        is_in = [[label == pair[k] for k in (0, 1) for pair in pairs] for label in range(labels)]
        squares = self._neurons("mul", both, both)
        diagonal = self._tensors.activations(
            self._tensors.along(squares, 1, np.array(is_in, np.float64))
        )
        self._inverses = self._formula(diagonal, reciprocal(VARIABLE))
        place = np.diag(np.arange(labels) + len(pairs))
        for k, pair in enumerate(pairs):
            place[pair] = place[pair[::-1]] = k
        whole = self._joined(products, diagonal)
        self._rows = [_columns(whole, row) for row in place]

    def start(self) -> tuple[Operand, Operand, Operand]:
        """Equal probabilities."""
        equal = np.full((1, len(self._rows)), float(np.float32(1.0 / len(self._rows))))
        u = self._rows[0]
        for row in self._rows[1:]:
            u = self._neurons("add", u, row)
        u = self._neurons("mul", u, equal)
        return equal, u, self._tensors.activations(self._tensors.along(u, 1, equal))

    def swept(self, p: Operand, u: Operand, m: Operand) -> tuple[Operand, Operand, Operand]:
        """Improve one label after the other.

        `total` is Σv, `product` is v · u, and `mean` their quotient: the next of each is known by
        the step alone.
        """
        total: Operand = np.ones((1, 1))
        product, mean, steps = m, m, []
        for label, row in enumerate(self._rows):
            at = _columns(u, [label])
            error = self._neurons("sub", mean, at)
            step = self._neurons("mul", error, _columns(self._inverses, [label]))
            u = self._plus_product(u, row, step)
            product = self._plus_product(product, step, self._neurons("add", mean, at))
            total = self._neurons("add", total, step)
            inverse = self._formula(total, reciprocal(VARIABLE))
            mean = self._neurons("mul", product, inverse)
            steps.append(step)
        p = self._neurons("mul", self._neurons("add", self._joined(*steps), p), inverse)
        u = self._neurons("mul", u, inverse)
        return p, u, self._neurons("mul", mean, inverse)

    def is_far(self, u: Operand, m: Operand, tolerance: float) -> Operand:
        """1 where some element of u is as far as the tolerance from m, else 0."""
        distances = self._tensors("abs", self._tensors("sub", u, m))
        furthest = self._tensors.reduced("max", distances, (1,))
        return self._formula(furthest, number(greater_or_equal(VARIABLE, tolerance)))

    def chosen(self, goes_on: Operand, later: Operand, earlier: Operand) -> Operand:
        """The later probabilities or the earlier ones, all of which are finite."""
        ends = self._neurons("sub", 1.0, goes_on)
        return self._plus_product(self._tensors("mul", earlier, ends), later, goes_on)

    def _plus_product(self, addend: Operand, one: Operand, other: Operand) -> Operand:
        """addend + one · other."""
        return self._neurons("add", addend, self._tensors("mul", one, other))

    def _neurons(self, primitive: str, *operands: Operand | float) -> Operand:
        """The activations that a primitive of operands is."""
        return self._tensors.activations(self._tensors(primitive, *operands))

    def _formula(self, operand: Operand, formula: Expression) -> Operand:
        """The activations that a formula of each element is."""
        return self._tensors.activations(formula_of(self._ctx, operand, formula))

    def _joined(self, *operands: Operand) -> Operand:
        """Columns one after the other."""
        return combined(self._ctx, self._node, operands, lambda *parts: np.hstack(parts))


def _columns(operand: Operand, places: list[int] | np.ndarray) -> Operand:
    return rearranged(operand, lambda array: array[:, places])
