"""Warnings of overflow when a network is exported, rather than when its model is run.

A state may grow from step to step until float32 has no number for it, and products of genes of
1e300 overflow float64 in one order and not in another. Only networks in which an analysis finds
that possible are played, on the sequences that `verify` plays.
"""

from itertools import islice
from typing import Any

import numpy as np

from neat_onnx.errors import NetworkError, warn
from neat_onnx.model import DataType, Model
from neat_onnx.model.wiring import node_count
from neat_onnx.network.genes import NONE, Floats
from neat_onnx.network.growth import overflowing
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import contributing
from neat_onnx.network.structure import IMPORTED

_SAMPLES, _SEED, _RUNS = 64, 0, 2
_MAX_PLAYED = 1 << 25  # connections times steps of the long sequences
_LARGE_IN_FLOAT32, _LARGE_IN_FLOAT64 = 1e6, 1e150
_VISIBLE = 1e-3  # an error of rounding, relative to max(1, |output|)


def warn_of_overflow(net: Network, model: Model) -> None:
    """Warn if values of a network grow beyond the type of its export, or if large genes are rounded
    so that it shows. An imported network is as its own model, which says nothing.

    Raises:
        NetworkError: genes are so large that the outputs depend on the order of operations, even
            in float64.
    """
    if net.library == IMPORTED:
        return
    ports = (*model.graph.inputs, *model.graph.outputs)
    gene, double = _largest_gene(net), any(port.elem_type is DataType.DOUBLE for port in ports)
    if double and not (gene > _LARGE_IN_FLOAT64 and np.any(net.live.gater != NONE)):
        return  # sums of products of two have one order
    is_large = gene > _LARGE_IN_FLOAT32
    if not is_large and not _may_grow(net):
        return
    element = np.float64 if double else np.float32
    first, error = _played(net, element, node_count(model.graph))
    if double and (first is not None or error > _VISIBLE):
        raise NetworkError(
            f"genes of up to {gene:.3g} make values that float64 gives by the order of operations, "
            "which ONNX does not fix",
            hint="Scale the genes down",
        )
    if double:
        return
    if first is not None:
        warn(
            f"float32 cannot hold the values of this network from step {first} on: "
            'dtype="float64" does'
        )
    elif is_large and error > _VISIBLE:
        warn(
            f"float32 rounds genes of up to {gene:.3g}, so that outputs are off by {error:.2g}: "
            'dtype="float64" keeps them'
        )


def _largest_gene(net: Network) -> float:
    """The size of the largest gene that an output depends on."""
    needed = contributing(net)
    genes, live = net.neurons, net.live
    values = [genes.bias[needed], genes.response[needed], live.weight[needed[live.target]]]
    return max(float(np.max(np.abs(each), initial=0.0)) for each in values)


def _may_grow(net: Network) -> bool:
    """Whether a value that an output depends on may grow from step to step without a bound."""
    if not net.has_memory:
        return False
    found, needed = overflowing(net), contributing(net)
    return bool(np.any((found.activation | found.pre_activation)[needed]))


@np.errstate(all="ignore")
def _played(net: Network, element: type[np.floating[Any]], nodes: int) -> tuple[int | None, float]:
    """Play a network in a type: the first step that overflows, and the largest error without."""
    from neat_onnx.verification.rounding import rounded_runs  # noqa: PLC0415 (few are played)
    from neat_onnx.verification.samples import (  # noqa: PLC0415
        long_sequences,
        long_steps,
        short_sequences,
    )

    inputs = [short_sequences(net, _SAMPLES, _SEED)]
    if net.has_memory:
        steps = min(long_steps(nodes), _MAX_PLAYED // max(len(net.connections), 1))
        inputs.append(long_sequences(net, _SEED, max(steps, 1)))
    largest = 0.0
    for sampled in inputs:
        x = sampled.astype(element).astype(np.float64)
        want = net.run(x)
        runs = list(islice(rounded_runs(net, x, element), _RUNS))
        lost = np.any([np.isfinite(want) & ~np.isfinite(run) for run in runs], axis=(0, 2, 3))
        if np.any(lost):
            return int(np.argmax(lost)), largest
        largest = max(largest, *(_largest_error(want, run) for run in runs))
    return None, largest


def _largest_error(want: Floats, got: Floats) -> float:
    finite = np.isfinite(want) & np.isfinite(got)
    error = np.abs(np.where(finite, got - want, 0.0)) / np.maximum(1.0, np.abs(want))
    return float(np.max(error, where=finite, initial=0.0))
