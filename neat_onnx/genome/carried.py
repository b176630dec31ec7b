"""The connections of a genome that its graph has."""

from typing import NamedTuple

import numpy as np

from neat_onnx.genome.compact import Others, others_of
from neat_onnx.genome.document import ROUNDS_TO_ZERO, carried_over
from neat_onnx.network.genes import Connections, Ints
from neat_onnx.network.network import Network

_MAX_CONNECTIONS_LISTED = 1024  # a longer list is longer than any other way to say them


class Carried(NamedTuple):
    """The connections of a genome that its graph has.

    Attributes:
        known: these connections.
        zeros: ones of weight 0 in kernels are among them.
        others: the other ones; None if many are in another order, or some are missing.
    """

    known: Connections
    zeros: bool
    others: Others | None

    @property
    def same(self) -> bool:
        """They are all that the genome has, in its order."""
        return self.others is not None and not self.others


def carried_by(lifted: Network, lifted_of: Ints, genes: Connections, count: int) -> Carried:
    """The connections of a graph that a genome has.

    Args:
        lifted: the network of the graph.
        lifted_of: the lifted neuron of each neuron, NONE where it has none.
        genes: the connections of the genome.
        count: of its neurons.
    """
    plain = _beside(carried_over(lifted, lifted_of), genes, count, zeros=False)
    weights = np.abs(genes.weight[genes.weight != 0.0])
    if plain.same or np.any(weights <= ROUNDS_TO_ZERO):
        return plain
    known = carried_over(lifted, lifted_of, zeros=True)
    whole = _beside(known, genes, count, zeros=True)
    if whole.others is None or (len(genes) <= _MAX_CONNECTIONS_LISTED and not whole.same):
        return plain
    if plain.others is None or len(whole.others.added) < len(plain.others.added):
        return whole
    return plain


def _beside(known: Connections, genes: Connections, count: int, *, zeros: bool) -> Carried:
    same = np.array_equal(known.source, genes.source) and np.array_equal(known.target, genes.target)
    none = np.empty(0, np.int64)
    return Carried(known, zeros, Others(none, none) if same else others_of(known, genes, count))
