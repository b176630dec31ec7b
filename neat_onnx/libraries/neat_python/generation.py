"""A generation of live genomes, from genes to the arrays of one network of all of them.

Read one by one, a genome takes as long as a hundred steps of its network. Here genes become arrays
for all genomes at once, and nodes that no output depends on are left out.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.libraries.neat_python.functions import Role, described, name_in_network
from neat_onnx.libraries.neat_python.settings import NEWER, Settings
from neat_onnx.network.genes import Connections, Neurons, marked
from neat_onnx.network.schedule import Edges, schedule
from neat_onnx.network.structure import Structure


def generation_of(genomes: Sequence[Any], settings: Settings) -> Structure | None:
    """Return the networks of genomes side by side, as neat-python 1.1 and newer evaluates them.

    Args:
        genomes: live ones, one or more.
        settings: of their configuration.

    Returns:
        None where they have to be read one by one: they are of an older version or another kind, or
        have genes that a reader refuses.
    """
    if settings.version is None or settings.version < NEWER:
        return None
    try:
        return _side_by_side(genomes, settings)
    except (NetworkError, AttributeError, TypeError, ValueError, KeyError, OverflowError):
        return None


def _side_by_side(genomes: Sequence[Any], settings: Settings) -> Structure:
    late = not settings.feed_forward
    nodes: list[Any] = []  # genome by genome, None for an input or a node that stays 0
    inputs, outputs, ends, weights = [], [], [], []
    for genome in genomes:
        keys = [*settings.inputs, *genome.nodes]
        place = {key: at for at, key in enumerate(keys, len(nodes))}
        if len(place) < len(keys):
            raise NetworkError("a node has the key of an input")
        inputs.append([place[key] for key in settings.inputs])
        outputs.append([place[key] for key in settings.outputs])
        nodes += [*[None] * len(settings.inputs), *genome.nodes.values()]
        live = [gene for gene in genome.connections.values() if gene.enabled]
        ends += [(place[gene.key[0]], place[gene.key[1]]) for gene in live]
        weights += [gene.weight for gene in live]
    if late and any(getattr(node, "time_constant", 1.0) != 1.0 for node in nodes):
        raise NetworkError("these may be genes of a ctrnn")
    source, target = np.array(ends, np.int64).reshape(-1, 2).T
    computed = np.full(len(nodes), settings.feed_forward)
    computed[target] = True
    of_inputs, of_outputs = (marked(len(nodes), np.array(ends)) for ends in (inputs, outputs))
    kept = Edges(target, source, len(nodes)).reached(of_outputs) | of_inputs
    acts = kept[target]
    source, target, weight = source[acts], target[acts], np.array(weights, np.float64)[acts]
    place_of = np.cumsum(kept) - 1
    own = [nodes[at] if computed[at] else None for at in np.flatnonzero(kept).tolist()]
    net = Structure.of_genes(
        place_of[np.array(inputs)],
        place_of[np.array(outputs)],
        Neurons.of(
            np.arange(len(own)),
            _names(own, "activation", "identity", settings),
            _names(own, "aggregation", "sum", settings),
            bias=[0.0 if node is None else node.bias for node in own],
            response=[1.0 if node is None else node.response for node in own],
        ),
        Connections.of(
            place_of[source],
            place_of[target],
            weight,
            delay=(late & ~of_inputs[source]).astype(np.int64),
        ),
    )
    schedule(net)  # refuses a cycle, behind which neat-python leaves outputs at 0
    return net


def _names(nodes: Sequence[Any], kind: Role, plain: str, settings: Settings) -> list[str]:
    """Return our names of the functions of nodes."""
    theirs: list[Any] = [None if node is None else getattr(node, kind) for node in nodes]
    known, table = {None: plain}, settings.functions[kind]
    for name in theirs:
        if name not in known:
            known[name] = name_in_network(described(kind, table.get(name), name), kind, kind)
    return [known[name] for name in theirs]
