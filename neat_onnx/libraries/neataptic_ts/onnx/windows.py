"""The windows of Conv and pools: one spec for mappings, attributes, metadata and checks."""

from typing import Any

from pydantic import Field

from neat_onnx.network.window import Sizes, Window
from neat_onnx.options.mappings import Conv2DMapping, Pool2DMapping
from neat_onnx.parsing import ForeignDocument

ATTRIBUTES = ("kernel_shape", "strides", "pads")
"""The attributes of Conv and pools, in the order in which NeatapticTS writes them."""


class ConvInput(ForeignDocument):
    """An entry of `conv2d_specs`, read for the shape in which a Conv sees the layer before it."""

    layer_index: int = Field(alias="layerIndex")
    channels: int = Field(alias="inChannels", ge=1)
    rows: int = Field(alias="inHeight", ge=1)
    columns: int = Field(alias="inWidth", ge=1)

    @property
    def shape(self) -> Sizes:
        """Channels, rows, columns."""
        return self.channels, self.rows, self.columns


def attributes_of(mapping: Conv2DMapping | Pool2DMapping) -> dict[str, Any]:
    """Return the attributes of the node of a mapping."""
    window = mapping.window
    return dict(zip(ATTRIBUTES, (window.kernel, window.strides, window.pads), strict=True))


def spec_of(mapping: Conv2DMapping | Pool2DMapping) -> dict[str, Any]:
    """Return the metadata's spec of a mapping: the given keys, in the order they were given."""
    return mapping.model_dump(by_alias=True, exclude_unset=True)


def is_identity(window: Window) -> bool:
    """Whether a pool with this window returns its input."""
    return {*window.kernel, *window.strides} == {1} and not any(window.pads)


def is_padded_before(window: Window) -> bool:
    """Whether there is padding at the top or on the left.

    NeatapticTS takes the weights of a channel's first neuron for the kernel, from the first input
    on; with padding there, these are not the kernel.
    """
    return any(window.begin)
