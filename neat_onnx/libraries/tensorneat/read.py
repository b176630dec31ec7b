"""Read the dictionary that `network_dict` of a TensorNEAT genome gives.

The inputs are the nodes 0, 1, …, then come the outputs, as `DefaultGenome` and `RecurrentGenome`
count without `init_hidden_layers`. A node is computed once a value has come in; nodes without
a value are left out of aggregations. A recurrent genome starts anew with each sample and makes
`activate_time` updates.
"""

import math
from collections.abc import Mapping
from typing import Any

from neat_onnx.arguments import is_whole
from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.libraries.genome_graph import Edge, GenomeGraph, Node, check_cycles
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.names import translated
from neat_onnx.libraries.tensorneat.names import ACTIVATION_NAMES, AGGREGATION_NAMES
from neat_onnx.libraries.unrolled import Genes
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.aggregations import AGGREGATIONS
from neat_onnx.network.network import Network

_MAX_COPIES = 100_000


def read(content: Mapping[str, Any], options: ReadOptions) -> Network:
    """Return the network that `forward` of the genome computes.

    Raises:
        NetworkError: it is not a network; says where.
        OptionError: `inputs` or `outputs` is missing or wrong, or `cycles` is missing.
    """
    nodes = _by_index(_entries(content, "nodes"))
    inputs, outputs = _count(options, "inputs"), _count(options, "outputs")
    first = range(inputs + outputs)
    missing = next((key for key in first if key not in nodes), None)
    if missing is not None:
        raise NetworkError(f"there is no node {missing}", where="nodes",
                           hint="Say how many inputs and outputs there are")  # fmt: skip
    order = [*first[inputs:], *sorted(set(nodes) - set(first))]
    graph = GenomeGraph(
        library="tensorneat",
        inputs=first[:inputs],
        outputs=first[inputs:],
        nodes=[_node(key, *nodes[key], key in first) for key in order],
        edges=[_edge(entry, where) for entry, where in _entries(content, "conns")],
    ).checked()
    reached = graph.reached(graph.inputs)
    for key in graph.outputs:
        if key not in reached:
            raise NetworkError("no input leads to it: its output is NaN", where=f"nodes[{key}]")
    if options.cycles is not None:
        return _updated(graph, options.cycles)
    if graph.has_cycle:
        hint = (
            "Say how many updates a sample takes (activate_time of RecurrentGenome); cycles=N does"
        )
        raise OptionError("the genome has a cycle", where="cycles", hint=f"{hint}, or --cycles N")
    return graph.without_silent(()).acyclic()


def _entries(content: Mapping[str, Any], key: str) -> list[tuple[Mapping[str, Any], str]]:
    """The objects of a list, or of an object with keys of any kind, each with its path."""
    value = content[key]
    if not isinstance(value, Mapping | list):
        raise NetworkError("expected an object or a list", where=key)
    pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
    found = [(entry, f"{key}[{at}]") for at, entry in pairs]
    for entry, where in found:
        if not isinstance(entry, Mapping):
            raise NetworkError("expected an object", where=where)
    return found


def _count(options: ReadOptions, name: str) -> int:
    value = getattr(options, name)
    if value is None:
        hint = "Say the num_inputs and num_outputs of the genome; inputs=N and outputs=N do"
        raise OptionError(
            f"TensorNEAT does not say its {name}",
            where=name,
            hint=f"{hint}, or --inputs N --outputs N",
        )
    if not is_whole(value) or value < 1:
        raise OptionError(f"{name} is {value!r}, expected a positive integer", where=name)
    return int(value)


def _by_index(
    entries: list[tuple[Mapping[str, Any], str]],
) -> dict[int, tuple[Mapping[str, Any], str]]:
    found: dict[int, tuple[Mapping[str, Any], str]] = {}
    for entry, where in entries:
        key = _integer(entry, "idx", where)
        if key in found:
            raise NetworkError(f"two nodes have the idx {key}", where=where)
        found[key] = (entry, where)
    return found


def _integer(entry: Mapping[str, Any], key: str, where: str) -> int:
    value: Any = entry.get(key)
    if not is_whole(value) or not 0 <= value < 2**31:
        raise NetworkError(f"{key} should be a small integer, got {value!r:.40}", where=where)
    return int(value)


def _number(entry: Mapping[str, Any], key: str, where: str, default: float | None = None) -> float:
    value = entry.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise NetworkError(f"{key} should be a finite number, got {value!r:.40}", where=where)
    return float(value)


def _node(key: int, entry: Mapping[str, Any], where: str, is_output: bool) -> Node:
    act, agg = str(entry.get("act", "sigmoid")), str(entry.get("agg", "sum"))
    name = translated(
        act, ACTIVATION_NAMES, ACTIVATIONS, "activation", f"{where}.act", "tensorneat"
    )
    return Node(
        key,
        "identity" if is_output else name,
        _number(entry, "bias", where, 0.0),
        _number(entry, "res", where, 1.0),
        translated(
            agg, AGGREGATION_NAMES, AGGREGATIONS, "aggregation", f"{where}.agg", "tensorneat"
        ),
    )


def _edge(entry: Mapping[str, Any], where: str) -> Edge:
    source, target = (_integer(entry, key, where) for key in ("in", "out"))
    return Edge(source, target, _number(entry, "weight", where))


def _updated(graph: GenomeGraph, cycles: int) -> Network:
    """The network without memory that makes so many updates; the last copies keep the ids."""
    check_cycles(cycles)
    if cycles * len(graph.nodes) > _MAX_COPIES:
        hint = f"At most {_MAX_COPIES} copies of nodes are made"
        raise OptionError(f"{cycles} updates are too many", where="cycles", hint=hint)
    genes = Genes([*graph.inputs, *(node.id for node in graph.nodes)])
    before = {key: key for key in graph.inputs}
    for cycle in range(1, cycles + 1):
        now = {key: key for key in graph.inputs}
        for node in graph.nodes:
            reads = [
                ((before[edge.source], 0), edge.weight)
                for edge in graph.edges
                if edge.target == node.id and edge.source in before
            ]
            if cycle == cycles:
                genes.neuron(node.id, "", reads, **node.gene)
            elif reads:
                now[node.id] = genes.helper(f"{node.id} at update {cycle}", reads, **node.gene)
        before = now if cycle < cycles else before
    _check_reached(graph, before, cycles)
    return genes.network(list(graph.inputs), list(graph.outputs), graph.library)


def _check_reached(graph: GenomeGraph, before: Mapping[int, int], cycles: int) -> None:
    """Refuse outputs that have no value after the last update.

    Raises:
        NetworkError: nothing has come in at one of them.
    """
    for key in graph.outputs:
        if not any(edge.target == key and edge.source in before for edge in graph.edges):
            raise NetworkError(f"after {cycles} updates its output is NaN", where=f"nodes[{key}]")
