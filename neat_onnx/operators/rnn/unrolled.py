"""RNN, GRU and LSTM layers over a sequence of fixed length, whose steps are neurons of their own.

They are written as one node over all steps, if all steps have the same weights. It begins at zero,
or at the values of any other neurons. Layers with the same weights, as a batch of fixed size makes
them, are samples of one node.
"""

from collections import defaultdict
from collections.abc import Hashable
from itertools import chain

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.network.genes import NONE, Bools, Ints
from neat_onnx.network.schedule import SameLevel, schedule
from neat_onnx.operators.rnn.elman import elman_layers
from neat_onnx.operators.rnn.parameters import StepReader
from neat_onnx.operators.rnn.reads import Reads, Steps
from neat_onnx.operators.rnn.runs import runs_of
from neat_onnx.operators.rnn.samples import Samples, Unrolled
from neat_onnx.operators.rnn.side_by_side import gated_layers


@lowers(Stage.SEQUENCES)
def plan_unrolled(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim the layers that are RNN, GRU or LSTM; runtimes compute these in float32 only."""
    options = ctx.options
    wanted = options.fused_recurrent and options.allow_partial_connectivity
    stepping = options.sequence and ctx.net.has_memory
    if options.dtype != "float32" or not wanted or stepping:
        return Plan()
    claims: list[Claim] = []
    for samples in _samples(ctx, Reads(ctx, free)):
        if (claim := _claim(ctx, samples, claims)) is not None:
            claims.append(claim)
        elif len(samples.layers) > 1:
            for layer in samples.layers:
                alone = _claim(ctx, Samples([layer]), claims)
                claims += [alone] if alone is not None else []
    return Plan(claims)


def _samples(ctx: LoweringContext, reads: Reads) -> list[Samples]:
    """The layers that one node computes, with those together that have the same weights."""
    taken = np.zeros(len(ctx.net), np.bool_)
    alike: dict[Hashable, list[Unrolled]] = defaultdict(list)
    runs = (runs_of(reads, layer) for layer in gated_layers(reads))
    for layer in chain(*runs, elman_layers(reads)):
        found = unrolled(ctx, reads, layer)
        if found is not None and not np.any(taken[found.neurons]):
            taken[found.neurons] = True
            alike[found.weights].append(found)
    return [Samples(layers) for layers in alike.values()]


def _claim(ctx: LoweringContext, samples: Samples, claims: list[Claim]) -> Claim | None:
    """The claim of some layers beside others; None if they cannot be computed at once."""
    read = samples.read
    if np.any(np.isin(read, samples.neurons)):  # one of the layers reads another one
        return None
    together = SameLevel(samples.neurons, read[read < len(ctx.net)])
    earlier = [claim.one_level for claim in claims if claim.one_level is not None]
    try:
        schedule(ctx.net, [*ctx.one_level, *earlier, together])
    except NetworkError:  # a later step reads something that depends on an earlier one
        return None
    suffix = f"_{len(claims) + 1}" if claims else ""
    return Claim(Block(0, samples.neurons, suffix), samples.lower, together)


def unrolled(ctx: LoweringContext, reads: Reads, layer: Steps) -> Unrolled | None:
    """The layer, if one node computes it and no other neuron reads inner ones."""
    shown = _shown(ctx, layer)
    if shown is None or not layer.is_clipped_alike:
        return None
    reader, hidden = StepReader(reads, layer), layer.hidden
    later = [reader.step(k, before) for k, before in enumerate(hidden[:-1], 1)]
    last = later[-1]
    if last is None or not last.sources.size or np.any(np.isnan(last.w)):
        return None
    steps = [step for step in [reader.first(last), *later] if step is not None]
    if len(steps) < len(hidden) or not all(step.is_alike(last) for step in steps):
        return None
    before = steps[0].before
    start = dict(layer.start) | ({"hidden": before} if before.size else {})
    sources = np.stack([step.sources for step in steps])
    found = Unrolled(layer.cell, layer.functions, layer.parts, sources, start, shown, last)
    return found if _is_safe(ctx, found) else None


def _is_safe(ctx: LoweringContext, layer: Unrolled) -> bool:
    """Whether it reads others alone, and no zero weight can meet a value that may overflow."""
    if np.any(np.isin(layer.read, layer.neurons)):
        return False
    if any(len(np.unique(signals)) < len(signals) for signals in layer.start.values()):
        return False
    first = [layer.start["hidden"]] if "hidden" in layer.start else []
    before, last = np.vstack([*first, layer.hidden[:-1]]), layer.last
    cell, units = layer.cell, layer.hidden.shape[1]
    rows = {part.rows for part in cell.parts}
    used = np.repeat([block in rows for block in range(cell.blocks)], units)
    read = [(last.w[used], layer.sources), (last.r[used], before)]
    if np.any(last.peephole):
        blocks = [part.peephole[0] for part in cell.parts if part.peephole]
        read.append((last.peephole.reshape(-1, units)[blocks], layer.parts["memory"]))
    return not any(
        np.any(matrix[:, np.any(ctx.signals.overflows[signals], axis=0)] == 0.0)
        for matrix, signals in read
    )


def _shown(ctx: LoweringContext, layer: Steps) -> tuple[str, ...] | None:
    """The states besides the hidden one that others read after the last step.

    None if others read more of the layer, but for its hidden neurons.
    """
    neurons = np.concatenate([each.ravel() for each in layer.parts.values()])
    hidden, last = layer.hidden.ravel(), layer.steps[-1]
    if _is_closed(ctx, neurons, hidden):
        return ()
    names = tuple(state for state in layer.cell.states if state != "hidden")
    ends = [last[state] for state in names]
    return names if _is_closed(ctx, neurons, np.concatenate([hidden, *ends])) else None


def _is_closed(ctx: LoweringContext, neurons: Ints, shown: Ints) -> bool:
    """Whether each of these neurons is another one, and others read `shown` ones alone.

    The same layer in the next step of a network with memory is another one.
    """
    live, count = ctx.net.live, len(ctx.net)
    inner, everyone = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    everyone[neurons] = inner[neurons] = True
    inner[shown] = False
    if np.count_nonzero(everyone) < len(neurons) or ctx.reads_state(neurons):
        return False
    gates = (live.gater != NONE) & inner[live.gater]
    delayed = inner[live.source] & (live.delay > 0)
    outside = (inner[live.source] | gates) & ~everyone[live.target]
    return not np.any(outside | delayed) and not np.any(inner[ctx.net.output_neurons])
