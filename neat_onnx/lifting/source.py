"""The source of an import: the model that a network was read from, for the way back.

It is the model as import saw it, so that importing it again needs no arguments: with the shapes and
the memory that its user gave, the outputs that were asked for, and without a batch where that was.
`lowering/provenance.py` writes it again.
"""

from collections.abc import Collection, Sequence

from neat_onnx.errors import NeatOnnxError
from neat_onnx.model import MetadataEntry, Model, ValueInfo
from neat_onnx.model.draft import copied, with_graph
from neat_onnx.model.ports import BATCH_AXIS, KEYS_OF_PORTS, NONE, is_export
from neat_onnx.model.value import Extent
from neat_onnx.model.wiring import without_dead
from neat_onnx.network.network import Network
from neat_onnx.network.source import Source


def with_source(
    net: Network, model: Model, batch_axis: str | None, outputs: Sequence[str] | None
) -> Network:
    """The network with the model that it was imported from; as it is, if an export wrote that.

    Args:
        net: the network of the model.
        model: the model, with the shapes and the memory that its user gave.
        batch_axis: None if every axis was taken for features.
        outputs: as they were given; see `neat_onnx.import_model`.
    """
    if is_export(model):
        return net
    kept = [entry for entry in model.metadata_props if entry.key in KEYS_OF_PORTS]
    model = with_graph(copied(model, doc_string="", metadata_props=kept), doc_string="")
    if outputs is not None:
        model = _with_ports_of(model, net)
    if batch_axis is None:
        model = _of_single_sample(model)
    try:
        return net.with_source(Source.of(model.to_bytes(), net))
    except NeatOnnxError:  # a number of its JSON is too large for its type
        return net


def _with_ports_of(model: Model, net: Network) -> Model:
    """The model with those inputs and outputs alone that a network has, its memory included."""
    names = {port.name for port in net.inputs + net.outputs}
    names |= {name for port in net.memory for name in (port.input, port.output)}
    names |= model.graph.tensors.keys()
    graph = model.graph
    inputs, outputs = (
        [entry for entry in side if entry.name in names] for side in (graph.inputs, graph.outputs)
    )
    return without_dead(with_graph(model, inputs=inputs, outputs=outputs))


def _of_single_sample(model: Model) -> Model:
    """The model without a batch: axes of no fixed size have one element."""
    named = {size for each in model.graph.inputs for size in each.shape or ()}
    opened = {size for size in named if isinstance(size, str)}

    def single(entry: ValueInfo, others: Collection[Extent]) -> ValueInfo:
        if entry.shape is None:
            return entry
        sizes = [1 if size in others else size for size in entry.shape]
        return ValueInfo.of(entry.name, entry.elem_type, sizes)

    graph = model.graph
    entry = MetadataEntry(key=BATCH_AXIS, value=NONE)
    others = [each for each in model.metadata_props if each.key != BATCH_AXIS]
    return with_graph(
        copied(model, metadata_props=[*others, entry]),
        inputs=[single(each, [*opened, None]) for each in graph.inputs],
        outputs=[single(each, opened) for each in graph.outputs],
    )
