"""Losses of the neataptic dialect, found before a network is written: refused, or warned of.

A layer that options map to a Conv is one only if its weights bear that out: see `kernels_of`.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.errors import NeatOnnxError, NetworkError, OptionError, warn
from neat_onnx.libraries.limits import firsts
from neat_onnx.libraries.neataptic_ts.onnx import spec
from neat_onnx.libraries.neataptic_ts.onnx.layers import Layer
from neat_onnx.libraries.neataptic_ts.onnx.spec import is_identity
from neat_onnx.network.genes import NONE, Floats, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.window import times
from neat_onnx.options.mappings import Conv2DMapping

_MAX_TAPS = 1 << 23
_SHARING_TOLERANCE = 1e-9
_GUESSED_KERNELS = (3, 2)


def kernels_of(layer: Layer, mapping: Conv2DMapping) -> Floats:
    """Return the kernel that NeatapticTS takes for a Conv, shape (out, in, height, width).

    It is made of the weights of each channel's first neuron, read as if there were no padding at
    the top or on the left; with such padding it is not the kernel.
    """
    size = mapping.kernel_height, mapping.kernel_width
    shape = mapping.out_channels, mapping.in_channels, *size
    taps = math.prod(shape) * mapping.out_height * mapping.out_width
    if taps > _MAX_TAPS:
        text = f"the kernel has {taps} taps over the layer, at most {_MAX_TAPS} can be"
        raise OptionError(text, where=f"conv2d_mappings, layer {layer.index}")
    rows, columns = np.ogrid[: size[0], : size[1]]
    sources = _over_channels((rows * mapping.in_width + columns).ravel(), mapping)
    return _weights(layer, _corners(mapping)[:, None], sources).reshape(shape)


def channel_biases(layer: Layer, mapping: Conv2DMapping) -> Floats:
    """Return the bias of each output channel: its first neuron's, shape (out,)."""
    return layer.biases[_corners(mapping)]


def dense_equivalent(layer: Layer, mapping: Conv2DMapping) -> tuple[Floats, Floats]:
    """Return weights (r, c) and biases (r,) of the dense layer that computes the Conv."""
    neurons, sources, values = _taps(layer, mapping)
    weights = np.zeros(layer.weights.shape)
    weights[neurons, sources] = values
    positions = mapping.out_height * mapping.out_width
    return weights, np.repeat(channel_biases(layer, mapping), positions)


def sharing(mappings: Iterable[Conv2DMapping], layers: list[Layer]) -> Iterator[tuple[str, int]]:
    """Yield the mapped layers that share their weights, then those that do not, by their key."""
    verdicts: dict[str, list[int]] = {spec.SHARED: [], spec.NOT_SHARED: []}
    for mapping in mappings:
        if mapping.layer_index <= len(layers):
            layer = layers[mapping.layer_index - 1]
            first_of_last = (mapping.out_channels - 1) * mapping.out_height * mapping.out_width
            if first_of_last < layer.size:
                key = spec.SHARED if _is_shared(layer, mapping) else spec.NOT_SHARED
                verdicts[key].append(layer.index)
    for key, found in verdicts.items():
        yield from ((key, k) for k in found)


def guesses(mappings: Iterable[Conv2DMapping], layers: list[Layer]) -> Iterator[tuple[str, Any]]:
    """Yield the hidden layers whose widths fit one channel under a small kernel, and the kernel."""
    mapped = {mapping.layer_index for mapping in mappings}
    for layer in layers[:-1]:
        guess = None if layer.index in mapped else _guess(layer)
        if guess:
            yield spec.GUESSED_LAYERS, layer.index
            yield spec.GUESSED_SPECS, guess


def _guess(layer: Layer) -> dict[str, Any] | None:
    side = math.isqrt(len(layer.before))
    for kernel in _GUESSED_KERNELS:
        out = side - kernel + 1
        if side**2 == len(layer.before) and out > 1 and out**2 == layer.size:
            return {
                "layerIndex": layer.index,
                **{"inHeight": side, "inWidth": side, "inChannels": 1},
                **{"kernelHeight": kernel, "kernelWidth": kernel},
                **{"strideHeight": 1, "strideWidth": 1},
                **{"outHeight": out, "outWidth": out, "outChannels": 1},
                "note": "heuristic_inferred_no_export_applied",
            }
    return None


def _is_shared(layer: Layer, mapping: Conv2DMapping) -> bool:
    """Whether all neurons of a channel have its first neuron's weights, as `kernels_of` reads them.

    So a convolution with padding at the top or on the left does not, just as in NeatapticTS.
    """
    neurons, sources, values = _taps(layer, mapping)
    differ = np.abs(_weights(layer, neurons, sources) - values) > _SHARING_TOLERANCE
    return not np.any(differ & (neurons < layer.size))


def _corners(mapping: Conv2DMapping) -> Ints:
    """Return the row of each channel's first neuron, shape (out,)."""
    return np.arange(mapping.out_channels) * (mapping.out_height * mapping.out_width)


def _taps(layer: Layer, mapping: Conv2DMapping) -> list[Any]:
    """Return neuron, source and weight of each tap of the kernel that is not padding."""
    kernels = kernels_of(layer, mapping).reshape(mapping.out_channels, 1, -1)
    space = mapping.out_height, mapping.out_width
    taps = mapping.window.taps((mapping.in_height, mapping.in_width), space)
    neurons = _corners(mapping)[:, None, None] + np.arange(math.prod(space))[:, None]
    found = np.broadcast_arrays(neurons, _over_channels(taps, mapping), kernels)
    inside = found[1] != NONE
    return [each[inside] for each in found]


def _over_channels(taps: Ints, mapping: Conv2DMapping) -> Ints:
    """Repeat taps (…, taps), of which NONE is padding, over all input channels."""
    channel = np.arange(mapping.in_channels)[:, None] * (mapping.in_height * mapping.in_width)
    places = taps[..., None, :]
    return np.where(places == NONE, NONE, places + channel).reshape(*taps.shape[:-1], -1)


def _weights(layer: Layer, neurons: Ints, sources: Ints) -> Floats:
    """Return weights by row and column; 0 where the layer has no such row or column."""
    rows, columns = layer.weights.shape
    known = (neurons < rows) & (sources < columns)
    at = np.where(known, neurons, 0), np.where(known, sources, 0)
    return np.where(known, layer.weights[at], 0.0)


_LOOPS = "self-connections are left out"
_SINGLE_STEP = "allow_recurrent and recurrent_single_step write those of hidden layers"


class Loss(NamedTuple):
    """One kind of loss: a sentence, the first neuron or an option, the exception, a way out."""

    text: str
    where: str
    error: type[NeatOnnxError] = NetworkError
    hint: str = ""


def refuse_or_warn(net: Network, layers: list[Layer], lossy: bool) -> None:
    """Raise the first loss, or warn of each kind once."""
    told: set[str] = set()
    for loss in (*_of_genes(net, layers), *(loss for k in layers for loss in _of_window(net, k))):
        if not lossy:
            advice = f"{loss.hint}; " if loss.hint else ""
            raise loss.error(
                f"the neataptic dialect would lose something: {loss.text}",
                where=loss.where,
                hint=f"{advice}lossy=True writes it all the same, "
                "the standard dialect loses nothing",
            )
        if loss.text not in told:
            warn(f"lost: {loss.text} ({loss.where})")
        told.add(loss.text)


def _of_genes(net: Network, layers: list[Layer]) -> Iterator[Loss]:
    """Yield the losses of neurons, and of connections with a weight into those that compute."""
    genes, level = net.connections, np.zeros(len(net), np.int64)
    recurrent = np.zeros(len(net), np.bool_)
    for layer in layers:
        level[layer.neurons] = layer.index
        recurrent[layer.neurons] = layer.is_recurrent
        for j, op_type in zip(layer.neurons.tolist(), layer.operators, strict=True):
            name = net.activation_names[j]
            if name != op_type.lower():
                yield Loss(f"the activation {name} is written as {op_type}", net.label(j))
    loop, first = genes.source == genes.target, firsts(genes.source, genes.target)
    near = level[genes.source] == level[genes.target] - 1
    counted = (level[genes.target] > 0) & (genes.weight != 0.0)
    written = counted & first & np.where(loop, recurrent[genes.target], near)
    live = counted & genes.enabled
    linear = net.activation_names[genes.source] == "identity"
    begun = net.neurons.initial[genes.source] != 0.0
    of_neurons = (
        (net.aggregation_names != "sum", "aggregations other than the sum are written as sums"),
        (net.neurons.response != 1.0, "responses are left out"),
    )
    of_connections = (
        (written & ~live, "disabled connections are written as if they were enabled"),
        (live & (genes.gater != NONE), "gates are left out"),
        (live & ~loop & ~near, "connections that skip layers, or stay in one, are left out"),
        (live & ~first, "of connections with the same ends only the first is written"),
        (
            written & live & (genes.delay != loop),
            "delays are left out, but for one step of self-connections",
        ),
        (
            written & live & (genes.reads_state != loop) & ~linear,
            "a self-connection is taken to read the state, any other the activation",
        ),
        (written & live & loop & begun, "initial values are left out"),
        (live & loop & ~recurrent[genes.target], _LOOPS),
    )
    found = [(np.flatnonzero((level > 0) & which), text) for which, text in of_neurons]
    found += [(genes.target[which], text) for which, text in of_connections]
    for neurons, text in found:
        if neurons.size:
            hint = _SINGLE_STEP if text == _LOOPS else ""
            yield Loss(text, net.label(int(neurons[0])), hint=hint)


def _of_window(net: Network, layer: Layer) -> Iterator[Loss]:
    """Yield the losses of a layer mapped to a Conv, and of a pool after it."""
    conv, pool = layer.conv, layer.pool
    if conv is not None:
        wanted = conv.out_height, conv.out_width
        found = conv.window.positions((conv.in_height, conv.in_width))
        if wanted != found:
            text = (
                f"the window of layer {layer.index} has {times(found)} positions, "
                f"not {times(wanted)}"
            )
            yield Loss(text, "conv2d_mappings", OptionError)
        else:
            weights, biases = dense_equivalent(layer, conv)
            wrong = np.any(weights != layer.weights, axis=1) | (biases != layer.biases)
            text = f"layer {layer.index} is written as a Conv that its weights do not bear out"
            if any(conv.window.begin):
                text += ": with padding at its top or left NeatapticTS reads the kernel wrongly"
            if np.any(wrong):
                yield Loss(text, net.label(int(layer.neurons[np.argmax(wrong)])))
    if pool is not None and (conv is None or not is_identity(pool.window)):
        text = f"the {pool.type} after layer {layer.index} is not in the network"
        yield Loss(text, "pool2d_mappings", OptionError)
