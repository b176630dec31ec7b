"""Convolutions and pools: one geometry, `network/window.py`.

A window gathers places of the space, (positions, taps), so that a convolution is a product of
matrices and a pool an aggregation of the last axis. They also leave a hint at what they are.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from neat_onnx.lifting.neurons import (
    Neurons,
    Tensor,
    absolute,
    is_neurons,
    matmul,
    power,
    sqrt,
    square,
    take_or,
)
from neat_onnx.lifting.operator import Ints, Refusal, operator, refuse
from neat_onnx.model.budget import require_elements
from neat_onnx.network.spatial import Kind, SpatialBlock
from neat_onnx.network.window import Window, times
from neat_onnx.operators.ordering import along_last

AutoPad = Literal["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"]


def window_of(
    space: Ints, *, kernel_shape: Ints, strides: Ints | None = None, pads: Ints | None = None,
    dilations: Ints | None = None, auto_pad: AutoPad = "NOTSET", ceil_mode: bool = False,
) -> Window:  # fmt: skip
    """The window that attributes of ONNX describe, over a space of these sizes."""
    strides, dilations = strides or (), dilations or ()
    if auto_pad.startswith("SAME"):
        plain = Window(kernel_shape, strides, dilations)
        room = zip(space, plain.strides, plain.reach, strict=True)
        total = [
            max(0, (-(-size // stride) - 1) * stride + reach - size) for size, stride, reach in room
        ]
        less, more = ([t // 2 for t in total], [t - t // 2 for t in total])
        pads = (*less, *more) if auto_pad == "SAME_UPPER" else (*more, *less)
    return Window(kernel_shape, strides, dilations, pads or (), ceil_mode)


def gathered(x: Tensor, window: Window, outside: float) -> tuple[Tensor, Ints]:
    """[N, C, *space] as [N, C, positions, taps], and the numbers of positions along each axis."""
    space = x.shape[2:]
    positions = window.positions(space)
    if not all(positions):
        reach = times(window.reach)
        raise Refusal(f"its window covers {reach}, more than the padded space of {times(space)}")
    require_elements(*x.shape[:2], *positions, *window.kernel)
    if isinstance(x, Neurons):  # before they take memory
        count, read = math.prod(positions), x.shape[1] * math.prod(window.kernel)
        x.tape.budget.require("neurons", x.shape[0] * count, x.tape.where)
        x.tape.budget.require("connections", x.shape[0] * count * read, x.tape.where)
    taps = window.taps(space, positions)
    return take_or(x.reshape(*x.shape[:2], math.prod(space)), taps, outside), positions


@operator("Conv")
def conv(
    x: Tensor, w: Tensor, b: Tensor | None = None, *, kernel_shape: Ints | None = None,
    strides: Ints | None = None, pads: Ints | None = None, dilations: Ints | None = None,
    group: int = 1, auto_pad: AutoPad = "NOTSET",
) -> Tensor:  # fmt: skip
    """Sums of windows times weights (out, in / group, *kernel)."""
    x = x.as_sources() if isinstance(x, Neurons) else x
    batch, channels, out = x.shape[0], x.shape[1], w.shape[0]
    _check_weights(w, b, out, kernel_shape)
    window = window_of(
        x.shape[2:], kernel_shape=w.shape[2:], strides=strides, pads=pads, dilations=dilations,
        auto_pad=auto_pad,
    )  # fmt: skip
    if channels != w.shape[1] * group:
        raise refuse("W", f"of {w.shape[1] * group} channels", f"{channels}")
    taps, positions = gathered(x, window, 0.0)
    count, size = math.prod(positions), math.prod(window.kernel)
    rows = taps.reshape(batch, group, channels // group, count, size).swapaxes(2, 3)
    rows = rows.reshape(batch, group, count, channels // group * size)
    kernels = w.reshape(group, out // group, -1).swapaxes(1, 2)
    bias = None if b is None else b.reshape(group, 1, -1)
    y = matmul(rows, kernels, bias).swapaxes(2, 3).reshape(batch, out, *positions)
    if is_neurons(x) and not is_neurons(w):
        hint("Conv", x, y, window, group)
    return y


def _check_weights(w: Tensor, b: Tensor | None, out: int, kernel_shape: Ints | None) -> None:
    """Refuse weights [out, in, *kernel] of another kernel, and a bias of other channels."""
    if kernel_shape is not None and kernel_shape != w.shape[2:]:
        raise refuse("kernel_shape", list(kernel_shape), f"{list(w.shape[2:])}, as W has")
    if b is not None and b.shape != (out,):
        raise refuse("B", f"of the shape {list(b.shape)}", f"[{out}]")


def hint(kind: Kind, x: Neurons, y: Any, window: Window, groups: int = 1) -> None:
    """Say what neurons are, one sample of [N, C, *space] each; sums do not merge with others."""
    if not isinstance(y, Neurons) or y.ids.min() < 0 or x.ids.min() < 0:
        return
    for source, made in zip(x.ids, y.ids, strict=True):
        x.tape.hints.append(SpatialBlock(kind, source, made, window, groups))
    x.tape.apart.append(y.ids)


@operator("MaxPool", like=window_of)
def max_pool(
    x: Tensor, *, storage_order: Literal[0] = 0, outputs: int = 1, **slides: Any
) -> Tensor:
    if outputs > 1:
        raise refuse("output Indices", "read", "the output Y alone")
    return _pooled("MaxPool", x, window_of(x.shape[2:], **slides), -math.inf)


@operator("AveragePool", like=window_of)
def average_pool(x: Tensor, *, count_include_pad: bool = False, **slides: Any) -> Tensor:
    """The mean of each window: of its taps inside the space, or of those in the padding as well."""
    window = window_of(x.shape[2:], **slides)
    if count_include_pad and any(window.pads):
        return _mean(x, window, lambda: window.divisors(x.shape[2:]))
    return _pooled("AveragePool", x, window, math.nan)


def _mean(x: Tensor, window: Window, counts: Callable[[], Any]) -> Tensor:
    """The sum of each window over a count of its own, which is made once the taps are counted."""
    taps, positions = gathered(x, window, 0.0)
    return (taps.sum(-1) * (1.0 / counts())).reshape(*x.shape[:2], *positions)


def _pooled(kind: Kind, x: Tensor, window: Window, outside: float) -> Tensor:
    """Aggregate windows: the largest, or the mean of what is not NaN."""
    x = x.plain() if isinstance(x, Neurons) else x
    if kind.endswith("AveragePool") and isinstance(x, Neurons) and x.has_constants:
        ones = np.ones(x.shape)  # numbers of x count as well
        return _mean(x, window, lambda: gathered(ones, window, 0.0)[0].sum(-1))
    taps, positions = gathered(x, window, outside)
    shape = (*x.shape[:2], *positions)
    if not isinstance(taps, Neurons):
        reduce = np.max if kind.endswith("MaxPool") else np.nanmean
        return reduce(taps, axis=-1).reshape(shape)
    y = taps.max(-1) if kind.endswith("MaxPool") else taps.aggregate("mean", -1, skip=True)
    y = y.reshape(shape)
    hint(kind, x, y, window)
    return y


@operator("GlobalMaxPool")
def global_max_pool(x: Tensor) -> Tensor:
    return _pooled("GlobalMaxPool", x, Window(x.shape[2:]), -math.inf)


@operator("GlobalAveragePool")
def global_average_pool(x: Tensor) -> Tensor:
    return _pooled("GlobalAveragePool", x, Window(x.shape[2:]), math.nan)


def _powers(x: Tensor, p: int) -> Tensor:
    """|x|^p, a neuron for each place of the space."""
    y = absolute(x) if p == 1 else square(x) if p == 2 else power(absolute(x), float(p))
    return y.plain() if isinstance(y, Neurons) else y


def _root(x: Tensor, p: int) -> Tensor:
    return x if p == 1 else sqrt(x) if p == 2 else power(x, 1.0 / p)


@operator("LpPool", like=window_of)
def lp_pool(x: Tensor, *, p: int = 2, **slides: Any) -> Tensor:
    """(Σ |x|^p)^(1/p) of each window."""
    taps, positions = gathered(_powers(x, p), window_of(x.shape[2:], **slides), 0.0)
    return _root(taps.sum(-1), p).reshape(*x.shape[:2], *positions)


@operator("GlobalLpPool")
def global_lp_pool(x: Tensor, *, p: int = 2) -> Tensor:
    return lp_pool(x, kernel_shape=x.shape[2:], p=p)


@operator("ConvTranspose")
def conv_transpose(
    x: Tensor, w: Tensor, b: Tensor | None = None, *, kernel_shape: Ints | None = None,
    strides: Ints | None = None, pads: Ints | None = None, dilations: Ints | None = None,
    group: int = 1, auto_pad: AutoPad = "NOTSET", output_padding: Ints | None = None,
    output_shape: Ints | None = None,
) -> Tensor:  # fmt: skip
    """Every place adds a kernel, weights (in, out / group, *kernel), to a larger space: a Conv with
    the kernel turned around, of places with zeros between them.
    """
    space, rank = x.shape[2:], x.ndim - 2
    window = Window(w.shape[2:], strides or (), dilations or ())
    _check_weights(w, b, w.shape[1] * group, kernel_shape)
    full = [
        (size - 1) * step + reach + extra
        for size, step, reach, extra in zip(
            space, window.strides, window.reach, output_padding or (0,) * rank, strict=True
        )
    ]
    if output_shape is None and auto_pad.startswith("SAME"):
        wanted = (size * step for size, step in zip(space, window.strides, strict=True))
        output_shape = tuple(map(min, wanted, full))  # runtimes add no padding beside the kernels
    if output_shape is not None:
        total = [max(0, f - o) for f, o in zip(full, output_shape[-rank:], strict=True)]
        half = [t // 2 if auto_pad == "SAME_UPPER" else t - t // 2 for t in total]
        pads = (*half, *(t - h for t, h in zip(total, half, strict=True)))
    pads = pads or (0,) * (2 * rank)
    for k, (size, step, reach) in enumerate(zip(space, window.strides, window.reach, strict=True)):
        length = output_shape[k - rank] if output_shape else full[k] - pads[k] - pads[k + rank]
        require_elements(x.size // max(1, size), length + reach - 1)
        at = np.arange(length + reach - 1) + pads[k] - (reach - 1)
        place = np.where((at % step == 0) & (at >= 0), at // step, size)
        taken = partial(take_or, index=np.where(place < size, place, -1), value=0.0)
        x = along_last(x, k + 2, taken)
    kernels = w.reshape(group, -1, *w.shape[1:]).swapaxes(1, 2)
    kernels = kernels.reshape(-1, w.shape[0] // group, *w.shape[2:])
    turned = kernels[(slice(None), slice(None), *(slice(None, None, -1),) * rank)]
    return conv(x, turned, b, dilations=dilations, group=group)
