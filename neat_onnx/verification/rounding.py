"""The error that a type makes by itself: a network, evaluated with every operation rounded.

No file of that type can be expected to do better. How large the error is depends on the order of
the operations, so the network is evaluated in several ways, and the largest error counts.

Overflow is told when a network is exported, rather than when its model is run. A state may grow
from step to step until float32 has no number for it, and products of genes of 1e300 overflow
float64 in one order and not in another. Only networks in which an analysis finds that possible are
played, on the sequences that `verify` plays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from neat_onnx.errors import NetworkError, warn
from neat_onnx.model import DataType, Model
from neat_onnx.model.wiring import node_count
from neat_onnx.network.genes import NONE, Bools, Floats
from neat_onnx.network.growth import overflowing
from neat_onnx.network.network import Network
from neat_onnx.network.program import Program
from neat_onnx.network.schedule import contributing, schedule
from neat_onnx.network.structure import IMPORTED
from neat_onnx.verification.samples import long_sequences, long_steps, short_sequences

_SAMPLES, _SEED, _RUNS = 64, 0, 2
_MAX_PLAYED = 1 << 25  # connections times steps of the long sequences
_LARGE_IN_FLOAT32, _LARGE_IN_FLOAT64 = 1e6, 1e150
_VISIBLE = 1e-3  # an error of rounding, relative to max(1, |output|)
_STEPS_OF_MARGIN = 16  # another order of operations overflows a little earlier in a long sequence
_DRAWS = 2
_DRAWS_OF_SMALL, _MAX_CONNECTIONS_OF_SMALL = 32, 8192  # spikes may move in few orders of a sum
_NUMBERS_AT_ONCE = 1 << 20  # of the draws that are computed side by side


def rounded_runs(net: Network, x: Floats, element: type[np.floating[Any]]) -> Iterator[Floats]:
    """Run the network in a type, in several ways that differ by rounding alone.

    Genes rounded to the nearest, as the fastest products and without products of zeros; then the
    latter with sums in an order of their own, and each gene rounded to a number beside it, at
    random.

    Args:
        x: the inputs (T, N, I), which the type holds.
        element: np.float32 or np.float64.

    Yields:
        The outputs (T, N, O). They may be infinite or NaN where the type overflows.
    """
    from neat_onnx.network.side_by_side import side_by_side  # noqa: PLC0415 (few exports need it)

    rng, plan = np.random.default_rng(0), schedule(net)
    with np.errstate(all="ignore"):
        dense, finite = Program(net, element=element, plan=plan).run(x)
        if finite:
            yield dense
        yield Program(net, dense=False, element=element, plan=plan).run(x)[0]
        draws = _DRAWS_OF_SMALL if len(net.connections) <= _MAX_CONNECTIONS_OF_SMALL else _DRAWS
        ports = max(len(net.input_neurons), len(net.output_neurons))
        numbers = len(x) * x.shape[1] * ports + len(net.connections)
        at_once = max(1, _NUMBERS_AT_ONCE // max(1, numbers))
        for start in range(0, draws, at_once):
            nets = [_nudged(net, element, rng) for _ in range(min(at_once, draws - start))]
            program = Program(side_by_side(nets), dense=False, element=element)
            runs = program.run(np.tile(x, len(nets)))[0]
            yield from np.moveaxis(runs.reshape(*x.shape[:2], len(nets), -1), 2, 0)


def _nudged(net: Network, element: type[np.floating[Any]], rng: np.random.Generator) -> Network:
    """The network in an order of its own, with each gene rounded up or down at random.

    A gene that float32 holds stays; so would all in float64: there each moves by one bit or not.
    One beyond the type becomes the largest number: an export has it where nothing reads it alone.
    """
    largest = np.finfo(element).max

    def rounded(values: Floats) -> Floats:
        nearest = np.clip(values, -largest, largest).astype(element)
        there = nearest.astype(np.float64)
        up = rng.random(values.shape) < 0.5 if element is np.float64 else there < values
        other = np.nextafter(nearest, np.where(up, largest, -largest).astype(element))
        keep = rng.random(values.shape) < 0.5
        if element is not np.float64:
            keep |= there == values
        return np.where(keep, there, other.astype(np.float64))

    genes, links = net.neurons, net.connections
    bias, response, weight = map(rounded, (genes.bias, genes.response, links.weight))
    nudged = net.with_parameters(weight=weight, bias=bias, response=response)
    order = rng.permutation(len(net.connections))
    return replace(nudged, connections=nudged.connections.take(order))


def within_range(runs: list[Floats], undefined: Bools | None = None) -> tuple[Bools, int | None]:
    """Find the steps of sequences that a type can hold: those before an output overflows.

    Args:
        runs: the outputs (T, N, O) of the network in that type, from `rounded_runs`.
        undefined: the outputs that are NaN whatever the type, which do not count where runs agree.

    Returns:
        (T, N, 1), true where a sequence is far enough from overflow in all runs: 16 steps in a long
        sequence, one in a short one; and the first step that overflows, None if none does.
    """
    if undefined is not None:
        runs = [np.where(undefined & np.isnan(run), 0.0, run) for run in runs]
    finite = np.all([np.all(np.isfinite(run), axis=-1) for run in runs], axis=0)
    steps, samples = finite.shape
    margin = _STEPS_OF_MARGIN if steps > _STEPS_OF_MARGIN else 1
    whole, first = np.all(finite, axis=0), np.argmin(finite, axis=0)
    held: Bools = whole | (np.arange(steps)[:, None] < first - margin)
    return held.reshape(steps, samples, 1), min(first[~whole].tolist(), default=None)


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
    sequences = _sequences(net, node_count(model.graph))
    if not is_large and all(Program(net, element=element).run(x)[1] for x in sequences):
        return  # each value is finite
    first, error = _played(net, element, sequences)
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


def _sequences(net: Network, nodes: int) -> list[Floats]:
    """The inputs (T, N, I) that `verify` compares a network and its graph of so many nodes on."""
    inputs = [short_sequences(net, _SAMPLES, _SEED)]
    if net.has_memory:
        steps = min(long_steps(nodes), _MAX_PLAYED // max(len(net.connections), 1))
        inputs.append(long_sequences(net, _SEED, max(steps, 1)))
    return inputs


@np.errstate(all="ignore")
def _played(
    net: Network, element: type[np.floating[Any]], inputs: list[Floats]
) -> tuple[int | None, float]:
    """Play a network in a type: the first step that overflows, and the largest error without."""
    largest = 0.0
    for sampled in inputs:
        x = sampled.astype(element).astype(np.float64)
        want = net.run(x)
        runs = list(islice(rounded_runs(net, x, element), _RUNS))
        lost = np.any([np.isfinite(want) & ~np.isfinite(run) for run in runs], axis=(0, 2, 3))
        if np.any(lost):
            return int(np.argmax(lost)), largest
        for run in runs:
            finite = np.isfinite(want) & np.isfinite(run)
            error = np.abs(run - want) / np.maximum(1.0, np.abs(want))
            largest = max(largest, float(np.max(error, where=finite, initial=0.0)))
    return None, largest
