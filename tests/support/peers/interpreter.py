"""What a document of the neataptic dialect computes, in plain numpy: an oracle that is not ours.

A Conv reads the flat tensor as its mapping says, a Gemm reads whatever it is given flattened, and
what feeds `hidden_prev…` is the sum of that layer one step before. Pools are not known.
"""

from typing import Any

import numpy as np

from neat_onnx.network.genes import Floats

_ACTIVATIONS = {
    "Relu": lambda z: np.maximum(z, 0.0),
    "Tanh": np.tanh,
    "Sigmoid": lambda z: 1.0 / (1.0 + np.exp(-z)),
    "Identity": lambda z: z,
}


def computed(document: dict[str, Any], options: dict[str, Any], x: Floats) -> Floats:
    """The outputs for the consecutive steps `x`, (T, I) → (T, O)."""
    graph = document["graph"]
    tensors = {
        tensor["name"]: np.array(tensor["float_data"]).reshape(tensor["dims"])
        for tensor in graph["initializer"]
    }
    nodes = [node for node in graph["node"] if node["op_type"] not in ("LSTM", "GRU")]
    read = {name for node in nodes for name in node["input"]}
    (last,) = (node["output"][0] for node in nodes if node["output"][0] not in read)
    states = {entry["name"]: np.zeros(_size(entry)) for entry in graph["inputs"][1:]}
    rows = []
    for row in x:
        values = {"input": row, **tensors, **states}
        waiting = list(nodes)
        while waiting:
            node = next(node for node in waiting if all(name in values for name in node["input"]))
            waiting.remove(node)
            given = [values[name] for name in node["input"]]
            values[node["output"][0]] = _result(node, given, options)
        states = {name: values[_sum_of(name)] for name in states}
        rows.append(values[last].ravel())
    return np.array(rows)


def _result(node: dict[str, Any], given: list[Floats], options: dict[str, Any]) -> Floats:
    if node["op_type"] == "Gemm":
        return given[1] @ given[0].ravel() + (given[2] if len(given) > 2 else 0.0)
    if node["op_type"] == "Add":
        return given[0] + given[1]
    if node["op_type"] == "Concat":
        return np.concatenate(given)
    if node["op_type"] == "Conv":
        return _convolved(node, given, options)
    return _ACTIVATIONS[node["op_type"]](given[0])


def _convolved(node: dict[str, Any], given: list[Floats], options: dict[str, Any]) -> Floats:
    layer = int(node["name"].removeprefix("conv_l"))
    spec = next(spec for spec in options["conv2dMappings"] if spec["layerIndex"] == layer)
    attributes = {entry["name"]: entry["ints"] for entry in node["attributes"]}
    top, left, bottom, right = attributes["pads"]
    space = given[0].reshape(spec["inChannels"], spec["inHeight"], spec["inWidth"])
    space = np.pad(space, ((0, 0), (top, bottom), (left, right)))
    window = tuple(attributes["kernel_shape"])
    places = np.lib.stride_tricks.sliding_window_view(space, window, axis=(1, 2))
    down, across = attributes["strides"]
    places = places[:, ::down, ::across]
    return np.einsum("oikl,ihwkl->ohw", given[1], places) + given[2][:, None, None]


def _size(entry: dict[str, Any]) -> int:
    return int(entry["type"]["tensor_type"]["shape"]["dim"][-1]["dim_value"])


def _sum_of(name: str) -> str:
    return f"RecurrentSum_{name.removeprefix('hidden_prev').removeprefix('_l') or 1}"
