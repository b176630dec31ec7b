"""DFT and STFT of a constant length: products with a constant matrix, complex numbers as pairs."""

from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, lifts
from neat_onnx.lifting.followed_axes import FEATURE, AxisFollower, FollowedAxes, follows
from neat_onnx.model import Attributes, Node
from neat_onnx.network.genes import Floats
from neat_onnx.operators.algebra import Algebra, rearranged, reshaped
from neat_onnx.operators.layout.arranging import axis_of

_AXIS_IS_INPUT = 20  # the opset from which on the axis is the third input
_ROUNDED_ZERO = 1e-15  # sines and cosines that are 0 but for rounding


class DFTAttributes(Attributes):
    """Attributes of DFT: the axis up to opset 19, the direction, and whether half is enough."""

    axis: int | None = None
    inverse: Literal[0, 1] = 0
    onesided: Literal[0, 1] = 0


class DFT(Node):
    """The discrete Fourier transform along an axis of constant length, and its inverse."""

    inputs = (1, 3)
    since = 17
    attributes: DFTAttributes = DFTAttributes.defaults()


class STFTAttributes(Attributes):
    """Attributes of STFT: whether half of the frequencies are enough."""

    onesided: Literal[0, 1] = 1


class STFT(Node):
    """The Fourier transforms of frames of a signal, times a constant window."""

    inputs = (2, 4)
    since = 17
    attributes: STFTAttributes = STFTAttributes.defaults()


@lifts(DFT)
def lift_dft(ctx: LiftingContext, node: DFT) -> None:
    """A product along one axis."""
    tensors, given = Algebra(ctx, node), node.attributes
    x = tensors.input(0)
    rank = len(x.shape)
    axis = 1 if given.axis is None else given.axis
    if ctx.model.opset >= _AXIS_IS_INPUT:
        axis = -2 if ctx.optional(node, 2) is None else ctx.integer_of(node, 2)
    axis = axis_of(ctx, node, axis, rank)
    if rank < 2 or axis == rank - 1 or x.shape[-1] not in (1, 2):
        ctx.fail(node, f"its input has the shape {list(x.shape)}, its axis is {axis}")
    halved = given.inverse and given.onesided
    length = 2 * (x.shape[axis] - 1) if halved else x.shape[axis]
    if ctx.optional(node, 1) is not None:
        length = ctx.integer_of(node, 1)
    if length < 1:
        ctx.fail(node, f"its length is {length}, expected 1 or more")
    frames = rearranged(x, lambda array: np.moveaxis(array, axis, -2))
    matrix = _matrix(
        frames.shape[-2:], length, inverse=bool(given.inverse), onesided=bool(given.onesided)
    )
    result = _transformed(tensors, frames, matrix, 1 if halved else 2)
    ctx.bind(node, rearranged(result, lambda array: np.moveaxis(array, -2, axis)))


@lifts(STFT)
def lift_stft(ctx: LiftingContext, node: STFT) -> None:
    """Frames of the signal, each a vector, times one matrix."""
    tensors = Algebra(ctx, node)
    x, step = tensors.input(0), ctx.integer_of(node, 1)
    if len(x.shape) == 2:  # as PyTorch writes real signals, and runtimes take them
        x = reshaped(x, (*x.shape, 1))
    window = None if ctx.optional(node, 2) is None else ctx.constant(node, 2).ravel()
    sizes = [] if window is None else [len(window)]
    if ctx.optional(node, 3) is not None:
        sizes += ctx.integers(node, 3)
    if len(x.shape) != 3 or x.shape[-1] not in (1, 2) or len({*sizes}) != 1 or step < 1:
        shape = list(x.shape)
        ctx.fail(node, f"its input has the shape {shape}, a step is {step}, frames are {sizes}")
    size = sizes[0]
    if not 1 <= size <= x.shape[1]:
        ctx.fail(node, f"a frame of {size} elements does not fit a signal of {x.shape[1]}")
    starts = np.arange(0, x.shape[1] - size + 1, step)
    places = starts[:, None] + np.arange(size)
    ctx.check_size(node, places.size * x.shape[-1])
    frames = rearranged(x, lambda array: array[:, places])
    matrix = _matrix(
        frames.shape[-2:], size, inverse=False, onesided=bool(node.attributes.onesided)
    )
    if window is not None:
        matrix = matrix * np.repeat(window, x.shape[-1])
    ctx.bind(node, _transformed(tensors, frames, matrix, 2))


def _transformed(tensors: Algebra, frames: Operand, matrix: Floats, channels: int) -> Operand:
    """The last two axes of an operand, elements and parts of complex numbers, times a matrix."""
    leading = frames.shape[:-2]
    rows = reshaped(frames, (*leading, matrix.shape[1]))
    return reshaped(tensors.along(rows, len(leading), matrix), (*leading, -1, channels))


def _matrix(shape: tuple[int, ...], length: int, *, inverse: bool, onesided: bool) -> Floats:
    """The matrix of a transform: parts of frequencies (rows), parts of elements (columns).

    Args:
        shape: the number of elements, and of the parts that each has: 1 if all are real, or 2.
        length: as many elements are transformed: some are left out, or zeros added.
        inverse: frequencies become elements.
        onesided: half of the frequencies are given, or with `inverse` read.
    """
    units = np.eye(int(np.prod(shape))).reshape(*shape, -1)
    signal = units[:, 0] + (1j * units[:, 1] if shape[1] > 1 else 0.0)
    if inverse and onesided:
        parts = [np.fft.irfft(signal, length, axis=0)]
    else:
        result = (np.fft.ifft if inverse else np.fft.fft)(signal, length, axis=0)
        result = result[: length // 2 + 1] if onesided else result
        parts = [result.real, result.imag]
    matrix = np.stack(parts, axis=1).reshape(-1, units.shape[-1])
    return np.where(np.abs(matrix) < _ROUNDED_ZERO, 0.0, matrix)


@follows(STFT)
def followed_frames(axes: AxisFollower, node: STFT) -> list[FollowedAxes]:
    """The batch, then frames, frequencies, and the parts of complex numbers."""
    return [(*axes.of(node.input[0])[:1], FEATURE, FEATURE, FEATURE)]
