"""Partitions of the neurons of one level: some are computed by matrix products of their own."""

import numpy as np

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.network.genes import Ints, distinct


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
