"""NeatapticTS's ONNX JSON, written and repaired: names of nodes and tensors, and metadata.

Layer k counts from 1, the first hidden layer; initializers count from 0. Neuron n of a layer that
is written neuron by neuron counts from 0.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from neat_onnx.errors import DocumentError
from neat_onnx.files import parse_json
from neat_onnx.model import MetadataEntry, Model
from neat_onnx.model.states import PREVIOUS
from neat_onnx.network.window import Window
from neat_onnx.options.mappings import Conv2DMapping, Pool2DMapping

INPUT, OUTPUT = "input", "output"


class NodeNames(NamedTuple):
    """The name of a node and of its only output, as patterns of k and n."""

    node: str
    output: str

    def of(self, k: int | str, n: int | None = None) -> "NodeNames":
        """Return the names in layer `k`, for neuron `n` of it."""
        return NodeNames(self.node.format(k=k, n=n), self.output.format(k=k, n=n))


GEMM = NodeNames("gemm_l{k}", "Gemm_{k}")
ACTIVATION = NodeNames("act_l{k}", "Layer_{k}")
NEURON_GEMM = NodeNames("gemm_l{k}_n{n}", "Gemm_{k}_n{n}")
NEURON_ACTIVATION = NodeNames("act_l{k}_n{n}", "Layer_{k}_n{n}")
CONCAT = NodeNames("concat_l{k}", "Layer_{k}")
GEMM_IN = NodeNames("gemm_in_l{k}", "Gemm_in_{k}")
GEMM_REC = NodeNames("gemm_rec_l{k}", "Gemm_rec_{k}")
STATE_SUM = NodeNames("add_recurrent_l{k}", "RecurrentSum_{k}")
CONV = NodeNames("conv_l{k}", "Conv_{k}")
CONV_ACTIVATION = NodeNames("act_conv_l{k}", "Layer_{k}")
POOL = NodeNames("pool_after_l{k}", "Pool_{k}")
POOL_FLATTEN = NodeNames("flatten_after_l{k}", "PoolFlat_{k}")
LSTM = NodeNames("lstm_l{k}", "Layer_{k}_lstm_hidden")
GRU = NodeNames("gru_l{k}", "Layer_{k}_gru_hidden")

RESHAPE = NodeNames("reshape_l{k}", "Spatial_{k}")
"""Put in by a repair; NeatapticTS leaves these nodes out."""

_NUMBER = re.compile(r"_l?(\d+)")


def initializer(prefix: str, k: int, n: int | None = None) -> str:
    """Return the name of a tensor of layer `k`: `W0`, `ConvB1`, `W2_n3`, …"""
    return f"{prefix}{k - 1}" + ("" if n is None else f"_n{n}")


def layer_output(k: int) -> str:
    """Return the name of the tensor that layer `k` + 1 reads; layer 0 is the input."""
    return ACTIVATION.of(k).output if k else INPUT


def previous_state(k: int) -> str:
    """Return the name of the input with the states of layer `k` one step ago."""
    return PREVIOUS if k == 1 else f"{PREVIOUS}_l{k}"


def layer_number(name: str) -> str:
    """Return the number of the layer in the name of a node or a tensor, or ""."""
    found = _NUMBER.search(name)
    return found[1] if found else ""


LAYER_SIZES = "layer_sizes"
RECURRENT = "recurrent_single_step"
FLATTENED = "flatten_layers"
FALLBACK = "rnn_pattern_fallback"
LSTM_GROUPS = "lstm_groups_stub"
EMITTED = {"LSTM": "lstm_emitted_layers", "GRU": "gru_emitted_layers"}
CONV_LAYERS, CONV_SPECS = "conv2d_layers", "conv2d_specs"
POOL_LAYERS, POOL_SPECS = "pool2d_layers", "pool2d_specs"
SHARED, NOT_SHARED = "conv2d_sharing_verified", "conv2d_sharing_mismatch"
GUESSED_LAYERS, GUESSED_SPECS = "conv2d_inferred_layers", "conv2d_inferred_specs"

SHAPES: dict[str, type] = {
    **dict.fromkeys((LAYER_SIZES, RECURRENT, FLATTENED, *EMITTED.values(), CONV_LAYERS), int),
    **dict.fromkeys((POOL_LAYERS, SHARED, NOT_SHARED, GUESSED_LAYERS), int),
    **dict.fromkeys((FALLBACK, LSTM_GROUPS, CONV_SPECS, POOL_SPECS, GUESSED_SPECS), dict),
}
"""The type of the items in the JSON array under each key; `rnn_pattern_fallback` has one object and
may occur several times."""


def is_readable(entry: MetadataEntry) -> bool:
    """Whether the value is JSON; true for keys that are not NeatapticTS's."""
    if entry.key not in SHAPES:
        return True
    try:
        parse_json(entry.value)
    except DocumentError:
        return False
    return True


def items(model: Model, key: str) -> Iterator[Any]:
    """Yield the items under `key` that have the shape of that key."""
    value = parse_json(model.metadata.get(key, "[]"))
    for item in value if isinstance(value, list) else ():
        if isinstance(item, SHAPES[key]):
            yield item


ATTRIBUTES = ("kernel_shape", "strides", "pads")
"""The attributes of Conv and pools, in the order in which NeatapticTS writes them."""


def attributes_of(mapping: Conv2DMapping | Pool2DMapping) -> dict[str, Any]:
    """Return the attributes of the node of a mapping."""
    window = mapping.window
    return dict(zip(ATTRIBUTES, (window.kernel, window.strides, window.pads), strict=True))


def spec_of(mapping: Conv2DMapping | Pool2DMapping) -> dict[str, Any]:
    """Return the metadata's spec of a mapping: the given keys, in the order they were given."""
    return mapping.model_dump(by_alias=True, exclude_unset=True)


def is_identity(window: Window) -> bool:
    """Whether a pool with this window returns its input."""
    return {*window.kernel, *window.strides} == {1} and not any(window.pads)
