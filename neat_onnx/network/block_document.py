"""Blocks in network JSON: which neurons slide a window over which others, by their ids."""

import math
from collections.abc import Mapping
from typing import Annotated

import numpy as np
from pydantic import Field

from neat_onnx.errors import NetworkError
from neat_onnx.network.genes import Ints, network_error
from neat_onnx.network.spatial import Kind, SpatialBlock
from neat_onnx.network.window import Window
from neat_onnx.parsing import Document

Number = Annotated[int, Field(ge=0, lt=2**31)]


class BlockDocument(Document):
    """Neurons that slide a window over others: a hint, checked against the weights when used."""

    kind: Kind = Field(description="The ONNX operator that they may be written as.")
    sources: list[int] = Field(description="Ids of what the window slides over, in C order.")
    source_shape: list[Number] = Field(description="Its channels, then the size of every axis.")
    neurons: list[int] = Field(description="Ids of the neurons that compute, in C order.")
    shape: list[Number] = Field(description="Their channels, then the size of every axis.")
    kernel_shape: list[Number] = Field(description="The taps of the window along each axis.")
    strides: list[Number] = Field(default_factory=list, description="Its steps; all 1 if empty.")
    dilations: list[Number] = Field(
        default_factory=list, description="The steps of its taps; all 1 if empty."
    )
    pads: list[Number] = Field(
        default_factory=list, description="Padding: all begins, then all ends; all 0 if empty."
    )
    ceil_mode: bool = Field(False, description="A last window may reach over the padding.")
    group: int = Field(1, ge=1, description="Groups of channels that do not see each other.")
    count_include_pad: bool = Field(False, description="The mean of a pool counts the padding.")


def block_document(block: SpatialBlock, ids: Ints) -> BlockDocument:
    """The document of a block; `ids` are the ids of all neurons."""
    window, plain = block.window, Window.of(block.window.kernel)
    return BlockDocument.model_construct(
        kind=block.kind,
        sources=ids[block.sources].ravel().tolist(),
        source_shape=list(block.sources.shape),
        neurons=ids[block.neurons].ravel().tolist(),
        shape=list(block.neurons.shape),
        kernel_shape=list(window.kernel),
        strides=[] if window.strides == plain.strides else list(window.strides),
        dilations=[] if window.dilations == plain.dilations else list(window.dilations),
        pads=[] if window.pads == plain.pads else list(window.pads),
        ceil_mode=window.ceil,
        group=block.groups,
        count_include_pad=block.count_padding,
    )


def read_block(document: BlockDocument, position: Mapping[int, int], index: int) -> SpatialBlock:
    """The block of a document; `position` is that of each id.

    Raises:
        NetworkError: an id that does not exist, or shapes that do not fit.
    """
    pads = tuple(document.pads or [0] * 2 * len(document.kernel_shape))
    half = len(pads) // 2
    try:
        return SpatialBlock(
            document.kind,
            _shaped(document.sources, document.source_shape, position),
            _shaped(document.neurons, document.shape, position),
            Window.of(
                tuple(document.kernel_shape),
                strides=tuple(document.strides),
                dilations=tuple(document.dilations),
                begin=pads[:half],
                end=pads[half:],
                ceil=document.ceil_mode,
            ),
            document.group,
            document.count_include_pad,
        )
    except NetworkError as error:
        raise network_error("blocks", index, error.message) from error


def _shaped(ids: list[int], shape: list[int], position: Mapping[int, int]) -> Ints:
    missing = next((neuron for neuron in ids if neuron not in position), None)
    if missing is not None:
        raise NetworkError(f"no neuron has the id {missing}")
    if math.prod(shape) != len(ids):
        raise NetworkError(f"the shape {shape} is not {len(ids)} neurons")
    return np.array([position[neuron] for neuron in ids], np.int64).reshape(shape)
