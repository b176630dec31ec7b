"""Write networks as FANN's files of floating point numbers, which `fann_create_from_file` loads.

Neurons stand in layers by their topological level, the outputs in the last one, and a connection
may skip layers. The neuron after the inputs is the bias: every other neuron reads it, because FANN
takes one without connections for another bias.
"""

import math
from dataclasses import dataclass

import numpy as np

from neat_onnx.errors import warn
from neat_onnx.libraries.fann.functions import FAR, IDENTITY, FannActivation, called
from neat_onnx.libraries.fann.names import AFTER_2_2
from neat_onnx.libraries.limits import Limits, outputs_to_copy, reasons_against, tell_disabled
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule

_TITLE = "FANN"
_HEAD = """\
FANN_FLO_2.1
num_layers={layers}
learning_rate=0.700000
connection_rate=0.500000
network_type=1
learning_momentum=0.000000
training_algorithm=2
train_error_function=1
train_stop_function=0
cascade_output_change_fraction=0.010000
quickprop_decay=-0.000100
quickprop_mu=1.750000
rprop_increase_factor=1.200000
rprop_decrease_factor=0.500000
rprop_delta_min=0.000000
rprop_delta_max=50.000000
rprop_delta_zero=0.100000
cascade_output_stagnation_epochs=12
cascade_candidate_change_fraction=0.010000
cascade_candidate_stagnation_epochs=12
cascade_max_out_epochs=150
cascade_min_out_epochs=50
cascade_max_cand_epochs=150
cascade_min_cand_epochs=50
cascade_num_candidate_groups=2
bit_fail_limit=0.35
cascade_candidate_limit=1000.0
cascade_weight_multiplier=0.4
cascade_activation_functions_count=10
cascade_activation_functions=3 5 7 8 10 11 14 15 16 17
cascade_activation_steepnesses_count=4
cascade_activation_steepnesses=0.25 0.5 0.75 1.0
layer_sizes={sizes}
scale_included=0
"""


@dataclass(frozen=True)
class _Cell:
    """A neuron of the file: of ours, or the copy of one that is the output.

    Attributes:
        neuron: the position of ours.
        called: its function.
        reads: the number of a neuron of the file, and the weight, of each connection.
    """

    neuron: int
    called: FannActivation
    reads: list[tuple[int, float]]


def write(net: Network) -> str:
    """Return the text of the file.

    Raises:
        NetworkError: FANN cannot express something; lists every reason with neurons.
    """
    names = dict.fromkeys(net.activation_names[~net.is_input].tolist())
    functions = {name: function for name in names if (function := called(name))}
    limits = Limits(_TITLE, dict.fromkeys(functions, ""), repeated=True, copies_outputs=True)
    reasons = reasons_against(net, limits)
    reasons.refuse()
    layers = _layers(net, functions)
    cells = _cells(net, layers, functions)
    large = [c.neuron for c in cells if not all(math.isfinite(weight) for _, weight in c.reads)]
    reasons.neurons("a weight that large", np.isin(np.arange(len(net)), large))
    reasons.refuse()
    tell_disabled(net, _TITLE)
    _tell(cells)
    return _text([len(net.input_neurons) + 1, *map(len, layers)], cells)


def _layers(net: Network, functions: dict[str, FannActivation]) -> list[list[int]]:
    """The neurons of each layer after the inputs; ~j where a copy of neuron j is the output."""
    scaled = [name for name, function in functions.items() if function.scale != 1.0]
    read = np.isin(np.arange(len(net)), net.live.source)
    copied = outputs_to_copy(net, read | np.isin(net.activation_names, scaled))
    outputs = net.output_neurons.tolist()
    last = [~j if copy else j for j, copy in zip(outputs, copied, strict=True)]
    alone = set(last)
    levels = [
        [j for j in level.tolist() if j not in alone and not net.is_input[j]]
        for level in schedule(net).levels
    ]
    return [*filter(None, levels), last]


def _cells(
    net: Network, layers: list[list[int]], functions: dict[str, FannActivation]
) -> list[_Cell]:
    """The neurons after the bias, in the order of the file."""
    order = [j for layer in layers for j in layer]
    bias = len(net.input_neurons)
    number = {j: k for k, j in enumerate(net.input_neurons.tolist())}
    number.update({j: k for k, j in enumerate(order, bias + 1) if j >= 0})
    scale = {j: functions[net.activation_names[j]].scale for j in order if j >= 0}
    live, start = net.live, np.searchsorted(net.live.target, np.arange(len(net) + 1))
    cells = []
    for j in order:
        if j < 0:
            reads = [(~j, 1.0)]
            function, own = IDENTITY, 0.0
        else:
            span = slice(start[j], start[j + 1])
            reads = list(zip(live.source[span].tolist(), live.weight[span].tolist(), strict=True))
            function, own = functions[net.activation_names[j]], float(net.neurons.bias[j])
        weights = [(number[i], weight * scale.get(i, 1.0) * function.gain) for i, weight in reads]
        weights.append((bias, own * function.gain + function.shift))
        cells.append(_Cell(j if j >= 0 else ~j, function, weights))
    return cells


def _tell(cells: list[_Cell]) -> None:
    if any(abs(cell.called.gain * cell.called.scale) == FAR for cell in cells):
        warn("written for FANN: weights are multiplied by 2^40 where FANN would limit sums to ±150")
    if any(cell.called.code in AFTER_2_2 for cell in cells):
        warn("written for FANN: version 2.2 does not have the rectifiers 18 and 19")


def _text(sizes: list[int], cells: list[_Cell]) -> str:
    head = _HEAD.format(layers=len(sizes), sizes=" ".join(map(str, sizes)))
    neurons = "(0, 0, 0.0) " * sizes[0] + "".join(
        f"({len(cell.reads)}, {cell.called.code}, {cell.called.steepness!r}) " for cell in cells
    )
    connections = "".join(
        f"({source}, {weight!r}) " for cell in cells for source, weight in cell.reads
    )
    return (
        f"{head}neurons (num_inputs, activation_function, activation_steepness)={neurons}\n"
        f"connections (connected_to_neuron, weight)={connections}\n"
    )
