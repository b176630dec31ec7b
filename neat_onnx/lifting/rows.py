"""Products along the last axis of a tensor: all rows have the same weights, a window of one tap.

Export writes such neurons as one, not as a matrix that repeats the weights along its
diagonal. Neurons change until the import ends, as biases and products join them; so it is checked
then whether the rows are still alike.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule, with_late_sinks
from neat_onnx.network.spatial import SpatialBlock, connections_of, most_of_block, rows_alike

_MIN_WEIGHTS_SAVED = 32  # in place of one matrix for all rows


@dataclass(frozen=True, eq=False)
class SumRows:
    """A product along the last axis.

    Attributes:
        sources: the signals that it reads, (rows, inputs).
        neurons: the states of its neurons, (rows, outputs).
        weights: the same for products with the same matrix; 0 where it is not known.
    """

    sources: Ints
    neurons: Ints
    weights: int = 0

    @property
    def matters(self) -> bool:
        """Whether they are worth a matrix of their own."""
        each = self.sources.shape[1] * self.neurons.shape[1]
        return are_worth_a_matrix(len(self.sources), each)


def are_worth_a_matrix(rows: int, weights: int) -> bool:
    """Whether a matrix for all rows would be much larger than that of one row's weights."""
    return (rows * rows - 1) * weights >= _MIN_WEIGHTS_SAVED


def blocks_of(rows: Iterable[SumRows], net: Network, neuron_of: Ints) -> tuple[SpatialBlock, ...]:
    """The rows that are alike in a network, as blocks whose windows have one tap.

    Products of one level with the same matrix are rows of one block.
    """
    found = [replace(each, sources=neuron_of[each.sources], neurons=neuron_of[each.neurons])
             for each in rows]  # fmt: skip
    blocks: list[SpatialBlock] = []
    for group in _together(found, net):
        joined = [_joined(group)] if len(group) > 1 else group
        alike = [each for each in joined if each.matters and _are_alike(net, each)]
        if not alike and len(group) > 1:
            alike = [each for each in group if each.matters and _are_alike(net, each)]
        blocks += (rows_alike(each.sources, each.neurons) for each in alike)
    most = most_of_block(len(net.connections))
    return tuple(block for block in blocks if connections_of(block) <= most)


def _together(rows: Sequence[SumRows], net: Network) -> list[list[SumRows]]:
    """The products by matrix and level: neurons of one level do not depend on each other."""
    keys = [each.weights for each in rows]
    if len({*keys} - {0}) == len(keys) - keys.count(0):
        return [[each] for each in rows]
    level = with_late_sinks(schedule(net), net, np.ones(len(net), np.bool_)).level
    groups: dict[tuple[int, ...], list[SumRows]] = {}
    for number, each in enumerate(rows):
        levels = level[each.neurons]
        one = each.weights and np.all(levels == levels[0, 0]) and NONE not in each.neurons
        key = (each.weights, int(levels[0, 0]), *each.neurons.shape[1:]) if one else (number,)
        groups.setdefault(key, []).append(each)
    return list(groups.values())


def _joined(group: Sequence[SumRows]) -> SumRows:
    sources, neurons = ([getattr(each, side) for each in group] for side in ("sources", "neurons"))
    return SumRows(np.concatenate(sources), np.concatenate(neurons))


def _are_alike(net: Network, rows: SumRows) -> bool:
    """Whether all rows of neurons have the same genes, each over its own row of sources.

    A row that reads a source twice has one connection for both: export compares its weights.
    """
    neurons, sources = rows.neurons.ravel(), rows.sources.ravel()
    if np.any(neurons == NONE) or np.any(sources == NONE) or not _are_distinct(rows):
        return False
    genes = net.neurons
    columns = (genes.aggregation, genes.bias, genes.response)
    if not all(_repeats(column[neurons], len(rows.sources)) for column in columns):
        return False
    if not _activated_alike(net, rows.neurons):
        return False
    ordered = np.sort(rows.sources, axis=1)
    once = np.all(ordered[:, 1:] != ordered[:, :-1], axis=1)
    return bool(np.any(once)) and _read_alike(net, SumRows(rows.sources[once], rows.neurons[once]))


def _activated_alike(net: Network, neurons: Ints) -> bool:
    """Whether all rows have the same activations, as far as they are read: the places of neurons
    that evolution has changed are not.
    """
    live, is_read = net.live, np.zeros(len(net), np.bool_)
    is_read[live.source] = is_read[net.output_neurons] = True
    is_read[live.gater[live.gater != NONE]] = True
    codes, there = net.neurons.activation[neurons], is_read[neurons]
    first = codes[np.argmax(there, axis=0), np.arange(codes.shape[1])]
    return bool(np.all((codes == first) | ~there))


def _read_alike(net: Network, rows: SumRows) -> bool:
    """Whether all rows have the same connections, each with its own row of distinct sources."""
    count, neurons = len(rows.sources), rows.neurons.ravel()
    if not _repeats(net.fan_in[neurons], count):
        return False
    row, edge = net.edges_into(neurons)
    live = net.live
    column = _columns(rows, row // rows.neurons.shape[1], live.source[edge], len(net))
    order = np.lexsort((column, row))
    plain = (live.gater == NONE) & (live.delay == 0) & ~live.reads_state
    return bool(
        np.all(plain[edge])
        and np.all(column != NONE)
        and _repeats(column[order], count)
        and _repeats(live.weight[edge][order], count)
    )


def _columns(rows: SumRows, row: Ints, source: Ints, neurons: int) -> Ints:
    """The place of each source in its row, NONE if another row has it."""
    keys = (np.arange(len(rows.sources))[:, None] * neurons + rows.sources).ravel()
    wanted = row * neurons + source
    order = np.argsort(keys)
    at = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
    return np.where(keys[at] == wanted, at % rows.sources.shape[1], NONE)


def _are_distinct(rows: SumRows) -> bool:
    """Whether no row reads a neuron of another; several rows may read the same."""
    neurons = rows.neurons.ravel()
    return len(np.unique(neurons)) == len(neurons) and not np.any(np.isin(rows.sources, neurons))


def _repeats(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]], count: int) -> bool:
    """Whether an array is one run of values, so many times."""
    if len(values) % count:
        return False
    rows = values.reshape(count, -1)
    return bool(np.all(rows == rows[:1]))
