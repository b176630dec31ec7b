"""HyperNEAT: networks whose weights another network, the CPPN, gives for coordinates.

Neurons stand at coordinates of a *substrate*. The connection from a to b has the weight

    w = CPPN(a, b, 1)        0 where |w| ≤ threshold, else (w ∓ threshold) / (1 − threshold) · max

(Stanley, D'Ambrosio and Gauci 2009, as pureples has it). All pairs of two layers are one batch. A
neuron without connections is the constant 0, as in pureples, whatever its activation.

ES-HyperNEAT finds the hidden neurons where the CPPN has information: from each known point a
quadtree divides the plane [-1, 1]² wherever the weights to it vary; where they do so no more, a
connection is expressed if its weight differs from those beside it on two sides, that is within a
band (Risi and Stanley 2012, as pureples has it). The trees of many points grow at once, a level of
all of them being arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neat_onnx.arguments import listed
from neat_onnx.errors import OptionError
from neat_onnx.network.genes import Bools, Connections, Floats, Ints, Neurons, marked, owned
from neat_onnx.network.network import Network
from neat_onnx.network.run import numbers
from neat_onnx.network.schedule import Edges

_MOST_PAIRS = 1 << 24


@dataclass(frozen=True)
class Cppn:
    """A CPPN, and how its first output becomes a weight.

    Raises:
        OptionError: the threshold is not from 0 to below 1.
    """

    net: Network
    max_weight: float
    threshold: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.threshold < 1.0:
            raise OptionError(
                f"threshold is {self.threshold}, expected 0 to below 1", where="threshold"
            )

    def weights(self, source: Floats, target: Floats) -> Floats:
        """Return the weights from sources to targets: (…, d) each, which broadcast, to (…)."""
        w = self._outputs(source, target)[..., 0]
        beyond = (w - np.sign(w) * self.threshold) / (1.0 - self.threshold) * self.max_weight
        return np.where(np.abs(w) > self.threshold, beyond, 0.0)

    def _outputs(self, source: Floats, target: Floats) -> Floats:
        shape = np.broadcast_shapes(source.shape, target.shape)
        size, wanted = 2 * shape[-1], len(self.net.input_neurons)
        if wanted not in (size, size + 1):
            raise OptionError(
                f"the CPPN has {wanted} inputs, expected {size} for two coordinates, or one more "
                "for a constant 1",
                where="cppn",
            )
        x = np.ones((*shape[:-1], wanted))
        x[..., : shape[-1]], x[..., shape[-1] : size] = source, target
        found: Floats = self.net.activate(x.reshape(-1, wanted))
        return found.reshape(*shape[:-1], found.shape[-1])


def coordinates(name: str, points: npt.ArrayLike) -> Floats:
    """Return points as an array (n, d), n ≥ 1.

    Raises:
        OptionError: they are none.
    """
    found = numbers(points)
    if found.ndim != 2 or not found.size or not np.all(np.isfinite(found)):
        text = f"{name} has shape {list(found.shape)}, expected [points, axes], of finite numbers"
        raise OptionError(text, where=name)
    return found


def substrate_network(
    cppn: Cppn, layers: Sequence[npt.ArrayLike], activation: str, bias: float
) -> Network:
    """See `neat_onnx.substrate_network`."""
    points = [
        coordinates(f"layers[{k}]", layer) for k, layer in enumerate(listed("layers", layers))
    ]
    if len(points) < 2 or len({layer.shape[1] for layer in points}) != 1:
        raise OptionError(
            "layers are an input and an output layer at least, in one space", where="layers"
        )
    first = np.cumsum([0, *(len(layer) for layer in points)])
    edges = []
    for k, (below, above) in enumerate(pairwise(points)):
        if len(below) * len(above) > _MOST_PAIRS:
            raise OptionError(f"layers {k} and {k + 1} have too many pairs", where="layers")
        w = cppn.weights(below, above[:, None])
        target, source = np.nonzero(w)
        edges.append((first[k] + source, first[k + 1] + target, w[target, source]))
    source, target, weight = (np.concatenate(each) for each in zip(*edges, strict=True))
    inputs, outputs = np.arange(len(points[0])), np.arange(first[-2], first[-1])
    return phenotype(inputs, outputs, int(first[-1]), (source, target, weight), activation, bias)


def phenotype(
    inputs: Ints,
    outputs: Ints,
    count: int,
    edges: tuple[Ints, Ints, Floats],
    activation: str,
    bias: float,
) -> Network:
    """Return the network of these connections: sources, targets, weights.

    Args:
        count: how many neurons.
    """
    source, target, weight = map(owned, edges)
    fed = marked(count, target)
    names = np.where(fed, activation, "identity").tolist()
    neurons = Neurons.of(np.arange(count), names, bias=np.where(fed, bias, 0.0))
    return Network.of_genes(inputs, outputs, neurons, Connections.of(source, target, weight))


# --- ES-HyperNEAT ---------------------------------------------------------------------------------

_CORNERS = np.array([(-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (1.0, -1.0)])
_SIDES = np.array([(-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0)])
_MOST_DEPTH = 12


@dataclass(frozen=True)
class Search:
    """The parameters of the search; see `neat_onnx.es_substrate_network`."""

    initial_depth: int
    max_depth: int
    division_threshold: float
    variance_threshold: float
    band_threshold: float
    iterations: int

    def __post_init__(self) -> None:
        if not 0 <= self.initial_depth <= _MOST_DEPTH or not 0 <= self.max_depth <= _MOST_DEPTH:
            raise OptionError(f"the depths go from 0 to {_MOST_DEPTH}", where="max_depth")
        if self.variance_threshold < 0.0:
            raise OptionError("variance_threshold is negative", where="variance_threshold")


class _Level(NamedTuple):
    """The parts of the cells that are divided on one level, four of each.

    Attributes:
        points: the known point of each part's tree, (n, 2).
        centers: of the parts, (n, 2).
        weights: between point and part, (n,).
        above: the part of the level before that each is in, (n,).
    """

    points: Floats
    centers: Floats
    weights: Floats
    above: Ints


def es_substrate_network(
    cppn: Cppn,
    inputs: npt.ArrayLike,
    outputs: npt.ArrayLike,
    activation: str,
    bias: float,
    search: Search,
) -> Network:
    """See `neat_onnx.es_substrate_network`."""
    ends = [coordinates("inputs", inputs), coordinates("outputs", outputs)]
    if any(points.shape[1] != 2 for points in ends):
        raise OptionError("the search is of the plane: coordinates are pairs", where="inputs")
    found = [_expressed(cppn, ends[0], search, outgoing=True)]
    known = fresh = np.unique(found[0][:, 2:4], axis=0)
    for _ in range(search.iterations):
        found.append(_expressed(cppn, fresh, search, outgoing=True))
        before = len(known)
        reached = np.concatenate([known, found[-1][:, 2:4]])
        known, first = np.unique(reached, axis=0, return_index=True)
        fresh = known[first >= before]
    found.append(_expressed(cppn, ends[1], search, outgoing=False))
    return _cleaned(np.unique(np.concatenate(found), axis=0), ends[0], ends[1], activation, bias)


def _expressed(cppn: Cppn, points: Floats, search: Search, *, outgoing: bool) -> Floats:
    """Return the connections that the search expresses, (n, 5): source, target, weight.

    Args:
        points: known ones, (m, 2).
        outgoing: they are the sources; else the targets.
    """

    def weights(own: Floats, others: Floats) -> Floats:
        """Return the weights between points and four others each: (n, 2), (n, 4, 2) to (n, 4)."""
        ends = (own[:, None], others) if outgoing else (others, own[:, None])
        return cppn.weights(*ends)

    if not len(points):
        return np.empty((0, 5))
    levels: list[_Level] = []
    own, centers, above = points, np.zeros_like(points), np.zeros(len(points), np.int64)
    for depth in range(1, max(search.initial_depth, search.max_depth, 1) + 1):
        parts = centers[:, None] + _CORNERS * 0.5**depth
        w, of_four = weights(own, parts), np.repeat(np.arange(len(own)), 4)
        levels.append(_Level(own[of_four], parts.reshape(-1, 2), w.ravel(), above[of_four]))
        varied = np.var(w, axis=1) > search.division_threshold
        divided = (varied & (depth < search.max_depth)) | (depth < search.initial_depth)
        above = np.flatnonzero(divided[of_four])
        own, centers = levels[-1].points[above], levels[-1].centers[above]
        if not len(own):
            break
    found, reached = [], np.ones(1, np.bool_)
    varied_within = _varied(levels, search.variance_threshold)
    for depth, (level, varied) in enumerate(zip(levels, varied_within, strict=True), 1):
        reached = reached[level.above]
        own, at, w = (each[reached & ~varied] for each in level[:3])
        reached &= varied
        beside = np.abs(w[:, None] - weights(own, at[:, None] + _SIDES * 2.0 * 0.5**depth))
        least = np.minimum(beside[:, 0::2], beside[:, 1::2])
        kept = (least.max(axis=1) > search.band_threshold) & (w != 0.0)
        ends = (own, at) if outgoing else (at, own)
        kept &= ends[0][:, 1] < ends[1][:, 1]  # connections lead upwards
        found.append(np.column_stack([*ends, w])[kept])
    return np.concatenate(found)


def _varied(levels: Sequence[_Level], threshold: float) -> list[Bools]:
    """Return for each level whether the weights of the leaves in each part vary, (n,)."""
    found = []
    weights, part = np.zeros(0), np.zeros(0, np.int64)  # of the leaves from the deepest level on
    for level in reversed(levels):
        undivided = np.setdiff1d(np.arange(len(level.weights)), part)
        weights = np.concatenate([weights, level.weights[undivided]])
        part = np.concatenate([part, undivided])
        count = np.bincount(part)
        mean = np.bincount(part, weights) / count
        found.append(np.bincount(part, (weights - mean[part]) ** 2) / count > threshold)
        part = level.above[part]
    return found[::-1]


def _cleaned(
    edges: Floats, inputs: Floats, outputs: Floats, activation: str, bias: float
) -> Network:
    """Return the network of the connections on a way from an input to an output."""
    ends = len(inputs) + len(outputs)
    points = np.concatenate([inputs, outputs, edges[:, 0:2], edges[:, 2:4]])
    _, first, number = np.unique(points, axis=0, return_index=True, return_inverse=True)
    node = np.argsort(np.argsort(first))[number.ravel()]  # numbered as they first occur
    if not np.array_equal(node[:ends], np.arange(ends)):
        raise OptionError("two inputs or outputs have the same coordinates", where="inputs")
    (source, target), count = node[ends:].reshape(2, -1), len(first)
    begin, end = np.zeros((2, count), np.bool_)
    begin[: len(inputs)] = end[len(inputs) : ends] = True
    live = Edges(source, target, count).reached(begin) & Edges(target, source, count).reached(end)
    acts = live[source] & live[target]
    live[:ends] = True
    to = np.cumsum(live) - 1
    found = (to[source[acts]], to[target[acts]], edges[acts, 4])
    ids, size = np.arange(ends), int(np.count_nonzero(live))
    return phenotype(ids[: len(inputs)], ids[len(inputs) :], size, found, activation, bias)
