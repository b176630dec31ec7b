"""Read FANN's network files of floating point numbers, versions 2.0 and 2.1.

Neurons stand layer by layer. The last neuron of the first layer is the bias, and so is any later
one without connections: it is 1. A layered network has one neuron too many in its last layer.
FANN limits a sum times its steepness s to ±150/s; functions that are constant beyond 15, to 1e-12,
are read without the limit where it is farther away.
"""

import re
from collections.abc import Iterator

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.genome_graph import Edge, GenomeGraph, Node
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.names import finite_number, integer_of
from neat_onnx.network.activations import FORMULA
from neat_onnx.network.network import Network

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
    sizes = [
        integer_of(text, "a number", "layer_sizes")
        for text in _field(fields, "layer_sizes").split()
    ]
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


def _network(
    neurons: list[tuple[str, str, str]],
    connections: list[tuple[str, str]],
    inputs: int,
    outputs: range,
) -> Network:
    fan_in = [
        integer_of(neuron[0], "a number", f"neurons[{at}]") for at, neuron in enumerate(neurons)
    ]
    if sum(fan_in) != len(connections) or any(fan_in[: inputs + 1]):
        raise NetworkError(f"{len(connections)} connections, expected {sum(fan_in)}")
    is_bias = {at for at, number in enumerate(fan_in) if at >= inputs and number == 0}
    edges: list[Edge] = []
    for target, number in enumerate(fan_in):
        for text, weight_text in connections[len(edges) : len(edges) + number]:
            at = len(edges)
            source = integer_of(text, "a number", f"connections[{at}]")
            weight = finite_number(weight_text, "weight", f"connections[{at}]")
            if source >= target:
                raise NetworkError(
                    f"neuron {target} reads {source}, which is not before it",
                    where=f"connections[{at}]",
                )
            edges.append(Edge(source, target, weight))
    if any(key in is_bias for key in outputs):
        raise NetworkError("an output without connections", where="neurons")
    computing = [key for key in range(inputs, len(neurons)) if key not in is_bias]
    nodes = [Node(key, _activation(neurons[key], key)) for key in computing]
    genome = GenomeGraph("fann", range(inputs), outputs, nodes, edges)
    return genome.with_biases(is_bias).acyclic()


def _activation(neuron: tuple[str, str, str], at: int) -> str:
    where = f"neurons[{at}]"
    name = activation_name(neuron[1], finite_number(neuron[2], "steepness", where))
    if name is None:
        raise NetworkError(f"unknown activation function {neuron[1]}", where=where)
    return name
