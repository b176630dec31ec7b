"""Read SharpNEAT 2's XML: `Root` of `ActivationFunctions` and `Networks`, or a bare `Network`.

A node of type `bias` is 1. The file does not say whether the network is decoded as an acyclic one:
it is, unless the option `cycles` says how many updates a step takes. The decoder limits outputs to
0 … 1.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from neat_onnx.errors import NetworkError, OptionError, warn
from neat_onnx.libraries.genome_graph import Edge, GenomeGraph, Node, check_cycles
from neat_onnx.libraries.names import translated
from neat_onnx.libraries.sharpneat.names import NAMES_OF_VERSION_2, RADIAL, radial, stays_in_unit
from neat_onnx.libraries.sharpneat.net_file import acyclic
from neat_onnx.network.activations import ACTIVATIONS, FORMULA
from neat_onnx.network.network import Network

_TYPES = ("bias", "in", "out", "hid")
_DEFAULT = {0: "LogisticFunctionSteep"}
_CLAMP = FORMULA + "clip(z, 0.0, 1.0)"


@dataclass
class _Nodes:
    """The nodes of a network by their types, and each one's function."""

    ids: dict[str, list[int]] = field(default_factory=lambda: {kind: [] for kind in _TYPES})
    function: dict[int, str] = field(default_factory=dict)
    unlimited: set[int] = field(default_factory=set)


def read_one(content: str, cycles: int | None) -> Network:
    """Return the only network of a file.

    Raises:
        NetworkError: there are several, or it is not a network; says where.
        OptionError: it has cycles, and `cycles` is not given.
    """
    elements = list(_elements(content))
    if len(elements) != 1:
        ids = ", ".join(str(key) for key, _ in elements[:20])
        raise NetworkError(
            f"a population of {len(elements)} networks",
            hint=f"Say which (genome=ID, or --genome ID), or use load_networks. Found: {ids}",
        )
    return _read(elements[0][1], _functions(_root(content)), cycles)


def read_networks(content: str, cycles: int | None) -> Mapping[int, Network]:
    """Return all networks by id, the fittest first.

    Raises:
        NetworkError: one of them is not a network; says where.
        OptionError: one has cycles, and `cycles` is not given.
    """
    functions = _functions(_root(content))
    found = {}
    for key, element in sorted(_elements(content), key=lambda pair: -_fitness(pair[1])):
        if key in found:
            raise NetworkError(f"the network id {key} occurs twice")
        found[key] = _read(element, functions, cycles)
    return found


def _root(content: str) -> Element:
    if "<!DOCTYPE" in content or "<!ENTITY" in content:
        raise NetworkError("XML with a document type is not read")
    try:
        return ElementTree.fromstring(content.lstrip("\ufeff \t\r\n").encode())
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise NetworkError(f"invalid XML: {error}") from error


def _elements(content: str) -> Iterator[tuple[int, Element]]:
    root = _root(content)
    networks = [root] if root.tag == "Network" else root.findall("Networks/Network")
    if not networks:
        raise NetworkError("no Network", where=root.tag, hint="Root holds Networks of Network")
    for position, element in enumerate(networks):
        yield int(_number(element, "id")) if "id" in element.attrib else position, element


def _fitness(element: Element) -> float:
    return _number(element, "fitness") if "fitness" in element.attrib else 0.0


def _functions(root: Element) -> dict[int, str]:
    """The functions' names by id."""
    found = {
        int(_number(element, "id")): element.get("name", "")
        for element in root.findall("ActivationFunctions/Fn")
    }
    if not found:
        warn(f"no activation functions: {_DEFAULT[0]}, SharpNEAT's default, is taken")
    return found or _DEFAULT


def _number(element: Element, key: str) -> float:
    try:
        value = float(element.attrib[key])
    except (KeyError, ValueError):
        value = math.nan
    if not math.isfinite(value) or abs(value) > 1e300:
        found = element.get(key)
        message = f"{key} should be a number, got {'nothing' if found is None else repr(found)}"
        raise NetworkError(message, where=f"{element.tag} {element.get('id', '')}".strip())
    return value


def _read(element: Element, functions: Mapping[int, str], cycles: int | None) -> Network:
    if cycles is not None:
        check_cycles(cycles)
    nodes = _nodes(element, functions)
    if not nodes.ids["out"]:
        raise NetworkError("no node of type out", where="Nodes")
    edges, bias = _edges(element, set(nodes.ids["bias"]))
    computing = [*nodes.ids["out"], *nodes.ids["hid"]]
    genome = GenomeGraph(
        library="sharpneat",
        inputs=nodes.ids["in"],
        outputs=nodes.ids["out"],
        nodes=[Node(key, nodes.function[key], bias.get(key, 0.0)) for key in computing],
        edges=edges,
        limit=_CLAMP,
        limited=frozenset(nodes.unlimited & set(nodes.ids["out"])),
    ).checked()
    if genome.limited:
        warn("SharpNEAT 2 limits outputs to 0 … 1: neurons that do so are added")
    if cycles is None and genome.has_cycle:
        hint = "Say the timesteps of SharpNEAT's activation scheme; cycles=N does, or --cycles N"
        raise OptionError("the network has cycles", where="cycles", hint=hint)
    if cycles is None and bias:
        return genome.without_silent(bias).acyclic()
    return acyclic(genome) if cycles is None else genome.updated(cycles)


def _nodes(element: Element, functions: Mapping[int, str]) -> _Nodes:
    found = _Nodes()
    for node in element.findall("Nodes/Node"):
        key, kind = int(_number(node, "id")), node.get("type", "")
        if kind not in _TYPES:
            raise NetworkError(f"unknown type '{kind}'", where=f"Node {key}")
        if key in found.function:
            raise NetworkError(f"the node id {key} occurs twice", where=f"Node {key}")
        found.ids[kind].append(key)
        number = int(_number(node, "fnId")) if "fnId" in node.attrib else min(functions)
        if number not in functions:
            raise NetworkError(f"there is no function {number}", where=f"Node {key}")
        name = functions[number]
        found.function[key] = _function(name, node) if kind in ("out", "hid") else "identity"
        if not stays_in_unit(name):
            found.unlimited.add(key)
    return found


def _function(name: str, node: Element) -> str:
    where = f"Node {node.get('id')}"
    if name != RADIAL:
        return translated(name, NAMES_OF_VERSION_2, ACTIVATIONS, "activation", where, "sharpneat")
    try:
        center, epsilon = (float(text) for text in node.get("aux", "").split(","))
    except ValueError as error:
        raise NetworkError(f"aux of {RADIAL} is a centre and a width", where=where) from error
    if not (math.isfinite(center) and math.isfinite(epsilon) and epsilon >= 0.0):
        raise NetworkError(f"aux of {RADIAL} is a centre and a width", where=where)
    return radial(center, epsilon)


def _edges(element: Element, biases: set[int]) -> tuple[list[Edge], dict[int, float]]:
    """The connections between nodes, and the sums of those from the bias by their targets."""
    edges, bias = [], dict[int, float]()
    for con in element.findall("Connections/Con"):
        source, target = int(_number(con, "src")), int(_number(con, "tgt"))
        weight = _number(con, "wght")
        if source in biases:
            bias[target] = bias.get(target, 0.0) + weight
        else:
            edges.append(Edge(source, target, weight))
    return edges, bias
