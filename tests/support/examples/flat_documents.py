"""Documents as NeatapticTS writes them: no batch axis, flat tensors, an output of no node."""

import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from neat_onnx import NeatOnnxWarning
from neat_onnx.network.genes import Floats

Node = dict[str, Any]


def node(op_type: str, reads: str, gives: str, name: str, **attributes: Any) -> Node:
    """A node; attributes are ints and lists of ints."""
    entries = [
        {"name": key, "type": "INTS", "ints": value}
        if isinstance(value, list)
        else {"name": key, "type": "INT", "i": value}
        for key, value in attributes.items()
    ]
    names = {"input": reads.split(), "output": [gives], "name": name}
    return {"op_type": op_type, **names, "attributes": entries}


def conv(layer: int, reads: str, window: list[int], **attributes: Any) -> list[Node]:
    """A Conv and its activation; the weights are ConvW… and ConvB…."""
    names = f"{reads} ConvW{layer - 1} ConvB{layer - 1}"
    return [
        node("Conv", names, f"Conv_{layer}", f"conv_l{layer}", kernel_shape=window, **attributes),
        node("Tanh", f"Conv_{layer}", f"Layer_{layer}", f"act_conv_l{layer}"),
    ]


def pool(op_type: str, layer: int, window: list[int], **attributes: Any) -> Node:
    """A pool after a layer."""
    name = f"pool_after_l{layer}"
    return node(op_type, f"Layer_{layer}", f"Pool_{layer}", name, kernel_shape=window, **attributes)


def gemm(layer: int, reads: str) -> Node:
    """The last layer's Gemm."""
    return node("Gemm", f"{reads} W B", f"Layer_{layer}", f"gemm_l{layer}", transB=1)


def spec(layer: int, shape: tuple[int, int, int], out: tuple[int, int, int]) -> dict[str, int]:
    """How layer number `layer` sees its input, (channels, rows, columns)."""
    sizes = {"layerIndex": layer, "kernelHeight": 2, "kernelWidth": 2}
    sizes |= {"strideHeight": 1, "strideWidth": 1}
    for side, (channels, rows, columns) in (("in", shape), ("out", out)):
        sizes |= {f"{side}Channels": channels, f"{side}Height": rows, f"{side}Width": columns}
    return sizes


def document(
    nodes: list[Node], tensors: dict[str, Floats], inputs: int, outputs: int, **metadata: Any
) -> dict[str, Any]:
    """The whole document; values of the metadata that are no text are written as JSON."""
    return {
        "graph": {
            "inputs": [_port("input", inputs)],
            "outputs": [_port("output", outputs)],
            "initializer": [
                {
                    "name": name,
                    "data_type": 1,
                    "dims": list(values.shape),
                    "float_data": values.ravel().tolist(),
                }
                for name, values in tensors.items()
            ],
            "node": nodes,
        },
        "metadata_props": [
            {"key": key, "value": value if isinstance(value, str) else json.dumps(value)}
            for key, value in metadata.items()
        ],
    }


def weights(**shapes: tuple[int, ...]) -> dict[str, Floats]:
    """Random tensors of these shapes, exact in float32."""
    rng = np.random.default_rng(0)
    return {name: rng.integers(-64, 64, shape) / 64 for name, shape in shapes.items()}


def with_warnings(make: Callable[[Any], Any], document: Any) -> tuple[Any, list[str]]:
    """What `make` makes of the document, and what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = make(document)
    assert all(issubclass(warning.category, NeatOnnxWarning) for warning in caught)
    return made, [str(warning.message) for warning in caught]


def _port(name: str, size: int) -> dict[str, Any]:
    shape = {"dim": [{"dim_value": size}]}
    return {"name": name, "type": {"tensor_type": {"elem_type": 1, "shape": shape}}}
