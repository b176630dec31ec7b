"""The way back of an import: the model that it came from, or that model with other numbers.

1. Nothing changed: importing the source gives this network; the export is the source.
2. Only numbers changed: each element of the source's weights is multiplied by a factor of its own
   near 1, and the result imported. A gene's value then names the element that it came from, where
   its new number is written.
3. Anything else is an ordinary export.

A model is kept only if importing it gives this very network, whatever its source says of itself.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning, warn
from neat_onnx.genome import import_network
from neat_onnx.model import DataType, MetadataEntry, Model, Node, Tensor, ValueInfo, load_model
from neat_onnx.model.single_sample import BATCH_AXIS, KEYS_OF_PORTS, NONE
from neat_onnx.model.validate import validate
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.source import Source, genes_of, numbers_digest, structure_digest
from neat_onnx.options import ExportOptions
from neat_onnx.passes import without_dead
from neat_onnx.passes.draft import copied, make_node, with_graph

_OWN = "neat_onnx."
_NOT_OF_GENOMES = (*KEYS_OF_PORTS, "neat_onnx.certificate")
_MET = {"encoding", "producer_name", "producer_version", "doc_string", "lossy"}
_LEFT_OPEN = {"opset", "dtype", "sequence", "batch_dimension"}  # the network says them
_STEP = 2.0**-50  # of the factors: 2^25 of them lie nearer to each other than float32 numbers
_MOST_ELEMENTS = 2**25
_ALIKE = 1e-6  # far more than a factor changes of a number, and less than anybody else does


# --- the source of an import ----------------------------------------------------------------------


def with_source(
    net: Network, model: Model, batch_axis: str | None, outputs: Sequence[str] | None
) -> Network:
    """The network with the model that it was imported from; as it is, if an export wrote that.

    Args:
        net: the network of the model.
        model: the model, with the shapes and the memory that its user gave.
        batch_axis, outputs: as they were given; see `neat_onnx.import_model`.
    """
    keys = {key for key in model.metadata if key.startswith(_OWN)}
    if not keys <= set(_NOT_OF_GENOMES):
        return net
    kept = [entry for entry in model.metadata_props if entry.key in KEYS_OF_PORTS]
    model = with_graph(copied(model, doc_string="", metadata_props=kept), doc_string="")
    if outputs is not None:
        model = _with_ports_of(model, net)
    if batch_axis is None:
        model = _of_single_sample(model)
    try:
        return copied_with_source(net, Source.of(model.to_bytes(), net))
    except NeatOnnxError:  # a number of its JSON is too large for its type
        return net


def copied_with_source(net: Network, source: Source) -> Network:
    """The network with this source; its arrays are shared, and not checked again."""
    found = Network.of(net)
    found.__dict__["source"] = source
    return found


def _with_ports_of(model: Model, net: Network) -> Model:
    """The model with those inputs and outputs alone that a network has, its memory included."""
    names = {port.name for port in net.inputs + net.outputs}
    names |= {name for port in net.memory for name in (port.input, port.output)}
    names |= model.graph.tensors.keys()
    graph = model.graph
    return without_dead(
        with_graph(
            model,
            inputs=[entry for entry in graph.inputs if entry.name in names],
            outputs=[entry for entry in graph.outputs if entry.name in names],
        )
    )


def _of_single_sample(model: Model) -> Model:
    """The model without a batch: axes of no fixed size have one element."""
    opened = {size for entry in model.graph.inputs for size in entry.shape or () if size}
    opened = {size for size in opened if isinstance(size, str)}

    def single(entry: ValueInfo, others: set[str | None]) -> ValueInfo:
        if entry.shape is None:
            return entry
        sizes = [1 if size in others else size for size in entry.shape]
        return ValueInfo.of(entry.name, entry.elem_type, sizes)

    graph = model.graph
    entry = MetadataEntry(key=BATCH_AXIS, value=NONE)
    others = [each for each in model.metadata_props if each.key != BATCH_AXIS]
    return with_graph(
        copied(model, metadata_props=[*others, entry]),
        inputs=[single(each, {*opened, None}) for each in graph.inputs],
        outputs=[single(each, {*opened}) for each in graph.outputs],
    )


# --- the way back ---------------------------------------------------------------------------------


def source_with(net: Network, options: ExportOptions) -> Model | None:
    """The source of a network with its numbers; None where an ordinary export is asked for.

    Args:
        net: a network with a source.
        options: those of the export.
    """
    source = net.source
    if source is None or _asks_for_more(options) or structure_digest(net) != source.structure:
        return None
    unchanged = numbers_digest(net) == source.numbers
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NeatOnnxWarning)
            model = load_model(source.model)
            if "opset" in options.model_fields_set and options.opset != model.opset:
                return None
            if not unchanged or import_network(model) != net:
                changed = _with_numbers_of(model, net)
                if changed is None or import_network(changed) != net:
                    return None
                model = changed
            if validate(model, "onnx"):
                return None
    except NeatOnnxError as error:
        warn(f"the network's source is left out of account: {error}")
        return None
    return _finished(model, options)


def _asks_for_more(options: ExportOptions) -> bool:
    """Whether options ask for something that the source may not have."""
    asked = options.model_fields_set & _LEFT_OPEN - {"opset"}
    left = _MET | {"opset"}
    return bool(asked) or options.model_dump(exclude=left) != ExportOptions().model_dump(
        exclude=left
    )


def _finished(model: Model, options: ExportOptions) -> Model:
    """The model with what options say of its file."""
    said = {"doc_string", "producer_name", "producer_version"} & options.model_fields_set
    model = copied(model, **{name: getattr(options, name) or "" for name in said})
    return model.written_as(options.encoding)


class _Marked(NamedTuple):
    """A model whose elements have numbers of their own.

    Attributes:
        model: the model.
        marks: the sizes of these numbers, sorted.
        elements: the position of the element of each, among all.
    """

    model: Model
    marks: Floats
    elements: Ints


def _with_numbers_of(model: Model, net: Network) -> Model | None:
    """The model whose elements are the genes of a network; None where they do not determine them.

    Raises:
        NeatOnnxError: the marked model cannot be imported.
    """
    weights = _weights(model)
    old = np.concatenate([np.empty(0), *(each.values.ravel() for each in weights.values())])
    if not 0 < len(old) <= _MOST_ELEMENTS:
        return None
    marked = old * (1.0 + np.arange(1, len(old) + 1) * _STEP)
    try:
        seen = import_network(_with_weights(model, weights, marked))
    except NeatOnnxError:  # a number that is no weight, as the exponent of a power
        return None
    if net.source is None or structure_digest(seen) != net.source.structure:
        return None
    found, genes = genes_of(seen), genes_of(net)
    elements = _named(np.abs(marked), np.abs(found))
    known = elements >= 0
    if not np.allclose(genes[~known], found[~known], rtol=_ALIKE, atol=0.0):
        return None
    at, signs = elements[known], np.sign(found[known]) * np.sign(marked[elements[known]])
    new = old.copy()
    new[at] = signs * genes[known]
    if not np.array_equal(new[at], signs * genes[known]):
        return None  # genes that share an element differ
    return _with_weights(model, weights, new) if _fit(new, weights) else None


def _named(marks: Floats, sizes: Floats) -> Ints:
    """The position of the one mark that is of each size, -1 where there is none, or several."""
    order = np.argsort(marks, kind="stable")
    ordered = marks[order]
    first = np.minimum(np.searchsorted(ordered, sizes, "left"), len(marks) - 1)
    several = np.searchsorted(ordered, sizes, "right") - np.searchsorted(ordered, sizes, "left")
    return np.where((several == 1) & (sizes != 0.0), order[first], -1)


def _fit(new: Floats, weights: Mapping[str, Tensor]) -> bool:
    """Whether each number is finite in the type of its tensor, and 0 only if it is 0."""
    single = np.concatenate(
        [np.full(each.size, each.data_type is DataType.FLOAT) for each in weights.values()]
    )
    with np.errstate(over="ignore"):
        rounded = new.astype(np.float32)
    fine = np.isfinite(rounded) & ((rounded != 0.0) == (new != 0.0))
    return bool(np.all(fine | ~single))


def _weights(model: Model) -> dict[str, Tensor]:
    """The tensors of float32 and float64 in a graph: its initializers and its Constants."""
    tensors = list(model.graph.initializer)
    for node in model.graph.node:
        if _is_constant(node):
            tensors.append(copied(node.given_attributes["value"], name=node.output[0]))
    return {
        each.name: each for each in tensors if each.data_type in (DataType.FLOAT, DataType.DOUBLE)
    }


def _is_constant(node: Node) -> bool:
    return node.op_type == "Constant" and not node.domain and "value" in node.given_attributes


def _with_weights(
    model: Model, weights: Mapping[str, Tensor], values: npt.NDArray[np.float64]
) -> Model:
    """The model with these numbers, all in one array, in place of those of its tensors."""
    ends = np.cumsum([each.size for each in weights.values()])
    parts = np.split(values, ends[:-1])
    new = {
        name: copied(each, values=part.reshape(each.dims))
        for (name, each), part in zip(weights.items(), parts, strict=True)
    }

    def constant(node: Node) -> Node:
        if not _is_constant(node) or node.output[0] not in new:
            return node
        value = copied(new[node.output[0]], name=node.given_attributes["value"].name)
        given = {"value": value}
        return make_node("Constant", [], node.output, given, name=node.name, opset=model.opset)

    return with_graph(
        model,
        initializer=[new.get(each.name, each) for each in model.graph.initializer],
        node=[constant(node) for node in model.graph.node],
    )
