"""How a Conv sees its flat input: as the metadata says, or in the one way that there is."""

import math
import re

from pydantic import Field, ValidationError

from neat_onnx.errors import ModelError
from neat_onnx.files import parse_json
from neat_onnx.libraries.neataptic_ts.onnx.repair.metadata import SPECS
from neat_onnx.libraries.neataptic_ts.onnx.repair.shapes import LARGEST, kernel_of, window_of
from neat_onnx.model import Model
from neat_onnx.network.window import Sizes, times
from neat_onnx.operators.spatial.nodes import Conv
from neat_onnx.parsing import ForeignDocument

_LAYER = re.compile(r"_l?(\d+)")


class _Spec(ForeignDocument):
    """How one convolution sees the layer before it."""

    layer_index: int = Field(alias="layerIndex")
    channels: int = Field(alias="inChannels", ge=1)
    rows: int = Field(alias="inHeight", ge=1)
    columns: int = Field(alias="inWidth", ge=1)

    @property
    def shape(self) -> Sizes:
        return self.channels, self.rows, self.columns


class Specs:
    """What the metadata says of a model's convolutions."""

    def __init__(self, model: Model) -> None:
        self._tensors = model.graph.tensors
        self._specs = _specs(model)
        self._is_flat = False  # whether its layers are flat: then every Conv goes by its spec

    def shape_for(self, node: Conv, given: Sizes) -> Sizes | None:
        """The shape, without the batch, in which a Conv reads a tensor; None for as it is.

        Raises:
            ModelError: the tensor is flat, and nothing tells its shape.
        """
        kernel = kernel_of(node, self._tensors)
        if not kernel:
            return None
        self._is_flat |= len(given) == 1
        if not self._is_flat:
            return None
        channels = self._tensors[node.input[1]].dims[1] * node.attributes.group
        told = self._told(node, channels, math.prod(given))
        if told is not None or len(given) > 1:
            return told
        possible = _possible(node, kernel, channels, given[0])
        if len(possible) != 1:
            ways = ", ".join(map(times, possible)) or "none"
            raise ModelError(
                f"node {node.label}: its input is flat, {given[0]} values, and nothing tells its "
                f"channels, rows and columns (possible: {ways})",
                where=node.name or None,
                hint=f"The metadata {SPECS} says it",
            )
        return possible[0]

    def layer_of(self, node: Conv) -> str:
        """The number of the layer that a Conv is, as its name says it; else ""."""
        found = _LAYER.search(node.name or node.output[0])
        return found[1] if found else ""

    def _told(self, node: Conv, channels: int, size: int) -> Sizes | None:
        """The shape in the spec of that layer; else in those that fit, if they are of one mind."""
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


def _specs(model: Model) -> list[_Spec]:
    """Those of the metadata's specs that can be read."""
    found = []
    value = parse_json(model.metadata.get(SPECS, "[]"))
    for entry in value if isinstance(value, list) else []:
        try:
            found.append(_Spec.model_validate(entry))
        except ValidationError:
            continue  # without it, the Conv's input may have one shape only, or is refused
    return found


def _possible(node: Conv, kernel: Sizes, channels: int, size: int) -> list[Sizes]:
    """The shapes of a flat tensor over which a Conv's window can slide."""
    space, rest = divmod(size, max(channels, 1))
    window = window_of(node, kernel)
    if rest or space > LARGEST or window is None or len(kernel) not in (1, 2):
        return []
    spaces: list[Sizes] = [(space,)]
    if len(kernel) == 2:
        spaces = [(rows, space // rows) for rows in range(1, space + 1) if space % rows == 0]
    return [(channels, *sizes) for sizes in spaces if 0 not in window.positions(sizes)]
