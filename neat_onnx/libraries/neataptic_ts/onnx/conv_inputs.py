"""The shape in which a Conv reads its flat input: by the metadata, or the only possible one."""

import math

from pydantic import ValidationError

from neat_onnx.errors import ModelError
from neat_onnx.libraries.neataptic_ts.onnx.metadata import CONV_SPECS, items
from neat_onnx.libraries.neataptic_ts.onnx.names import layer_number
from neat_onnx.libraries.neataptic_ts.onnx.shapes import MAX_ELEMENTS, kernel_of, window_of
from neat_onnx.libraries.neataptic_ts.onnx.windows import ConvInput
from neat_onnx.model import Model
from neat_onnx.network.window import Sizes, times
from neat_onnx.operators.export.spatial.nodes import Conv


class ConvInputs:
    """The input shapes of a model's convolutions."""

    def __init__(self, model: Model) -> None:
        self._tensors = model.graph.tensors
        self._specs = _specs(model)
        self._is_flat = False  # set by the first flat input: from there on specs decide

    def shape_for(self, node: Conv, given: Sizes) -> Sizes | None:
        """Return the shape in which a Conv reads a tensor of shape `given`; None for the same.

        Raises:
            ModelError: the tensor is flat and its shape is not determined.
        """
        kernel = kernel_of(node, self._tensors)
        if not kernel:
            return None
        self._is_flat |= len(given) == 1
        if not self._is_flat:
            return None
        channels = self._tensors[node.input[1]].dims[1] * node.attributes.group
        specified = self._specified(node, channels, math.prod(given))
        if specified is not None or len(given) > 1:
            return specified
        possible = _possible(node, kernel, channels, given[0])
        if len(possible) != 1:
            ways = ", ".join(map(times, possible)) or "none"
            raise ModelError(
                f"node {node.label}: its input is flat, {given[0]} values, and nothing tells its "
                f"channels, rows and columns (possible: {ways})",
                where=node.name or None,
                hint=f"The metadata {CONV_SPECS} says it",
            )
        return possible[0]

    def layer_of(self, node: Conv) -> str:
        """Return the number of the layer in a Conv's name, or ""."""
        return layer_number(node.name or node.output[0])

    def _specified(self, node: Conv, channels: int, size: int) -> Sizes | None:
        """Return the shape in the layer's own spec, else that of all specs that fit."""
        layer = self.layer_of(node)
        own = {spec.shape for spec in self._specs if str(spec.layer_index) == layer}
        fitting = {
            spec.shape
            for spec in self._specs
            if spec.channels == channels and math.prod(spec.shape) == size
        }
        for found in (own, fitting):
            if len(found) == 1:
                return found.pop()
        return None


def _specs(model: Model) -> list[ConvInput]:
    found = []
    for entry in items(model, CONV_SPECS):
        try:
            found.append(ConvInput.model_validate(entry))
        except ValidationError:
            continue  # without it, the input must have one possible shape, or is refused
    return found


def _possible(node: Conv, kernel: Sizes, channels: int, size: int) -> list[Sizes]:
    """Return the shapes of a flat tensor over which a Conv's window can slide."""
    space, rest = divmod(size, max(channels, 1))
    window = window_of(node, kernel)
    if rest or space > MAX_ELEMENTS or window is None or len(kernel) not in (1, 2):
        return []
    spaces: list[Sizes] = [(space,)]
    if len(kernel) == 2:
        spaces = [(rows, space // rows) for rows in range(1, space + 1) if space % rows == 0]
    return [(channels, *sizes) for sizes in spaces if 0 not in window.positions(sizes)]
