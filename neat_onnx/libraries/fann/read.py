"""Read FANN's network files of floating point numbers, versions 2.0 and 2.1.

Neurons stand layer by layer. The last neuron of the first layer is the bias, and so is any later
one without connections: it is 1. A layered network has one neuron too many in its last layer.
"""

import re
from collections.abc import Iterator

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.fann.names import activation_name
from neat_onnx.libraries.genome_graph import Edge, GenomeGraph, Node
from neat_onnx.libraries.text_numbers import finite_number
from neat_onnx.network.network import Network

_VERSIONS = ("FANN_FLO_2.0", "FANN_FLO_2.1")
_NEURON = re.compile(r"\(\s*(\d+)\s*,\s*(\d+)\s*,\s*([^)\s]+)\s*\)")
_CONNECTION = re.compile(r"\(\s*(\d+)\s*,\s*([^)\s]+)\s*\)")
_NEURONS = "neurons (num_inputs, activation_function, activation_steepness)"
_CONNECTIONS = "connections (connected_to_neuron, weight)"


def read(content: str) -> Network:
    """Return the network that `fann_run` evaluates.

    Raises:
        NetworkError: it is not a network; says where.
    """
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
