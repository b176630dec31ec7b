"""The memory of a model that is imported: which output feeds which input."""

from collections.abc import Iterator, Mapping

import numpy as np

from neat_onnx.errors import ModelError, warn
from neat_onnx.lifting.axes import Axes
from neat_onnx.lifting.context import LiftingContext, Value
from neat_onnx.lifting.neurons import Resolution
from neat_onnx.model import Model
from neat_onnx.model.states import guessed_pairs, is_own_pair, state_pairs
from neat_onnx.network.genes import distinct
from neat_onnx.network.memory import MemoryPort
from neat_onnx.passes.sequence_states import sequence_states


def fed_states(model: Model) -> tuple[Model, dict[str, str]]:
    """Return the model with the states of recurrent layers, and the output that feeds each state.

    Warns of each one that neither metadata nor this package's own names tell.

    Raises:
        ModelError: every output feeds an input.
    """
    known, named = sequence_states(model), guessed_pairs(model)
    pairs, stated = state_pairs(known), state_pairs(model)
    for previous, following in pairs.items():
        if named.get(previous) == following:
            warn(f"by their names, '{following}' is taken to feed '{previous}' in the next step")
        elif stated.get(previous) != following:
            warn(
                f"'{following}' is taken to feed '{previous}' in the next step: it is the last "
                "state of the layers that begin with it"
            )
    if pairs and {entry.name for entry in model.graph.outputs} <= {*pairs.values()}:
        raise ModelError(
            "every output feeds an input, and none is left",
            where="graph.outputs",
            hint="Give a state as a second output too, by an Identity",
        )
    return known, pairs


def memory_ports(
    ctx: LiftingContext,
    pairs: Mapping[str, str],
    axes: Mapping[str, Axes],
    resolution: Resolution,
) -> Iterator[MemoryPort]:
    """Yield the states with names of other tools, if each element is the activation of a neuron.

    Args:
        ctx: the import.
        pairs: the output that feeds each state.
        axes: which axes of each input are time and the batch.
        resolution: the neurons.
    """
    taken = np.empty(0, np.int64)
    for previous, following in pairs.items():
        if is_own_pair(previous, following) or len(axes[previous]) > 1:
            continue
        port = _port(ctx, (previous, following), axes[previous], resolution)
        if port is None or len(distinct(both := np.append(taken, port.neurons))) < len(both):
            continue
        taken = both
        yield port


def _port(
    ctx: LiftingContext, names: tuple[str, str], axes: Axes, resolution: Resolution
) -> MemoryPort | None:
    """The memory port of a state; None if its elements are not each a neuron's activation."""
    held = ctx.operands[names[0]]
    if not isinstance(held, Value):
        raise AssertionError(f"the state {names[0]} is a constant")
    fed = np.array([ctx.next[register] for register in held.signals.ravel().tolist()])
    neurons = resolution.activations(fed)
    if neurons is None:
        return None
    shape = tuple(size for axis, size in enumerate(held.shape) if axis not in axes)
    return MemoryPort(*names, shape, axes[0] if axes else 0, neurons)
