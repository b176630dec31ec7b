"""neat-python's network JSON, format version 1.0: `export_network_json(net)`."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.names import (
    Registered,
    formula_of,
    how_to_register,
    is_users_own,
    translated,
)
from neat_onnx.libraries.neat_python.draft import Draft, NodeGene
from neat_onnx.libraries.neat_python.functions import ACTIVATION_NAMES, AGGREGATION_NAMES, LIBRARY
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.aggregations import AGGREGATIONS
from neat_onnx.parsing import ForeignDocument, parse

_VERSION = "1.0"
_TYPES = ("feedforward", "recurrent", "ctrnn", "iznn")

_Id = Annotated[int, Field(ge=-(2**53), le=2**53)]


class _Function(ForeignDocument):
    """A function by the library's name; `formula` is ours, for live ones that we recognise."""

    name: str
    custom: bool = False
    formula: str | None = None


class Node(ForeignDocument):
    """A node of a network of any type."""

    id: _Id
    type: Literal["input", "hidden", "output"]
    activation: _Function
    aggregation: _Function
    bias: float
    response: float


class Connection(ForeignDocument):
    """A connection of a network of any type."""

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


class Document(_Head):
    """A network of any type."""

    topology: _Topology
    nodes: Sequence[Node]
    connections: list[Connection]


Parsed = TypeVar("Parsed", bound=Document)


def connection_document(source: int, target: int, weight: float, enabled: bool) -> dict[str, Any]:
    """Return a connection as neat-python's JSON has it."""
    return {"from": source, "to": target, "weight": weight, "enabled": enabled}


def parse_document(kind: type[Parsed], document: Mapping[str, Any]) -> Parsed:
    """The document of a network of any type, as a `kind`."""
    head = parse(_Head, document, NetworkError)
    if head.network_type not in _TYPES:
        raise NetworkError(
            f"unknown network_type '{head.network_type}'",
            where="network_type",
            hint=f"Known: {', '.join(_TYPES)}",
        )
    if head.format_version != _VERSION:
        warn(f"unknown format_version {head.format_version}: read as version {_VERSION}")
    parsed = parse(kind, document, NetworkError)
    _check_topology(parsed)
    return parsed


def _check_topology(document: Document) -> None:
    topology = document.topology
    for count, said in (("num_inputs", "input_keys"), ("num_outputs", "output_keys")):
        number, found = getattr(topology, count), len(getattr(topology, said))
        if number is not None and number != found:
            raise NetworkError(
                f"{count} is {number} but {said} has {found}", where=f"topology.{count}"
            )
    inputs, seen = set(topology.input_keys), set[int]()
    if len(inputs) != len(topology.input_keys):
        raise NetworkError("an input key occurs twice", where="topology.input_keys")
    for index, node in enumerate(document.nodes):
        if node.id in seen:
            raise NetworkError(f"the id {node.id} occurs twice", where=f"nodes[{index}].id")
        if (node.type == "input") != (node.id in inputs):
            is_in = "is" if node.id in inputs else "is not"
            raise NetworkError(
                f"node {node.id} has type {node.type} but {is_in} in topology.input_keys",
                where=f"nodes[{index}].type",
            )
        seen.add(node.id)


def _input(key: int) -> dict[str, Any]:
    return {
        "id": key,
        "type": "input",
        "activation": {"name": "identity", "custom": False},
        "aggregation": {"name": "none", "custom": False},
        "bias": 0.0,
        "response": 1.0,
    }


def document_of_draft(draft: Draft) -> dict[str, Any]:
    """Return the JSON that neat-python exports of a network with these genes."""
    topology = {
        "num_inputs": len(draft.inputs),
        "num_outputs": len(draft.outputs),
        "input_keys": draft.inputs,
        "output_keys": draft.outputs,
    }
    inputs = [] if draft.timed else [_input(key) for key in draft.inputs]
    return {
        "format_version": "1.0",
        "network_type": draft.kind,
        "metadata": {"neat_python_version": draft.version},
        "topology": topology,
        "nodes": [*inputs, *(node_document(node, draft) for node in _documented(draft))],
        "connections": [
            connection_document(gene.source, gene.target, gene.weight, gene.enabled)
            for gene in draft.connections
        ],
    }


def _documented(draft: Draft) -> list[NodeGene]:
    """The nodes of a document; it has no silent ones where the network is recurrent."""
    fed = {gene.target for gene in draft.connections if gene.enabled}
    return [node for node in draft.nodes if draft.kind != "recurrent" or node.key in fed]


def node_document(node: NodeGene, draft: Draft) -> dict[str, Any]:
    """Return a node as neat-python's JSON has it."""
    return {
        "id": node.key,
        "type": "output" if node.key in draft.outputs else "hidden",
        "activation": {"name": node.activation, "custom": node.custom},
        "aggregation": {
            "name": node.aggregation,
            "custom": node.aggregation not in AGGREGATION_NAMES,
        },
        "bias": node.bias,
        "response": node.response,
        **node.numbers,
    }


def function_name(node: Node, index: int, what: Literal["activation", "aggregation"]) -> str:
    """The name in a Network of the activation or aggregation of the node at `index`."""
    registry: Mapping[str, Registered]
    if what == "activation":
        function, names, registry = node.activation, ACTIVATION_NAMES, ACTIVATIONS
    else:
        function, names, registry = node.aggregation, AGGREGATION_NAMES, AGGREGATIONS
    where = f"nodes[{index}].{what}"
    registered = formula_of(LIBRARY, function.name, what)
    if registered is not None and (function.custom or function.name not in names):
        return registered
    if not function.custom:
        return translated(function.name, names, registry, what, where, LIBRARY)
    if function.formula in registry:
        return str(function.formula)
    if is_users_own(function.name, registry):
        return function.name
    raise NetworkError(
        f"the {what} '{function.name}' of node {node.id} is custom: its formula is unknown",
        where=where,
        hint=how_to_register(function.name, what, LIBRARY),
    )
