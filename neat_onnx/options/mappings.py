"""Mappings: options that name layers which slide a window over the layer before them.

The names come from NeatapticTS; sizes are in neurons, and neurons stand in C order: channel,
then row, then column.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AliasChoices,
    AliasGenerator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from neat_onnx.network.window import Window
from neat_onnx.parsing import Document


def camel(name: str) -> str:
    """conv2d_mappings as conv2dMappings, where pydantic's own to_camel makes conv2DMappings."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


class OptionDocument(Document):
    """A document of options: NeatapticTS's camelCase names are read as well as these."""

    model_config = ConfigDict(
        defer_build=True,
        alias_generator=AliasGenerator(validation_alias=camel, serialization_alias=camel),
        validate_by_name=True,
        validate_by_alias=True,
    )


Size = Annotated[int, Field(ge=1, le=2**24)]
Pad = Annotated[int, Field(ge=0, le=2**24)]


class _Window(OptionDocument):
    """The strides, padding and dilations of a window.

    It is written with its keys in the order in which they were given, as NeatapticTS does.
    """

    _order: tuple[str, ...] = PrivateAttr(())

    kernel_height: Size = Field(description="Rows of the window.")
    kernel_width: Size = Field(description="Columns of the window.")
    stride_height: Size = Field(description="Rows from one position to the next.")
    stride_width: Size = Field(description="Columns from one position to the next.")
    pad_top: Pad = Field(0, description="Rows of padding before the layer.")
    pad_bottom: Pad = Field(0, description="Rows of padding after the layer.")
    pad_left: Pad = Field(0, description="Columns of padding before the layer.")
    pad_right: Pad = Field(0, description="Columns of padding after the layer.")
    dilation_height: Size = Field(1, description="Rows from one tap of the window to the next.")
    dilation_width: Size = Field(1, description="Columns from one tap to the next.")

    @property
    def window(self) -> Window:
        """How the window slides, height before width."""
        return Window(
            (self.kernel_height, self.kernel_width),
            strides=(self.stride_height, self.stride_width),
            dilations=(self.dilation_height, self.dilation_width),
            pads=(self.pad_top, self.pad_left, self.pad_bottom, self.pad_right),
            ceil=getattr(self, "ceil_mode", False),
        )

    @model_validator(mode="wrap")
    @classmethod
    def _keep_order(cls, document: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        mapping = handler(document)
        if isinstance(document, dict):
            mapping._order = tuple(camel(key) for key in document)
        return mapping

    @model_serializer(mode="wrap")
    def _in_order(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = handler(self)
        return dict(sorted(document.items(), key=lambda entry: self._place(camel(entry[0]))))

    def _place(self, key: str) -> int:
        return self._order.index(key) if key in self._order else len(self._order)


class Conv2DMapping(_Window):
    """A layer that is a convolution of the layer before it.

    It is written as Conv if the weights bear it out; else as it is, with a warning.
    """

    layer_index: int = Field(ge=1, description="The layer, from 1 for the first hidden one.")
    in_height: Size = Field(description="Rows of the layer before it.")
    in_width: Size = Field(description="Columns of the layer before it.")
    in_channels: Size = Field(description="Channels of the layer before it.")
    out_height: Size = Field(description="Rows of the layer.")
    out_width: Size = Field(description="Columns of the layer.")
    out_channels: Size = Field(description="Channels of the layer.")
    groups: Size = Field(
        1,
        validation_alias=AliasChoices("groups", "group"),
        description="Groups of channels that do not see each other; in_channels for depthwise.",
    )
    activation: str | None = Field(
        None, description="The layer's activation; written only if it is what the layer has."
    )


class Pool2DMapping(_Window):
    """A layer that is a pool of the layer before it, which has neurons of its own.

    It is written as a pool if its neurons take the largest, or the mean, of the window's values.
    """

    after_layer_index: int = Field(
        ge=0, description="The layer that is pooled, from 1 for the first hidden one; 0: the inputs"
    )
    type: Literal["MaxPool", "AveragePool"] = Field(description="The largest, or the mean.")
    in_height: Size | None = Field(
        None, description="The pooled layer's height, where no convolution or pool tells it."
    )
    in_width: Size | None = Field(None, description="Its width, likewise.")
    in_channels: Size | None = Field(None, description="Its channels, likewise.")
    ceil_mode: bool = Field(
        False, description="A last window may stand over the end of the layer and its padding."
    )
    count_include_pad: bool = Field(
        False, description="AveragePool: the mean counts the padding as zeros."
    )
    activation: str | None = Field(None, description="Reserved: read, and not applied.")
