"""Write networks as matrices of WANN and prettyNEAT, which `importNet` loads."""

import numpy as np

from neat_onnx.errors import warn
from neat_onnx.libraries.limits import Limits, in_order, reasons_against, tell_disabled
from neat_onnx.libraries.names import reversed_names
from neat_onnx.libraries.wann.names import ACTIVATION_NAMES
from neat_onnx.network.network import Network

_TITLE = "WANN"
_LIMITS = Limits(_TITLE, reversed_names(ACTIVATION_NAMES))


def write(net: Network) -> str:
    """Return the matrix as text.

    Raises:
        NetworkError: the library cannot express something; lists every reason with neurons.
    """
    reasons = reasons_against(net, _LIMITS)
    outputs = net.output_neurons.tolist()
    sending = np.isin(np.arange(len(net)), net.live.source)
    is_output = np.isin(np.arange(len(net)), outputs)
    reasons.neurons("an output that other neurons read", is_output & sending)
    reasons.refuse()
    tell_disabled(net, _TITLE)
    if np.any(net.activation_names[~net.is_input] == "square"):
        warn(f"written for {_TITLE}: only prettyNEAT knows the activation 11, the square")
    last = set(outputs)
    hidden = [j for j in in_order(net) if j not in last]
    order = [*net.input_neurons.tolist(), *hidden, *outputs]
    place = np.zeros(len(net), np.int64)
    place[order] = np.arange(1, len(order) + 1)
    matrix = np.zeros((len(order) + 1, len(order) + 1))
    live = net.live
    matrix[place[live.source], place[live.target]] = live.weight
    computes = np.flatnonzero(~net.is_input)
    matrix[0, place[computes]] = net.neurons.bias[computes]
    codes = {place[j]: _LIMITS.activations[net.activation_names[j]] for j in computes}
    rows = [
        ",".join([*map(repr, row), codes.get(at, "1")]) for at, row in enumerate(matrix.tolist())
    ]
    return "\n".join(rows) + "\n"
