"""Networks of a kind, by their sizes: layered, evolved, of one aggregation, of ports."""

from typing import Any

import numpy as np

from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network


def samples(net: Network, count: int = 9, seed: int = 0) -> Floats:
    """Inputs (count, I) that float32 holds exactly: zeros, ones, normal and some large ones."""
    x = np.random.default_rng(seed).normal(size=(count, len(net.input_neurons)))
    x[0], x[1:2] = 0.0, 1.0
    x[-2:] *= 8.0
    return x.astype(np.float32).astype(np.float64)


def layered(sizes: list[int], activations: list[list[str] | str], seed: int = 0) -> Network:
    """Fully connected layers; for each after the inputs an activation, or one for each neuron."""
    random = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    neurons, connections = [], []
    for layer, names in enumerate(activations, 1):
        each = [names] * sizes[layer] if isinstance(names, str) else names
        for j, name in zip(range(starts[layer], starts[layer + 1]), each, strict=True):
            neurons.append({"id": j, "activation": name, "bias": float(random.normal())})
            connections += [
                (i, j, float(random.normal())) for i in range(starts[layer - 1], starts[layer])
            ]
    outputs = list(range(starts[-2], starts[-1]))
    return Network.build(inputs=sizes[0], outputs=outputs, neurons=neurons, connections=connections)


def evolved(hidden: int, seed: int = 0, fan_in: int = 4, activations: Any = ("tanh",)) -> Network:
    """What evolution leaves: each neuron reads a few of those before it; 5 inputs, 3 outputs."""
    random = np.random.default_rng(seed)
    neurons, connections = [], []
    for j in range(5, 5 + hidden + 3):
        neurons.append(
            {"id": j, "activation": str(random.choice(activations)), "bias": float(random.normal())}
        )
        before = min(j, 5 + hidden)
        chosen = random.choice(before, min(fan_in, before), replace=False)
        connections += [(int(i), j, float(random.normal())) for i in sorted(chosen)]
    outputs = [5 + hidden, 6 + hidden, 7 + hidden]
    return Network.build(inputs=5, outputs=outputs, neurons=neurons, connections=connections)


def aggregating(name: str, inputs: int, **genes: Any) -> Network:
    """Two neurons that aggregate `inputs` inputs, one of them only all but the first."""
    random = np.random.default_rng(inputs)
    sources = [list(range(inputs)), list(range(1, inputs)) or [0]]
    return Network.build(
        inputs=inputs,
        outputs=[inputs, inputs + 1],
        neurons=[
            {"id": inputs + k, "aggregation": name, "activation": "tanh", "bias": 0.25} | genes
            for k in range(2)
        ],
        connections=[
            (source, inputs + k, float(random.normal())) for k in range(2) for source in sources[k]
        ],
    )


def with_ports(inputs: dict[str, list[int]], outputs: dict[str, list[int]], seed: int) -> Network:
    random = np.random.default_rng(seed)
    ports, first = [], 0
    for name, shape in inputs.items():
        size = int(np.prod(shape))
        ports.append({"name": name, "shape": shape, "neurons": list(range(first, first + size))})
        first += size
    hidden = [{"id": first + k, "activation": "tanh"} for k in range(4)]
    last, results = first + 4, []
    for name, shape in outputs.items():
        size = int(np.prod(shape))
        results.append({"name": name, "shape": shape, "neurons": list(range(last, last + size))})
        last += size
    genes = [{"id": j} for j in range(first)] + hidden
    genes += [{"id": j, "activation": "sigmoid"} for j in range(first + 4, last)]
    pairs = [(i, h["id"]) for h in hidden for i in range(first)]
    pairs += [(h["id"], j) for j in range(first + 4, last) for h in hidden]
    edges = [{"source": a, "target": b, "weight": float(random.normal())} for a, b in pairs]
    document = {"inputs": ports, "outputs": results, "neurons": genes, "connections": edges}
    return Network.from_document(document)
