"""The finder of support vectors with probabilities, as SVMClassifier has them.

Import makes hundreds of neurons of the coupling of pairs (see `coupling_sweeps.py`), or a long
formula, and the probability of a pair is a formula that no other operator has. From its neurons the
way leads back to the log odds of each pair, to its score, a sum of kernels, and to the kernels,
which read the features.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import combinations
from math import gcd, isqrt
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.lowering.registry import Proposal, proposes
from neat_onnx.model import DataType
from neat_onnx.network.activations import activation_named, with_formula
from neat_onnx.network.expression import (
    VARIABLE,
    Expression,
    equal,
    exp,
    greater,
    number,
    power,
    tanh,
)
from neat_onnx.network.genes import Floats, Ints, distinct
from neat_onnx.network.network import Network
from neat_onnx.operators.ml.coupling import GAP
from neat_onnx.operators.ml.coupling_sweeps import FIRST_OF_PAIR
from neat_onnx.passes.draft import make_node

_DOMAIN = "ai.onnx.ml"
_TWO = 2  # labels
_DEGREES = range(2, 10)
_KERNELS = {VARIABLE: ("LINEAR", 0.0), tanh(VARIABLE): ("SIGMOID", 0.0)} | {
    power(VARIABLE, float(degree)): ("POLY", float(degree)) for degree in _DEGREES
}
"""By the activation of a neuron, the kernel of an inner product, and its degree."""
_MANTISSA = 53  # bits of a double


class _Pairs(NamedTuple):
    """The pairs of labels, in their order.

    Attributes:
        labels: how many labels there are.
        scores: the neuron of each pair.
        slopes, shifts: the line from a score to the log odds.
    """

    labels: int
    scores: Ints
    slopes: Floats
    shifts: Floats


class _Kernel(NamedTuple):
    """A kernel of several support vectors.

    Attributes:
        name, parameters: its type; gamma, coef0 and the degree.
        vectors: (vectors, features).
        features: the neurons that it reads.
    """

    name: str
    parameters: tuple[float, float, float]
    vectors: Floats
    features: Ints


@proposes
def propose_support_vectors(net: Network) -> Iterator[Proposal]:
    """Propose an SVMClassifier for each coupling of pairs that there may be."""
    for pairs in _couplings(net):
        kernels, factors = _table(net, pairs.scores)
        sizes = _vectors_per_label(factors != 0.0, pairs.labels)
        found = None if sizes is None else _kernel(net, kernels)
        if sizes is None or found is None:
            continue
        attributes: dict[str, Any] = {
            "classlabels_ints": _label_numbers(net, pairs),
            "coefficients": _by_label(factors, sizes),
            "kernel_params": [*found.parameters],
            "kernel_type": found.name,
            "prob_a": pairs.slopes.tolist(),
            "prob_b": pairs.shifts.tolist(),
            "rho": net.neurons.bias[pairs.scores].tolist(),
            "support_vectors": found.vectors.ravel().tolist(),
            "vectors_per_class": sizes,
        }
        nodes = (
            make_node("SVMClassifier", ["x"], ["whole", "scores"], attributes, domain=_DOMAIN),
            make_node("Cast", ["whole"], ["label"], {"to": int(DataType.FLOAT)}),
            make_node("Identity", ["scores"], ["y"]),  # sums that follow read neurons, not factors
        )
        yield Proposal(nodes, {"x": found.features}, ("label", "y"))


def _couplings(net: Network) -> Iterator[_Pairs]:
    """Yield the pair of each two labels, and the pairs of more, which one operator may have."""
    for gap in np.flatnonzero(with_formula(net, GAP.__eq__)):
        score = _only_sources(net, np.array([gap]))
        if score is not None:
            yield _Pairs(2, score[0], 2.0 * score[1], 2.0 * net.neurons.bias[[gap]])
    pairs = np.flatnonzero(with_formula(net, FIRST_OF_PAIR.__eq__))
    labels = (1 + isqrt(1 + 8 * len(pairs))) // 2
    odds = _only_sources(net, pairs)
    scores = None if odds is None else _only_sources(net, odds[0])
    are_all = labels > _TWO and len(pairs) == labels * (labels - 1) // 2
    if are_all and odds is not None and scores is not None:
        yield _Pairs(labels, *scores, net.neurons.bias[odds[0]])


def _only_sources(net: Network, neurons: Ints) -> tuple[Ints, Floats] | None:
    """The one neuron that each of these reads, and its weight; None if one reads more."""
    row, edge = net.edges_into(neurons)
    if not np.array_equal(row, np.arange(len(neurons))):
        return None
    return net.live.source[edge], net.live.weight[edge]


def _label_numbers(net: Network, pairs: _Pairs) -> list[int]:
    """The numbers of labels; their places, if no neuron gives one."""
    won = _readers(net, pairs.scores, number(greater(VARIABLE, 0.0)))
    if pairs.labels == _TWO:
        return [0, 1] if not len(won) else _of_two(net, won)
    return _of_many(net, won, pairs.labels)


def _of_two(net: Network, won: Ints) -> list[int]:
    """The numbers of two labels, the first of which has won where a neuron gives 1."""
    ends = _readers(net, won, VARIABLE)
    if len(ends) != 1:
        return [1, 0]
    _, ((step,),) = _table(net, ends)
    second = net.neurons.bias[ends[0]]
    return [int(second + step), int(second)]


def _of_many(net: Network, won: Ints, count: int) -> list[int]:
    """The numbers of labels, each of which wins some pairs.

    Import compares the sums of pairs won with the largest one, takes the first that is as large,
    and adds a label for each.
    """
    largest = _readers(net, _readers(net, won, VARIABLE), number(equal(VARIABLE, 0.0)))
    first = _readers(net, largest, number(greater(VARIABLE, 0.5)))
    ends = _readers(net, first, VARIABLE)
    if len(ends) != 1 or len(largest) != count:
        return [*range(count)]
    found = np.zeros(count)
    _, edge = net.edges_into(ends)
    for choice, label in zip(net.live.source[edge], net.live.weight[edge], strict=True):
        hits, _ = _table(net, np.array([choice]))
        found[np.searchsorted(largest, hits[-1])] = label
    return [int(each) for each in found + net.neurons.bias[ends]]


def _readers(net: Network, neurons: Ints, formula: Expression) -> Ints:
    """The neurons of an activation that read some of these."""
    found = distinct(net.live.target[np.isin(net.live.source, neurons)])
    names = net.activation_names[found].tolist()
    alike = [activation_named(name).expression == formula for name in names]
    return found[np.array(alike, np.bool_)]


def _table(net: Network, neurons: Ints) -> tuple[Ints, Floats]:
    """The neurons that these read, in ascending order, and their weights, (neurons, sources)."""
    row, edge = net.edges_into(neurons)
    sources = distinct(net.live.source[edge])
    weights = np.zeros((len(neurons), len(sources)))
    weights[row, np.searchsorted(sources, net.live.source[edge])] = net.live.weight[edge]
    return sources, weights


def _vectors_per_label(supports: np.ndarray, labels: int) -> list[int] | None:
    """How many vectors, one label after the other, have factors in pairs of their label alone.

    Where a vector may be of several labels, it is of the first: the factors are the same.

    Args:
        supports: whether each vector has a factor in a pair, (pairs, vectors).
        labels: how many there are.
    """
    pairs, sizes, label = [*combinations(range(labels), 2)], [0] * labels, 0
    for vector in supports.T:
        its = [pair for pair, is_in in zip(pairs, vector, strict=True) if is_in]
        while label < labels and not all(label in pair for pair in its):
            label += 1
        if label == labels:
            return None
        sizes[label] += 1
    return sizes


def _by_label(factors: Floats, sizes: Sequence[int]) -> list[float]:
    """The coefficients of vectors in the pairs of their label with each other label, in turn."""
    labels = len(sizes)
    of_vector = np.repeat(np.arange(labels), sizes)
    table = np.zeros((labels - 1, factors.shape[1]))
    for row, (one, other) in zip(factors, combinations(range(labels), 2), strict=True):
        for label, against in ((one, other - 1), (other, one)):
            table[against, of_vector == label] = row[of_vector == label]
    return [float(each) for each in table.ravel()]


def _kernel(net: Network, neurons: Ints) -> _Kernel | None:
    """The kernel that neurons are."""
    codes = distinct(net.neurons.activation[neurons])
    expression = activation_named(net.activations[codes[0]]).expression
    if len(codes) == 1 and expression == exp(VARIABLE):
        return _radial(net, neurons)
    starts = np.unique(net.neurons.bias[neurons])
    if len(codes) > 1 or len(starts) > 1 or expression not in _KERNELS:
        return None
    name, degree = _KERNELS[expression]
    features, weights = _table(net, neurons)
    gamma = 1.0 if name == "LINEAR" else _common_factor(weights)
    return _Kernel(name, (gamma, float(starts[0]), degree), weights / gamma, features)


def _radial(net: Network, neurons: Ints) -> _Kernel | None:
    """The kernel exp(-gamma · |x - s|²), exp of sums over the features and |x|²."""
    sources, weights = _table(net, neurons)
    squares = [place for place, each in enumerate(sources) if _is_norm(net, each)]
    if len(squares) != 1 or len(np.unique(weights[:, squares])) != 1:
        return None
    gamma = -float(weights[0, squares[0]])
    norm, _ = _table(net, sources[squares])
    features = _only_sources(net, norm)
    if (
        gamma == 0.0
        or features is None
        or not np.isin(sources, [*features[0], *sources[squares]]).all()
    ):
        return None
    rows = {int(each): place for place, each in enumerate(sources)}
    vectors = np.zeros((len(neurons), len(features[0])))
    for place, each in enumerate(features[0].tolist()):
        if each in rows:
            vectors[:, place] = weights[:, rows[each]] / (2.0 * gamma)
    return _Kernel("RBF", (gamma, 0.0, 0.0), vectors, features[0])


def _is_norm(net: Network, neuron: int) -> bool:
    """Whether a neuron is a sum of squares."""
    sources, _ = _table(net, np.array([neuron]))
    square = VARIABLE * VARIABLE
    names = net.activation_names[sources]
    return len(sources) > 0 and all(activation_named(name).expression == square for name in names)


def _common_factor(weights: Floats) -> float:
    """The number of float32 that doubles are multiples of, whose other factors are such numbers.

    A product of two numbers of 24 bits each is exact, and most often only one factor is common to
    many of them. It is from 1 up to 2: powers of two make no difference.
    """
    mantissas, _ = np.frexp(weights[weights != 0.0])
    integers = [int(each) for each in np.ldexp(np.abs(mantissas), _MANTISSA).tolist()]
    common = reduce(gcd, [each // (each & -each) for each in integers], 0)
    return float(np.ldexp(common, 1 - common.bit_length())) if common else 1.0
