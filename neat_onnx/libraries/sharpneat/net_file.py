"""Read SharpNEAT's network files (version 4).

Sections are separated by empty lines: how many inputs and outputs; `acyclic`, or `cyclic` and the
number of updates in a step; the connections; the activation functions. All nodes have the first of
these. Inputs have the lowest ids, then come the outputs.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.genome_graph import Edge, GenomeGraph, Node
from neat_onnx.libraries.names import translated
from neat_onnx.libraries.sharpneat.layers import acyclic
from neat_onnx.libraries.sharpneat.names import ACTIVATION_NAMES
from neat_onnx.libraries.text_numbers import finite_number
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.network import Network

_MAX_NODES, _MAX_ID = 100_000, 2**31 - 1


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
