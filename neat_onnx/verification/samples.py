"""The inputs that a network and its model are compared on.

Short sequences, many: zeros, ones, then normally distributed ones, the last quarter ten times as
large. For a network with memory also a few long ones, because a value may grow for hundreds of
steps before it does harm.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from neat_onnx.arguments import is_whole, shown
from neat_onnx.errors import OptionError
from neat_onnx.model import Model
from neat_onnx.model.wiring import node_count
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.runtimes.ports import as_read

STEPS = 16
LONG_SEQUENCES = 8
_MAX_LONG_STEPS, _MIN_LONG_STEPS = 512, 48
_MAX_NODE_RUNS = 20_000  # for the long sequences: about half a second
_LARGE_INPUT_FACTOR = 10.0
_MIN_SAMPLES, _MAX_SAMPLES = 4, 1_000_000


def check_sampling(samples: Any, seed: Any) -> None:
    """Refuse numbers of samples and seeds that are none.

    Raises:
        OptionError: `samples` is no integer from 4 to 1,000,000, or `seed` none of 0 or more.
    """
    for name, value, least, most in (
        ("samples", samples, _MIN_SAMPLES, _MAX_SAMPLES),
        ("seed", seed, 0, math.inf),
    ):
        if not is_whole(value) or not least <= value <= most:
            upper = "or more" if most == math.inf else f"to {most}"
            raise OptionError(
                f"{name} is {shown(value)}, expected an integer of {least} {upper}",
                where=name,
                hint=f"Take {name}={least} {upper}, without a fraction",
            )


def short_sequences(net: Network, samples: int, seed: int) -> Floats:
    """Sample inputs (T, samples, I); T is 1 for a network without memory."""
    steps = STEPS if net.has_memory else 1
    return _sampled([seed, 2], steps, samples, net)


def long_sequences(net: Network, seed: int, steps: int) -> Floats:
    """Sample the few long sequences, (steps, 8, I)."""
    return _sampled([seed, 1], steps, LONG_SEQUENCES, net)


def long_steps(nodes: int) -> int:
    """How many steps of a graph of so many nodes the long sequences have: 48 to 512."""
    return max(_MIN_LONG_STEPS, min(_MAX_LONG_STEPS, _MAX_NODE_RUNS // max(nodes, 1)))


def _sampled(stream: list[int], steps: int, samples: int, net: Network) -> Floats:
    """Sample inputs from a stream of their own; weights drawn with the same seed are others."""
    x = np.random.default_rng(stream).normal(size=(steps, samples, len(net.input_neurons)))
    x[:, 0], x[:, 1] = 0.0, 1.0
    x[:, -(samples // 4) :] *= _LARGE_INPUT_FACTOR
    return x


def sampled_inputs(
    net: Network, model: Model, samples: int, seed: int, *, long: bool, fixed_batch: bool
) -> list[Floats]:
    """Return the inputs (T, N, I) that a network and a model are compared on.

    Args:
        net: says how many inputs there are, and whether there is memory.
        model: says to which type they are rounded, and for how many steps it is played.
        samples: the number of short sequences, drawn with this seed.
        long: sample the long sequences too, where there is memory.
        fixed_batch: the model states how many samples it takes at a time.
    """
    inputs = [short_sequences(net, samples, seed)]
    if net.has_memory and long:
        nodes = node_count(model.graph) * (LONG_SEQUENCES if fixed_batch else 1)
        inputs.append(long_sequences(net, seed, long_steps(nodes)))
    return [as_read(net, model, x) for x in inputs]
