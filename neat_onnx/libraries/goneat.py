"""Read and write genomes of goNEAT as the networks that it builds of them.

goNEAT computes all nodes at once from the values of the update before, and a caller asks for as
many updates as the network is deep: one without cycles then holds its values in topological order.
A node is computed once something that reaches back to an input or a bias has come in; till then it
is 0, for ever where nothing does.

Plain text is read and written, YAML is read:

    genomestart 1
    trait 1 0.1 0 0 0 0 0 0 0
    node ID TRAIT SENSOR TYPE ACTIVATION
    gene TRAIT SOURCE TARGET WEIGHT RECURRENT INNOVATION MUTATION ENABLED
    genomeend 1

In what is written, a bias is a gene from an added node that is always 1. A neuron that reads
nothing gets one of weight 0 as well, because goNEAT leaves a node at 0 that no input and no bias
leads to. goNEAT evolves on with the id of the last node plus 1, and its crossover sorts nodes by
their ids: so they stand in that order, and ids by which inputs or outputs would change places are
not kept.
"""

import re
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import numpy as np

from neat_onnx.errors import NetworkError, OptionError, warn
from neat_onnx.libraries.catalogue import Members
from neat_onnx.libraries.genome_graph import Edge, GenomeGraph, Node, check_cycles
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.limits import Limits, reasons_against
from neat_onnx.libraries.names import finite_number, reversed_names, translated
from neat_onnx.network.activations import ACTIVATIONS, FORMULA
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


@dataclass(frozen=True)
class NodeLine:
    """A node: its id, one of `TYPES`, goNEAT's name of its activation, and where it stands."""

    id: int
    kind: str
    activation: str
    where: str


@dataclass
class Genome:
    """Nodes and genes in the order of the file."""

    id: int = 0
    nodes: list[NodeLine] = field(default_factory=list)
    genes: list[Edge] = field(default_factory=list)


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
    biases = [edge for edge in genome.genes if edge.source in always_one and edge.enabled]
    graph = GenomeGraph(
        library="goneat",
        inputs=[node.id for node in genome.nodes if node.kind == INPUT],
        outputs=[node.id for node in genome.nodes if node.kind == OUTPUT],
        nodes=[_node(node, biases) for node in genome.nodes if node.kind in (HIDDEN, OUTPUT)],
        edges=[edge for edge in genome.genes if edge.source not in always_one],
    ).checked()
    start = {edge.target for edge in biases}
    _check_outputs(graph, start)
    graph = graph.without_silent(start)
    if not graph.has_cycle:
        net = graph.acyclic()
        if cycles is not None:
            check_cycles(cycles)
            _warn_if_deeper(net, genome, cycles)
        return net
    if cycles is None:
        raise OptionError(
            f"the genome {genome.id} has a cycle",
            where="cycles",
            hint="Say how many updates a step takes (what ForwardSteps is called with); cycles=N "
            "does, or --cycles N",
        )
    _check_first_update(graph, genome, start)
    return graph.updated(cycles)


def _warn_if_deeper(net: Network, genome: Genome, cycles: int) -> None:
    """Warn where goNEAT would not get to the outputs in the updates that are asked for."""
    depth = int(schedule(net).level[net.output_neurons].max())
    if cycles < depth:
        warn(
            f"the genome {genome.id} has no cycle and is {depth} updates deep: it is read as after "
            f"all of them, not as goNEAT leaves it after {cycles}"
        )


def _node(node: NodeLine, biases: list[Edge]) -> Node:
    name = translated(
        node.activation, ACTIVATION_NAMES, ACTIVATIONS, "activation", node.where, "goneat"
    )
    return Node(node.id, name, sum(edge.weight for edge in biases if edge.target == node.id))


def _check_outputs(graph: GenomeGraph, start: set[int]) -> None:
    """Refuse a network that goNEAT does not activate: nothing leads to one of its outputs."""
    if not graph.outputs:
        raise NetworkError("a network without outputs", where="nodes")
    reached = graph.reached([*start, *graph.inputs])
    silent = [key for key in graph.outputs if key not in reached]
    if silent:
        raise NetworkError(
            "no input and no bias leads to it: goNEAT does not activate such a network",
            where=f"node {silent[0]}",
        )


def _check_first_update(graph: GenomeGraph, genome: Genome, start: set[int]) -> None:
    """Refuse a cyclic network some of whose nodes are still 0 after the first update.

    Such a node has inputs from nodes that come later in the list alone.
    """
    awake = set(graph.inputs)
    for node in genome.nodes:
        sources = {edge.source for edge in graph.edges if edge.enabled and edge.target == node.id}
        if node.id in start or sources & awake:
            awake.add(node.id)
    for key in sorted(graph.reached([*start, *graph.inputs]) - awake):
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
        if head == "genomestart" or (head in ("trait", "node", "gene") and not open_):
            found.append(Genome())
            open_ = True
        where = f"line {number}"
        if head == "node":
            found[-1].nodes.append(_plain_node(fields, where))
        elif head == "gene":
            found[-1].genes.append(_plain_gene(fields, where))
        elif head in ("genomestart", "genomeend"):
            if not found:
                raise NetworkError("a genome ends that never began", where=where)
            found[-1].id = integer(fields[0] if fields else "", where)
            open_ = head == "genomestart"
    return found


def _plain_node(fields: list[str], where: str) -> NodeLine:
    if not 4 <= len(fields) <= 5:
        raise NetworkError("a node is `node ID TRAIT SENSOR TYPE ACTIVATION`", where=where)
    kind = integer(fields[3], where)
    if not 0 <= kind < len(TYPES):
        raise NetworkError(f"the type of a node is 0 to 3, got {kind}", where=where)
    activation = fields[4] if len(fields) == 5 else DEFAULT
    return NodeLine(integer(fields[0], where), TYPES[kind], activation, where)


def _plain_gene(fields: list[str], where: str) -> Edge:
    if len(fields) != 8 or fields[7].lower() not in _TRUTHS:
        raise NetworkError(
            "a gene is `gene TRAIT SOURCE TARGET WEIGHT RECURRENT INNOVATION MUTATION ENABLED`",
            where=where,
        )
    source, target = integer(fields[1], where), integer(fields[2], where)
    return Edge(
        source, target, finite_number(fields[3], "weight", where), _TRUTHS[fields[7].lower()]
    )


def integer(text: str, where: str) -> int:
    """Return the integer of 32 bits that a text is, or refuse it."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 10):
        raise NetworkError(f"expected a small integer, got '{text[:40]}'", where=where)
    return int(text)


_KEY = re.compile(r"(\w+):(?:\s+(.*))?")
_PAIR = re.compile(r"\s*(\w+)\s*:\s+([^\s{}\[\]:]+)\s*")
_COMMENT = re.compile(r"(^|\s)#.*$")
_GAPS = ("", "---")


def yaml_genome(content: str) -> Genome:
    """Return the genome of a YAML file: its id, nodes and genes.

    A node or a gene is a mapping of words and numbers, over lines or in one (`{ id: 1, type: BIAS
    }`), as goNEAT writes them. Any other YAML there is refused, never guessed.
    """
    texts = [_COMMENT.sub("", raw).rstrip() for raw in content.removeprefix("\ufeff").splitlines()]
    lines = [(text, f"line {at}") for at, text in enumerate(texts, 1) if text.strip() not in _GAPS]
    values: dict[str, str] = {}
    entries: dict[str, list[tuple[str, str]]] = {}
    begin = next(at for at, (text, _) in enumerate(lines) if text == "genome:") + 1
    depth, section = -1, ""
    for line, where in lines[begin:]:
        text = line.lstrip()
        depth = len(line) - len(text) if depth < 0 else depth
        key = _KEY.fullmatch(text)
        if key and len(line) - len(text) == depth and key[1] not in values:
            section, values[key[1]], entries[key[1]] = key[1], key[2] or "", []
        elif f"{text} ".startswith("- ") and not values.get(section, "?"):
            entries[section].append((text[2:], where))
        elif entries.get(section) and len(line) - len(text) > depth:
            begun, place = entries[section][-1]
            entries[section][-1] = (f"{begun}\n{text}", place)
        else:
            raise _not_understood(text, where)
    if entries.get("modules"):
        raise NetworkError(
            "modules cannot be read", where="genome.modules", hint="Only nodes and genes can"
        )
    genome = Genome(integer(values.get("id", ""), "genome.id"))
    for name in ("nodes", "genes"):
        if values.get(name, "") not in ("", "[]"):
            raise _not_understood(values[name], f"genome.{name}")
        if not entries.get(name):
            raise NetworkError("expected a list of mappings", where=f"genome.{name}")
        for entry in entries[name]:
            if name == "nodes":
                genome.nodes.append(_yaml_node(*entry))
            else:
                genome.genes.append(_yaml_gene(*entry))
    return genome


def _not_understood(text: str, where: str) -> NetworkError:
    return NetworkError(f"this YAML is not understood: '{text[:60]}'", where=where)


def _pairs(text: str, where: str, *keys: str) -> list[str]:
    """The words at some keys of a mapping."""
    inside = text[1:-1] if text[:1] == "{" and text[-1:] == "}" else text
    pairs = [_PAIR.fullmatch(part) for part in re.split(r"[,\n]", inside) if part.strip()]
    found = {pair[1]: pair[2] for pair in pairs if pair}
    if len(found) < len(pairs):
        raise _not_understood(text, where)
    for key in keys:
        if key not in found:
            raise NetworkError(f"'{key}' is missing, or no word or number", where=where)
    return [found[key] for key in keys]


def _yaml_node(text: str, where: str) -> NodeLine:
    key, kind, activation = _pairs(text, where, "id", "type", "activation")
    if kind not in TYPES:
        raise NetworkError(f"type is '{kind}', expected {', '.join(TYPES)}", where=where)
    return NodeLine(integer(key, where), kind, activation, where)


def _yaml_gene(text: str, where: str) -> Edge:
    source, target, weight, enabled = _pairs(text, where, "src_id", "tgt_id", "weight", "enabled")
    if enabled not in ("true", "false"):
        raise NetworkError(f"enabled is '{enabled}', expected true or false", where=where)
    ends = integer(source, where), integer(target, where)
    return Edge(*ends, finite_number(weight, "weight", where), enabled == "true")


_NAMES = reversed_names(ACTIVATION_NAMES)
_LIMITS = Limits("goNEAT", _NAMES, repeated=True)
_SENSOR = "NullActivation"
_ID_LIMIT = 2**30
"""Ids of new nodes are int32 there; evolution goes on with the ids above."""


def write(net: Network) -> str:
    """Return the genome as plain text; its numbers read back to the same doubles."""
    reasons_against(net, _LIMITS).refuse()
    ids = _ids(net)
    bias = max(ids, default=0) + 1
    lines = ["genomestart 1", "trait 1 0.1 0 0 0 0 0 0 0"]
    outputs = set(net.output_neurons.tolist())
    for j in np.argsort(ids).tolist():
        if net.is_input[j]:
            lines.append(_node_line(ids[j], INPUT, _SENSOR))
        else:
            lines.append(
                _node_line(ids[j], OUTPUT if j in outputs else HIDDEN, _activation(net, j))
            )
    lines += [_node_line(bias, BIAS, _SENSOR), *_genes(net, ids, bias)]
    return "\n".join([*lines, "genomeend 1"]) + "\n"


def _ids(net: Network) -> list[int]:
    """The neurons' own ids, or 1, 2, … where goNEAT does not count so: inputs, outputs, others."""
    ids: list[int] = net.neurons.id.tolist()
    ends = [net.input_neurons.tolist(), net.output_neurons.tolist()]
    ascend = all(ids[a] < ids[b] for end in ends for a, b in pairwise(end))
    if ascend and all(0 < key < _ID_LIMIT for key in ids):
        return ids
    order = dict.fromkeys([*ends[0], *ends[1], *range(len(net))])
    place = {neuron: key for key, neuron in enumerate(order, 1)}
    return [place[neuron] for neuron in range(len(net))]


def _node_line(key: int, kind: str, activation: str) -> str:
    sensor = int(kind in (INPUT, BIAS))
    return f"node {key} 0 {sensor} {TYPES.index(kind)} {activation}"


def _activation(net: Network, neuron: int) -> str:
    return _NAMES[str(net.activation_names[neuron])]


def _genes(net: Network, ids: list[int], bias: int) -> list[str]:
    """A line for each connection, disabled ones too, and for each bias."""
    genes = net.connections
    lines = [
        (ids[source], ids[target], weight, enabled)
        for source, target, weight, enabled in zip(
            genes.source.tolist(),
            genes.target.tolist(),
            genes.weight.tolist(),
            genes.enabled.tolist(),
            strict=True,
        )
    ]
    wanted = ~net.is_input & ((net.neurons.bias != 0.0) | (net.fan_in == 0))
    for j in np.flatnonzero(wanted).tolist():
        lines.append((bias, ids[j], float(net.neurons.bias[j]), True))
    return [
        f"gene 1 {source} {target} {weight!r} {str(source == target).lower()} {innovation} 0 "
        f"{str(enabled).lower()}"
        for innovation, (source, target, weight, enabled) in enumerate(lines, 1)
    ]
