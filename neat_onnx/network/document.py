"""neat-onnx network JSON: a Network as a document of genes that a person can read."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from neat_onnx.arguments import listed
from neat_onnx.errors import NetworkError
from neat_onnx.network.genes import (
    MAX_DELAY,
    NONE,
    Connections,
    Ints,
    Neurons,
    Where,
    network_error,
)
from neat_onnx.network.port import Dtype, MemoryPort, Port
from neat_onnx.network.source import SourceDocument, read_source, source_document
from neat_onnx.network.spatial import Kind, SpatialBlock
from neat_onnx.network.structure import Structure
from neat_onnx.network.window import Sizes, Window
from neat_onnx.parsing import Document, parse

Id = Annotated[int, Field(ge=-(2**63), lt=2**63)]


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


class NeuronDocument(Document):
    """A neuron. One that belongs to an input port computes nothing: only its id and name count."""

    id: Id = Field(description="What the gene is called; unique.")
    activation: str = Field(
        "identity",
        description="The function of the pre-activation: a name, or `formula: ` and its formula.",
        examples=["tanh", "formula: z * sigmoid(1.7 * z)"],
    )
    aggregation: str = Field("sum", description="How the weighted inputs become one number.")
    bias: float = Field(0.0, description="Added to response times the aggregate.")
    response: float = Field(1.0, description="Multiplies the aggregate.")
    initial: float = Field(0.0, description="What delayed connections read before the first step.")
    name: str = Field("", description="For people.")
    spelling: str = Field(
        "",
        description="The library's name of the activation, where that has several and this is not "
        "the usual one: NeatapticTS's `sigmoid` for `logistic`.",
    )


class ConnectionDocument(Document):
    """A connection."""

    source: int = Field(description="Id of the neuron it starts in.")
    target: int = Field(description="Id of the neuron it ends in.")
    weight: float = Field(description="Multiplies the source's value.")
    enabled: bool = Field(True, description="False for a gene that does not compute.")
    delay: int = Field(
        0, ge=0, le=MAX_DELAY, description="Steps between the source's value and its use."
    )
    reads_state: bool = Field(False, description="Read the source's pre-activation.")
    gater: int | None = Field(None, description="Id of the neuron whose activation multiplies it.")
    gate_delay: int = Field(
        0, ge=0, le=MAX_DELAY, description="Steps between the gater's value and its use."
    )
    initial_gain: float = Field(0.0, description="The gain before the gater was first computed.")


class NetworkDocument(Document):
    """A neural network as neurons and connections, with explicit delays and gates.

    At step t every neuron computes z = bias + response * aggregation(weight * gain * value) over
    its enabled incoming connections, and its value is activation(z).
    """

    format: Literal["neat-onnx"] = Field("neat-onnx", description="Says what this document is.")
    version: Literal[1] = Field(1, description="Version of this format.")
    library: str = Field("neat-onnx", description="What the network was read from.")
    inputs: list[PortDocument] = Field(description="The input ports.")
    outputs: list[PortDocument] = Field(description="The output ports, at least one.", min_length=1)
    neurons: list[NeuronDocument] = Field(description="All neurons, those of the inputs included.")
    connections: list[ConnectionDocument] = Field(
        description="All connections; those into one neuron in the order it adds them."
    )
    blocks: list[BlockDocument] = Field(
        default_factory=list,
        description="Hints at layers that slide a window; used only where the weights agree.",
    )
    memory: list[MemoryPortDocument] = Field(
        default_factory=list,
        description="Hints at the names of the memory in a graph; the memory itself is delays.",
    )
    source: SourceDocument | None = Field(
        None,
        description="The model that the network was imported from; used only where importing it, "
        "or the same with other numbers, gives this network.",
    )

    def to_json(self) -> str:
        """JSON text with one gene a line; every number reads back to the same double."""
        return _text(self, [_line(gene) for gene in self.connections])


def _text(document: NetworkDocument, connections: list[str]) -> str:
    """The JSON text of a document, whose connections are written already."""
    head = {name: getattr(document, name) for name in ("format", "version", "library")}
    lines = [f'  "{key}": {json.dumps(value)}' for key, value in head.items()]
    hints = [key for key in ("blocks", "memory") if getattr(document, key)]
    for key in ("inputs", "outputs", "neurons", "connections", *hints):
        genes = connections
        if key != "connections":
            genes = [_line(gene) for gene in getattr(document, key)]
        body = "[\n    " + ",\n    ".join(genes) + "\n  ]" if genes else "[]"
        lines.append(f'  "{key}": {body}')
    if document.source is not None:
        lines.append(f'  "source": {_line(document.source)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _line(gene: Document) -> str:
    return json.dumps(_without_defaults(gene))


def _without_defaults(gene: Document) -> dict[str, Any]:
    """The fields that are not as by default; -0.0 is not 0.0."""
    defaults = _defaults(type(gene))
    values = gene.model_dump()
    return {name: value for name, value in values.items() if repr(value) != defaults.get(name)}


@cache
def _defaults(kind: type[Document]) -> dict[str, str]:
    """How the default of each field that has one is written."""
    return {
        name: repr(field.get_default(call_default_factory=True))
        for name, field in kind.model_fields.items()
        if not field.is_required()
    }


def parse_network_document(value: Any) -> NetworkDocument:
    """A parsed JSON value as a network document.

    Raises:
        NetworkError: it is not one; says where.
    """
    return parse(NetworkDocument, value, NetworkError)


def to_document(net: Structure) -> NetworkDocument:
    """See `Network.to_document`."""
    connections = _connection_documents(net.connections, net.neurons.id.tolist())
    return _unconnected(net).model_copy(update={"connections": connections})


def to_json(net: Structure) -> str:
    """See `Network.to_json`: the text of `to_document(net)`.

    There may be a million connections, nearly all of them plain: those are written from the arrays.
    """
    return _text(_unconnected(net), _connection_lines(net.connections, net.neurons.id.tolist()))


def _unconnected(net: Structure) -> NetworkDocument:
    """The document without its connections."""
    return NetworkDocument.model_construct(
        library=net.library,
        inputs=[_port_document(port, net.neurons.id) for port in net.inputs],
        outputs=[_port_document(port, net.neurons.id) for port in net.outputs],
        neurons=_neuron_documents(net),
        connections=[],
        blocks=[_block_document(block, net.neurons.id) for block in net.blocks],
        memory=[_memory_document(port, net.neurons.id) for port in net.memory],
        source=source_document(net.source) if net.source else None,
    )


def _port_document(port: Port, ids: Ints) -> PortDocument:
    return PortDocument.model_construct(
        name=port.name,
        shape=list(port.shape),
        neurons=ids[port.neurons].tolist(),
        dtype=port.dtype,
        batch_axis=port.batch_axis,
        time_axis=port.time_axis,
    )


def _memory_document(port: MemoryPort, ids: Ints) -> MemoryPortDocument:
    return MemoryPortDocument.model_construct(
        input=port.input,
        output=port.output,
        shape=list(port.shape),
        batch_axis=port.batch_axis,
        neurons=ids[port.neurons].tolist(),
    )


def _block_document(block: SpatialBlock, ids: Ints) -> BlockDocument:
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


def _neuron_documents(net: Structure) -> list[NeuronDocument]:
    genes = net.neurons
    columns = zip(
        genes.id.tolist(),
        net.activation_names,
        net.aggregation_names,
        genes.bias.tolist(),
        genes.response.tolist(),
        genes.initial.tolist(),
        net.neuron_names,
        net.spellings,
        strict=True,
    )
    keys = tuple(NeuronDocument.model_fields)
    return [NeuronDocument.model_construct(**dict(zip(keys, row, strict=True))) for row in columns]


def _connection_documents(genes: Connections, ids: list[int]) -> list[ConnectionDocument]:
    columns = zip(
        (ids[j] for j in genes.source.tolist()),
        (ids[j] for j in genes.target.tolist()),
        genes.weight.tolist(),
        genes.enabled.tolist(),
        genes.delay.tolist(),
        genes.reads_state.tolist(),
        (None if j == NONE else ids[j] for j in genes.gater.tolist()),
        genes.gate_delay.tolist(),
        genes.initial_gain.tolist(),
        strict=True,
    )
    keys = tuple(ConnectionDocument.model_fields)
    return [
        ConnectionDocument.model_construct(**dict(zip(keys, row, strict=True))) for row in columns
    ]


def _connection_lines(genes: Connections, ids: list[int]) -> list[str]:
    edges = zip(genes.source.tolist(), genes.target.tolist(), genes.weight.tolist(), strict=True)
    lines = [
        f'{{"source": {ids[i]}, "target": {ids[j]}, "weight": {weight!r}}}'
        for i, j, weight in edges
    ]
    plain = genes.enabled & ~genes.reads_state & (genes.gater == NONE)
    plain &= (genes.delay == 0) & (genes.gate_delay == 0)
    plain &= (genes.initial_gain == 0.0) & ~np.signbit(genes.initial_gain)
    others = np.flatnonzero(~plain)
    documents = _connection_documents(genes.take(others), ids)
    for position, gene in zip(others.tolist(), documents, strict=True):
        lines[position] = _line(gene)
    return lines


def _positions(genes: Sequence[NeuronDocument]) -> dict[int, int]:
    position: dict[int, int] = {}
    for index, neuron in enumerate(genes):
        if neuron.id in position:
            raise network_error("neurons", index, f"the id {neuron.id} occurs twice")
        position[neuron.id] = index
    return position


def structure_of(document: NetworkDocument) -> Structure:
    """Return the structure that a document describes.

    Raises:
        NetworkError: an id that occurs twice or does not exist, or genes that do not fit together.
    """
    genes = document.neurons
    position = _positions(genes)
    neurons, activations, aggregations = Neurons.of(
        list(position),
        [neuron.activation for neuron in genes],
        [neuron.aggregation for neuron in genes],
        bias=[neuron.bias for neuron in genes],
        response=[neuron.response for neuron in genes],
        initial=[neuron.initial for neuron in genes],
        name=[neuron.name for neuron in genes],
        spelling=[neuron.spelling for neuron in genes],
    )
    return Structure(
        inputs=_ports("inputs", document.inputs, position),
        outputs=_ports("outputs", document.outputs, position),
        neurons=neurons,
        connections=_connections(document.connections, position),
        activations=activations,
        aggregations=aggregations,
        library=document.library,
        blocks=tuple(_block(block, position, index) for index, block in enumerate(document.blocks)),
        memory=tuple(
            MemoryPort(
                port.input,
                port.output,
                tuple(port.shape),
                port.batch_axis,
                _places("memory", index, port.neurons, position),
            )
            for index, port in enumerate(document.memory)
        ),
        source=read_source(document.source) if document.source else None,
    )


def _places(
    what: Where, index: int, ids: Sequence[int], position: Mapping[int, int], shape: Sizes = (-1,)
) -> Ints:
    """The positions of neurons, as an array of a shape."""
    for neuron in ids:
        if neuron not in position:
            raise network_error(what, index, f"no neuron has the id {neuron}")
    if shape != (-1,) and math.prod(shape) != len(ids):
        raise network_error(what, index, f"the shape {list(shape)} is not {len(ids)} neurons")
    return np.array([position[neuron] for neuron in ids], np.int64).reshape(shape)


def _ports(
    what: Where, documents: Sequence[PortDocument], position: Mapping[int, int]
) -> tuple[Port, ...]:
    return tuple(
        Port(
            port.name,
            tuple(port.shape),
            _places(what, index, port.neurons, position),
            port.dtype,
            port.batch_axis,
            port.time_axis,
        )
        for index, port in enumerate(documents)
    )


def _block(document: BlockDocument, position: Mapping[int, int], index: int) -> SpatialBlock:
    pads = tuple(document.pads or [0] * 2 * len(document.kernel_shape))
    half = len(pads) // 2
    sources = _places("blocks", index, document.sources, position, tuple(document.source_shape))
    neurons = _places("blocks", index, document.neurons, position, tuple(document.shape))
    try:
        window = Window.of(
            tuple(document.kernel_shape),
            strides=tuple(document.strides),
            dilations=tuple(document.dilations),
            begin=pads[:half],
            end=pads[half:],
            ceil=document.ceil_mode,
        )
    except NetworkError as error:
        raise network_error("blocks", index, error.message) from error
    return SpatialBlock(
        document.kind, sources, neurons, window, document.group, document.count_include_pad
    )


def _connections(genes: list[ConnectionDocument], position: dict[int, int]) -> Connections:
    for index, gene in enumerate(genes):
        for neuron in (gene.source, gene.target, gene.gater):
            if neuron is not None and neuron not in position:
                raise network_error("connections", index, f"no neuron has the id {neuron}")
    return Connections.of(
        [position[gene.source] for gene in genes],
        [position[gene.target] for gene in genes],
        [gene.weight for gene in genes],
        enabled=[gene.enabled for gene in genes],
        delay=[gene.delay for gene in genes],
        reads_state=[gene.reads_state for gene in genes],
        gater=[NONE if gene.gater is None else position[gene.gater] for gene in genes],
        gate_delay=[gene.gate_delay for gene in genes],
        initial_gain=[gene.initial_gain for gene in genes],
    )


def build(
    inputs: int | Sequence[int],
    outputs: Sequence[int],
    neurons: Iterable[Mapping[str, Any] | int],
    connections: Iterable[Mapping[str, Any] | tuple[int, int, float]],
) -> Structure:
    """See `Network.build`."""
    numbered = range(inputs) if isinstance(inputs, int) else inputs
    input_ids = listed("inputs", numbered)
    genes = [
        dict(gene) if isinstance(gene, Mapping) else {"id": gene}
        for gene in listed("neurons", neurons)
    ]
    output_ids = listed("outputs", outputs)
    keys = ("source", "target", "weight")
    edges: list[dict[str, Any]] = []
    for gene in listed("connections", connections):
        if not isinstance(gene, Mapping) and len(listed("a connection", gene)) != len(keys):
            raise NetworkError(
                f"a connection of {len(gene)} values, expected {', '.join(keys)}",
                where=f"connections[{len(edges)}]",
            )
        edges.append(dict(gene if isinstance(gene, Mapping) else zip(keys, gene, strict=True)))
    document = {
        "inputs": [{"name": "input", "shape": [len(input_ids)], "neurons": input_ids}],
        "outputs": [{"name": "output", "shape": [len(output_ids)], "neurons": output_ids}],
        "neurons": [{"id": gene} for gene in input_ids] + genes,
        "connections": edges,
    }
    return structure_of(parse_network_document(document))
