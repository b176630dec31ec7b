"""Read genomes of goNEAT as the networks that it builds of them.

goNEAT computes all nodes at once from the values of the update before, and a caller asks for as
many updates as the network is deep: one without cycles then holds its values in topological order.
A node is computed once something that reaches back to an input or a bias has come in; till then it
is 0, for ever where nothing does.

Plain text and YAML are read:

    genomestart 1
    trait 1 0.1 0 0 0 0 0 0 0
    node ID TRAIT SENSOR TYPE ACTIVATION
    gene TRAIT SOURCE TARGET WEIGHT RECURRENT INNOVATION MUTATION ENABLED
    genomeend 1
"""

import re
from functools import partial
from typing import NamedTuple

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.catalogue import Members
from neat_onnx.libraries.genome_graph import Edge, GenomeGraph, Node, needs_cycles
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.names import finite_number, integer_of, translated
from neat_onnx.network.activations import FORMULA
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule

_STEEP, _SHIFT = "4.924273 * z", "2.4621365"


def _approximation(reach: str, factor: str) -> str:
    """Two parabolas that meet at 0.5, 0 and 1 beyond ±reach."""
    low, high = f"(z + {reach})", f"(z - {reach})"
    left = f"where(less(z, -{reach}), 0.0, {low} * {low} * {factor})"
    right = f"where(less(z, {reach}), 1.0 - {high} * {high} * {factor}, 1.0)"
    return f"where(less(z, 0.0), {left}, {right})"


_FORMULAS = {
    "SigmoidReducedActivation": "sigmoid(0.5 * z)",
    "SigmoidBipolarActivation": f"2.0 * sigmoid({_STEEP}) - 1.0",
    "SigmoidSteepenedActivation": f"sigmoid({_STEEP})",
    "SigmoidApproximationActivation": _approximation("4.0", "0.03125"),
    "SigmoidSteepenedApproximationActivation": _approximation("1.0", "0.5"),
    "SigmoidInverseAbsoluteActivation": "0.5 + (z / (1.0 + abs(z))) * 0.5",
    "SigmoidLeftShiftedActivation": f"sigmoid(z + {_SHIFT})",
    "SigmoidLeftShiftedSteepenedActivation": f"sigmoid({_STEEP} + {_SHIFT})",
    "SigmoidRightShiftedSteepenedActivation": f"sigmoid({_STEEP} - {_SHIFT})",
    "TanhActivation": "tanh(0.9 * z)",
    "GaussianBipolarActivation": "2.0 * exp(-((z * 2.5) * (z * 2.5))) - 1.0",
    "NullActivation": "clip(z, 0.0, 0.0)",
    "SignActivation": "sign(z)",
    "SineActivation": "sin(2.0 * z)",
    "StepActivation": "where(less(z, 0.0), 0.0, 1.0)",
}

ACTIVATION_NAMES = {
    "SigmoidPlainActivation": "sigmoid",
    "GaussianActivation": "gaussian",
    "LinearActivation": "identity",
    "LinearAbsActivation": "abs",
    "LinearClippedActivation": "hard_tanh",
    **{name: FORMULA + text for name, text in _FORMULAS.items()},
}

DEFAULT = "SigmoidSteepenedActivation"
"""The activation of a node whose line names none."""


HIDDEN, INPUT, OUTPUT, BIAS = "HIDN", "INPT", "OUTP", "BIAS"
TYPES = (HIDDEN, INPUT, OUTPUT, BIAS)
"""The types of nodes, at the numbers that plain text has for them."""

_TRUTHS = {"true": True, "1": True, "t": True, "false": False, "0": False, "f": False}


class NodeLine(NamedTuple):
    """A node: its id, one of `TYPES`, goNEAT's name of its activation, and where it stands."""

    id: int
    kind: str
    activation: str
    where: str


class Genome(NamedTuple):
    """Nodes and genes in the order of the file."""

    id: int
    nodes: list[NodeLine]
    genes: list[Edge]


def members(content: str, options: ReadOptions) -> Members:
    """Return the network of each genome, in the order of the file."""
    genomes = plain_genomes(content) or [yaml_genome(content)]
    return [(genome.id, partial(_network, genome, options.cycles)) for genome in genomes]


def _network(genome: Genome, cycles: int | None) -> Network:
    """The network of a genome; genes that come from a bias are the biases of their targets."""
    ids = [node.id for node in genome.nodes]
    if len(set(ids)) < len(ids):
        raise NetworkError(f"two nodes have one id, in the genome {genome.id}")
    always_one = {node.id for node in genome.nodes if node.kind == BIAS}
    graph = GenomeGraph(
        library="goneat",
        inputs=[node.id for node in genome.nodes if node.kind == INPUT],
        outputs=[node.id for node in genome.nodes if node.kind == OUTPUT],
        nodes=[_node(node) for node in genome.nodes if node.kind in (HIDDEN, OUTPUT)],
        edges=genome.genes,
    )
    graph = graph.with_biases(always_one).checked()
    _check_outputs(graph)
    graph = graph.without_silent()
    if not graph.has_cycle:
        net = graph.acyclic()
        depth = int(schedule(net).level[net.output_neurons].max())
        if cycles is not None and cycles < depth:
            warn(
                f"the genome {genome.id} has no cycle and is {depth} updates deep: it is read as "
                f"after all of them, not as goNEAT leaves it after {cycles}"
            )
        return net
    if cycles is None:
        hint = "Say how many updates a step takes (what ForwardSteps is called with)"
        raise needs_cycles(f"the genome {genome.id} has a cycle", hint)
    _check_first_update(graph, genome)
    return graph.updated(cycles)


def _node(node: NodeLine) -> Node:
    name = translated(node.activation, ACTIVATION_NAMES, "activation", node.where, "goneat")
    return Node(node.id, name)


def _check_outputs(graph: GenomeGraph) -> None:
    """Refuse a network that goNEAT does not activate: nothing leads to one of its outputs."""
    if not graph.outputs:
        raise NetworkError("a network without outputs", where="nodes")
    reached = graph.reached()
    silent = [key for key in graph.outputs if key not in reached]
    if silent:
        text = "no input and no bias leads to it: goNEAT does not activate such a network"
        raise NetworkError(text, where=f"node {silent[0]}")


def _check_first_update(graph: GenomeGraph, genome: Genome) -> None:
    """Refuse a cyclic network some of whose nodes are still 0 after the first update.

    Such a node has inputs from nodes that come later in the list alone.
    """
    awake = set(graph.inputs)
    for node in genome.nodes:
        sources = {edge.source for edge in graph.edges if edge.enabled and edge.target == node.id}
        if node.id in graph.biased or sources & awake:
            awake.add(node.id)
    for key in sorted(graph.reached() - awake):
        raise NetworkError(
            "in a network with cycles, goNEAT leaves this node at 0 in its first update, because "
            "all that it reads comes later in the list of nodes",
            where=f"node {key}",
            hint="Connect it to an input or a bias, with the weight 0 if need be",
        )


def plain_genomes(content: str) -> list[Genome]:
    """Return the genomes of a file of plain text."""
    found: list[Genome] = []
    open_ = False
    for number, line in enumerate(content.removeprefix("\ufeff").splitlines(), 1):
        head, *fields = line.split() or [""]
        where = f"line {number}"
        if head == "genomestart" or (head in ("trait", "node", "gene") and not open_):
            found.append(Genome(0, [], []))
            open_ = True
        if head == "node":
            found[-1].nodes.append(_plain_node(fields, where))
        elif head == "gene":
            found[-1].genes.append(_plain_gene(fields, where))
        elif head in ("genomestart", "genomeend"):
            if not found:
                raise NetworkError("a genome ends that never began", where=where)
            found[-1] = found[-1]._replace(id=_integer(fields[0] if fields else "", where))
            open_ = head == "genomestart"
    return found


def _plain_node(fields: list[str], where: str) -> NodeLine:
    if not 4 <= len(fields) <= 5:
        raise NetworkError("a node is `node ID TRAIT SENSOR TYPE ACTIVATION`", where=where)
    kind = _integer(fields[3], where)
    if not 0 <= kind < len(TYPES):
        raise NetworkError(f"the type of a node is 0 to 3, got {kind}", where=where)
    return NodeLine(_integer(fields[0], where), TYPES[kind], (*fields, DEFAULT)[4], where)


def _plain_gene(fields: list[str], where: str) -> Edge:
    if len(fields) != 8:
        text = "a gene is `gene TRAIT SOURCE TARGET WEIGHT RECURRENT INNOVATION MUTATION ENABLED`"
        raise NetworkError(text, where=where)
    return _edge([*fields[1:4], fields[7]], where)


def _edge(fields: list[str], where: str) -> Edge:
    source, target, weight, enabled = fields
    if enabled.lower() not in _TRUTHS:
        raise NetworkError(f"enabled is '{enabled}', expected true or false", where=where)
    ends = _integer(source, where), _integer(target, where)
    return Edge(*ends, finite_number(weight, "weight", where), _TRUTHS[enabled.lower()])


def _integer(text: str, where: str) -> int:
    return integer_of(text, "an id or a type", where, least=-(2**31))


_COMMENT = re.compile(r"(^|\s)#.*$", re.MULTILINE)
_ENTRY = re.compile(r"^\s*-(?=\s|$)", re.MULTILINE)
_PAIR = re.compile(r"(\w+)\s*:\s+([^\s,{}\[\]:&*]+)\s*(?=[,}\n]|$)")
_KEYS = {"nodes": ("id", "type", "activation"), "genes": ("src_id", "tgt_id", "weight", "enabled")}
"""What is read of each entry of a list in YAML."""


def yaml_genome(content: str) -> Genome:
    """Return the genome of a YAML file: its id, nodes and genes.

    A node or a gene is an entry of a list with words and numbers by name, over lines or in one (`{
    id: 1, type: BIAS }`), as goNEAT writes them.
    """
    text = _COMMENT.sub("", content.removeprefix("\ufeff")).replace("\r", "")
    body = re.split(r"^genome:\s*?\n", text, maxsplit=1, flags=re.MULTILINE)[1].lstrip("\n")
    depth = len(body) - len(body.lstrip(" "))
    sections = [
        part.partition(":") for part in re.split(rf"^ {{{depth}}}(?=\w)", body, flags=re.MULTILINE)
    ]
    genome = Genome(next((_integer(v.strip(), k) for k, _, v in sections if k == "id"), 0), [], [])
    for name, _, value in sections:
        if name == "modules" and value.strip() not in ("", "[]"):
            hint = "Only nodes and genes can"
            raise NetworkError("modules cannot be read", where="genome.modules", hint=hint)
        for at, entry in enumerate(_ENTRY.split(value)[1:] if name in _KEYS else ()):
            where, found = f"genome.{name}[{at}]", dict(_PAIR.findall(entry))
            if missing := next((key for key in _KEYS[name] if key not in found), None):
                raise NetworkError(f"'{missing}' is missing, or no word or number", where=where)
            values = [found[key] for key in _KEYS[name]]
            if name == "nodes":
                genome.nodes.append(_yaml_node(values, where))
            else:
                genome.genes.append(_edge(values, where))
    if not genome.nodes:
        raise NetworkError("no nodes are understood in this YAML", where="genome.nodes")
    return genome


def _yaml_node(fields: list[str], where: str) -> NodeLine:
    key, kind, activation = fields
    if kind not in TYPES:
        raise NetworkError(f"type is '{kind}', expected {', '.join(TYPES)}", where=where)
    return NodeLine(_integer(key, where), kind, activation, where)
