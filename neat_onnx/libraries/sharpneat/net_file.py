"""Read SharpNEAT's network files (version 4).

Sections are separated by empty lines: how many inputs and outputs; `acyclic`, or `cyclic` and the
number of updates in a step; the connections; the activation functions. All nodes have the first of
these. Inputs have the lowest ids, then come the outputs.

A node has no bias. Where the activation is 0.5 at 0 (a logistic function), an added node that reads
an input with the weight 0 is written as that constant, and biases are its connections.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.genome_graph import Edge, GenomeGraph, Node, reached
from neat_onnx.libraries.limits import Limits, Reasons, reasons_against, tell_disabled
from neat_onnx.libraries.names import finite_number, reversed_names, translated
from neat_onnx.libraries.sharpneat.names import ACTIVATION_NAMES
from neat_onnx.network.activations import ACTIVATIONS, activation_named
from neat_onnx.network.network import Network

_MAX_NODES, _MAX_ID = 100_000, 2**31 - 1


def acyclic(genome: GenomeGraph) -> Network:
    """Return an acyclic genome's network: SharpNEAT pushes values from the inputs, layer by layer.

    Raises:
        NetworkError: it has a cycle.
    """
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
    """Return the network that SharpNEAT decodes.

    Raises:
        NetworkError: it is not a network; says where.
    """
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
    """Return the text of a network file.

    Raises:
        NetworkError: SharpNEAT cannot express something; lists every reason with neurons.
    """
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
    used = [(target, weight) for target, weight in biases if weight and target >= _inputs(net)]
    return [f"0\t{node}\t0.0", *(f"{node}\t{target}\t{weight!r}" for target, weight in used)]


def _inputs(net: Network) -> int:
    return len(net.input_neurons)


def _check(reasons: Reasons, common: str, needs_bias: bool) -> None:
    """Note the limits that SharpNEAT has beside the usual ones."""
    net, computes = reasons.net, ~reasons.net.is_input
    other = computes & (net.activation_names != common)
    reasons.neurons(f"another activation than {common}, which its outputs have,", other)
    if needs_bias:
        zero = np.zeros(1)
        half = common in _NAMES and float(activation_named(common)(zero)[0]) == 0.5
        if not half or not _inputs(net) or net.has_memory:
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
