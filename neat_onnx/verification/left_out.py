"""What is left out: steps that a type cannot hold, and samples that no runtime owes.

NaN has no place in an order, so that runtimes differ in which number is the largest beside it: the
place that ArgMax gives is another one. Policies compute logarithms of masks, which random inputs
make negative. All else that reads NaN gives NaN everywhere.
"""

from typing import NamedTuple

import numpy as np

from neat_onnx.network.activations import activation_named
from neat_onnx.network.expression import parts_of
from neat_onnx.network.genes import NONE, Bools, Floats, Ints, distinct
from neat_onnx.network.network import Network
from neat_onnx.network.program import Program
from neat_onnx.verification.judge import Errors, measure
from neat_onnx.verification.rounding import within_range

_MIN_SHARE_HELD = 1 / 32  # of the sequences: the inputs of the first one are zeros
_SUMMING = frozenset({"sum", "mean", "product"})
_ORDERING = frozenset({"clip", "maximum", "minimum", "relu", "sign"})
_VALUES_AT_ONCE = 1 << 24  # of neurons


class Part(NamedTuple):
    """One kind of sequences: inputs (T, N, I), and the outputs (T, N, O) of both sides."""

    x: Floats
    want: Floats
    got: Floats

    @property
    def errors(self) -> Errors:
        """How far the outputs are from each other."""
        return measure(self.want, self.got)


class Cut(NamedTuple):
    """Steps that are not compared: the first one, in how many sequences, and whether enough are."""

    step: int | None
    sequences: int
    enough_held: bool


def without(part: Part, lost: Bools) -> Part:
    """The part without these of its N sequences."""
    return Part(*(each[:, ~lost] for each in part))


def held_steps(
    parts: list[Part], runs: list[list[Floats]]
) -> tuple[list[Part], list[list[Floats]], Cut]:
    """Leave the steps that the type cannot hold out of the parts, and of their runs.

    Where that leaves nothing, outputs that are NaN by themselves, as a root of a negative number,
    do not count.
    """
    helds, firsts = zip(*(within_range(run) for run in runs), strict=True)
    if not any(np.any(held) for held in helds):
        undefined = [np.isnan(part.want) for part in parts]
        helds, firsts = zip(*map(within_range, runs, undefined), strict=True)
    steps = [first for first in firsts if first is not None]
    cut = Cut(
        step=min(steps, default=None),
        sequences=sum(int(np.sum(~np.all(held, axis=0))) for held in helds),
        enough_held=any(
            np.any(held) and np.mean(np.any(held, axis=0)) >= _MIN_SHARE_HELD for held in helds
        ),
    )
    agreeing = [  # at zero, where it is not held
        Part(part.x, *(np.where(held, values, 0.0) for values in (part.want, part.got)))
        for part, held in zip(parts, helds, strict=True)
    ]
    kept = [
        [np.where(held, each, 0.0) for each in run] for run, held in zip(runs, helds, strict=True)
    ]
    return agreeing, kept, cut


def unordered(net: Network, x: Floats, outputs: Floats) -> Bools:
    """Find the sequences in which a neuron orders NaN, and all outputs are finite.

    Args:
        net: the network.
        x: the inputs (T, N, I).
        outputs: the network's, (T, N, O).

    Returns:
        (N,), true where a sequence is such.
    """
    found: Bools = np.all(np.isfinite(outputs), axis=(0, 2))
    program, read = Program(net, dense=False), _ordered(net)
    count = max(1, _VALUES_AT_ONCE // max(1, len(x) * len(net.neurons.id)))
    for start in range(0, x.shape[1], count):
        values = program.neuron_values(x[:, start : start + count])
        found[start : start + count] &= np.any(np.isnan(values[:, read]), axis=(0, 1))
    return found


def _ordered(net: Network) -> Ints:
    """The neurons that others put in an order, as max, a relu or ArgMax does, with their gaters."""
    formulas = [activation_named(name).expression for name in net.activations]
    by_activation = [any(part.op in _ORDERING for part in parts_of(each)) for each in formulas]
    by_aggregation = [name not in _SUMMING for name in net.aggregations]
    orders = np.array(by_activation, np.bool_)[net.neurons.activation]
    orders |= np.array(by_aggregation, np.bool_)[net.neurons.aggregation]
    read = orders[net.live.target]
    found = distinct(np.concatenate([net.live.source[read], net.live.gater[read]]))
    neurons: Ints = found[found != NONE]
    return neurons
