"""A generation of live genomes, from genes to the arrays of one network of all of them.

Read one by one, a genome takes as long as a hundred steps of its network. Here keys become
positions, and nodes that no output depends on are left out, for all genomes at once.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.libraries.neat_python.functions import Kind, described
from neat_onnx.libraries.neat_python.settings import Settings
from neat_onnx.libraries.neat_python.static import ACTIVATION_NAMES, AGGREGATION_NAMES
from neat_onnx.libraries.neat_python.versions import NEWER
from neat_onnx.network.genes import Bools, Connections, Floats, Ints, Neurons, codes_of
from neat_onnx.network.schedule import Edges, schedule
from neat_onnx.network.side_by_side import SideBySide, joined


def generation_of(genomes: Sequence[Any], settings: Settings) -> SideBySide | None:
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


class _Generation:
    """The genes in arrays. Nodes are numbered: first the inputs, genome by genome, then the others.

    Raises:
        NetworkError: two nodes of a genome have one key, or a connection has no node at an end.
    """

    def __init__(self, genomes: Sequence[Any], settings: Settings) -> None:
        self._settings, self._count = settings, len(genomes)
        self._nodes = [node for genome in genomes for node in genome.nodes.values()]
        self._edges = [gene for genome in genomes for gene in genome.connections.values()]
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

    def side_by_side(self) -> SideBySide:
        """Return the networks, of the inputs and of the nodes that an output depends on.

        Raises:
            NetworkError: a gene has no value that it can have, or there is a cycle within the step.
        """
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
        neurons, activations, aggregations = self._neurons(order, self._silent(target))
        net = joined(
            place[: self._inputs].reshape(self._count, -1),
            place[self._outputs].reshape(self._count, -1),
            neurons,
            Connections.of(
                place[source], place[target], weight, delay=late & (source >= self._inputs)
            ),
            activations,
            aggregations,
        )
        schedule(net)  # refuses a cycle, behind which neat-python leaves outputs at 0
        return SideBySide(net, np.searchsorted(self._genome[order], np.arange(self._count + 1)))

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
        names = [getattr(node, kind) for node in self._nodes]
        known = {name: self._ours(kind, name) for name in set(names)}
        table, own = codes_of([plain, *(known[name] for name in names)])
        codes = np.full(len(self._genome), own[0])
        codes[self._inputs :] = own[1:]
        codes[silent] = own[0]
        return table, codes

    def _ours(self, kind: Kind, name: str) -> str:
        """Return our name of a function of neat-python's own.

        Raises:
            NetworkError: it is the user's.
        """
        tables = (self._settings.activations, self._settings.aggregations)
        names = (ACTIVATION_NAMES, AGGREGATION_NAMES)
        at = int(kind == "aggregation")
        if name not in names[at] or described(kind, name, tables[at].get(name))["custom"]:
            raise NetworkError(f"the {kind} '{name}' is not neat-python's own")
        return names[at][name]
