"""Ports and parts of the memory in network JSON: names for neurons, by their ids."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from neat_onnx.network.genes import Ints, network_error
from neat_onnx.network.port import Dtype, MemoryPort, Port
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
