"""HyperNEAT: networks whose weights another network, the CPPN, gives for coordinates.

Neurons stand at coordinates of a *substrate*. The connection from a to b has the weight

    w = CPPN(a, b, 1)        0 where |w| ≤ threshold, else (w ∓ threshold) / (1 − threshold) · max

(Stanley, D'Ambrosio and Gauci 2009, as pureples has it). All pairs of two layers are one batch. A
neuron without connections is the constant 0, as in pureples, whatever its activation.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neat_onnx.arguments import is_whole, listed, shown
from neat_onnx.errors import OptionError
from neat_onnx.network.arrays import from_arrays
from neat_onnx.network.genes import Floats, Ints, owned
from neat_onnx.network.network import Network
from neat_onnx.network.run import numbers

_MOST_PAIRS = 1 << 24


@dataclass(frozen=True)
class Cppn:
    """A CPPN, and how its first output becomes a weight."""

    net: Network
    max_weight: float
    threshold: float

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


def cppn_of(net: Network, max_weight: float, threshold: float) -> Cppn:
    """Check the arguments that every substrate has.

    Raises:
        OptionError: the threshold is not from 0 to below 1.
    """
    if not 0.0 <= threshold < 1.0:
        raise OptionError(f"threshold is {threshold}, expected 0 to below 1", where="threshold")
    return Cppn(net, float(max_weight), float(threshold))


def coordinates(name: str, points: npt.ArrayLike) -> Floats:
    """Return points as an array (n, d), n ≥ 1.

    Raises:
        OptionError: they are none.
    """
    found = numbers(points)
    if found.ndim != 2 or not found.size or not np.all(np.isfinite(found)):
        raise OptionError(
            f"{name} has shape {list(found.shape)}, expected [points, axes], of finite numbers",
            where=name,
        )
    return found


def substrate_network(
    cppn: Cppn,
    layers: Sequence[npt.ArrayLike],
    activation: str,
    bias: float,
    links: Iterable[tuple[int, int]] | None,
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
    nothing = np.empty(0, np.int64)
    edges = [(nothing, nothing, np.empty(0))]
    following = [(k, k + 1) for k in range(len(points) - 1)]
    for link in following if links is None else listed("links", links):
        if not _is_pair(link):
            raise OptionError(f"{shown(link)} is no pair of layers", where="links")
        a, b = link
        if not 0 <= a < b < len(points):
            raise OptionError(
                f"({a}, {b}) does not lead from a layer to a later one of {len(points)}",
                where="links",
            )
        if len(points[a]) * len(points[b]) > _MOST_PAIRS:
            raise OptionError(f"layers {a} and {b} have too many pairs", where="layers")
        w = cppn.weights(points[a], points[b][:, None])
        target, source = np.nonzero(w)
        edges.append((first[a] + source, first[b] + target, w[target, source]))
    source, target, weight = (np.concatenate(each) for each in zip(*edges, strict=True))
    inputs, outputs = np.arange(len(points[0])), np.arange(first[-2], first[-1])
    return phenotype(inputs, outputs, int(first[-1]), (source, target, weight), activation, bias)


def _is_pair(link: object) -> bool:
    return isinstance(link, tuple | list) and len(link) == 2 and all(map(is_whole, link))


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
    fed = np.zeros(count, np.bool_)
    fed[target] = True
    names = np.where(fed, activation, "identity").tolist()
    net = from_arrays(
        {"inputs": inputs, "outputs": outputs, "source": source, "target": target},
        {"activation": names, "aggregation": "sum"},
        {"id": np.arange(count), "bias": np.where(fed, bias, 0.0)},
        {"weight": weight},
    )
    return Network.of(net)
