"""The genes of a network of neat-python, between its files and objects and ours; and its JSON.

Genomes, networks and JSON (`export_network_json(net)`), live or pickled, all become `Genes`, from
which a network is compiled. Written networks are `Genes` as well.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.genome_graph import Edge
from neat_onnx.libraries.neat_python.functions import ROLES, Function, Role
from neat_onnx.parsing import ForeignDocument, parse

_VERSION = "1.0"


class Kind(NamedTuple):
    """A kind of network of neat-python.

    Attributes:
        network: the class of networks, whose attributes `inputs`, `outputs` and `nodes` hold the
            keys and the nodes.
        genome, node: the classes of genomes and of node genes.
        numbers, functions: the genes of a node.
    """

    network: str
    inputs: str = "input_nodes"
    outputs: str = "output_nodes"
    nodes: str = "node_evals"
    genome: str = "neat.genome.DefaultGenome"
    node: str = "neat.genes.DefaultNodeGene"
    numbers: tuple[str, ...] = ("bias", "response")
    functions: tuple[Role, ...] = ROLES


KINDS = {
    "feedforward": Kind("FeedForwardNetwork"),
    "recurrent": Kind("RecurrentNetwork"),
    "ctrnn": Kind("CTRNN", numbers=("bias", "response", "time_constant")),
    "iznn": Kind(
        *("IZNN", "inputs", "outputs", "neurons", "neat.iznn.IZGenome", "neat.iznn.IZNodeGene"),
        numbers=("bias", "a", "b", "c", "d"),
        functions=(),
    ),
}


class NodeGene(NamedTuple):
    """A node gene, with the genes that are numbers by name; `where` is its place for messages."""

    key: int
    numbers: Mapping[str, float] = {}
    activation: Function = Function("identity")
    aggregation: Function = Function("sum")
    where: str = ""

    @property
    def bias(self) -> float:
        """The bias, 0 unless given."""
        return self.numbers.get("bias", 0.0)

    @property
    def response(self) -> float:
        """The response, 1 unless given."""
        return self.numbers.get("response", 1.0)


@dataclass
class Genes:
    """The genes of a network.

    Attributes:
        kind: one of `KINDS`.
        inputs, outputs: the keys of the nodes.
        nodes: hidden ones and outputs.
        connections: in the order in which a node adds them.
        silent: the keys of nodes that stay 0 whatever their genes; JSON does not have these nodes.
        version: of the neat-python that integrates a ctrnn; None if nothing tells it.
        time_step, advance_time: of one step of a ctrnn or an iznn that is written.
        acyclic: whether a feed-forward network is known to have no cycle.
    """

    kind: str
    inputs: list[int]
    outputs: list[int]
    nodes: list[NodeGene] = field(default_factory=list)
    connections: list[Edge] = field(default_factory=list)
    silent: Collection[int] = ()
    version: str | None = None
    time_step: float = 1.0
    advance_time: float = 1.0
    acyclic: bool = False

    def fed(self) -> set[int]:
        """Return the keys of the nodes that an enabled connection leads to."""
        return {gene.target for gene in self.connections if gene.enabled}

    def checked(self) -> "Genes":
        """Return the genes, or refuse those of two nodes with one key, or of an input."""
        seen = set(self.inputs)
        if len(seen) < len(self.inputs):
            raise NetworkError("an input key occurs twice", where="topology.input_keys")
        for node in self.nodes:
            if node.key in seen:
                raise NetworkError(f"the id {node.key} occurs twice", where=f"{node.where}.id")
            seen.add(node.key)
        return self

    def missing(self, *, strict: bool) -> list[int]:
        """Refuse connections without their nodes, and return the keys that stand for a constant 0.

        These are outputs without a node and, in a recurrent network, sources without one, unless
        it is `strict`: then they are refused too, as neat-python refuses a genome.
        """
        inputs, nodes = set(self.inputs), {node.key for node in self.nodes}
        found = dict.fromkeys(k for k in self.outputs if k not in nodes and k not in inputs)
        if strict and found:
            at = self.outputs.index(min(found))
            raise NetworkError(f"no node {min(found)}", where=f"topology.output_keys[{at}]")
        may_miss = not strict and self.kind in ("recurrent", "ctrnn")
        known = {*inputs, *nodes, *found}
        for index, (source, target, _, enabled) in enumerate(self.connections):
            if source in known and target in nodes:
                continue
            where = f"connections[{index}]"
            if (enabled or strict) and target not in nodes:
                is_input = f"it ends in node {target}, an input"
                what = is_input if target in inputs else f"no node {target}"
                raise NetworkError(what, where=f"{where}.to")
            for end, key in (("from", source), ("to", target)):
                if key not in known and not may_miss:
                    raise NetworkError(f"no node {key}", where=f"{where}.{end}")
                if key not in known:
                    found[key] = None
        return list(found)


_Id = Annotated[int, Field(ge=-(2**53), le=2**53)]


class _Function(ForeignDocument):
    name: str
    custom: bool = False

    def gene(self) -> Function:
        return Function(self.name, self.custom)


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
    input_keys: list[_Id]
    output_keys: list[_Id]


class _Document(ForeignDocument):
    network_type: Literal["feedforward", "recurrent", "ctrnn", "iznn"]
    topology: _Topology
    nodes: list[_Node]
    connections: list[_Connection]
    metadata: Any = None
    format_version: Any = None


def genes_of_document(document: Mapping[str, Any]) -> Genes:
    """Return the genes in JSON, or refuse it with the path of the first mistake."""
    parsed = parse(_Document, document, NetworkError)
    if parsed.format_version != _VERSION:
        warn(f"unknown format_version {parsed.format_version}: read as version {_VERSION}")
    kind, ends = parsed.network_type, parsed.topology
    genes = Genes(kind, ends.input_keys, ends.output_keys)
    for index, node in enumerate(parsed.nodes):
        if node.type == "input" and node.id in ends.input_keys:
            continue
        where = f"nodes[{index}]"
        numbers = {name: getattr(node, name) for name in KINDS[kind].numbers}
        for name, value in numbers.items():
            if value is None:
                raise NetworkError(f"{name} is missing", where=f"{where}.{name}")
        functions = node.activation.gene(), node.aggregation.gene()
        genes.nodes.append(NodeGene(node.id, numbers, *functions, where))
    genes.connections = [
        Edge(gene.source, gene.target, gene.weight, gene.enabled) for gene in parsed.connections
    ]
    if isinstance(parsed.metadata, Mapping):
        version = parsed.metadata.get("neat_python_version")
        genes.version = version if isinstance(version, str) else None
    return genes.checked()


def document_of_genes(genes: Genes) -> dict[str, Any]:
    """Return the JSON that neat-python exports of a network with these genes."""
    as_input = NodeGene(0, aggregation=Function("none"))
    is_static, fed = genes.kind in ("feedforward", "recurrent"), genes.fed()
    nodes = [("input", as_input._replace(key=key)) for key in genes.inputs if is_static]
    for node in genes.nodes:
        if node.key not in genes.silent and (genes.kind != "recurrent" or node.key in fed):
            nodes.append(("output" if node.key in genes.outputs else "hidden", node))
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
        "nodes": [
            {
                "id": node.key,
                "type": kind,
                "activation": node.activation._asdict(),
                "aggregation": node.aggregation._asdict(),
                "bias": node.bias,
                "response": node.response,
                **node.numbers,
            }
            for kind, node in nodes
        ],
        "connections": [
            {"from": gene.source, "to": gene.target, "weight": gene.weight, "enabled": gene.enabled}
            for gene in genes.connections
        ],
    }
