"""Build layered networks."""

from collections.abc import Sequence

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.network.genes import Connections, Neurons, owned
from neat_onnx.network.port import Port
from neat_onnx.network.structure import Structure


def mlp(sizes: Sequence[int], hidden: str, output: str, seed: int) -> Structure:
    """See `Network.mlp`."""
    if len(sizes) < 2 or any(size < 1 for size in sizes):
        raise NetworkError(
            f"layer sizes {list(sizes)} make no network",
            hint="Give at least an input and an output layer, each of one neuron or more",
        )
    random = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    sources, targets, weights = [], [], []
    for layer in range(1, len(sizes)):
        below, here = sizes[layer - 1], sizes[layer]
        sources.append(np.tile(np.arange(starts[layer - 1], starts[layer]), here))
        targets.append(np.repeat(np.arange(starts[layer], starts[layer + 1]), below))
        weights.append(random.normal(0.0, below**-0.5, below * here))
    count = int(starts[-1])
    bias = random.normal(0.0, 0.5, count)
    bias[: sizes[0]] = 0.0
    names = ["identity"] * sizes[0] + [hidden] * (count - sizes[0] - sizes[-1])
    names += [output] * sizes[-1]
    columns = [owned(np.concatenate(each)) for each in (sources, targets, weights)]
    neurons, activations, aggregations = Neurons.of(np.arange(count), names, bias=bias)
    return Structure(
        inputs=(Port("input", (sizes[0],), np.arange(sizes[0])),),
        outputs=(Port("output", (sizes[-1],), np.arange(count - sizes[-1], count)),),
        neurons=neurons,
        connections=Connections.of(*columns),
        activations=activations,
        aggregations=aggregations,
    )
