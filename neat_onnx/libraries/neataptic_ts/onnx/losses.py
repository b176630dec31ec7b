"""Losses of the neataptic dialect, found before a network is written: refused, or warned of.

A layer that options map to a Conv is one only if its weights bear that out: see `kernels_of`.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.errors import NeatOnnxError, NetworkError, OptionError, warn
from neat_onnx.libraries.neataptic_ts.onnx import spec
from neat_onnx.libraries.neataptic_ts.onnx.layers import Layer, LayerForm, firsts, is_exact
from neat_onnx.libraries.neataptic_ts.onnx.spec import MetadataWriter, is_identity, is_padded_before
from neat_onnx.network.genes import NONE, Floats, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.window import Sizes, times
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
        raise OptionError(
            f"the kernel has {taps} taps over the layer, at most {_MAX_TAPS} can be",
            where=f"conv2d_mappings, layer {layer.index}",
        )
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


def positions_of(mapping: Conv2DMapping) -> Sizes:
    """Return the rows and columns of positions that the window has over the layer before."""
    return mapping.window.positions((mapping.in_height, mapping.in_width))


def describe_sharing(
    written: MetadataWriter, mappings: Iterable[Conv2DMapping], layers: list[Layer]
) -> None:
    """Write the mapped layers that share their weights, and those that do not."""
    verdicts: dict[bool, list[int]] = {True: [], False: []}
    for mapping in mappings:
        if mapping.layer_index <= len(layers):
            layer = layers[mapping.layer_index - 1]
            first_of_last = (mapping.out_channels - 1) * mapping.out_height * mapping.out_width
            if first_of_last < layer.size:
                verdicts[_is_shared(layer, mapping)].append(layer.index)
    for shared, key in ((True, spec.SHARED), (False, spec.NOT_SHARED)):
        if verdicts[shared]:
            written.add(key, verdicts[shared])


def describe_guesses(
    written: MetadataWriter, mappings: Iterable[Conv2DMapping], layers: list[Layer]
) -> None:
    """Write the layers whose widths fit one channel under a small kernel."""
    mapped = {mapping.layer_index for mapping in mappings}
    guesses = {layer.index: _guess(layer) for layer in layers if not layer.is_output}
    found = {k: guess for k, guess in guesses.items() if guess and k not in mapped}
    if found:
        written.add(spec.GUESSED_LAYERS, list(found))
        written.add(spec.GUESSED_SPECS, list(found.values()))


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


_SINGLE_STEP = "allow_recurrent and recurrent_single_step write those of hidden layers"


class Loss(NamedTuple):
    """One kind of loss: a sentence, the first neuron or an option, the exception, a way out."""

    text: str
    where: str
    error: type[NeatOnnxError] = NetworkError
    hint: str = ""


def losses(net: Network, forms: list[LayerForm]) -> list[Loss]:
    """Return each kind of loss once."""
    found = [
        *_of_neurons(net, forms),
        *_of_connections(net, forms),
        *(loss for form in forms for loss in _of_window(net, form)),
    ]
    return list({loss.text: loss for loss in reversed(found)}.values())[::-1]


def refuse_or_warn(found: Iterable[Loss], lossy: bool) -> None:
    """Raise the first loss, or warn of all of them."""
    for loss in found:
        if not lossy:
            advice = f"{loss.hint}; " if loss.hint else ""
            raise loss.error(
                f"the neataptic dialect would lose something: {loss.text}",
                where=loss.where,
                hint=f"{advice}lossy=True writes it all the same, "
                "the standard dialect loses nothing",
            )
        warn(f"lost: {loss.text} ({loss.where})")


def _of_neurons(net: Network, forms: list[LayerForm]) -> Iterator[Loss]:
    for form in forms:
        neurons = form.layer.neurons
        names = net.activation_names[neurons]
        for neuron, name, op_type in zip(neurons.tolist(), names, form.operators, strict=True):
            if not is_exact(name, op_type):
                yield Loss(f"the activation {name} is written as {op_type}", net.label(neuron))
    computing = np.sort(np.concatenate([form.layer.neurons for form in forms]))
    yield from _first(
        net,
        computing[net.aggregation_names[computing] != "sum"],
        "aggregations other than the sum are written as sums",
    )
    yield from _first(
        net, computing[net.neurons.response[computing] != 1.0], "responses are left out"
    )


def _of_connections(net: Network, forms: list[LayerForm]) -> Iterator[Loss]:
    """Yield the losses of connections with a weight, into neurons that compute."""
    genes, level = net.connections, np.zeros(len(net), np.int64)
    recurrent = np.zeros(len(net), np.bool_)
    for form in forms:
        level[form.layer.neurons] = form.layer.index
        recurrent[form.layer.neurons] = form.is_recurrent
    loop, first = genes.source == genes.target, firsts(genes)
    near = level[genes.source] == level[genes.target] - 1
    counted = (level[genes.target] > 0) & (genes.weight != 0.0)
    written = counted & first & np.where(loop, recurrent[genes.target], near)
    live = counted & genes.enabled
    linear = net.activation_names[genes.source] == "identity"
    begun = net.neurons.initial[genes.source] != 0.0
    for which, text in (
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
    ):
        yield from _first(net, genes.target[which], text)
    lost = live & loop & ~recurrent[genes.target]
    yield from _first(net, genes.target[lost], "self-connections are left out", _SINGLE_STEP)


def _of_window(net: Network, form: LayerForm) -> Iterator[Loss]:
    """Yield the losses of a layer mapped to a Conv, and of a pool after it."""
    layer, conv, pool = form.layer, form.conv, form.pool
    if conv is not None:
        wanted, found = (conv.out_height, conv.out_width), positions_of(conv)
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
            if is_padded_before(conv.window):
                text += ": with padding at its top or left NeatapticTS reads the kernel wrongly"
            yield from _first(net, layer.neurons[wrong], text)
    if pool is not None and (conv is None or not is_identity(pool.window)):
        text = f"the {pool.type} after layer {layer.index} is not in the network"
        yield Loss(text, "pool2d_mappings", OptionError)


def _first(net: Network, neurons: Ints, text: str, hint: str = "") -> Iterator[Loss]:
    if neurons.size:
        yield Loss(text, net.label(int(neurons[0])), hint=hint)
