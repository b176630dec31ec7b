"""Partitions of the neurons of one level: some are computed by matrix products of their own."""

import numpy as np

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.network.genes import Bools, Ints, distinct
from neat_onnx.network.structure import IMPORTED
from neat_onnx.operators.formulas.activate import identities


def by_overflowing_source(ctx: LoweringContext, neurons: Ints) -> list[Ints]:
    """Split so that neurons together read the same sources among those that may overflow."""
    if not neurons.size:
        return []
    row, edge = ctx.edges_into(neurons)
    source = ctx.signals.read[edge]
    overflows = ctx.signals.overflows[source]
    if not np.any(overflows):
        return [neurons]
    row, source = row[overflows], source[overflows]
    bounds = np.searchsorted(row, np.arange(len(neurons) + 1)).tolist()
    parts: dict[tuple[int, ...], list[int]] = {}
    for neuron, start, stop in zip(neurons.tolist(), bounds, bounds[1:], strict=False):
        key = tuple(distinct(source[start:stop]).tolist())
        parts.setdefault(key, []).append(neuron)
    return [np.array(part, np.int64) for part in parts.values()]


def waiting_copy(ctx: LoweringContext, neurons: Ints) -> Bools:
    """Find an output that waits for others: a label is known before probabilities.

    A model has a node for it, a function of one tensor. As a part of the Gemm of the others it
    would come back as another network, which needs its genome in the file.

    Returns:
        Which one of several neurons of a level computes a function of a neuron that was known a
        level before; none where there are several, or where the network was not imported.
    """
    net, genes = ctx.net, ctx.net.neurons
    alone = (ctx.fan_in[neurons] == 1) & (net.aggregation_names[neurons] == "sum")
    if net.library != IMPORTED or not np.any(alone):
        return np.zeros_like(alone)
    alone &= (genes.bias[neurons] == 0.0) & (genes.response[neurons] == 1.0)
    row, edge = ctx.edges_into(neurons)
    level = np.append(ctx.schedule.level, ctx.schedule.depth)  # the last stands for products
    read = level[np.minimum(ctx.signals.read[edge], len(net))]
    alone[row[(ctx.signals.weight[edge] != 1.0) | (read + 1 >= level[neurons[row]])]] = False
    alone &= ~identities(ctx)[neurons]
    return alone if np.count_nonzero(alone) == 1 < len(neurons) else np.zeros_like(alone)
