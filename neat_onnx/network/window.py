"""A window that slides over a space: the geometry that convolutions and pools share.

The space has any number of axes (one for sound, two for images). Along each axis, tap k of the
window at position p stands over

    p · stride + k · dilation − begin

where places outside of the space are padding. The sizes are as in ONNX's Conv and pools.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.network.genes import NONE, Ints

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Window:
    """How a window slides, one number for each axis.

    Attributes:
        kernel: its taps; what else is not given is plain: steps of 1, no padding.
        strides: from one position to the next.
        dilations: from one tap to the next.
        pads: the padding, as ONNX writes it: before each axis, then after each.
        ceil: a last position counts although the window reaches over the padding.

    Raises:
        NetworkError: the numbers of axes differ, or a number is out of range.
    """

    kernel: Sizes
    strides: Sizes = ()
    dilations: Sizes = ()
    pads: Sizes = ()
    ceil: bool = False

    def __post_init__(self) -> None:
        axes = len(self.kernel)
        for name in ("kernel", "strides", "dilations", "pads"):
            count, least = (2 * axes, 0) if name == "pads" else (axes, 1)
            row = tuple(getattr(self, name)) or (least,) * count
            if len(row) != count or any(size < least for size in row):
                where = "kernel_shape" if name == "kernel" else name
                raise NetworkError(
                    f"{where} is {list(row)}, expected {count} numbers from {least}", where=where
                )
            object.__setattr__(self, name, row)

    @property
    def begin(self) -> Sizes:
        """The padding before each axis."""
        return self.pads[: len(self.kernel)]

    @property
    def end(self) -> Sizes:
        """The padding after each axis."""
        return self.pads[len(self.kernel) :]

    @property
    def reach(self) -> Sizes:
        """How much space the window covers along each axis."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True))

    def positions(self, space: Sizes) -> Sizes:
        """How many positions there are along each axis of `space`; 0 where the window is too large.

        The formula is that of ONNX's pools; with `ceil`, a position that would start in the padding
        after the space is none.
        """
        return tuple(max(count - late, 0) for count, late in self._along(space))

    def leaves_out_a_late_start(self, space: Sizes) -> bool:
        """Whether, with `ceil`, a position is none only because it would start after the space.

        ONNX infers a size that counts it before opset 22, and runtimes compute one that does not.
        """
        return any(late for _, late in self._along(space))

    def _along(self, space: Sizes) -> Iterator[tuple[int, bool]]:
        """The positions along each axis, and whether the last starts in the padding after it."""
        for size, reach, stride, begin, end in zip(
            space, self.reach, self.strides, self.begin, self.end, strict=True
        ):
            room = size + begin + end - reach
            count = (-(-room // stride) if self.ceil else room // stride) + 1
            yield count, self.ceil and (count - 1) * stride >= size + begin

    def taps(self, space: Sizes, positions: Sizes | None = None) -> Ints:
        """Where every tap stands, shape (positions, taps), both in C order: a place in the
        flattened space, or NONE for padding.

        Args:
            positions: how many there are along each axis, if not as many as fit.
        """
        flat = np.zeros((1, 1), np.int64)
        counts = self.positions(space) if positions is None else positions
        axes = zip(
            *(space, counts, self.kernel, self.strides, self.dilations, self.begin), strict=True
        )
        for size, count, kernel, stride, dilation, begin in axes:
            start = np.arange(count, dtype=np.int64)[:, None] * stride - begin
            places = start + np.arange(kernel, dtype=np.int64) * dilation
            outside = (places < 0) | (places >= size)
            both = flat[:, None, :, None] * size + places[None, :, None, :]
            both[(flat == NONE)[:, None, :, None] | outside[None, :, None, :]] = NONE
            flat = both.reshape(flat.shape[0] * count, flat.shape[1] * kernel)
        return flat

    def divisors(self, space: Sizes) -> Ints:
        """The taps of each position that stand in the space or its padding, shape (positions,).

        With `ceil` a window may reach over both; a mean that counts padding does not count that.
        """
        padded = tuple(
            size + begin + end for size, begin, end in zip(space, self.begin, self.end, strict=True)
        )
        bare = Window(self.kernel, strides=self.strides, dilations=self.dilations)
        inside = bare.taps(padded, self.positions(space)) != NONE
        counts: Ints = inside.sum(axis=1, dtype=np.int64)
        return counts


def times(sizes: Iterable[int]) -> str:
    """Sizes for people: 2×4×4."""
    return "×".join(map(str, sizes))
