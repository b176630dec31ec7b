"""What the two kinds of mappings share: attributes of the node, and the text in the metadata."""

from typing import Any

from neat_onnx.options.mappings import Conv2DMapping, Pool2DMapping


def window_attributes(mapping: Conv2DMapping | Pool2DMapping) -> dict[str, Any]:
    """The attributes of its node."""
    window = mapping.window
    return {"kernel_shape": window.kernel, "strides": window.strides, "pads": window.pads}


def mapping_document(mapping: Conv2DMapping | Pool2DMapping) -> dict[str, Any]:
    """What was given of the mapping, in the order in which it was given, for the metadata."""
    return mapping.model_dump(by_alias=True, exclude_unset=True)
