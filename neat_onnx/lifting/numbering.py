"""The order of an import's neurons, which does not depend on that of nodes, or on readers.

Neurons that were made together stand together, level by level. A formula of a signal becomes a
neuron when something reads it that needs one: it stands with the formulas of signals that were
made together with that one.
"""

from collections.abc import Sequence

import numpy as np

from neat_onnx.lifting.context import INPUT, REGISTER
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.schedule import levels_of


def order_by_level(
    kind: Ints,
    neuron_of: Ints,
    connections: tuple[Ints, Ints, Ints],
    made: Sequence[Ints],
    formulas: Ints,
) -> Ints:
    """The neurons in that order, which begins with the inputs.

    Args:
        kind: of each signal.
        neuron_of: for each signal its neuron, or NONE.
        connections: the signals that are read, the neurons that read them, and the signals that
            gate that, or NONE.
        made: signals that were made together.
        formulas: a signal, and the neuron of a function of it, from the first made on, (k, 2).
    """
    end = np.arange(len(kind))
    for signals in (np.flatnonzero(kind == INPUT), *made):
        end[signals] = signals.max(initial=0)
    known, first = np.unique(neuron_of, return_index=True)
    first = first[known != NONE]
    steps = np.zeros(len(first), np.int64)  # from the neurons that were made
    for signal, neuron in formulas.tolist():
        end[first[neuron]] = end[signal]
        steps[neuron] = steps[neuron_of[signal]] + 1
    group = np.unique([end[first], steps], axis=1, return_inverse=True)[1].ravel()
    level = _levels(group, kind, neuron_of, connections)
    if np.any(level == NONE):
        level = _levels(np.arange(len(first)), kind, neuron_of, connections)
    return np.lexsort((first, steps, end[first], level))


def _levels(group: Ints, kind: Ints, neuron_of: Ints, connections: tuple[Ints, Ints, Ints]) -> Ints:
    """The level of each neuron's group, whatever the group reads of itself; NONE on a cycle."""
    count = int(group.max()) + 1
    source, target, gate = connections
    edges = []
    for signals in (source, gate):
        now = np.flatnonzero((signals != NONE) & (kind[signals] != REGISTER))
        key = group[neuron_of[signals[now]]] * count
        key += group[target[now]]
        edges.append(np.unique(key))
    read, by = np.divmod(np.concatenate(edges), count)
    inputs = np.unique(group[neuron_of[kind == INPUT]])
    is_input = np.zeros(count, np.bool_)
    is_input[inputs] = True
    others = read != by
    level, _ = levels_of(read[others], by[others], inputs, is_input)
    found: Ints = level[group]
    return found
