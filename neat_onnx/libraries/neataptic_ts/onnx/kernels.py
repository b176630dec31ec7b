"""Kernels of mapped layers: read from a dense layer, laid out as one, compared, guessed."""

import math
from typing import Any

import numpy as np

from neat_onnx.errors import OptionError
from neat_onnx.libraries.neataptic_ts.onnx import metadata
from neat_onnx.libraries.neataptic_ts.onnx.dense_layers import Layer
from neat_onnx.libraries.neataptic_ts.onnx.draft import Draft
from neat_onnx.network.genes import NONE, Floats, Ints
from neat_onnx.network.window import Sizes
from neat_onnx.options.mappings import Conv2DMapping

_MAX_TAPS = 1 << 23
_SHARING_TOLERANCE = 1e-9
_GUESSED_KERNELS = (3, 2)


def kernels_of(layer: Layer, mapping: Conv2DMapping) -> Floats:
    """Return the kernel that NeatapticTS takes for a Conv, shape (out, in, height, width).

    It is made of the weights of each channel's first neuron, read as if there were no padding at
    the top or on the left; with such padding it is not the kernel.

    Raises:
        OptionError: the kernel is too large for any layer.
    """
    shape = (
        mapping.out_channels,
        mapping.in_channels,
        mapping.kernel_height,
        mapping.kernel_width,
    )
    taps = math.prod(shape) * mapping.out_height * mapping.out_width
    if taps > _MAX_TAPS:
        raise OptionError(
            f"the kernel has {taps} taps over the layer, at most {_MAX_TAPS} can be",
            where=f"conv2d_mappings, layer {layer.index}",
        )
    rows, columns = np.ogrid[: mapping.kernel_height, : mapping.kernel_width]
    corner = (rows * mapping.in_width + columns).ravel()
    sources = _over_channels(corner, mapping)
    return _weights(layer, _corners(mapping)[:, None], sources).reshape(shape)


def channel_biases(layer: Layer, mapping: Conv2DMapping) -> Floats:
    """Return the bias of each output channel: its first neuron's, shape (out,)."""
    return layer.biases[_corners(mapping)]


def dense_equivalent(layer: Layer, mapping: Conv2DMapping) -> tuple[Floats, Floats]:
    """Return weights (r, c) and biases (r,) of the dense layer that computes the Conv."""
    kernels = kernels_of(layer, mapping)
    positions = mapping.out_height * mapping.out_width
    taps = _taps(mapping)
    position, tap = np.nonzero(taps != NONE)
    out = np.arange(mapping.out_channels)[:, None, None]
    channel = np.arange(mapping.in_channels)[:, None]
    space = mapping.in_height * mapping.in_width
    weights = np.zeros(layer.weights.shape)
    flat = kernels.reshape(*kernels.shape[:2], -1)
    weights[out * positions + position, channel * space + taps[position, tap]] = flat[:, :, tap]
    return weights, np.repeat(channel_biases(layer, mapping), positions)


def positions_of(mapping: Conv2DMapping) -> Sizes:
    """Return the rows and columns of positions that the window has over the layer before."""
    return mapping.window.positions((mapping.in_height, mapping.in_width))


def describe_sharing(draft: Draft, layers: list[Layer]) -> None:
    """Write the mapped layers that share their weights, and those that do not."""
    verdicts: dict[bool, list[int]] = {True: [], False: []}
    for mapping in draft.options.conv2d_mappings:
        if mapping.layer_index <= len(layers):
            layer = layers[mapping.layer_index - 1]
            first_of_last = (mapping.out_channels - 1) * mapping.out_height * mapping.out_width
            if first_of_last < layer.size:
                verdicts[_is_shared(layer, mapping)].append(layer.index)
    for shared, key in ((True, metadata.SHARED), (False, metadata.NOT_SHARED)):
        if verdicts[shared]:
            draft.metadata.add(key, verdicts[shared])


def describe_guesses(draft: Draft, layers: list[Layer]) -> None:
    """Write the layers whose widths fit one channel under a small kernel."""
    mapped = {mapping.layer_index for mapping in draft.options.conv2d_mappings}
    guesses = {layer.index: _guess(layer) for layer in layers if not layer.is_output}
    found = {k: spec for k, spec in guesses.items() if spec and k not in mapped}
    if found:
        draft.metadata.add(metadata.GUESSED_LAYERS, list(found))
        draft.metadata.add(metadata.GUESSED_SPECS, list(found.values()))


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
    kernels = kernels_of(layer, mapping).reshape(mapping.out_channels, 1, -1)
    positions = mapping.out_height * mapping.out_width
    neurons = _corners(mapping)[:, None, None] + np.arange(positions)[:, None]
    sources = _over_channels(_taps(mapping), mapping)
    differ = np.abs(_weights(layer, neurons, sources) - kernels) > _SHARING_TOLERANCE
    return not np.any(differ & (sources != NONE) & (neurons < layer.size))


def _corners(mapping: Conv2DMapping) -> Ints:
    """Return the row of each channel's first neuron, shape (out,)."""
    return np.arange(mapping.out_channels) * (mapping.out_height * mapping.out_width)


def _taps(mapping: Conv2DMapping) -> Ints:
    """Return the place in a channel under each tap, (positions, taps); NONE is padding."""
    space = (mapping.in_height, mapping.in_width)
    return mapping.window.taps(space, (mapping.out_height, mapping.out_width))


def _over_channels(taps: Ints, mapping: Conv2DMapping) -> Ints:
    """Repeat taps (…, taps) over all input channels: (…, channels · taps)."""
    channel = np.arange(mapping.in_channels)[:, None] * (mapping.in_height * mapping.in_width)
    places = taps[..., None, :]
    return np.where(places == NONE, NONE, places + channel).reshape(*taps.shape[:-1], -1)


def _weights(layer: Layer, neurons: Ints, sources: Ints) -> Floats:
    """Return weights by row and column; 0 where the layer has no such row or column."""
    rows, columns = layer.weights.shape
    known = (neurons < rows) & (sources >= 0) & (sources < columns)
    at = np.where(known, neurons, 0), np.where(known, sources, 0)
    return np.where(known, layer.weights[at], 0.0)
