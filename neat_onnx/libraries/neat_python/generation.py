"""A generation of live genomes, from genes to the arrays of one network of all of them.

Read one by one, a genome takes as long as a hundred steps of its network. Here keys become
positions, and nodes that no output depends on are left out, for all genomes at once.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.libraries.neat_python.functions import (
    ACTIVATION_NAMES,
    AGGREGATION_NAMES,
    Kind,
    described,
)
from neat_onnx.libraries.neat_python.settings import NEWER, Settings
from neat_onnx.network.genes import Bools, Connections, Floats, Ints, Neurons, codes_of
from neat_onnx.network.schedule import Edges, schedule
from neat_onnx.network.structure import Structure


def generation_of(genomes: Sequence[Any], settings: Settings) -> Structure | None:
    """Return the networks of genomes side by side, as neat-python 1.1 and newer evaluates them.

    Args:
        genomes: live ones, one or more.
        settings: of their configuration.

    Returns:
        None where they have to be read one by one: they are of an older version or another kind,
        have functions that neat-python has not, or genes that a reader refuses.
    """
    if settings.version is None or settings.version < NEWER:
        return None
    try:
        return _Generation(genomes, settings).side_by_side()
    except (NetworkError, AttributeError, TypeError, ValueError, OverflowError):
        return None


def _are_timed(nodes: Collection[Any]) -> bool:
    """Return whether nodes have time constants, so that they may be of a ctrnn."""
    return any(getattr(node, "time_constant", 1.0) != 1.0 for node in nodes)


def _ours(kind: Kind, nodes: Iterable[Any], settings: Settings) -> list[str]:
    """Return our names of the functions of nodes."""
    activates = kind == "activation"
    table = settings.functions[kind]
    known = ACTIVATION_NAMES if activates else AGGREGATION_NAMES
    names = [getattr(node, kind) for node in nodes]
    for name in set(names):
        if name not in known or described(kind, table.get(name), name).custom:
            raise NetworkError(f"the {kind} '{name}' is not neat-python's own")
    return [known[name] for name in names]


class _Generation:
    """The genes in arrays: first the inputs, genome by genome, then the other nodes."""

    def __init__(self, genomes: Sequence[Any], settings: Settings) -> None:
        self._settings, self._count = settings, len(genomes)
        self._nodes = [node for genome in genomes for node in genome.nodes.values()]
        self._edges = [gene for genome in genomes for gene in genome.connections.values()]
        if not settings.feed_forward and _are_timed(self._nodes):
            raise NetworkError("these may be genes of a ctrnn")
        inputs = np.array(settings.inputs, np.int64)
        self._inputs = self._count * len(inputs)
        members = np.arange(self._count)
        owners = [np.repeat(members, [len(genome.nodes) for genome in genomes])]
        self._genome = np.concatenate([np.repeat(members, len(inputs)), *owners])
        own = np.array([key for genome in genomes for key in genome.nodes], np.int64)
        key = np.concatenate([np.tile(inputs, self._count), own])
        self._low, self._span = int(key.min()), int(np.ptp(key)) + 1
        code = self._genome * self._span + (key - self._low)
        self._by_code = np.argsort(code)
        self._codes = code[self._by_code]
        if np.any(self._codes[1:] == self._codes[:-1]):
            raise NetworkError("two nodes of one key")
        ends = np.array([gene.key for gene in self._edges], np.int64).reshape(-1, 2)
        owner = np.repeat(members, [len(genome.connections) for genome in genomes])
        self._source, self._target = (self._node(owner, end) for end in ends.T)
        outputs = np.array(settings.outputs, np.int64)
        self._outputs = self._node(np.repeat(members, len(outputs)), np.tile(outputs, self._count))

    def _node(self, genome: Ints, key: Ints) -> Ints:
        """Return the number of each node."""
        code = genome * self._span + (key - self._low)
        place = np.minimum(np.searchsorted(self._codes, code), len(self._codes) - 1)
        inside = (key >= self._low) & (key < self._low + self._span)
        if not np.all(inside & (self._codes[place] == code)):
            raise NetworkError("a connection without a node at an end")
        return self._by_code[place]

    def side_by_side(self) -> Structure:
        """Return the networks, of the inputs and of the nodes that an output depends on."""
        enabled = np.array([gene.enabled for gene in self._edges], np.bool_)
        weight = np.array([gene.weight for gene in self._edges], np.float64)[enabled]
        source, target = self._source[enabled], self._target[enabled]
        kept = np.zeros(len(self._genome), np.bool_)
        kept[self._outputs] = True
        kept = Edges(target, source, len(kept)).reached(kept)
        kept[: self._inputs] = True
        acts = kept[target]
        source, target, weight = source[acts], target[acts], weight[acts]
        order = np.argsort(self._genome, kind="stable")
        order = order[kept[order]]
        place = np.empty(len(kept), np.int64)
        place[order] = np.arange(len(order))
        late = not self._settings.feed_forward
        net = Structure.of_genes(
            place[: self._inputs].reshape(self._count, -1),
            place[self._outputs].reshape(self._count, -1),
            self._neurons(order, self._silent(target)),
            Connections.of(
                place[source], place[target], weight, delay=late & (source >= self._inputs)
            ),
        )
        schedule(net)  # refuses a cycle, behind which neat-python leaves outputs at 0
        return net

    def _silent(self, fed: Ints) -> Bools:
        """Return which nodes stay 0: in a recurrent network those that nothing feeds."""
        silent = np.full(len(self._genome), not self._settings.feed_forward)
        silent[fed] = False
        return silent

    def _neurons(
        self, order: Ints, silent: Bools
    ) -> tuple[Neurons, tuple[str, ...], tuple[str, ...]]:
        """Return the neurons of some nodes, and the tables of their functions."""
        activations, activation = self._functions("activation", "identity", silent)
        aggregations, aggregation = self._functions("aggregation", "sum", silent)
        neurons = Neurons(
            np.arange(len(order)),
            activation[order],
            aggregation[order],
            self._numbers("bias", 0.0, silent)[order],
            self._numbers("response", 1.0, silent)[order],
            np.zeros(len(order)),
        )
        return neurons, activations, aggregations

    def _numbers(self, name: str, plain: float, silent: Bools) -> Floats:
        values = np.full(len(self._genome), plain)
        values[self._inputs :] = [getattr(node, name) for node in self._nodes]
        values[silent] = plain
        return values

    def _functions(self, kind: Kind, plain: str, silent: Bools) -> tuple[tuple[str, ...], Ints]:
        """Return a table of functions, and the place in it of the function of each node."""
        table, own = codes_of([plain, *_ours(kind, self._nodes, self._settings)])
        codes = np.full(len(self._genome), own[0])
        codes[self._inputs :] = own[1:]
        codes[silent] = own[0]
        return table, codes
