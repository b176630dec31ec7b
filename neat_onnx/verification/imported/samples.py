"""The samples that an import is checked on: a few, and none whose outputs runtimes do not owe."""

import numpy as np

from neat_onnx.genome import Imported
from neat_onnx.model import Model
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.verification.compare import as_read
from neat_onnx.verification.imported.budget import MOST_SAMPLES
from neat_onnx.verification.imported.inner_tensors import inner_tensors
from neat_onnx.verification.player import Player
from neat_onnx.verification.samples import short_sequences

_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def drawn_samples(net: Network, model: Model, steps: int, count: int, *, bits: bool) -> Floats:
    """Draw sequences (T, N, I), without any whose outputs the model's integers do not hold.

    Args:
        net: the network.
        model: the model.
        steps: how many steps each has.
        count: how many there are, a plain one and a large one first.
        bits: integers are 0 and 1.
    """
    drawn = [short_sequences(net, MOST_SAMPLES, seed) for seed in range(steps)]
    order = [2, MOST_SAMPLES - 1, 0, 1, *range(3, MOST_SAMPLES - 1)]
    x = as_read(net, model, np.concatenate(drawn)[:steps][:, order[:count]])
    return _held(net, model, _with_bits(net, model, x) if bits else x)


def integer_inputs(model: Model) -> set[str]:
    """The inputs that are integers."""
    kinds = {entry.name: entry.elem_type.name.lower() for entry in model.graph.inputs}
    return {name for name, kind in kinds.items() if kind in _INTEGERS}


def _with_bits(net: Network, model: Model, x: Floats) -> Floats:
    """The inputs (T, N, I), with 0 or 1 for each integer."""
    whole = integer_inputs(model)
    chosen = np.concatenate([np.full(port.neurons.size, port.name in whole) for port in net.inputs])
    return np.where(chosen, np.abs(np.floor(x)) % 2, x)


def _held(net: Network, model: Model, x: Floats) -> Floats:
    """The sequences whose outputs the model's integers hold; all of them if they hold none.

    Where a product is beyond its type, integers begin anew at the other end, and numbers do not.
    """
    kinds = {entry.name: entry.elem_type.name.lower() for entry in model.graph.outputs}
    if not any(kinds[port.name] in _INTEGERS for port in net.outputs):
        return x
    want, start, held = net.run(x), 0, np.ones(x.shape[1], np.bool_)
    for port in net.outputs:
        part = want[..., start : start + port.neurons.size]
        start += port.neurons.size
        if kinds[port.name] in _INTEGERS:
            limits = np.iinfo(kinds[port.name])
            held &= np.all((part >= limits.min) & (part <= limits.max), axis=(0, 2))
    return x[:, held] if held.any() else x


def without_overflow(net: Network, player: Player, x: Floats) -> Floats:
    """The sequences in which the runtime's numbers do not overflow; all of them if most do.

    Large inputs are the few that overflow. Infinities of the others are the model's own, as of a
    mask.
    """
    played = player.play(x, [port.name for port in net.outputs]).values()
    finite = np.all([np.isfinite(values).all(axis=(0, 2)) for values in played], axis=0)
    return x[:, finite] if 2 * np.count_nonzero(finite) >= finite.size else x


def without_inner_nan(found: Imported, x: Floats, runtime: str) -> Floats:
    """The sequences without NaN, which has no place in an order, inside; all if each has some.

    Runtimes differ in which is the largest of numbers with NaN among them. Only NaN that network
    and model have in the same place counts.
    """
    ordered = np.ones(x.shape[1], np.bool_)
    for _, want, got in inner_tensors(found, x, runtime):
        ordered &= ~np.any(np.isnan(want) & np.isnan(got), axis=(0, 2))
    return x[:, ordered] if ordered.any() else x
