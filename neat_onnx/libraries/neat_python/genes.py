"""The genes of a network of neat-python, which stand between its files and ours; and its JSON.

JSON (`export_network_json(net)`, format version 1.0), genomes and networks, live or pickled, all
become `Genes`, from which a network is compiled. Written networks are `Genes` as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.names import (
    Registered,
    formula_of,
    how_to_register,
    is_users_own,
    translated,
)
from neat_onnx.libraries.neat_python.functions import (
    ACTIVATION_NAMES,
    AGGREGATION_NAMES,
    LIBRARY,
    Function,
    Kind,
)
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.aggregations import AGGREGATIONS
from neat_onnx.parsing import ForeignDocument, parse

_VERSION = "1.0"
_KINDS = ("feedforward", "recurrent", "ctrnn", "iznn")
_NUMBERS = {"ctrnn": ("time_constant",), "iznn": ("a", "b", "c", "d")}
"""The further genes of nodes, by the kind of network."""


class NodeGene(NamedTuple):
    """A node gene; `numbers` are further ones by name, `where` is its place for messages."""

    key: int
    bias: float = 0.0
    response: float = 1.0
    activation: Function = Function("identity")
    aggregation: Function = Function("sum")
    numbers: Mapping[str, float] = {}
    where: str = ""


class ConnectionGene(NamedTuple):
    """A connection gene."""

    source: int
    target: int
    weight: float
    enabled: bool = True


@dataclass
class Genes:
    """The genes of a network.

    Attributes:
        kind: feedforward, recurrent, ctrnn or iznn.
        inputs, outputs: the keys of the nodes.
        nodes: hidden ones and outputs.
        connections: in the order in which a node adds them.
        silent: the genes of nodes that stay 0, which JSON does not have: see `static.py`.
        version: of the neat-python that integrates a ctrnn; None if nothing tells it.
        time_step, advance_time: of one step of a ctrnn or an iznn that is written.
        acyclic: whether a feed-forward network is known to have no cycle.
    """

    kind: str
    inputs: list[int]
    outputs: list[int]
    nodes: list[NodeGene] = field(default_factory=list)
    connections: list[ConnectionGene] = field(default_factory=list)
    silent: list[NodeGene] = field(default_factory=list)
    version: str | None = None
    time_step: float = 1.0
    advance_time: float = 1.0
    acyclic: bool = False


_Id = Annotated[int, Field(ge=-(2**53), le=2**53)]


class _Function(ForeignDocument):
    name: str
    custom: bool = False


class _Node(ForeignDocument):
    id: _Id
    type: Literal["input", "hidden", "output"]
    activation: _Function
    aggregation: _Function
    bias: float
    response: float
    time_constant: float | None = None
    a: float | None = None
    b: float | None = None
    c: float | None = None
    d: float | None = None


class _Connection(ForeignDocument):
    source: _Id = Field(alias="from")
    target: _Id = Field(alias="to")
    weight: float
    enabled: bool = True


class _Topology(ForeignDocument):
    num_inputs: int | None = None
    num_outputs: int | None = None
    input_keys: list[_Id]
    output_keys: list[_Id]


class _Head(ForeignDocument):
    format_version: Any = None
    network_type: str


class _Document(_Head):
    topology: _Topology
    nodes: list[_Node]
    connections: list[_Connection]
    metadata: Any = None


def genes_of_document(document: Mapping[str, Any]) -> Genes:
    """Return the genes in JSON, or refuse it with the path of the first mistake."""
    head = parse(_Head, document, NetworkError)
    kind = head.network_type
    if kind not in _KINDS:
        raise NetworkError(
            f"unknown network_type '{kind}'",
            where="network_type",
            hint=f"Known: {', '.join(_KINDS)}",
        )
    if head.format_version != _VERSION:
        warn(f"unknown format_version {head.format_version}: read as version {_VERSION}")
    parsed = parse(_Document, document, NetworkError)
    topology = parsed.topology
    for count, said in (("num_inputs", "input_keys"), ("num_outputs", "output_keys")):
        number, found = getattr(topology, count), len(getattr(topology, said))
        if number is not None and number != found:
            raise NetworkError(
                f"{count} is {number} but {said} has {found}", where=f"topology.{count}"
            )
    inputs = set(topology.input_keys)
    for index, node in enumerate(parsed.nodes):
        if (node.type == "input") != (node.id in inputs):
            is_in = "is" if node.id in inputs else "is not"
            raise NetworkError(
                f"node {node.id} has type {node.type} but {is_in} in topology.input_keys",
                where=f"nodes[{index}].type",
            )
    genes = Genes(kind, topology.input_keys, topology.output_keys)
    genes.nodes = [
        NodeGene(
            node.id,
            node.bias,
            node.response,
            Function(node.activation.name, node.activation.custom),
            Function(node.aggregation.name, node.aggregation.custom),
            _numbers(node, kind, f"nodes[{index}]"),
            f"nodes[{index}]",
        )
        for index, node in enumerate(parsed.nodes)
        if node.type != "input"
    ]
    genes.connections = [
        ConnectionGene(gene.source, gene.target, gene.weight, gene.enabled)
        for gene in parsed.connections
    ]
    if isinstance(parsed.metadata, Mapping):
        version = parsed.metadata.get("neat_python_version")
        genes.version = version if isinstance(version, str) else None
    return checked(genes)


def _numbers(node: _Node, kind: str, where: str) -> dict[str, float]:
    """The further genes of a node, none of which may be missing."""
    found = {name: getattr(node, name) for name in _NUMBERS.get(kind, ())}
    for name, value in found.items():
        if value is None:
            raise NetworkError(f"{name} is missing", where=f"{where}.{name}")
    return found


def checked(genes: Genes) -> Genes:
    """Return the genes, or refuse those of two nodes with one key, or of an input."""
    if len(set(genes.inputs)) != len(genes.inputs):
        raise NetworkError("an input key occurs twice", where="topology.input_keys")
    seen = set(genes.inputs)
    for node in genes.nodes:
        if node.key in seen:
            raise NetworkError(f"the id {node.key} occurs twice", where=f"{node.where}.id")
        seen.add(node.key)
    return genes


def function_name(node: NodeGene, kind: Kind) -> str:
    """Return the name in a Network of the activation or aggregation of a node, or refuse it."""
    registry: Mapping[str, Registered]
    if kind == "activation":
        function, names, registry = node.activation, ACTIVATION_NAMES, ACTIVATIONS
    else:
        function, names, registry = node.aggregation, AGGREGATION_NAMES, AGGREGATIONS
    where = f"{node.where}.{kind}"
    registered = formula_of(LIBRARY, function.name, kind)
    if registered is not None and (function.custom or function.name not in names):
        return registered
    if not function.custom:
        return translated(function.name, names, registry, kind, where, LIBRARY)
    if function.formula in registry:
        return str(function.formula)
    if is_users_own(function.name, registry):
        return function.name
    raise NetworkError(
        f"the {kind} '{function.name}' of node {node.key} is custom: its formula is unknown",
        where=where,
        hint=how_to_register(function.name, kind, LIBRARY),
    )


def document_of_genes(genes: Genes) -> dict[str, Any]:
    """Return the JSON that neat-python exports of a network with these genes."""
    plain = {"custom": False}
    as_input = {
        "type": "input",
        "activation": {"name": "identity"} | plain,
        "aggregation": {"name": "none"} | plain,
        "bias": 0.0,
        "response": 1.0,
    }
    of_inputs = genes.inputs if genes.kind in ("feedforward", "recurrent") else ()
    fed = {gene.target for gene in genes.connections if gene.enabled}
    nodes = [node for node in genes.nodes if genes.kind != "recurrent" or node.key in fed]
    return {
        "format_version": _VERSION,
        "network_type": genes.kind,
        "metadata": {"neat_python_version": genes.version or "2.0.0"},
        "topology": {
            "num_inputs": len(genes.inputs),
            "num_outputs": len(genes.outputs),
            "input_keys": genes.inputs,
            "output_keys": genes.outputs,
        },
        "nodes": [{"id": key} | as_input for key in of_inputs]
        + [
            {
                "id": node.key,
                "type": "output" if node.key in genes.outputs else "hidden",
                "activation": {"name": node.activation.name, "custom": node.activation.custom},
                "aggregation": {"name": node.aggregation.name, "custom": node.aggregation.custom},
                "bias": node.bias,
                "response": node.response,
                **node.numbers,
            }
            for node in nodes
        ],
        "connections": [
            {"from": gene.source, "to": gene.target, "weight": gene.weight, "enabled": gene.enabled}
            for gene in genes.connections
        ],
    }
