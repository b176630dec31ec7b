"""The way back of an import: the model that it came from, or that model with other numbers.

1. Nothing changed: importing the source gives this network; the export is the source.
2. Only numbers changed: the position of each of the source's weights is written into the last bits
   of its number, and the result imported. A gene's number then names the weight that it came from,
   where its new number is written.
3. Anything else is an ordinary export.

A model is kept only if importing it gives this very network, whatever its source says of itself.
"""

import warnings
from collections.abc import Iterator

import numpy as np

from neat_onnx.conversion import converted, with_shapes
from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning, warn
from neat_onnx.genome.read import import_network
from neat_onnx.lowering.weights import Weights
from neat_onnx.model import Model, load_model
from neat_onnx.model.draft import copied
from neat_onnx.model.validate import validate
from neat_onnx.network.network import Network
from neat_onnx.network.source import Source, genes_of, numbers_checksum, structure_checksum
from neat_onnx.options import ExportOptions

_MET = {"opset", "encoding", "producer_name", "producer_version", "doc_string", "lossy"}
_LEFT_OPEN = {"dtype", "sequence", "batch_dimension"}  # else they are those of the source
_LAST_BITS = 2**25 - 1  # float32 numbers have zeros there, as float64 numbers
_ALIKE = 1e-6  # far more than the last bits change of a number, and less than evolution does


def source_with(net: Network, options: ExportOptions) -> Model | None:
    """The source of a network with its numbers; None where an ordinary export is asked for."""
    source = net.source
    if source is None or _asks_for_more(options) or structure_checksum(net) != source.structure:
        return None
    try:
        with warnings.catch_warnings(action="ignore", category=NeatOnnxWarning):
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
    if numbers_checksum(net) == source.numbers:
        warn("the network's source is left out of account: it is that of another network")
    return None


def _candidates(model: Model, source: Source, net: Network) -> Iterator[Model]:
    """The source if no number has changed, and then the source with the network's numbers."""
    if numbers_checksum(net) == source.numbers:
        yield model
    weights = Weights.of(model, scalars=False)
    every = Weights.of(model, scalars=True)
    for some in (weights, every) if len(every.values) > len(weights.values) else (weights,):
        changed = _with_numbers_of(model, some, source, net)
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


def _with_numbers_of(model: Model, weights: Weights, source: Source, net: Network) -> Model | None:
    """The model with the numbers of a network; None where these do not determine its weights."""
    if not 0 < len(weights.values) <= _LAST_BITS:
        return None
    # positions, from 1 on, are the last bits of numbers, but for 0 and infinities
    values = weights.values
    bits = values.view(np.int64) & ~_LAST_BITS | np.arange(1, len(values) + 1)
    marked = np.where((values != 0.0) & np.isfinite(values), bits.view(np.float64), values)
    try:
        seen = import_network(weights.written(model, marked))
    except NeatOnnxError:  # a number that is no weight, as the exponent of a power
        return None
    if structure_checksum(seen) != source.structure:
        return None
    found, genes = genes_of(seen), genes_of(net)
    at = (found.view(np.int64) & _LAST_BITS) - 1
    at[(at < 0) | (at >= len(marked))] = 0
    known = (np.abs(found) == np.abs(marked[at])) & (found != 0.0)
    if not np.allclose(genes[~known], found[~known], rtol=_ALIKE, atol=0.0):
        return None  # a gene that has changed is computed of several weights, or of none
    at, signs = at[known], np.sign(found[known]) * np.sign(marked[at[known]])
    numbers, new = genes[known] * signs, weights.values.copy()
    new[at] = numbers
    shared = np.array_equal(new[at], numbers)  # genes of one weight are still the same
    return weights.written(model, new) if shared and weights.holds(new) else None
