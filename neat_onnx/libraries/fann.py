"""Read and write FANN's network files of floating point numbers, versions 2.0 and 2.1.

Neurons stand layer by layer. The last neuron of the first layer is the bias, and so is any later
one without connections: it is 1. A layered network has one neuron too many in its last layer.

FANN limits a sum times its steepness s to ±150/s. Functions that are constant beyond 15, to 1e-12,
are written without the limit where it is farther away. Where a function of ours has no such limit,
the sum is multiplied by 2^40 and the steepness divided by it: the same to the last bit, up to |z| =
150·2^40.

Networks are written in layers by topological level, the outputs in the last one, and a connection
may skip layers. Every neuron reads the bias, because FANN takes one without connections for another
bias.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.genome_graph import Edge, GenomeGraph, Node
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.limits import Limits, outputs_to_copy, reasons_against, tell_disabled
from neat_onnx.libraries.names import finite_number
from neat_onnx.network.activations import FORMULA, activation_named
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule

_PLAIN = {("3", 0.5): "sigmoid", ("5", 1.0): "tanh"}
_SATURATING = {"3": "sigmoid(2.0 * {x})", "5": "tanh({x})"}
_FORMULAS = {
    "0": "{x}",
    "1": "where(less({x}, 0.0), 0.0, 1.0)",
    "2": "where(less({x}, 0.0), -1.0, 1.0)",
    "7": "exp(-({x} * {x}))",
    "8": "exp(-({x} * {x})) * 2.0 - 1.0",
    "9": "clip({x}, 0.0, 0.0)",
    "10": "({x} / 2.0) / (1.0 + abs({x})) + 0.5",
    "11": "{x} / (1.0 + abs({x}))",
    "12": "clip({x}, 0.0, 1.0)",
    "13": "clip({x}, -1.0, 1.0)",
    "14": "sin({x})",
    "15": "cos({x})",
    "16": "sin({x}) / 2.0 + 0.5",
    "17": "cos({x}) / 2.0 + 0.5",
    "18": "relu({x})",
    "19": "leaky_relu({x}, 0.01)",
}
CODES = (*_SATURATING, *_FORMULAS, "4", "6")
"""All numbers, those first whose formulas are short."""
AFTER_2_2 = frozenset({"18", "19"})
_MIDDLE, _NEAR, _FAR = 0.549306154251098632812, 1.47221934795379638672, 2.64665293693542480469
_NODES = {
    "4": (-2.64665246009826660156, -1.47221946716308593750, -_MIDDLE, _MIDDLE, _NEAR, _FAR),
    "6": (-_FAR, -_NEAR, -_MIDDLE, _MIDDLE, _NEAR, _FAR),
}
_STEPWISE = {
    "4": (0.00499999988824129104614, 0.0500000007450580596924, 0.25, 0.75, 0.949999988079071044922,
          0.995000004768371582031, 0.0, 1.0),
    "6": (-0.990000009536743164062, -0.899999976158142089844, -0.5, 0.5, 0.899999976158142089844,
          0.990000009536743164062, -1.0, 1.0),
}  # fmt: skip


def activation_name(code: str, steepness: float) -> str | None:
    """Return our name of a function with a steepness; None for an unknown number."""
    if (code, steepness) in _PLAIN:
        return _PLAIN[code, steepness]
    if code in _SATURATING and 0.0 <= steepness <= 10.0:
        return FORMULA + _SATURATING[code].format(x=f"{steepness!r} * z")
    x = _limited(steepness)
    if code in _STEPWISE:
        return FORMULA + _stepwise(x, _NODES[code], _STEPWISE[code])
    formula = {**_SATURATING, **_FORMULAS}.get(code)
    return None if formula is None else FORMULA + formula.format(x=x)


def _limited(steepness: float) -> str:
    """The sum times the steepness, as FANN limits it: first by min(x, 150/s), else by -150/s."""
    limit = 150.0 / steepness if steepness else 0.0
    x = f"{steepness!r} * z"
    if limit < 0.0:  # so that no sum is between the two
        return f"where(less({limit!r}, {x}), {limit!r}, {-limit!r})"
    return f"clip({x}, {-limit!r}, {limit!r})"


def _stepwise(x: str, nodes: tuple[float, ...], values: tuple[float, ...]) -> str:
    """Straight lines between points, constant outside."""
    *heights, low, high = values
    text = repr(high)
    for at in range(4, -1, -1):
        v, w, r, q = nodes[at], nodes[at + 1], heights[at], heights[at + 1]
        line = f"(({(q - r)!r} * ({x} - ({v!r}))) / {(w - v)!r}) + ({r!r})"
        text = f"where(less({x}, {w!r}), {line}, {text})"
    return f"where(less({x}, {nodes[0]!r}), {low!r}, {text})"


FAR = 2.0**40
_FACTOR = re.compile(r"(-?\d+\.?\d*(?:e[-+]?\d+)?) \* z")


class FannActivation(NamedTuple):
    """How FANN computes an activation a(z): as scale · f(gain · z + shift).

    Attributes:
        code: the number of the function.
        steepness: its steepness.
        gain, shift: on weights and bias of the neuron.
        scale: on the weights of those who read it.
    """

    code: str
    steepness: float
    gain: float = 1.0
    shift: float = 0.0
    scale: float = 1.0


IDENTITY = FannActivation("0", 1.0 / FAR, gain=FAR)
_CALLED = {
    "identity": IDENTITY,
    "complement": FannActivation("0", 1.0 / FAR, gain=-FAR, shift=FAR),
    "relu": FannActivation("12", 1.0 / FAR, scale=FAR),
    "bipolar": FannActivation("2", 1.0, gain=-1.0, scale=-1.0),
    "neat_sigmoid": FannActivation("3", 2.5),
    "bipolar_sigmoid": FannActivation("5", 0.5),
    "neat_tanh": FannActivation("5", 2.5),
    "gaussian": FannActivation("7", 1.0),
    "neat_gauss": FannActivation("7", 5.0**0.5),
    "softsign": FannActivation("11", 1.0 / FAR, gain=FAR),
    "hard_tanh": FannActivation("13", 1.0),
    "sin": FannActivation("14", 1.0 / FAR, gain=FAR),
    "neat_sin": FannActivation("14", 2.5, gain=2.0),
}


@lru_cache(maxsize=1024)
def called(activation: str) -> FannActivation | None:
    """Return how FANN computes an activation of ours; None if it does not."""
    if activation in _CALLED:
        return _CALLED[activation]
    ours = activation_named(activation).expression
    for code, steepness in _candidates(activation):
        name = activation_name(code, steepness)
        if name and activation_named(name).expression == ours:
            return FannActivation(code, steepness)
    return None


def _candidates(activation: str) -> Iterator[tuple[str, float]]:
    """The functions of FANN with the factors of z in a formula as their steepness, or its half."""
    factors = {float(text) for text in _FACTOR.findall(activation.removeprefix(FORMULA))}
    for steepness in sorted({0.5, 1.0, *factors, *(factor / 2.0 for factor in factors)} - {0.0}):
        for code in CODES:
            yield code, steepness


_VERSIONS = ("FANN_FLO_2.0", "FANN_FLO_2.1")
_NEURON = re.compile(r"\(\s*(\d+)\s*,\s*(\d+)\s*,\s*([^)\s]+)\s*\)")
_CONNECTION = re.compile(r"\(\s*(\d+)\s*,\s*([^)\s]+)\s*\)")
_NEURONS = "neurons (num_inputs, activation_function, activation_steepness)"
_CONNECTIONS = "connections (connected_to_neuron, weight)"


def read(content: str, _: ReadOptions) -> Network:
    """Return the network that `fann_run` evaluates."""
    lines = content.splitlines()
    if lines[0].strip() not in _VERSIONS:
        hint = "Save it as floating point numbers with FANN 2"
        raise NetworkError(f"'{lines[0][:40]}' is not read", where="line 1", hint=hint)
    fields = dict(_fields(lines))
    if fields.get("scale_included", "0").strip() not in ("", "0"):
        warn("fann_run does not scale: the scaling parameters are ignored")
    sizes = [_integer(text, "layer_sizes") for text in _field(fields, "layer_sizes").split()]
    neurons = _NEURON.findall(_field(fields, _NEURONS))
    connections = _CONNECTION.findall(_field(fields, _CONNECTIONS))
    if len(sizes) < 2 or sum(sizes) != len(neurons) or sizes[0] < 1:
        raise NetworkError(f"{len(neurons)} neurons in layers of {sizes}", where="neurons")
    count = sizes[-1] - (fields.get("network_type", "0").strip() == "0")
    first = len(neurons) - sizes[-1]
    if count < 1:
        raise NetworkError("no output", where="layer_sizes")
    return _network(neurons, connections, sizes[0] - 1, range(first, first + count))


def _fields(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines[1:]:
        key, sign, value = line.rpartition(")=") if ")=" in line else line.partition("=")
        if sign:
            yield key + sign[:-1], value


def _field(fields: dict[str, str], key: str) -> str:
    if key not in fields:
        raise NetworkError(f"missing '{key}='")
    return fields[key]


def _integer(text: str, where: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise NetworkError(f"'{text}' is not an integer", where=where)
    return int(text)


def _network(
    neurons: list[tuple[str, str, str]],
    connections: list[tuple[str, str]],
    inputs: int,
    outputs: range,
) -> Network:
    fan_in = [_integer(neuron[0], f"neurons[{at}]") for at, neuron in enumerate(neurons)]
    if sum(fan_in) != len(connections) or any(fan_in[: inputs + 1]):
        raise NetworkError(f"{len(connections)} connections, expected {sum(fan_in)}")
    is_bias = {at for at, number in enumerate(fan_in) if at >= inputs and number == 0}
    bias, edges, at = dict[int, float](), [], 0
    for target, number in enumerate(fan_in):
        for text, weight_text in connections[at : at + number]:
            source = _integer(text, f"connections[{at}]")
            weight = finite_number(weight_text, "weight", f"connections[{at}]")
            if source >= target:
                raise NetworkError(
                    f"neuron {target} reads {source}, which is not before it",
                    where=f"connections[{at}]",
                )
            if source in is_bias:
                bias[target] = bias.get(target, 0.0) + weight
            else:
                edges.append(Edge(source, target, weight))
            at += 1
    if any(key in is_bias for key in outputs):
        raise NetworkError("an output without connections", where="neurons")
    computing = [key for key in range(inputs, len(neurons)) if key not in is_bias]
    nodes = [Node(key, _activation(neurons[key], key), bias.get(key, 0.0)) for key in computing]
    return GenomeGraph("fann", range(inputs), outputs, nodes, edges).acyclic()


def _activation(neuron: tuple[str, str, str], at: int) -> str:
    where = f"neurons[{at}]"
    name = activation_name(neuron[1], finite_number(neuron[2], "steepness", where))
    if name is None:
        raise NetworkError(f"unknown activation function {neuron[1]}", where=where)
    return name


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
    """A neuron of the file, of ours or the copy of one; `reads` has numbers and weights."""

    neuron: int
    called: FannActivation
    reads: list[tuple[int, float]]


def write(net: Network) -> str:
    """Return the text of the file."""
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
