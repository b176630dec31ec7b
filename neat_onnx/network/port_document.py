"""Ports, parts of the memory and blocks in network JSON: names for neurons, by their ids."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from neat_onnx.errors import NetworkError
from neat_onnx.network.genes import Ints, network_error
from neat_onnx.network.port import Dtype, MemoryPort, Port
from neat_onnx.network.spatial import Kind, SpatialBlock
from neat_onnx.network.window import Window
from neat_onnx.parsing import Document


class PortDocument(Document):
    """A named input or output."""

    name: str = Field(description="The name it has in the ONNX graph.", min_length=1)
    shape: list[Annotated[int, Field(ge=0, lt=2**31)]] = Field(
        description="Its shape without the batch dimension."
    )
    neurons: list[int] = Field(description="Ids of its neurons, in C order.")
    dtype: Dtype = Field(
        "",
        description="A hint at the type of its elements in the ONNX graph: empty for the usual one "
        "of numbers. An output has it where the graph computes integers, or truth values.",
    )
    batch_axis: Annotated[int, Field(ge=0)] | None = Field(
        0,
        description="A hint at where the batch dimension is among its axes there; null where it "
        "has none, since a graph takes one sample, or all samples share the input.",
    )
    time_axis: Annotated[int, Field(ge=0)] | None = Field(
        None,
        description="A hint at where time is among these and the batch, where the ONNX graph takes "
        "whole sequences; null otherwise, and beside them of an input that is the same at every "
        "step, and of an output that has their last step alone.",
    )


def port_document(port: Port, ids: Ints) -> PortDocument:
    """The document of a port; `ids` are the ids of all neurons."""
    return PortDocument.model_construct(
        name=port.name,
        shape=list(port.shape),
        neurons=ids[port.neurons].tolist(),
        dtype=port.dtype,
        batch_axis=port.batch_axis,
        time_axis=port.time_axis,
    )


def read_ports(
    what: Literal["inputs", "outputs"],
    documents: Sequence[PortDocument],
    position: Mapping[int, int],
) -> tuple[Port, ...]:
    """The ports of documents; `position` is that of each id.

    Raises:
        NetworkError: an id that does not exist.
    """
    found = []
    for index, port in enumerate(documents):
        for neuron in port.neurons:
            if neuron not in position:
                raise network_error(what, index, f"no neuron has the id {neuron}")
        neurons = np.array([position[neuron] for neuron in port.neurons], np.int64)
        hints = port.dtype, port.batch_axis, port.time_axis
        found.append(Port(port.name, tuple(port.shape), neurons, *hints))
    return tuple(found)


class MemoryPortDocument(Document):
    """Names for a part of the memory, in a graph of one step: a hint at how it is written.

    Before each step the input holds the activations that the neurons had in the step before, and
    the output gives those that they have now.
    """

    input: str = Field(description="The name of the input in the ONNX graph.", min_length=1)
    output: str = Field(description="The name of the output that feeds it.", min_length=1)
    shape: list[Annotated[int, Field(ge=0, lt=2**31)]] = Field(
        description="Their shape without the batch dimension."
    )
    batch_axis: int = Field(0, ge=0, description="Where the batch dimension is among their axes.")
    neurons: list[int] = Field(description="Ids of its neurons, in C order, each once.")


def memory_document(port: MemoryPort, ids: Ints) -> MemoryPortDocument:
    """The document of a memory port; `ids` are the ids of all neurons."""
    return MemoryPortDocument.model_construct(
        input=port.input,
        output=port.output,
        shape=list(port.shape),
        batch_axis=port.batch_axis,
        neurons=ids[port.neurons].tolist(),
    )


def read_memory(
    document: MemoryPortDocument, position: Mapping[int, int], index: int
) -> MemoryPort:
    """The memory port of a document; `position` is that of each id.

    Raises:
        NetworkError: an id that does not exist.
    """
    for neuron in document.neurons:
        if neuron not in position:
            raise network_error("memory", index, f"no neuron has the id {neuron}")
    neurons = np.array([position[neuron] for neuron in document.neurons], np.int64)
    shape = tuple(document.shape)
    return MemoryPort(document.input, document.output, shape, document.batch_axis, neurons)


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
