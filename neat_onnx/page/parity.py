"""The outputs of a network and its model, or of two networks, to be plotted against each other."""

from typing import Any

import numpy as np

from neat_onnx.model import Model
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.runtimes.player import Player, number_type
from neat_onnx.runtimes.ports import as_read
from neat_onnx.verification.compare import both_sides, with_ports
from neat_onnx.verification.samples import short_sequences

_MAX_POINTS = 2000  # of the plot
_SAMPLES = 256  # short sequences, as many as `neat_onnx.verify` plays


def parity(net: Network, model: Model) -> dict[str, Any]:
    """Run both sides on the short sequences of `neat_onnx.verify`.

    Returns:
        `network`, `model`: the same outputs of both sides, at most 2,000, evenly chosen of `total`.
        `most`: how far apart outputs are. `band`: half a unit in the last place of the largest
        output in the model's type.
    """
    model = with_ports(net, model)
    element = number_type(model).dtype.type
    x = as_read(net, model, short_sequences(net, _SAMPLES, seed=0))
    part = both_sides(net, Player(model, net, "reference"), x)
    return _pairs(part.want, part.got, element)


def parity_of_networks(one: Network, other: Network) -> dict[str, Any] | None:
    """Run two networks on the same short sequences; None if they have other numbers of ports."""
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
    spacing = np.spacing(np.abs(want).max(initial=0.0).astype(element))
    return {
        "network": want[chosen].tolist(),
        "model": got[chosen].tolist(),
        "most": float(np.abs(got - want).max(initial=0.0)),
        "band": float(spacing) / 2,
        "total": len(want),
    }
