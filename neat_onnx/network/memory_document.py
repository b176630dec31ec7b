"""Memory ports in network JSON: names for activations that are remembered, by ids of neurons."""

from collections.abc import Mapping
from typing import Annotated

import numpy as np
from pydantic import Field

from neat_onnx.network.genes import Ints, network_error
from neat_onnx.network.memory import MemoryPort
from neat_onnx.parsing import Document


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
