"""neat-onnx network JSON: a Network as a document of genes that a person can read."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

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

_ENDS = ("source", "target", "gater")
AnyPort = TypeVar("AnyPort", Port, MemoryPort)
Id = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Number = Annotated[int, Field(ge=0, lt=2**31)]


class PortDocument(Document):
    """A named input or output."""

    name: str = Field(description="The name it has in the ONNX graph.", min_length=1)
    shape: list[Number] = Field(description="Its shape without the batch dimension.")
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
    shape: list[Number] = Field(description="Their shape without the batch dimension.")
    batch_axis: int = Field(0, ge=0, description="Where the batch dimension is among their axes.")
    neurons: list[int] = Field(description="Ids of its neurons, in C order, each once.")


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
    """The fields that are not as by default; -0.0 is not 0.0."""
    defaults, values = _defaults(type(gene)), gene.model_dump()
    kept = {name: value for name, value in values.items() if repr(value) != defaults.get(name)}
    return json.dumps(kept)


@cache
def _defaults(kind: type[Document]) -> dict[str, str]:
    """How the default of each field that has one is written."""
    return {
        name: repr(field.get_default(call_default_factory=True))
        for name, field in kind.model_fields.items()
        if not field.is_required()
    }


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
    ids, genes = net.neurons.id, net.neurons
    columns = {
        name: getattr(genes, name).tolist() for name in ("id", "bias", "response", "initial")
    }
    columns |= {"activation": net.activation_names, "aggregation": net.aggregation_names}
    columns |= {"name": net.neuron_names, "spelling": net.spellings}
    return NetworkDocument.model_construct(
        library=net.library,
        inputs=[_port_document(PortDocument, port, ids) for port in net.inputs],
        outputs=[_port_document(PortDocument, port, ids) for port in net.outputs],
        neurons=_rows(NeuronDocument, columns),
        connections=[],
        blocks=[_block_document(block, ids) for block in net.blocks],
        memory=[_port_document(MemoryPortDocument, port, ids) for port in net.memory],
        source=source_document(net.source) if net.source else None,
    )


def _rows(kind: type[Document], columns: Mapping[str, Iterable[Any]]) -> list[Any]:
    """Return a document for each row of columns, which are valid."""
    values = zip(*columns.values(), strict=True)
    return [kind.model_construct(**dict(zip(columns, row, strict=True))) for row in values]


def _port_document(kind: type[Document], port: Port | MemoryPort, ids: Ints) -> Any:
    values = {name: getattr(port, name) for name in kind.model_fields}
    values |= {"shape": list(port.shape), "neurons": ids[port.neurons].tolist()}
    return kind.model_construct(**values)


def _block_document(block: SpatialBlock, ids: Ints) -> BlockDocument:
    window, plain = block.window, Window(block.window.kernel)
    sizes = {
        name: list(getattr(window, name))
        for name in ("strides", "dilations", "pads")
        if getattr(window, name) != getattr(plain, name)
    }
    return BlockDocument(
        kind=block.kind,
        sources=ids[block.sources].ravel().tolist(),
        source_shape=list(block.sources.shape),
        neurons=ids[block.neurons].ravel().tolist(),
        shape=list(block.neurons.shape),
        kernel_shape=list(window.kernel),
        ceil_mode=window.ceil,
        group=block.groups,
        count_include_pad=block.count_padding,
        **sizes,
    )


def _connection_documents(genes: Connections, ids: list[int]) -> list[ConnectionDocument]:
    columns = {name: getattr(genes, name).tolist() for name in ConnectionDocument.model_fields}
    called = [*ids, None]  # at NONE, the last place
    for name in _ENDS:
        columns[name] = [called[j] for j in columns[name]]
    return _rows(ConnectionDocument, columns)


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


def structure_of(document: NetworkDocument | Mapping[str, Any]) -> Structure:
    """Return the structure that a document, or a parsed JSON value, describes.

    Raises:
        NetworkError: it is no document; an id occurs twice or does not exist; or genes do not fit
            together. Says where.
    """
    if not isinstance(document, NetworkDocument):
        document = parse(NetworkDocument, document, NetworkError)
    position: dict[int | None, int] = {None: NONE}
    for index, neuron in enumerate(document.neurons):
        if neuron.id in position:
            raise network_error("neurons", index, f"the id {neuron.id} occurs twice")
        position[neuron.id] = index
    neurons, activations, aggregations = Neurons.of(**_columns(NeuronDocument, document.neurons))
    edges = _columns(ConnectionDocument, document.connections)
    for name in _ENDS:
        edges[name] = [
            _place("connections", index, neuron, position)
            for index, neuron in enumerate(edges[name])
        ]
    return Structure(
        inputs=_ports(Port, "inputs", document.inputs, position),
        outputs=_ports(Port, "outputs", document.outputs, position),
        neurons=neurons,
        connections=Connections.of(**edges),
        activations=activations,
        aggregations=aggregations,
        library=document.library,
        blocks=tuple(_block(block, position, index) for index, block in enumerate(document.blocks)),
        memory=_ports(MemoryPort, "memory", document.memory, position),
        source=read_source(document.source) if document.source else None,
    )


def _columns(kind: type[Document], genes: Sequence[Document]) -> dict[str, Any]:
    return {name: [getattr(gene, name) for gene in genes] for name in kind.model_fields}


Positions = Mapping[int | None, int]


def _place(what: Where, index: int, neuron: int | None, position: Positions) -> int:
    if neuron not in position:
        raise network_error(what, index, f"no neuron has the id {neuron}")
    return position[neuron]


def _places(
    what: Where, index: int, ids: Sequence[int], position: Positions, shape: Sizes = (-1,)
) -> Ints:
    """The positions of neurons, as an array of a shape."""
    if shape != (-1,) and math.prod(shape) != len(ids):
        raise network_error(what, index, f"the shape {list(shape)} is not {len(ids)} neurons")
    places = [_place(what, index, neuron, position) for neuron in ids]
    return np.array(places, np.int64).reshape(shape)


def _ports(
    kind: type[AnyPort],
    what: Where,
    documents: Sequence[PortDocument | MemoryPortDocument],
    position: Positions,
) -> tuple[AnyPort, ...]:
    found = []
    for index, document in enumerate(documents):
        values = dict(document) | {"shape": tuple(document.shape)}
        values["neurons"] = _places(what, index, document.neurons, position)
        found.append(kind(**values))
    return tuple(found)


def _block(document: BlockDocument, position: Positions, index: int) -> SpatialBlock:
    sources = _places("blocks", index, document.sources, position, tuple(document.source_shape))
    neurons = _places("blocks", index, document.neurons, position, tuple(document.shape))
    try:
        sizes = document.kernel_shape, document.strides, document.dilations, document.pads
        kernel, strides, dilations, pads = map(tuple, sizes)
        window = Window(kernel, strides, dilations, pads, document.ceil_mode)
    except NetworkError as error:
        raise network_error("blocks", index, error.message) from error
    return SpatialBlock(
        document.kind, sources, neurons, window, document.group, document.count_include_pad
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
            text = f"a connection of {len(gene)} values, expected {', '.join(keys)}"
            raise NetworkError(text, where=f"connections[{len(edges)}]")
        edges.append(dict(gene if isinstance(gene, Mapping) else zip(keys, gene, strict=True)))
    document = {
        "inputs": [{"name": "input", "shape": [len(input_ids)], "neurons": input_ids}],
        "outputs": [{"name": "output", "shape": [len(output_ids)], "neurons": output_ids}],
        "neurons": [{"id": gene} for gene in input_ids] + genes,
        "connections": edges,
    }
    return structure_of(document)
