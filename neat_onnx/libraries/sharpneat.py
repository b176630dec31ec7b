"""Read and write SharpNEAT's network files (version 4); read version 2's XML.

The sections of a network file are separated by empty lines: how many inputs and outputs; `acyclic`,
or `cyclic` and the number of updates in a step; the connections; the activation functions. All
nodes have the first of these. Inputs have the lowest ids, then come the outputs. A node has no
bias. Where the activation is 0.5 at 0 (a logistic function), an added node that reads an input with
the weight 0 is written as that constant, and biases are its connections.

XML is `Root` of `ActivationFunctions` and `Networks`, or a bare `Network`. A node of type `bias` is
1. The file does not say whether the network is decoded as an acyclic one: it is, unless the option
`cycles` says how many updates a step takes. The decoder limits outputs to 0 … 1.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from neat_onnx.errors import NetworkError, OptionError, warn
from neat_onnx.libraries.catalogue import Members
from neat_onnx.libraries.genome_graph import Edge, GenomeGraph, Node, check_cycles, reached
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.limits import Limits, Reasons, reasons_against, tell_disabled
from neat_onnx.libraries.names import finite_number, reversed_names, translated
from neat_onnx.network.activations import ACTIVATIONS, FORMULA, activation_named
from neat_onnx.network.network import Network

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_QUADRATIC = (
    "where(less(abs(z), 0.999), 0.999 - (abs(z) - 0.999) * (abs(z) - 0.999), "
    "0.999 + (abs(z) - 0.999) * 1e-05)"
)
_POLYNOMIAL = (
    "1.0 + abs(4.9 * z) + (4.9 * z) * (4.9 * z) * 0.555"
    " + ((4.9 * z) * (4.9 * z)) * ((4.9 * z) * (4.9 * z)) * 0.143"
)


def _srelu(x: str) -> str:
    low, high = f"0.001 + ({x} - 0.001) * 1e-05", f"0.999 + ({x} - 0.999) * 1e-05"
    return f"where(less_or_equal({x}, 0.001), {low}, where(less({x}, 0.999), {x}, {high}))"


_FORMULAS = {
    "ArcSinH": "1.2567348023993685 * ((asinh(z) + 1.0) * 0.5)",
    "ArcTan": "atan(z)",
    "BipolarGaussian": "2.0 * exp(-((z * 2.5) * (z * 2.5))) - 1.0",
    "BipolarSigmoid": "2.0 / (1.0 + exp(-4.9 * z)) - 1.0",
    "Gaussian": "exp(-((z * 2.5) * (z * 2.5)))",
    "LeakyReLU": "leaky_relu(z, 0.001)",
    "LeakyReLUShifted": "leaky_relu(z + 0.5, 0.001)",
    "LogisticSteep": "sigmoid(4.9 * z)",
    "MaxMinusOne": "maximum(z, -1.0)",
    "NullFn": "clip(z, 0.0, 0.0)",
    "PolynomialApproximantSteep": (
        f"where(greater(z, 0.0), 1.0 / (1.0 + 1.0 / ({_POLYNOMIAL})), "
        f"1.0 / (1.0 + ({_POLYNOMIAL})))"
    ),
    "QuadraticSigmoid": f"where(less(z, 0.0), -1.0, 1.0) * ({_QUADRATIC}) * 0.5 + 0.5",
    "Sine": "sin(2.0 * z)",
    "SoftSignSteep": "0.5 + z / (2.0 * (0.2 + abs(z)))",
    "SReLU": _srelu("z"),
    "SReLUShifted": _srelu("(z + 0.5)"),
}

ACTIVATION_NAMES = {
    "Linear": "hard_tanh",
    "Logistic": "sigmoid",
    "ReLU": "relu",
    "ScaledELU": "selu",
    "TanH": "tanh",
    **{name: FORMULA + text for name, text in _FORMULAS.items()},
    "LogisticFunction": "sigmoid",
    "LogisticFunctionSteep": FORMULA + _FORMULAS["LogisticSteep"],
    "PlainSigmoid": "sigmoid",
    "SteepenedSigmoid": FORMULA + _FORMULAS["LogisticSteep"],
}

NAMES_OF_VERSION_2 = {
    **ACTIVATION_NAMES,
    "QuadraticSigmoid": f"{FORMULA}sign(z) * ({_QUADRATIC}) * 0.5 + 0.5",
}
"""Version 2 gives the quadratic sigmoid of 0 as 0.5."""

_UNIT = {
    "Logistic", "LogisticSteep", "LogisticFunction", "LogisticFunctionSteep", "PlainSigmoid",
    "SteepenedSigmoid", "Gaussian", "SoftSignSteep", "PolynomialApproximantSteep", "NullFn",
}  # fmt: skip
"""Functions of version 2 whose values are between 0 and 1."""

_MAX_NODES, _MAX_ID = 100_000, 2**31 - 1


def acyclic(genome: GenomeGraph) -> Network:
    """Return an acyclic genome's network: values are pushed from the inputs, layer by layer."""
    if any(edge.enabled and edge.source in set(genome.inputs) for edge in genome.edges):
        return genome.without_silent(()).acyclic("Write `cyclic` and the number of updates")
    warn("no connection leaves an input: SharpNEAT computes nothing, and its outputs are 0")
    nodes = [node._replace(activation="identity", bias=0.0) for node in genome.nodes]
    edges = [edge._replace(enabled=False) for edge in genome.edges]
    return replace(genome, nodes=nodes, edges=edges).acyclic()


@dataclass(frozen=True)
class _Line:
    number: int
    fields: list[str]

    @property
    def where(self) -> str:
        return f"line {self.number}"

    def integer(self, at: int, name: str, most: int = _MAX_ID) -> int:
        text = self.fields[at]
        if not (text.isascii() and text.isdigit()) or int(text[:12]) > most:
            raise NetworkError(f"{name} should be a small integer, got '{text}'", where=self.where)
        return int(text)

    def number_at(self, at: int, name: str) -> float:
        return finite_number(self.fields[at], name, self.where)


def _sections(content: str) -> Iterator[list[_Line]]:
    """The lines of each section, split into fields; an empty list past the end."""
    section: list[_Line] = []
    for number, text in enumerate(content.removeprefix("\ufeff").splitlines(), 1):
        if text.startswith("#"):
            continue
        if text:
            section.append(_Line(number, text.split()))
            continue
        yield section
        section = []
    yield section
    while True:
        yield []


def read_net_file(content: str) -> Network:
    """Return the network that SharpNEAT decodes."""
    sections = _sections(content)
    inputs, outputs = _counts(next(sections))
    cycles = _cycles(next(sections))
    edges = [_edge(line, inputs) for line in next(sections)]
    activation = _activation(next(sections))
    if any(section for section in (next(sections), next(sections))):
        warn("SharpNEAT gives every node the first activation function; those of nodes are ignored")
    hidden = {end for edge in edges for end in edge[:2]} - set(range(inputs + outputs))
    ids = [*range(inputs, inputs + outputs), *sorted(hidden)]
    genome = GenomeGraph(
        library="sharpneat",
        inputs=range(inputs),
        outputs=range(inputs, inputs + outputs),
        nodes=[Node(key, activation) for key in ids],
        edges=edges,
    )
    return acyclic(genome) if cycles is None else genome.updated(cycles)


def _counts(section: list[_Line]) -> tuple[int, int]:
    line = _only(section, "the numbers of inputs and outputs", 2)
    inputs, outputs = (
        line.integer(0, "inputs", _MAX_NODES),
        line.integer(1, "outputs", _MAX_NODES),
    )
    if outputs < 1:
        raise NetworkError("a network has at least one output", where=line.where)
    return inputs, outputs


def _cycles(section: list[_Line]) -> int | None:
    """The number of updates in a step; None for an acyclic network."""
    line = _only(section, "acyclic, or cyclic and a number")
    if line.fields == ["acyclic"]:
        return None
    if len(line.fields) != 2 or line.fields[0] != "cyclic":
        found = " ".join(line.fields)
        raise NetworkError(f"expected `acyclic` or `cyclic N`, got '{found}'", where=line.where)
    cycles = line.integer(1, "cycles")
    if cycles < 1:
        raise NetworkError("a step takes at least one cycle", where=line.where)
    return cycles


def _only(section: list[_Line], what: str, fields: int | None = None) -> _Line:
    if len(section) != 1 or (fields and len(section[0].fields) != fields):
        where = section[-1].where if section else None
        raise NetworkError(f"expected one line with {what}, then an empty one", where=where)
    return section[0]


def _edge(line: _Line, inputs: int) -> Edge:
    if len(line.fields) != 3:
        raise NetworkError("a connection is `source target weight`", where=line.where)
    edge = Edge(
        line.integer(0, "source"), line.integer(1, "target"), line.number_at(2, "the weight")
    )
    if edge.target < inputs:
        raise NetworkError(f"a connection to the input {edge.target}", where=line.where)
    return edge


def _activation(section: list[_Line]) -> str:
    """Our name of the activation of all nodes."""
    if not section:
        raise NetworkError("no activation function", hint="The last section is `0 ReLU`")
    for number, line in enumerate(section):
        if len(line.fields) != 2 or line.integer(0, "the function's id") != number:
            raise NetworkError(f"expected `{number}` and a function's name", where=line.where)
    if len(section) > 1:
        warn("SharpNEAT gives every node the first activation function; the others are ignored")
    first = section[0]
    return translated(
        first.fields[1], ACTIVATION_NAMES, ACTIVATIONS, "activation", first.where, "sharpneat"
    )


_TITLE = "SharpNEAT"
_NAMES = reversed_names(ACTIVATION_NAMES)
_LIMITS = Limits(_TITLE, _NAMES, repeated=True, memory=True)
_HINT = "SharpNEAT's bias is an input that is always 1"


def write(net: Network) -> str:
    """Return the text of a network file."""
    common = str(net.activation_names[net.output_neurons[0]])
    needs_bias = bool(np.any(net.neurons.bias[~net.is_input] != 0.0))
    reasons = reasons_against(net, _LIMITS)
    _check(reasons, common, needs_bias)
    reasons.refuse(_HINT if any("bias" in what for what in reasons.found) else None)
    tell_disabled(net, _TITLE)
    number = _numbers(net)
    live = net.live
    lines = [
        f"{number[i]}\t{number[j]}\t{weight!r}"
        for i, j, weight in zip(
            live.source.tolist(), live.target.tolist(), live.weight.tolist(), strict=True
        )
    ]
    if needs_bias:
        warn(f"written for {_TITLE}: an added node of value 0.5 gives neurons their biases")
        lines += _bias_lines(net, number)
    form = "cyclic\t1" if net.has_memory else "acyclic"
    sections = [
        f"{len(net.input_neurons)}\t{len(net.output_neurons)}",
        form,
        "\n".join(lines) or "# none",
        f"0\t{_NAMES[common]}",
    ]
    return "\n\n".join(sections) + "\n"


def _numbers(net: Network) -> dict[int, int]:
    """SharpNEAT's ids: inputs, outputs, then the others."""
    outside = [*net.input_neurons.tolist(), *net.output_neurons.tolist()]
    known = set(outside)
    order = [*outside, *(j for j in range(len(net)) if j not in known)]
    return {neuron: number for number, neuron in enumerate(order)}


def _bias_lines(net: Network, number: dict[int, int]) -> list[str]:
    node = len(number)
    biases = [(number[j], 2.0 * float(net.neurons.bias[j])) for j in range(len(net))]
    used = [
        (target, weight) for target, weight in biases if weight and target >= len(net.input_neurons)
    ]
    return [f"0\t{node}\t0.0", *(f"{node}\t{target}\t{weight!r}" for target, weight in used)]


def _check(reasons: Reasons, common: str, needs_bias: bool) -> None:
    """Note the limits that SharpNEAT has beside the usual ones."""
    net, computes = reasons.net, ~reasons.net.is_input
    other = computes & (net.activation_names != common)
    reasons.neurons(f"another activation than {common}, which its outputs have,", other)
    if needs_bias:
        zero = np.zeros(1)
        half = common in _NAMES and float(activation_named(common)(zero)[0]) == 0.5
        if not half or not len(net.input_neurons) or net.has_memory:
            reasons.neurons("a bias", computes & (net.neurons.bias != 0.0))
    if not net.has_memory:
        _check_silent(reasons, needs_bias)


def _check_silent(reasons: Reasons, needs_bias: bool) -> None:
    """Note neurons that SharpNEAT reads as 0: acyclic networks are pushed from the inputs."""
    net, live = reasons.net, reasons.net.live
    biased = ~net.is_input & (net.neurons.bias != 0.0)
    leads: dict[int, list[int]] = defaultdict(list)
    for source, target in zip(live.source.tolist(), live.target.tolist(), strict=True):
        leads[source].append(target)
    start = net.is_input | biased if needs_bias else net.is_input
    found = reached(np.flatnonzero(start).tolist(), leads)
    neurons = np.arange(len(net))
    sending = np.isin(neurons, live.source)
    reasons.neurons("a neuron that no input leads to", sending & ~np.isin(neurons, [*found]))
    if not needs_bias and not np.any(net.is_input[live.source]):
        value = np.array([float(activation_named(n)(np.zeros(1))[0]) for n in net.activation_names])
        reasons.neurons("an output that is not 0 without inputs", ~net.is_input & (value != 0.0))


_TYPES = ("bias", "in", "out", "hid")
_DEFAULT = {0: "LogisticFunctionSteep"}
_CLAMP = FORMULA + "clip(z, 0.0, 1.0)"


def members(content: str, options: ReadOptions) -> Members:
    """Return the networks of a file; those of XML are the fittest first."""
    text = content.lstrip("\ufeff \t\r\n")
    if not text.startswith("<"):
        if options.cycles is not None:
            raise OptionError("a network file of SharpNEAT says the cycles itself", where="cycles")
        return [(0, partial(read_net_file, content))]
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise NetworkError("XML with a document type is not read")
    from xml.etree import ElementTree  # noqa: PLC0415 - no other file needs its parser

    try:
        root = ElementTree.fromstring(text.encode())
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise NetworkError(f"invalid XML: {error}") from error
    networks = [root] if root.tag == "Network" else root.findall("Networks/Network")
    if not networks:
        raise NetworkError("no Network", where=root.tag, hint="Root holds Networks of Network")
    functions = {
        _integer(element, "id"): element.get("name", "")
        for element in root.findall("ActivationFunctions/Fn")
    }
    if not functions:
        warn(f"no activation functions: {_DEFAULT[0]}, SharpNEAT's default, is taken")
    ranked = sorted(enumerate(networks), key=lambda pair: -_number(pair[1], "fitness", 0.0))
    read = partial(_read, functions=functions or _DEFAULT, cycles=options.cycles)
    return [(_integer(each, "id", place), partial(read, each)) for place, each in ranked]


def _number(element: "Element", key: str, default: float | None = None) -> float:
    """The number of an attribute; the default where there is none."""
    text = element.get(key)
    if text is None and default is not None:
        return default
    what = f"{element.tag} {element.get('id', '')}".strip()
    value = finite_number("nothing" if text is None else text, key, what)
    return finite_number("too large" if abs(value) > 1e300 else str(text), key, what)


def _integer(element: "Element", key: str, default: int | None = None) -> int:
    return int(_number(element, key, default))


def _read(element: "Element", functions: Mapping[int, str], cycles: int | None) -> Network:
    if cycles is not None:
        check_cycles(cycles)
    ids: dict[str, list[int]] = {kind: [] for kind in _TYPES}
    activation: dict[int, str] = {}
    unlimited: set[int] = set()
    for node in element.findall("Nodes/Node"):
        key, kind = _integer(node, "id"), node.get("type", "")
        where = f"Node {key}"
        if kind not in _TYPES:
            raise NetworkError(f"unknown type '{kind}'", where=where)
        if key in activation:
            raise NetworkError(f"the node id {key} occurs twice", where=where)
        number = _integer(node, "fnId", min(functions))
        if number not in functions:
            raise NetworkError(f"there is no function {number}", where=where)
        name = functions[number]
        ids[kind].append(key)
        activation[key] = "identity"
        if kind in ("out", "hid"):
            names = NAMES_OF_VERSION_2
            activation[key] = translated(name, names, ACTIVATIONS, "activation", where, "sharpneat")
        if kind == "out" and name not in _UNIT:
            unlimited.add(key)
    if not ids["out"]:
        raise NetworkError("no node of type out", where="Nodes")
    edges, bias = [], dict[int, float]()
    for each in element.findall("Connections/Con"):
        edge = Edge(_integer(each, "src"), _integer(each, "tgt"), _number(each, "wght"))
        if edge.source in ids["bias"]:
            bias[edge.target] = bias.get(edge.target, 0.0) + edge.weight
        else:
            edges.append(edge)
    genome = GenomeGraph(
        library="sharpneat",
        inputs=ids["in"],
        outputs=ids["out"],
        nodes=[Node(key, activation[key], bias.get(key, 0.0)) for key in ids["out"] + ids["hid"]],
        edges=edges,
        limit=_CLAMP,
        limited=frozenset(unlimited),
    ).checked()
    if genome.limited:
        warn("SharpNEAT 2 limits outputs to 0 … 1: neurons that do so are added")
    if cycles is None and genome.has_cycle:
        hint = "Say the timesteps of SharpNEAT's activation scheme; cycles=N does, or --cycles N"
        raise OptionError("the network has cycles", where="cycles", hint=hint)
    if cycles is None and bias:
        return genome.without_silent(bias).acyclic()
    return acyclic(genome) if cycles is None else genome.updated(cycles)
