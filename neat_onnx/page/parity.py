"""A network and its model compared, and their outputs to be plotted against each other.

onnx's evaluator compares where it can. It has not every operator, and some of its own are wrong:
then the page's other runtime is the one that compares.
"""

from typing import Any, Literal

import numpy as np

import neat_onnx
from neat_onnx.errors import ModelError
from neat_onnx.model import Model
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.runtimes.player import Player, number_type
from neat_onnx.runtimes.ports import as_read
from neat_onnx.verification.compare import with_ports
from neat_onnx.verification.samples import short_sequences

_MAX_POINTS = 2000  # of the plot
_SAMPLES = 256  # short sequences, as many as `neat_onnx.verify` plays
_BINS = 24


def parity(net: Network, model: Model) -> dict[str, Any]:
    """Run both sides on the short sequences of `neat_onnx.verify`.

    Returns:
        `network`, `model`: the same outputs of both sides, at most 2,000, evenly chosen of `total`.
        `counts`, `edges`: a histogram of all errors, the model's output minus the network's.
        `band`: half a unit in the last place of the largest output in the model's type.
    """
    model = with_ports(net, model)
    element = number_type(model).dtype.type
    x = as_read(net, model, short_sequences(net, _SAMPLES, seed=0))
    played = Player(model, net, "reference").play(x, [port.name for port in net.outputs])
    got = np.concatenate([played[port.name] for port in net.outputs], axis=-1)
    return _pairs(net.run(x), got, element)


def parity_of_networks(one: Network, other: Network) -> dict[str, Any] | None:
    """Run two networks on the same short sequences; None if their numbers of ports' values differ.

    The histogram is of the second network's outputs minus the first one's.
    """
    sizes = [(len(net.input_neurons), len(net.output_neurons)) for net in (one, other)]
    if sizes[0] != sizes[1]:
        return None
    x = short_sequences(other if other.has_memory else one, _SAMPLES, seed=0)
    return _pairs(one.run(x), other.run(x), np.float64)


def _pairs(want: Floats, got: Floats, element: type[np.floating[Any]]) -> dict[str, Any]:
    want, got = want.ravel(), got.ravel()
    finite = np.isfinite(got) & np.isfinite(want)
    want, got = want[finite], got[finite]
    chosen = np.linspace(0, len(want) - 1, min(_MAX_POINTS, len(want))).round().astype(int)
    errors = got - want
    reach = float(np.abs(errors).max(initial=0.0)) or 1e-300
    counts, edges = np.histogram(errors, bins=_BINS, range=(-reach, reach))
    spacing = np.spacing(np.abs(want).max(initial=0.0).astype(element))
    return {
        "network": want[chosen].tolist(),
        "model": got[chosen].tolist(),
        "counts": counts.tolist(),
        "edges": edges.tolist(),
        "band": float(spacing) / 2,
        "total": len(want),
    }


# ruff: noqa: PLC0415 - the page imports these rooms with its first file, and words when it fails


def compared(
    net: Network, model: Model, kind: Literal["network", "model"], *, samples: Any, seed: Any
) -> tuple[dict[str, Any] | None, str]:
    """The report of onnx's evaluator; or None, and the reason why it does not run a dropped model.

    Args:
        net, model: the two sides.
        kind: which of them was dropped; the other was made of it.
        samples, seed: as for `verify`.

    Raises:
        ModelError: a network's own model does not run, or a model's samples are mixed.
    """
    from neat_onnx.runtimes.player import ShapeMismatch

    try:
        return neat_onnx.verify(net, model, samples=samples, seed=seed).model_dump(), ""
    except ModelError as error:
        if kind == "network" or isinstance(error, ShapeMismatch):
            raise
        from neat_onnx.page.wording import for_visitors

        return None, for_visitors([error.message]) or ""
