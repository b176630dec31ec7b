"""Read and write SharpNEAT's network files (version 4); read version 2's XML.

The sections of a network file are separated by empty lines: how many inputs and outputs; `acyclic`,
or `cyclic` and the number of updates in a step; the connections; the activation functions. All
nodes have the first of these. Inputs have the lowest ids, then come the outputs. A node has no
bias.

XML is `Root` of `ActivationFunctions` and `Networks`, or a bare `Network`. A node of type `bias` is
1. The file does not say whether the network is decoded as an acyclic one: it is, unless the option
`cycles` says how many updates a step takes. The decoder limits outputs to 0 … 1.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from neat_onnx.errors import NetworkError, OptionError, warn
from neat_onnx.libraries.catalogue import Members
from neat_onnx.libraries.genome_graph import Edge, GenomeGraph, Node, needs_cycles
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.limits import reasons_against, tell_disabled
from neat_onnx.libraries.names import finite_number, integer_of, reversed_names, translated
from neat_onnx.network.activations import FORMULA
from neat_onnx.network.genes import marked
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Edges

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


def _acyclic(genome: GenomeGraph) -> Network:
    """Return an acyclic genome's network: values are pushed from the inputs, layer by layer."""
    inputs = set(genome.inputs)
    if genome.biased or any(edge.source in inputs for edge in genome.edges):
        return genome.without_silent().acyclic("Write `cyclic` and the number of updates")
    warn("no connection leaves an input: SharpNEAT computes nothing, and its outputs are 0")
    nodes = [node._replace(activation="identity", bias=0.0) for node in genome.nodes]
    edges = [edge._replace(enabled=False) for edge in genome.edges]
    return replace(genome, nodes=nodes, edges=edges).acyclic()


class _Line(NamedTuple):
    where: str
    fields: list[str]


def _sections(content: str) -> list[list[_Line]]:
    """The lines of each of the six sections, split into fields; empty ones past the end."""
    sections: list[list[_Line]] = [[]]
    for number, text in enumerate(content.removeprefix("\ufeff").splitlines(), 1):
        if not text:
            sections.append([])
        elif not text.startswith("#"):
            sections[-1].append(_Line(f"line {number}", text.split()))
    return [*sections, [], [], [], [], []][:6]


def _read_net_file(content: str) -> Network:
    """Return the network that SharpNEAT decodes."""
    ends, mode, connections, functions, *ignored = _sections(content)
    where, sizes = _only(ends, "the numbers of inputs and outputs", 2)
    inputs, outputs = (
        integer_of(text, name, where, most=100_000)
        for text, name in zip(sizes, ("inputs", "outputs"), strict=True)
    )
    if outputs < 1:
        raise NetworkError("a network has at least one output", where=where)
    cycles = _cycles(mode)
    edges = [_edge(line, inputs) for line in connections]
    activation = _activation(functions)
    if any(ignored):
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
    return _acyclic(genome) if cycles is None else genome.updated(cycles)


def _only(section: list[_Line], what: str, fields: int | None = None) -> _Line:
    if len(section) != 1 or (fields and len(section[0].fields) != fields):
        where = section[-1].where if section else None
        raise NetworkError(f"expected one line with {what}, then an empty one", where=where)
    return section[0]


def _cycles(section: list[_Line]) -> int | None:
    """The number of updates in a step; None for an acyclic network."""
    where, fields = _only(section, "acyclic, or cyclic and a number")
    if fields == ["acyclic"]:
        return None
    if len(fields) != 2 or fields[0] != "cyclic":
        found = " ".join(fields)
        raise NetworkError(f"expected `acyclic` or `cyclic N`, got '{found}'", where=where)
    cycles = integer_of(fields[1], "cycles", where)
    if cycles < 1:
        raise NetworkError("a step takes at least one cycle", where=where)
    return cycles


def _edge(line: _Line, inputs: int) -> Edge:
    where, fields = line
    if len(fields) != 3:
        raise NetworkError("a connection is `source target weight`", where=where)
    source, target = integer_of(fields[0], "source", where), integer_of(fields[1], "target", where)
    if target < inputs:
        raise NetworkError(f"a connection to the input {target}", where=where)
    return Edge(source, target, finite_number(fields[2], "the weight", where))


def _activation(section: list[_Line]) -> str:
    """Our name of the activation of all nodes."""
    if not section:
        raise NetworkError("no activation function", hint="The last section is `0 ReLU`")
    for number, (where, fields) in enumerate(section):
        if len(fields) != 2 or fields[0] != str(number):
            raise NetworkError(f"expected `{number}` and a function's name", where=where)
    if len(section) > 1:
        warn("SharpNEAT gives every node the first activation function; the others are ignored")
    where, (_, name) = section[0]
    return translated(name, ACTIVATION_NAMES, "activation", where, "sharpneat")


_TITLE = "SharpNEAT"
_NAMES = reversed_names(ACTIVATION_NAMES)


def write(net: Network) -> str:
    """Return the text of the network file of an acyclic network."""
    computes, live = ~net.is_input, net.live
    common = str(net.activation_names[net.output_neurons[0]])
    found = Edges(live.source, live.target, len(net)).reached(net.is_input)
    silent = ~found & marked(len(net), live.source)  # it would read 0 from these
    reasons = reasons_against(net, _TITLE, _NAMES)
    reasons.neurons("a bias", computes & (net.neurons.bias != 0.0))
    reasons.neurons("a neuron that no input leads to", silent)
    if not np.any(net.is_input[live.source]):
        reasons.neurons("a network that reads no input", computes)
    with_bias = "a bias" in reasons.found
    reasons.refuse("SharpNEAT's bias is an input that is always 1" if with_bias else None)
    tell_disabled(net, _TITLE)
    ends = [*net.input_neurons.tolist(), *net.output_neurons.tolist()]
    number = {j: at for at, j in enumerate(dict.fromkeys([*ends, *range(len(net))]))}
    edges = zip(live.source.tolist(), live.target.tolist(), live.weight.tolist(), strict=True)
    sections = [
        f"{len(net.input_neurons)}\t{len(net.output_neurons)}",
        "acyclic",
        "\n".join(f"{number[i]}\t{number[j]}\t{weight!r}" for i, j, weight in edges),
        f"0\t{_NAMES[common]}",
    ]
    return "\n\n".join(sections) + "\n"


_TYPES = ("bias", "in", "out", "hid")
_DEFAULT = {0: "LogisticFunctionSteep"}
_CLAMP = FORMULA + "clip(z, 0.0, 1.0)"


def members(content: str, options: ReadOptions) -> Members:
    """Return the networks of a file; those of XML are the fittest first."""
    text = content.lstrip("\ufeff \t\r\n")
    if not text.startswith("<"):
        if options.cycles is not None:
            raise OptionError("a network file of SharpNEAT says the cycles itself", where="cycles")
        return [(0, partial(_read_net_file, content))]
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
        _number(element, "id"): element.get("name", "")
        for element in root.findall("ActivationFunctions/Fn")
    }
    if not functions:
        warn(f"no activation functions: {_DEFAULT[0]}, SharpNEAT's default, is taken")
    fitness = [finite_number(each.get("fitness", "0"), "fitness", "Network") for each in networks]
    read = partial(_read_xml, functions=functions or _DEFAULT, cycles=options.cycles)
    ranked = sorted(range(len(networks)), key=lambda at: -fitness[at])
    return [(_number(networks[at], "id", str(at)), partial(read, networks[at])) for at in ranked]


def _number(element: "Element", key: str, default: str = "") -> int:
    """The integer of an attribute."""
    return integer_of(element.get(key, default), key, f"{element.tag} {element.get('id', '')}")


def _read_xml(element: "Element", functions: Mapping[int, str], cycles: int | None) -> Network:
    ids: dict[str, list[int]] = {kind: [] for kind in _TYPES}
    activation: dict[int, str] = {}
    unlimited: set[int] = set()
    for node in element.findall("Nodes/Node"):
        key, kind = _number(node, "id"), node.get("type", "")
        where = f"Node {key}"
        if kind not in _TYPES:
            raise NetworkError(f"unknown type '{kind}'", where=where)
        if key in activation:
            raise NetworkError(f"the node id {key} occurs twice", where=where)
        number = _number(node, "fnId", str(min(functions)))
        if number not in functions:
            raise NetworkError(f"there is no function {number}", where=where)
        name = functions[number]
        ids[kind].append(key)
        activation[key] = "identity"
        if kind in ("out", "hid"):
            names = NAMES_OF_VERSION_2
            activation[key] = translated(name, names, "activation", where, "sharpneat")
        if kind == "out" and name not in _UNIT:
            unlimited.add(key)
    if not ids["out"]:
        raise NetworkError("no node of type out", where="Nodes")
    edges = []
    for each in element.findall("Connections/Con"):
        source, target = _number(each, "src"), _number(each, "tgt")
        weight = finite_number(each.get("wght", ""), "wght", f"Con {each.get('id', '')}")
        edges.append(Edge(source, target, weight))
    genome = GenomeGraph(
        library="sharpneat",
        inputs=ids["in"],
        outputs=ids["out"],
        nodes=[Node(key, activation[key]) for key in ids["out"] + ids["hid"]],
        edges=edges,
        limit=_CLAMP,
        limited=frozenset(unlimited),
    )
    genome = genome.with_biases(ids["bias"]).checked()
    if unlimited:
        warn("SharpNEAT 2 limits outputs to 0 … 1: neurons that do so are added")
    if cycles is not None:
        return genome.updated(cycles)
    if genome.has_cycle:
        hint = "Say the timesteps of SharpNEAT's activation scheme"
        raise needs_cycles("the network has cycles", hint)
    return _acyclic(genome)
