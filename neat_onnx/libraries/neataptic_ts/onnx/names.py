"""Names of nodes and tensors in NeatapticTS's ONNX JSON, for the writer and for the repairs.

Layer k counts from 1, the first hidden layer; initializers count from 0. Neuron n of a layer that
is written neuron by neuron counts from 0.
"""

import re
from typing import NamedTuple

from neat_onnx.model.states import PREVIOUS

INPUT, OUTPUT = "input", "output"


class NodeNames(NamedTuple):
    """The name of a node and of the tensor it writes, as patterns of k and n.

    Attributes:
        node: the node's name.
        output: its only output.
    """

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
"""Put in by a repair, as is the next one; NeatapticTS leaves these nodes out."""
FLATTEN = NodeNames("flatten_l{k}", "Flat_{k}")

_LAYER_OR_POOL = re.compile(r"(Layer|Pool)_(\d+)")
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


def flatten_of(tensor: str) -> NodeNames:
    """Return the names of the Flatten after a spatial tensor."""
    found = _LAYER_OR_POOL.fullmatch(tensor)
    if found is None:
        return NodeNames(f"flatten_{tensor}", f"{tensor}_flat")
    return (FLATTEN if found[1] == "Layer" else POOL_FLATTEN).of(found[2])
