"""Where a failed comparison goes wrong: the first neuron whose value differs.

Export says in the metadata in which column of which tensor each neuron stands, or import finds it.
Those tensors are made outputs of a copy of the model, and compared with the network's own values,
level by level.
"""

import warnings

import numpy as np

from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning
from neat_onnx.genome.document import GENOME, genome_document
from neat_onnx.lifting.trace import trace_model
from neat_onnx.model import DataType, Model
from neat_onnx.model.rounding import is_quantized
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.network.program import Program
from neat_onnx.network.schedule import schedule
from neat_onnx.network.structure import IMPORTED
from neat_onnx.runtimes.player import Player, number_type, showing

_GROWN = {DataType.FLOAT: 1e-4, DataType.DOUBLE: 1e-10, DataType.FLOAT16: 0.5}


def first_difference(net: Network, model: Model, x: Floats, runtime: str) -> str | None:
    """The first neuron, in topological order, that differs by much more than rounding.

    Args:
        x: the inputs (T, N, I).

    Returns:
        Its label and its difference; None if the model does not say where neurons stand.
    """
    try:
        places = _places(net, model)
        if not places:
            return None
        as_written = is_quantized(model.graph)
        player = Player(showing(model, list(places)), net, runtime, as_written=as_written)
        places = {tensor: ids for tensor, ids in places.items() if player.shows(tensor)}
        got = player.play(x, list(places))
    except NeatOnnxError:  # damaged metadata, or a runtime that shows no inner tensors: no place
        return None
    want, level = Program(net, dense=False).neuron_values(x), schedule(net).level.tolist()
    position = {id: place for place, id in enumerate(net.neurons.id.tolist())}
    errors = [
        (level[at], id, at, _error(want[:, at], got[tensor][..., column]))
        for tensor, ids in places.items()
        for column, id in enumerate(ids)
        if (at := position.get(id)) is not None and column < got[tensor].shape[-1]
    ]
    if not errors:
        return None
    grown = [entry for entry in errors if not entry[-1] <= _GROWN[number_type(model)]]
    depth, _, at, error = min(grown) if grown else max(errors, key=lambda entry: entry[-1])
    words = f"{net.activation_names[at]}, level {depth}"
    return f"{net.label(at)} ({words}): relative error {error:.2g}"


def _places(net: Network, model: Model) -> dict[str, list[int]]:
    """The ids of the neurons in the columns of each tensor, as far as the file tells them."""
    text = model.metadata.get(GENOME)
    places = {} if text is None else genome_document(text).ids
    if not places or not _are_ids_of(net, places):
        places = _of_graph(net, model) if net.library == IMPORTED else {}
    produced = {name for node in model.graph.node for name in node.output}
    return {tensor: ids for tensor, ids in places.items() if tensor in produced}


def _are_ids_of(net: Network, places: dict[str, list[int]]) -> bool:
    """Whether a genome is that of a network: one that import did not apply has other ids."""
    known = {*net.neurons.id.tolist()}
    ports = {port.name: net.neurons.id[port.neurons].tolist() for port in net.inputs}
    return all(
        known.issuperset(ids) and ids == ports.get(tensor, ids) for tensor, ids in places.items()
    )


def _of_graph(net: Network, model: Model) -> dict[str, list[int]]:
    """The ids in each tensor of a model whose graph alone gives the neurons."""
    with warnings.catch_warnings(action="ignore", category=NeatOnnxWarning):
        lifted = trace_model(model)  # an import has warned before
    if len(lifted.network) != len(net):
        return {}
    return {tensor: net.neurons.id[neurons].tolist() for tensor, neurons in lifted.tensors.items()}


def _error(want: Floats, got: Floats) -> float:
    """The largest error relative to max(1, |want|); infinite where only one side is finite."""
    with np.errstate(all="ignore"):
        error = np.abs(got - want) / np.maximum(1.0, np.abs(want))
    same = (want == got) | (np.isnan(want) & np.isnan(got))
    return float(np.max(np.where(same, 0.0, np.where(np.isfinite(error), error, np.inf))))
