"""The node classes of convolutions and pools."""

from typing import Any, Literal

from neat_onnx.model import Attributes, Node
from neat_onnx.network.window import Sizes, Window


class WindowAttributes(Attributes):
    """Attributes of windows: kernel, pads, strides and dilations, by spatial axis."""

    auto_pad: Literal["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"] = "NOTSET"
    kernel_shape: tuple[int, ...] | None = None
    pads: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None
    dilations: tuple[int, ...] | None = None

    def window(self, kernel: Sizes) -> Window:
        """The window that they describe, `auto_pad` left out of account.

        Raises:
            NetworkError: they do not fit the kernel, or each other.
        """
        axes = len(kernel)
        pads = self.pads or (0,) * 2 * axes
        return Window.of(
            kernel,
            strides=self.strides,
            dilations=self.dilations,
            begin=pads[:axes],
            end=pads[axes:],
            ceil=bool(getattr(self, "ceil_mode", 0)),
        )


class Windowed(Node, abstract=True):
    """A node that slides a window over X [N, C, …]."""

    attributes: WindowAttributes = WindowAttributes.defaults()

    def defaults_in_words(self) -> dict[str, Any]:
        """A window without padding, in steps of 1."""
        axes = len(self.attributes.kernel_shape or ())
        ones, zeros = (1,) * axes, (0,) * axes
        return {"strides": ones, "dilations": ones, "pads": zeros * 2} if axes else {}


class ConvAttributes(WindowAttributes):
    """Attributes of Conv: its window, and the number of groups of channels."""

    group: int = 1


class Conv(Windowed):
    """X [N, C, …], W [M, C/group, …], B [M]."""

    inputs = (2, 3)
    since = 11
    attributes: ConvAttributes = ConvAttributes.defaults()


class ConvTransposeAttributes(ConvAttributes):
    """Attributes of ConvTranspose: the window, groups, and the size or padding of the output."""

    output_padding: tuple[int, ...] | None = None
    output_shape: tuple[int, ...] | None = None


class ConvTranspose(Windowed):
    """X [N, C, …], W [C, M/group, …], B [M]."""

    inputs = (2, 3)
    since = 11
    attributes: ConvTransposeAttributes = ConvTransposeAttributes.defaults()

    def defaults_in_words(self) -> dict[str, Any]:
        """A window without padding, of the output neither, in steps of 1."""
        values = super().defaults_in_words()
        return values | ({"output_padding": (0,) * len(values["strides"])} if values else {})


class PoolAttributes(WindowAttributes):
    """Attributes of pools: the window, and whether positions are rounded up."""

    kernel_shape: tuple[int, ...]
    ceil_mode: Literal[0, 1] = 0


class MaxPoolAttributes(PoolAttributes):
    """Attributes of MaxPool: the window; indices in another storage order are refused."""

    storage_order: Literal[0] = 0


class MaxPool(Windowed):
    """X [N, C, …]; the optional second output, the indices, cannot be turned into neurons."""

    outputs = (1, 2)
    since = 12
    attributes: MaxPoolAttributes


class AveragePoolAttributes(PoolAttributes):
    """Attributes of AveragePool: the window, and whether padding counts in the mean."""

    count_include_pad: Literal[0, 1] = 0


class AveragePool(Windowed):
    """X [N, C, …]; dilations from opset 19."""

    since = 11
    attributes: AveragePoolAttributes


class GlobalMaxPool(Node):
    """The largest element of each channel of [N, C, …]."""


class GlobalAveragePool(Node):
    """The mean of each channel of [N, C, …]."""
