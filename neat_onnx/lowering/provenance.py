"""The way back of an import: the model that it came from, or that model with other numbers.

1. Nothing changed: importing the source gives this network; the export is the source.
2. Only numbers changed: each element of the source's weights is multiplied by a factor of its own
   near 1, and the result imported. A gene's value then names the element that it came from, where
   its new number is written.
3. Anything else is an ordinary export.

A model is kept only if importing it gives this very network, whatever its source says of itself.
"""

import warnings
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from neat_onnx.conversion import converted, with_shapes
from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning, warn
from neat_onnx.genome import import_network
from neat_onnx.model import DataType, Model, Node, Tensor, load_model
from neat_onnx.model.validate import validate
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.source import Source, genes_of, numbers_digest, structure_digest
from neat_onnx.options import ExportOptions
from neat_onnx.passes.draft import copied, make_node, with_graph

_MET = {"opset", "encoding", "producer_name", "producer_version", "doc_string", "lossy"}
_LEFT_OPEN = {"dtype", "sequence", "batch_dimension"}  # else they are those of the source
_STEP = 2.0**-50  # of the factors: 2^25 of them lie nearer to each other than float32 numbers
_MOST_ELEMENTS = 2**25
_ALIKE = 1e-6  # far more than a factor changes of a number, and less than anybody else does


def source_with(net: Network, options: ExportOptions) -> Model | None:
    """The source of a network with its numbers; None where an ordinary export is asked for.

    Args:
        net: a network with a source.
        options: those of the export.
    """
    source = net.source
    if source is None or _asks_for_more(options) or structure_digest(net) != source.structure:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NeatOnnxWarning)
            model = load_model(source.model)
            if "opset" in options.model_fields_set and options.opset != model.opset:
                return None
            for made in _candidates(model, source, net):
                valid = _valid(made)
                if import_network(valid) == net:
                    return _finished(valid, options)
    except NeatOnnxError as error:
        warn(f"the network's source is left out of account: {error}")
        return None
    if numbers_digest(net) == source.numbers:
        warn("the network's source is left out of account: it is that of another network")
    return None


def _candidates(model: Model, source: Source, net: Network) -> Iterator[Model]:
    """The source if no number has changed, and then the source with the network's numbers."""
    if numbers_digest(net) == source.numbers:
        yield model
    changed = _with_numbers_of(model, source, net)
    if changed is not None:
        yield changed


def _valid(model: Model) -> Model:
    """The model as onnx's checker wants it: many exporters leave out the shapes of outputs.

    Raises:
        ModelError: it is not valid, and cannot be made so.
    """
    stated = with_shapes(model)
    return converted(model) if validate(stated, "onnx") else stated


def _asks_for_more(options: ExportOptions) -> bool:
    """Whether options ask for something that the source may not have."""
    if options.model_fields_set & _LEFT_OPEN:
        return True
    return options.model_dump(exclude=_MET) != ExportOptions().model_dump(exclude=_MET)


def _finished(model: Model, options: ExportOptions) -> Model:
    """The model with what options say of its file."""
    said = {"doc_string", "producer_name", "producer_version"} & options.model_fields_set
    model = copied(model, **{name: getattr(options, name) or "" for name in said})
    return model.written_as(options.encoding)


def _with_numbers_of(model: Model, source: Source, net: Network) -> Model | None:
    """The model with the numbers of a network; None where these do not determine its elements."""
    weights = _weights(model)
    old = np.concatenate([np.empty(0), *(each.values.ravel() for each in weights.values())])
    if not 0 < len(old) <= _MOST_ELEMENTS:
        return None
    marked = old * (1.0 + np.arange(1, len(old) + 1) * _STEP)
    try:
        seen = import_network(_with_weights(model, weights, marked))
    except NeatOnnxError:  # a number that is no weight, as the exponent of a power
        return None
    if structure_digest(seen) != source.structure:
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
    """Whether each number stays finite in the type of its tensor, and is 0 only if it is 0."""
    single = np.concatenate(
        [np.full(each.size, each.data_type is DataType.FLOAT) for each in weights.values()]
    )
    with np.errstate(over="ignore"):
        rounded = new.astype(np.float32)
    fine = (np.isfinite(rounded) == np.isfinite(new)) & ((rounded != 0.0) == (new != 0.0))
    return bool(np.all(fine | ~single))


def _weights(model: Model) -> dict[str, Tensor]:
    """The tensors of float32 and float64 in a graph: its initializers and its Constants.

    A scalar is no weight: it is a bound, an exponent or another number of a formula.
    """
    tensors = list(model.graph.initializer)
    for node in model.graph.node:
        if _is_constant(node):
            tensors.append(copied(node.given_attributes["value"], name=node.output[0]))
    kinds = (DataType.FLOAT, DataType.DOUBLE)
    return {each.name: each for each in tensors if each.dims and each.data_type in kinds}


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
