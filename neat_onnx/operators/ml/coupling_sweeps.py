"""The probabilities of more than two labels, as onnxruntime finds them by pairwise coupling.

Pairwise coupling (Wu, Lin and Weng, 2004) minimizes p · Qp over probabilities p of sum 1, where

    Q[t, t] = Σ r[j, t]²  over the other labels j        Q[t, j] = -r[j, t] · r[t, j]

and r[i, j] is the probability of label i if it is one of i and j. It begins with equal ones, and
sweeps over the labels: with p = v / Σv, u = Qv, and m = v · u / Σv, each label t takes

    step = (m - u[t]) / Q[t, t]     v[t] += step     u += step · Q[t]     v · u += step · (m + u[t])

onnxruntime stops before a sweep once no |u - m| reaches Σv · 0.005 / labels. Then steps are 0 here.
Whatever r is, few sweeps come before: a search for those r that need the most found as many as are
written here.
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
from neat_onnx.network.genes import Floats
from neat_onnx.operators.algebra import Algebra, rearranged, shared
from neat_onnx.operators.formulas.formula import formula_of
from neat_onnx.operators.layout.arranging import combined

_ONE: Operand = np.ones((1, 1))
_MIN_PROBABILITY, _MAX_PROBABILITY = np.float32(1e-7), np.float32(1.0 - 1e-7)  # of a pair
_TOLERANCE = np.float32(0.005)  # of Qp, times the labels
FIRST_OF_PAIR = clip(sigmoid(-VARIABLE), float(_MIN_PROBABILITY), float(_MAX_PROBABILITY))
"""The probability of the first label of a pair, of the log odds of the second."""


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
    for _ in range(_sweeps(labels)):
        descent.sweep()
    return descent.probabilities()


def _sweeps(labels: int) -> int:
    """The most that are needed."""
    return 2 + (labels + 1) // 2


class _Descent:
    """Sweeps over the labels, of operands [N, labels] and [N, 1].

    Attributes:
        v: one element for each label, all equal at first; not of sum 1 later.
        u: Qv.
        total, inverse: the sum of v, and its reciprocal.
        product, mean: v · u, and m.
    """

    def __init__(self, ctx: LiftingContext, node: Node, odds: Operand, labels: int) -> None:
        self._ctx, self._node, self._tensors = ctx, node, Algebra(ctx, node)
        pairs = list(combinations(range(labels), 2))
        first = self._formula(odds, FIRST_OF_PAIR)
        minus_other = self._tensors("sub", first, 1.0)
        products = self._tensors("mul", first, minus_other)
        both = self._joined(minus_other, first)
        is_in = [[label == pair[k] for k in (0, 1) for pair in pairs] for label in range(labels)]
        squares = self._tensors("mul", both, both)
        diagonal = self._sums(squares, np.array(is_in, np.float64))
        self._inverses = self._formula(diagonal, reciprocal(VARIABLE))
        place = np.diag(np.arange(labels) + len(pairs))
        for k, pair in enumerate(pairs):
            place[pair] = place[pair[::-1]] = k
        whole = self._joined(products, diagonal)
        self._rows = [_columns(whole, row) for row in place]
        share = float(np.float32(1.0 / labels))
        self._tolerance = float(_TOLERANCE / np.float32(labels))
        equal = np.zeros((labels, len(pairs) + labels))
        for row, places in zip(equal, place, strict=True):
            row[places] = share
        self.u = self._sums(whole, equal)
        self.total = self.inverse = _ONE
        self.product = self.mean = self._sums(self.u, np.full((1, labels), share))
        self.v: list[Operand] = [np.full((1, 1), share)] * labels

    def sweep(self) -> None:
        """Improve one label after the other, if some are far from the best."""
        inverses = self._tensors("mul", self._inverses, self._goes_on())
        for label, row in enumerate(self._rows):
            at = _columns(self.u, [label])
            error = self._tensors("sub", self.mean, at)
            step = self._tensors("mul", error, _columns(inverses, [label]))
            self.total = self._tensors("add", self.total, step)
            self.v[label] = self._tensors("add", self.v[label], step)
            self.u = self._plus_product(self.u, row, step)
            both = self._tensors("add", self.mean, at)
            self.product = self._plus_product(self.product, both, step)
            self.inverse = self._formula(self.total, reciprocal(VARIABLE))
            self.mean = self._tensors("mul", self.product, self.inverse)

    def probabilities(self) -> Operand:
        """v / Σv, [N, labels]."""
        return self._tensors("mul", self._joined(*self.v), self.inverse)

    def _goes_on(self) -> Operand:
        """1 where some element of u is as far as the tolerance from the mean, else 0."""
        distances = self._tensors("abs", self._tensors("sub", self.u, self.mean))
        furthest = self._tensors.reduced("max", distances, (1,))
        least = self._tensors("mul", self.total, self._tolerance)
        beyond = self._tensors("sub", furthest, least)
        return self._formula(beyond, number(greater_or_equal(VARIABLE, 0.0)))

    def _plus_product(self, addend: Operand, one: Operand, other: Operand) -> Operand:
        """addend + one · other."""
        return self._tensors("add", addend, self._tensors("mul", one, other))

    def _sums(self, operand: Operand, matrix: Floats) -> Operand:
        """Sums of columns, by a matrix (sums, columns)."""
        return shared(self._tensors.along(operand, 1, matrix))

    def _formula(self, operand: Operand, formula: Expression) -> Operand:
        """A formula of each element."""
        return shared(formula_of(self._ctx, operand, formula))

    def _joined(self, *operands: Operand) -> Operand:
        """Columns one after the other."""
        return shared(combined(self._ctx, self._node, operands, lambda *parts: np.hstack(parts)))


def _columns(operand: Operand, places: list[int] | np.ndarray) -> Operand:
    return rearranged(operand, lambda array: array[:, places])
