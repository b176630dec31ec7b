"""A model that states a batch of many samples, run on the few of a comparison.

Exporters write the sizes of their example, and an example may be the whole data set.
"""

from collections.abc import Sequence

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.lifting.axes import axes_of_inputs
from neat_onnx.model import Model, ValueInfo
from neat_onnx.model.budget import Budget
from neat_onnx.model.draft import with_graph
from neat_onnx.model.value import Extent
from neat_onnx.network.network import Network
from neat_onnx.verification.player import Player

_MAX_SMALL_BATCH = 32  # the evaluator takes pools element by element
_BATCH = "batch"


def loaded(net: Network, model: Model, runtime: str, *, as_written: bool) -> Player:
    """Load a model to be compared with a network, with a batch of no fixed size if it is large.

    Raises:
        ModelError: the runtime refuses the model, or it states more elements than the limit.
        OptionError: the runtime is unknown or not installed.
    """
    opened = _opened(model)
    if opened is not model:
        player = Player(opened, net, runtime, as_written=as_written)
        if _runs(player, net):
            return player
    player = Player(model, net, runtime, as_written=as_written)
    if player.fixed_batch:
        Budget().take("elements", player.rows_of_a_run * len(net.input_neurons))
    return player


def _runs(player: Player, net: Network) -> bool:
    """Whether a model runs two samples: not if the graph has the batch's size in it."""
    try:
        player.play(np.zeros((1, 2, len(net.input_neurons))), [port.name for port in net.outputs])
    except ModelError:
        return False
    return True


def _opened(model: Model) -> Model:
    """The model whose inputs and outputs have a batch of no fixed size; itself if it is small."""
    axes = axes_of_inputs(model.graph.inputs)
    sizes = {
        entry.shape[axes[entry.name][-1]]
        for entry in model.graph.inputs
        if entry.shape and axes[entry.name]
    }
    many = {size for size in sizes if isinstance(size, int) and size > _MAX_SMALL_BATCH}
    if len(sizes) != 1 or not many:
        return model
    inputs = [_with(entry, axes[entry.name][-1:]) for entry in model.graph.inputs]
    outputs = [
        _with(entry, [at for at, size in enumerate(entry.shape or ()) if size in many][:1])
        for entry in model.graph.outputs
    ]
    return with_graph(model, inputs=inputs, outputs=outputs)


def _with(entry: ValueInfo, places: Sequence[int]) -> ValueInfo:
    """The entry with a batch of no fixed size in these places of its shape."""
    shape: list[Extent] = list(entry.shape or ())
    for at in places:
        shape[at] = _BATCH
    return ValueInfo.of(entry.name, entry.elem_type, shape) if shape else entry
