"""One network for each form that the JSON ONNX of layers takes, and how it is written."""

from pathlib import Path
from typing import Any

from neat_onnx import Model, Network, export

HERE = Path(__file__).parent
Gene = dict[str, Any]


def _net(inputs: int, outputs: list[int], neurons: list[Gene], edges: list[Any]) -> Network:
    return Network.build(inputs=inputs, outputs=outputs, neurons=neurons, connections=edges)


def _layers(*activations: list[str]) -> Network:
    """Two inputs, then a fully connected layer for each list; weights that read well."""
    below, genes, edges = [0, 1], [], []
    for names in activations:
        here = list(range(below[-1] + 1, below[-1] + 1 + len(names)))
        genes += [
            {"id": j, "activation": name, "bias": j / 8}
            for j, name in zip(here, names, strict=True)
        ]
        edges += [(i, j, (i - j) / 4 + 0.1) for j in here for i in below]
        below = here
    return _net(2, below, genes, edges)


def _skips() -> Network:
    genes: list[Gene] = [{"id": j, "activation": "tanh", "bias": -0.5} for j in (2, 3, 4)]
    edges = [(0, 2, 0.5), (1, 2, -0.25), (2, 3, 1.5), (0, 3, 0.75), (1, 4, -1.0), (3, 4, 2.0)]
    return _net(2, [4], genes, edges)


def _aggregations() -> Network:
    genes: list[Gene] = [
        {"id": 3 + k, "activation": "tanh", "aggregation": name, "bias": 0.5 * (k == 1)}
        for k, name in enumerate(("sum", "mean", "product", "max", "maxabs", "median"))
    ]
    edges = [(i, gene["id"], 0.5 + i - gene["id"] / 8) for gene in genes for i in range(3)]
    return _net(3, [gene["id"] for gene in genes], genes, edges)


def _space() -> Network:
    """1×3×3 → Conv 1×2×2 → MaxPool 1×1×1 → 1."""
    genes: list[Gene] = [{"id": 9 + k, "activation": "tanh", "bias": 0.25} for k in range(4)]
    genes += [{"id": 13, "aggregation": "max"}, {"id": 14}]
    taps = [(0, 0.5), (1, -1.0), (3, 2.0), (4, 0.125)]
    edges = [(corner + at, 9 + k, w) for k, corner in enumerate((0, 1, 3, 4)) for at, w in taps]
    edges += [*((9 + k, 13, 1.0) for k in range(4)), (13, 14, -0.5)]
    return _net(9, [14], genes, edges)


def _genes() -> Network:
    genes: list[Gene] = [
        {"id": 7, "activation": "neat_sigmoid", "response": 2.0, "name": "hidden"},
        {"id": 5, "activation": "identity", "bias": 0.25},
        {"id": 6, "activation": "tanh"},
    ]
    off = {"source": 1, "target": 5, "weight": 3.0, "enabled": False}
    edges = [(0, 7, 0.1), (0, 7, 0.2), (1, 7, -0.75), (7, 5, 1.5), off, (1, 6, 1.0)]
    return _net(2, [5], genes, edges)


_CONV = {
    **{"layerIndex": 1, "inHeight": 3, "inWidth": 3, "inChannels": 1},
    **{"kernelHeight": 2, "kernelWidth": 2, "strideHeight": 1, "strideWidth": 1},
    **{"outHeight": 2, "outWidth": 2, "outChannels": 1},
}
_POOL = {
    **{"afterLayerIndex": 1, "type": "MaxPool", "kernelHeight": 2, "kernelWidth": 2},
    **{"strideHeight": 2, "strideWidth": 2},
}

FORMS: dict[str, tuple[Network, dict[str, Any]]] = {
    "layers": (_layers(["tanh"] * 3, ["sigmoid"] * 2, ["identity"]), {}),
    "layers_float64": (_layers(["neat_tanh"] * 2, ["neat_sigmoid"]), {"dtype": "float64"}),
    "layers_folded": (_layers(["neat_tanh"] * 2, ["neat_sigmoid"]), {"fold": True}),
    "mixed_per_neuron": (
        _layers(["tanh", "relu", "identity"], ["sigmoid"]),
        {"mixed_activations": "per_neuron"},
    ),
    "mixed_grouped": (_layers(["tanh", "relu", "tanh", "identity"], ["sigmoid"]), {}),
    "skip_connections": (_skips(), {}),
    "aggregations": (_aggregations(), {}),
    "genes": (_genes(), {}),
    "space": (_space(), {"conv2d_mappings": [_CONV], "pool2d_mappings": [_POOL]}),
}


def written(form: str) -> Model:
    """The model of a form; the version does not change with every release."""
    net, options = FORMS[form]
    return export(net, producer_version="golden", **options)


def path(form: str) -> Path:
    return HERE / f"{form}.json"
