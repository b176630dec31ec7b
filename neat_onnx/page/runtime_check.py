"""The check of a model by a runtime of the page, which cannot be called from Python.

The engine gives the model and its inputs (`runtime_inputs`), web/runtime-worker.js runs them, and
the engine reports on the outputs (`runtime_report`).
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.errors import DocumentError
from neat_onnx.model import DataType, Model
from neat_onnx.model.states import initial_states
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.verification.compare import compare, with_ports
from neat_onnx.verification.player import Player
from neat_onnx.verification.report import Report
from neat_onnx.verification.runtimes import Feed, Session
from neat_onnx.verification.samples import sampled_inputs

_BATCH_FIRST = (1, 0)  # the axes of time and the samples


class RuntimeInputs(NamedTuple):
    """A model to run, and its inputs.

    Attributes:
        layout: how the inputs are laid out, and how they are fed; JSON.
            `parts`: the shape [T, N, I] of each set of sequences. `inputs`: name, type, sizes
            beside the samples, which are its `batch_axis`, null if there is no batch, and the
            range of columns of each port.
            `states`: name, type, initial values, sizes and `batch_axis` of each; `following` is
            the output that feeds it. `outputs`: names, numbers of columns, sizes and `batch_axis`.
            `whole`: the model takes whole sequences; `fixed`: it takes one sample at a time.
            Of a whole sequence `batch_first` says that the samples stand before time, `once` that
            an input has no time, and `last` that an output is that of the last step alone.
        model: the model to run.
        parts: the inputs, (T, N, I) each.
    """

    layout: dict[str, Any]
    model: Model
    parts: list[Floats]


class _RecordedPlayer(Player):
    """The outputs of another runtime, in the order in which they are asked for."""

    def __init__(self, model: Model, net: Network, name: str, outputs: Sequence[Floats]) -> None:
        super().__init__(model, net, Session(_run_elsewhere, name))
        self._left = list(outputs)

    def play(self, x: Floats, tensors: Sequence[str]) -> dict[str, Floats]:
        """Return the outputs for `x`, (T, N, columns) each."""
        sizes = [port.neurons.size for port in self._net.outputs]
        columns = np.split(self._left.pop(0), np.cumsum(sizes)[:-1], axis=2)
        return dict(zip(tensors, columns, strict=True))


def _run_elsewhere(feed: Feed) -> dict[str, Any]:
    raise AssertionError("the page's runtime is not run from here")


def runtime_inputs(net: Network, model: Model, *, samples: int, seed: int) -> RuntimeInputs:
    """Return the model and the samples for a runtime.

    Raises:
        DocumentError: samples do not stand in the first axes of all inputs.
    """
    model = with_ports(net, model)
    player = _RecordedPlayer(model, net, "", [])
    _check_axes(player)
    parts = sampled_inputs(net, model, samples, seed, long=True, fixed_batch=player.fixed_batch)
    layout = {
        "whole": player.takes_sequences,
        "fixed": player.fixed_batch,
        "parts": [x.shape for x in parts],
        "inputs": _inputs(net, player, model),
        "states": _states(player, model),
        "outputs": _outputs(net, player),
    }
    return RuntimeInputs(layout, model, parts)


def _check_axes(player: Player) -> None:
    """Refuse a model without samples, or whose sequences do not begin with time and the samples."""
    axes = {each for name, each in player.axes.items() if name not in player.pairs}
    in_time = {each for each in axes if len(each) > 1}
    if player.unbatched or not in_time <= {(0, 1), _BATCH_FIRST}:
        raise DocumentError("this page runs sequences there that begin with time and the samples")
    if player.rows_of_a_run > 1:
        raise DocumentError("this page runs models there that take any number of samples")


def _inputs(net: Network, player: Player, model: Model) -> list[dict[str, Any]]:
    """The inputs of a model: name, type, sizes, where the samples are, and range of columns."""
    types = _types(model)
    columns = np.cumsum([0, *(port.neurons.size for port in net.inputs)]).tolist()
    timed = {port.name for port in net.inputs if len(player.axes[port.name]) > 1}
    return [
        {
            "name": port.name,
            "type": types[port.name],
            "sizes": list(port.shape),
            "batch_axis": 0 if port.name in timed else _sample_axis(player, port.name),
            "batch_first": player.axes[port.name] == _BATCH_FIRST,
            "once": player.takes_sequences and port.name not in timed,
            "from": first,
            "to": last,
        }
        for port, first, last in zip(net.inputs, columns[:-1], columns[1:], strict=True)
    ]


def _outputs(net: Network, player: Player) -> list[dict[str, Any]]:
    """The outputs of a model: name, number of columns, sizes, where the samples should be, and
    whether it has all steps.
    """
    whole = player.takes_sequences
    return [
        {
            "name": port.name,
            "columns": port.neurons.size,
            "sizes": list(port.shape),
            "batch_axis": 0 if whole else _axis_of_output(player, port.name),
            "batch_first": whole
            and port.name not in player.ended
            and player.axes_of(port.name, 2) == _BATCH_FIRST,
            "last": port.name in player.ended,
        }
        for port in net.outputs
    ]


def _states(player: Player, model: Model) -> list[dict[str, Any]]:
    """The states of a model: name, where the samples are among its axes, the sizes of the others
    and initial values, and the output that feeds each.
    """
    shapes = {entry.name: entry.shape or () for entry in model.graph.inputs}
    starts, types = initial_states(model), _types(model)
    states = []
    for name, following in player.pairs.items():
        batch_axis = _sample_axis(player, name)
        states.append(
            {
                "name": name,
                "type": types[name],
                "following": following,
                "batch_axis": batch_axis,
                "sizes": [size for axis, size in enumerate(shapes[name]) if axis != batch_axis],
                "start": np.ravel(starts.get(name, [])).tolist(),
            }
        )
    return states


def _sample_axis(player: Player, name: str) -> int | None:
    """Where the samples are in an input of one step; None if it is of a single one."""
    axes = player.axes[name]
    return axes[0] if axes else None


def _axis_of_output(player: Player, name: str) -> int | None:
    return player.axes_of(name, 1)[0] if any(player.axes.values()) else None


def _types(model: Model) -> dict[str, str]:
    """The types of the inputs, as the runtime names them."""
    named = {DataType.FLOAT: "float32", DataType.DOUBLE: "float64"}
    return {
        entry.name: named.get(entry.elem_type, entry.elem_type.name.lower())
        for entry in model.graph.inputs
    }


def runtime_report(
    net: Network, model: Model, data: bytes, *, runtime: str, samples: int, seed: int
) -> Report:
    """Return the report on outputs that a runtime computed.

    Args:
        net: the network.
        model: the model that was given to `runtime_inputs`.
        data: the outputs of all parts, (T, N, O) each, as float64.
        runtime: name and version of the runtime.
        samples: as in `runtime_inputs`.
        seed: as in `runtime_inputs`.

    Raises:
        DocumentError: `data` is not as long as the outputs are.
    """
    given = runtime_inputs(net, model, samples=samples, seed=seed)
    width = sum(port.neurons.size for port in net.outputs)
    shapes = [(*x.shape[:2], width) for x in given.parts]
    *stops, total = np.cumsum([math.prod(shape) for shape in shapes]).tolist()
    values = np.frombuffer(data, "<f8")
    if total != len(values):
        raise DocumentError(f"{len(values)} outputs came, expected {total}")
    outputs = [
        part.reshape(shape) for part, shape in zip(np.split(values, stops), shapes, strict=True)
    ]
    player = _RecordedPlayer(given.model, net, runtime, outputs)
    report = compare(net, model, samples=samples, seed=seed, runtime="reference", player=player)
    return report.model_copy(update={"first_error": None})  # another runtime would find it
