"""A second opinion: the page itself runs the model on the samples, and the engine judges.

The page's runtime cannot be called from Python, so its part of the comparison is an order that it
carries out, web/second.js, and outputs that it hands back.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from neat_onnx.errors import DocumentError
from neat_onnx.lifting.axes import axes_of_inputs
from neat_onnx.model import DataType, Model
from neat_onnx.model.states import initial_states, state_pairs
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.verification.compare import compare, sampled_inputs
from neat_onnx.verification.player import Player
from neat_onnx.verification.report import Report


class _Handed(Player):
    """Outputs that another runtime has computed, in the order in which they are asked for."""

    def __init__(self, net: Network, parts: list[Floats], name: str, fixed_batch: bool) -> None:
        self._net, self._parts = net, parts
        self.name, self.fixed_batch = name, fixed_batch
        self.ends = False  # of the outputs, all steps are handed

    def play(self, x: Floats, tensors: Sequence[str]) -> dict[str, Floats]:
        """Return the outputs for `x`, (T, N, columns) each."""
        sizes = [port.neurons.size for port in self._net.outputs]
        columns = np.split(self._parts.pop(0), np.cumsum(sizes)[:-1], axis=2)
        return dict(zip(tensors, columns, strict=True))


def _types(model: Model) -> dict[str, str]:
    """The types of the inputs, as the runtime names them."""
    named = {DataType.FLOAT: "float32", DataType.DOUBLE: "float64"}
    return {
        entry.name: named.get(entry.elem_type, entry.elem_type.name.lower())
        for entry in model.graph.inputs
    }


def _states(model: Model) -> list[dict[str, Any]]:
    """The states of a model: name, sizes and initial values, and the output that feeds each."""
    shapes = {entry.name: entry.shape or () for entry in model.graph.inputs}
    starts, types = initial_states(model), _types(model)
    return [
        {
            "name": name,
            "type": types[name],
            "following": following,
            "sizes": list(shapes[name][1:]),
            "start": np.ravel(starts.get(name, [])).tolist(),
        }
        for name, following in state_pairs(model).items()
    ]


def order(
    net: Network, model: Model, *, samples: int, seed: int
) -> tuple[dict[str, Any], list[Floats]]:
    """Return the samples for a runtime: JSON, and the inputs (T, N, I).

    Raises:
        DocumentError: samples do not stand in the first axes of all inputs.

    Returns:
        `parts`: the shape [T, N, I] of each set of sequences. `inputs`: name, type, sizes after the
        batch, and the range of columns of each port. `states`: name, type, sizes and initial values
        of each, and `following`, the output that feeds it. `outputs`: names and numbers of columns.
        `whole`: the model takes whole sequences; `fixed`: it takes one sample at a time.
    """
    whole, fixed = _form(net, model)
    types = _types(model)
    columns = np.cumsum([0, *(port.neurons.size for port in net.inputs)])
    parts = sampled_inputs(net, model, samples, seed, long=True, fixed_batch=fixed)
    found = {
        "whole": whole,
        "fixed": fixed,
        "parts": [x.shape for x in parts],
        "inputs": [
            {
                "name": port.name,
                "type": types[port.name],
                "sizes": list(port.shape),
                "from": int(first),
                "to": int(last),
            }
            for port, first, last in zip(net.inputs, columns[:-1], columns[1:], strict=True)
        ],
        "states": _states(model),
        "outputs": [{"name": port.name, "columns": port.neurons.size} for port in net.outputs],
    }
    return found, parts


def _form(net: Network, model: Model) -> tuple[bool, bool]:
    """Whether a model takes whole sequences, and whether it takes one sample at a time."""
    shapes = {entry.name: entry.shape or () for entry in model.graph.inputs}
    axes = set(axes_of_inputs(model.graph.inputs).values())
    unbatched = all(len(shapes[port.name]) == len(port.shape) for port in net.inputs)
    if unbatched or axes not in ({(0,)}, {(0, 1)}):
        raise DocumentError("this page runs models there that have the samples in the first axis")
    whole = axes == {(0, 1)}
    sizes = {shapes[name][int(whole)] for name in shapes}
    fixed = {size for size in sizes if isinstance(size, int)}
    if not fixed <= {1}:
        raise DocumentError("this page runs models there that take any number of samples")
    return whole, bool(fixed)


def judged(
    net: Network, model: Model, data: bytes, *, runtime: str, samples: int, seed: int
) -> Report:
    """Return the report on outputs that a runtime computed.

    Args:
        net: the network.
        model: the model that was run.
        data: the outputs of all parts of its order, (T, N, O) each, as float64.
        runtime: name and version of the runtime.
        samples: as in the order.
        seed: as in the order.

    Raises:
        DocumentError: `data` is not as long as the outputs are.
    """
    found, _ = order(net, model, samples=samples, seed=seed)
    values, parts, start = np.frombuffer(data, "<f8"), [], 0
    width = sum(port["columns"] for port in found["outputs"])
    for steps, rows, _ in found["parts"]:
        stop = start + steps * rows * width
        parts.append(values[start:stop])
        start = stop
    if start != len(values):
        raise DocumentError(f"{len(values)} outputs came, expected {start}")
    shaped = [
        part.reshape(steps, rows, width)
        for part, (steps, rows, _) in zip(parts, found["parts"], strict=True)
    ]
    player = _Handed(net, shaped, runtime, found["fixed"])
    report = compare(net, model, samples=samples, seed=seed, runtime="reference", player=player)
    return report.model_copy(update={"first_error": None})  # it was not this runtime that was asked
