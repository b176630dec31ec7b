"""Signals whose readers import would take for a part of them, unless a copy stands between."""

import numpy as np

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.network.activations import FORMULA
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.operators.formulas.activate import identities


def are_read_here(ctx: LoweringContext, sources: Ints) -> bool:
    """Whether signals are identities that nothing else reads: import would take the function of
    each for theirs.
    """
    net, read = ctx.net, sources[sources < len(ctx.net)]
    readers = np.bincount(net.live.source, minlength=len(net))
    readers[net.output_neurons] += 1
    readers += np.bincount(net.live.gater[net.live.gater != NONE], minlength=len(net))
    once = readers == np.bincount(read, minlength=len(net))
    return bool(np.any((identities(ctx) & once & ~net.is_input)[read]))


def have_formulas(ctx: LoweringContext, signals: Ints) -> bool:
    """Whether signals are activations without names, which grow on import."""
    unnamed = np.array([name.startswith(FORMULA) for name in ctx.net.activations], np.bool_)
    neurons = signals[signals < len(ctx.net)]
    return bool(np.any(unnamed[ctx.net.neurons.activation[neurons]]))
