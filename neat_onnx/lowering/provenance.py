"""The way back of an import: the model that it came from, or that model with other numbers.

1. Nothing changed: importing the source gives this network; the export is the source.
2. Only numbers changed: each element of the source's weights is multiplied by a factor of its own
   near 1, and the result imported. A gene's value then names the element that it came from, where
   its new number is written.
3. Anything else is an ordinary export.

A model is kept only if importing it gives this very network, whatever its source says of itself.
"""

import warnings
from collections.abc import Iterator

import numpy as np

from neat_onnx.conversion import converted, with_shapes
from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning, warn
from neat_onnx.genome import import_network
from neat_onnx.model import Model, load_model
from neat_onnx.model.validate import validate
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.source import Source, genes_of, numbers_digest, structure_digest
from neat_onnx.options import ExportOptions
from neat_onnx.passes.draft import copied
from neat_onnx.passes.weights import Weights

_MET = {"opset", "encoding", "producer_name", "producer_version", "doc_string", "lossy"}
_LEFT_OPEN = {"dtype", "sequence", "batch_dimension"}  # else they are those of the source
_STEP = 2.0**-50  # of the factors: 2^25 of them lie nearer to each other than float32 numbers
_MOST_WEIGHTS = 2**25
_ALIKE = 1e-6  # far more than a factor changes of a number, and less than anybody else does


def source_with(net: Network, options: ExportOptions) -> Model | None:
    """The source of a network with its numbers; None where an ordinary export is asked for.

    Args:
        net: a network with a source.
        options: of the export.
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
    """The model with the texts and the encoding that options give its file."""
    said = {"doc_string", "producer_name", "producer_version"} & options.model_fields_set
    model = copied(model, **{name: getattr(options, name) or "" for name in said})
    return model.written_as(options.encoding)


def _with_numbers_of(model: Model, source: Source, net: Network) -> Model | None:
    """The model with the numbers of a network; None where these do not determine its weights."""
    weights = Weights.of(model)
    old = weights.values
    if not 0 < len(old) <= _MOST_WEIGHTS:
        return None
    marked = old * (1.0 + np.arange(1, len(old) + 1) * _STEP)
    try:
        seen = import_network(weights.written(model, marked))
    except NeatOnnxError:  # a number that is no weight, as the exponent of a power
        return None
    if structure_digest(seen) != source.structure:
        return None
    found, genes = genes_of(seen), genes_of(net)
    elements = _named(np.abs(marked), np.abs(found))
    known = elements >= 0
    if not np.allclose(genes[~known], found[~known], rtol=_ALIKE, atol=0.0):
        return None  # a gene that has changed is computed of several weights, or of none
    at = elements[known]
    numbers = genes[known] * np.sign(found[known]) * np.sign(marked[at])
    new = old.copy()
    new[at] = numbers
    shared = np.array_equal(new[at], numbers)  # genes of one weight are still the same
    return weights.written(model, new) if shared and weights.holds(new) else None


def _named(marks: Floats, sizes: Floats) -> Ints:
    """The position of the one mark that is of each size, -1 where there is none, or several."""
    order = np.argsort(marks, kind="stable")
    first, behind = (np.searchsorted(marks[order], sizes, side) for side in ("left", "right"))
    single = (behind - first == 1) & (sizes != 0.0)
    return np.where(single, order[np.minimum(first, len(marks) - 1)], -1)
