"""The error that a type makes by itself: a network, evaluated with every operation rounded.

No file of that type can be expected to do better. How large the error is depends on the order of
the operations, so the network is evaluated in several ways, and the largest error counts.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from neat_onnx.network.genes import Bools, Floats
from neat_onnx.network.network import Network
from neat_onnx.network.program import Program
from neat_onnx.network.schedule import schedule

_STEPS_OF_MARGIN = 16  # another order of operations overflows a little earlier in a long sequence
_DRAWS = 2
_DRAWS_OF_SMALL, _MAX_CONNECTIONS_OF_SMALL = 32, 8192  # spikes may move in few orders of a sum


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
    rng, plan = np.random.default_rng(0), schedule(net)
    with np.errstate(all="ignore"):
        dense, finite = Program(net, element=element, plan=plan).run(x)
        if finite:
            yield dense
        yield Program(net, dense=False, element=element, plan=plan).run(x)[0]
        few = len(net.connections) <= _MAX_CONNECTIONS_OF_SMALL
        for _ in range(_DRAWS_OF_SMALL if few else _DRAWS):
            nudged, order = _nudged(net, element, rng), rng.permutation(len(net.connections))
            nudged = replace(nudged, connections=nudged.connections.take(order))
            yield Program(nudged, dense=False, element=element).run(x)[0]


def _nudged(net: Network, element: type[np.floating[Any]], rng: np.random.Generator) -> Network:
    """The network with each gene rounded up or down at random.

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
    return replace(
        net,
        neurons=replace(genes, bias=rounded(genes.bias), response=rounded(genes.response)),
        connections=replace(links, weight=rounded(links.weight)),
    )


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
