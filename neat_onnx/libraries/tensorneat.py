"""Read the dictionary that `network_dict` of a TensorNEAT genome gives.

The inputs are the nodes 0, 1, …, then come the outputs, as `DefaultGenome` and `RecurrentGenome`
count without `init_hidden_layers`. A node is computed once a value has come in; nodes without
a value are left out of aggregations. A recurrent genome starts anew with each sample and makes
`activate_time` updates.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.libraries.genome_graph import Edge, GenomeGraph, NetworkBuilder, Node, needs_cycles
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.names import translated
from neat_onnx.network.activations import FORMULA
from neat_onnx.network.network import Network
from neat_onnx.parsing import ForeignDocument, parse

_INVERSE = "where(greater(z, 0.0), reciprocal(maximum(z, 1e-07)), reciprocal(minimum(z, -1e-07)))"

ACTIVATION_NAMES = {
    "sigmoid": "sigmoid",
    "scaled_sigmoid": f"{FORMULA}3.0 * sigmoid(z)",
    "tanh": "tanh",
    "scaled_tanh": f"{FORMULA}3.0 * tanh(z)",
    "sin": "sin",
    "relu": "relu",
    "lelu": "neat_lelu",
    "identity": "identity",
    "inv": FORMULA + _INVERSE,
    "log": "neat_log",
    "exp": f"{FORMULA}exp(z)",
    "abs": "abs",
}

AGGREGATION_NAMES = {name: name for name in ("sum", "product", "max", "min", "maxabs", "mean")}


_MAX_COPIES = 100_000


class _Node(ForeignDocument):
    idx: int = Field(ge=0, lt=2**31)
    bias: float = 0.0
    res: float = 1.0
    agg: str = "sum"
    act: str = "sigmoid"


class _Connection(ForeignDocument):
    source: int = Field(alias="in")
    target: int = Field(alias="out")
    weight: float


class _Document(ForeignDocument):
    nodes: list[_Node]
    conns: list[_Connection]


def read(content: Mapping[str, Any], options: ReadOptions) -> Network:
    """Return the network that `forward` of the genome computes."""
    lists = {key: content[key] for key in ("nodes", "conns")}  # or objects with keys of any kind
    lists |= {key: [*each.values()] for key, each in lists.items() if isinstance(each, Mapping)}
    parsed = parse(_Document, lists, NetworkError)
    inputs, outputs = _count(options, "inputs"), _count(options, "outputs")
    first = range(inputs + outputs)
    places = {node.idx: at for at, node in enumerate(parsed.nodes)}
    for at, node in enumerate(parsed.nodes):
        if places[node.idx] != at:
            raise NetworkError(f"two nodes have the idx {node.idx}", where=f"nodes[{at}]")
    missing = next((key for key in first if key not in places), None)
    if missing is not None:
        hint = "Say how many inputs and outputs there are"
        raise NetworkError(f"there is no node {missing}", where="nodes", hint=hint)
    order = [*first[inputs:], *sorted(set(places) - set(first))]
    graph = GenomeGraph(
        library="tensorneat",
        inputs=first[:inputs],
        outputs=first[inputs:],
        nodes=[_node(parsed.nodes[places[key]], places[key], key in first) for key in order],
        edges=[Edge(each.source, each.target, each.weight) for each in parsed.conns],
    ).checked()
    reached = graph.reached()
    for key in graph.outputs:
        if key not in reached:
            raise NetworkError("no input leads to it: its output is NaN", where=f"node {key}")
    if options.cycles is not None:
        return _updated(graph, options.cycles)
    if graph.has_cycle:
        hint = "Say how many updates a sample takes (activate_time of RecurrentGenome)"
        raise needs_cycles("the genome has a cycle", hint)
    return graph.without_silent().acyclic()


def _count(options: ReadOptions, name: str) -> int:
    value = getattr(options, name)
    if value is None:
        hint = "Say the num_inputs and num_outputs of the genome; inputs=N and outputs=N do"
        raise OptionError(
            f"TensorNEAT does not say its {name}",
            where=name,
            hint=f"{hint}, or --inputs N --outputs N",
        )
    return int(value)


def _node(node: _Node, at: int, is_end: bool) -> Node:
    act, agg = (f"nodes[{at}].{name}" for name in ("act", "agg"))
    activation = translated(node.act, ACTIVATION_NAMES, "activation", act, "tensorneat")
    aggregation = translated(node.agg, AGGREGATION_NAMES, "aggregation", agg, "tensorneat")
    return Node(node.idx, "identity" if is_end else activation, node.bias, node.res, aggregation)


def _updated(graph: GenomeGraph, cycles: int) -> Network:
    """The network without memory that makes so many updates; the last copies keep the ids."""
    if cycles * len(graph.nodes) > _MAX_COPIES:
        hint = f"At most {_MAX_COPIES} copies of nodes are made"
        raise OptionError(f"{cycles} updates are too many", where="cycles", hint=hint)
    genes = NetworkBuilder([*graph.inputs, *(node.id for node in graph.nodes)])
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
    for key in graph.outputs:
        if not any(edge.target == key and edge.source in before for edge in graph.edges):
            raise NetworkError(f"after {cycles} updates its output is NaN", where=f"nodes[{key}]")
    return genes.network(list(graph.inputs), list(graph.outputs), graph.library)
