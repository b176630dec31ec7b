"""Products along the last axis of a tensor: all rows have the same weights, a window of one tap.

Export writes such neurons as one, not as a matrix that repeats the weights along its
diagonal. Neurons change until the import ends, as biases and products join them; so it is checked
then whether the rows are still alike.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.spatial import SpatialBlock, rows_alike

_LEAST = 256  # weights by which a matrix would be larger


@dataclass(frozen=True, eq=False)
class Rows:
    """A product along the last axis.

    Attributes:
        sources: the signals that it reads, (rows, inputs).
        neurons: the states of its neurons, (rows, outputs).
    """

    sources: Ints
    neurons: Ints

    @property
    def matters(self) -> bool:
        """Whether a matrix for all rows would be much larger than that of one."""
        count = len(self.sources)
        each = self.sources.shape[1] * self.neurons.shape[1]
        return bool((count * count - 1) * each >= _LEAST)


def blocks_of(rows: Iterable[Rows], net: Network, neuron_of: Ints) -> tuple[SpatialBlock, ...]:
    """The rows that are alike in a network, as blocks whose windows have one tap."""
    found = (Rows(neuron_of[each.sources], neuron_of[each.neurons]) for each in rows)
    return tuple(rows_alike(each.sources, each.neurons) for each in found if _are_alike(net, each))


def _are_alike(net: Network, rows: Rows) -> bool:
    """Whether all rows of neurons have the same genes, each over its own row of sources."""
    count, inputs = rows.sources.shape
    neurons, sources = rows.neurons.ravel(), rows.sources.ravel()
    everyone = np.concatenate([neurons, sources])
    if np.any(everyone == NONE) or len(np.unique(everyone)) < len(everyone):
        return False
    genes = net.neurons
    columns = (genes.activation, genes.aggregation, genes.bias, genes.response, net.fan_in)
    if not all(_repeats(column[neurons], count) for column in columns):
        return False
    place = np.full(len(net), NONE, np.int64)
    place[sources] = np.arange(len(sources))
    row, edge = net.edges_into(neurons)
    live, read = net.live, place[net.live.source[edge]]
    plain = (live.gater == NONE) & (live.delay == 0) & ~live.reads_state
    own = (read != NONE) & (read // inputs == row // rows.neurons.shape[1])
    return bool(
        np.all(plain[edge])
        and np.all(own)
        and _repeats(read % inputs, count)
        and _repeats(live.weight[edge], count)
    )


def _repeats(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]], count: int) -> bool:
    """Whether an array is one run of values, so many times."""
    if len(values) % count:
        return False
    rows = values.reshape(count, -1)
    return bool(np.all(rows == rows[:1]))
