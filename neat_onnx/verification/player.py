"""Playing sequences with a model, in any runtime.

A model is one step, whose states are carried from call to call here, or a whole sequence.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.lifting.core import leading_axes
from neat_onnx.model import DataType, Model
from neat_onnx.model.states import initial_states, state_pairs
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.verification.runtimes import Feed, load


class ShapeMismatch(ModelError):
    """An output does not have a row for each sample: the model is not the network, row by row."""


class Player:
    """A model, loaded into a runtime, that plays sequences.

    Args:
        model: what to run, as it is.
        net: says which columns of the inputs belong to which port.
        runtime: the name of a runtime, see `neat_onnx.verification.runtimes`.

    Attributes:
        name: the runtime and its version.
        fixed_batch: the model takes one sample at a time.
        whole: the model, or the runtime, takes whole sequences.

    Raises:
        ModelError: the runtime refuses the model.
        OptionError: the runtime is unknown or not installed.
    """

    def __init__(self, model: Model, net: Network, runtime: str) -> None:
        self._session = load(runtime, model)
        self.name = self._session.name
        self._net = net
        self._pairs = state_pairs(model)
        self._initial = initial_states(model)
        self._shapes = {entry.name: entry.shape or () for entry in model.graph.inputs}
        double = model.graph.inputs[0].elem_type is DataType.DOUBLE
        self._element = np.float64 if double else np.float32
        sizes = self._shapes[net.inputs[0].name]
        batch_axis = leading_axes(sizes) - 1
        self.whole = self._session.sequences or batch_axis > 0
        self.fixed_batch = not self._session.sequences and sizes[batch_axis] == 1

    def play(self, x: Floats, tensors: Sequence[str]) -> dict[str, Floats]:
        """Run N sequences of T steps, each from the initial state.

        Args:
            x: (T, N, I), the inputs of all ports one after the other.
            tensors: the names of graph outputs.

        Returns:
            The values of each of these outputs, (T, N, columns).

        Raises:
            ModelError: the runtime cannot run the model.
            ShapeMismatch: an output is not made of a row for each sample.
        """
        parts = np.split(x, x.shape[1], axis=1) if self.fixed_batch else [x]
        played = [
            self._whole(part, tensors) if self.whole else self._steps(part, tensors)
            for part in parts
        ]
        return {name: np.concatenate([each[name] for each in played], axis=1) for name in tensors}

    def _whole(self, x: Floats, tensors: Sequence[str]) -> dict[str, Floats]:
        results = self._session.run(self._feed(x))
        return {name: _rows(name, results, x.shape[:2]) for name in tensors}

    def _steps(self, x: Floats, tensors: Sequence[str]) -> dict[str, Floats]:
        states = {name: self._start(name, x.shape[1]) for name in self._pairs}
        history: dict[str, list[Floats]] = {name: [] for name in tensors}
        for step in x:
            results = self._session.run(self._feed(step) | states)
            states = {name: results[following] for name, following in self._pairs.items()}
            for name in tensors:
                history[name].append(_rows(name, results, step.shape[:1]))
        return {name: np.array(values) for name, values in history.items()}

    def _start(self, name: str, samples: int) -> Any:
        shape = tuple(size for size in self._shapes[name][1:] if isinstance(size, int))
        held = np.reshape(self._initial.get(name, np.zeros(shape)), shape)
        return np.array(np.broadcast_to(held, (samples, *shape)), self._element)

    def _feed(self, x: Floats) -> Feed:
        feed, start = {}, 0
        for port in self._net.inputs:
            stop = start + port.neurons.size
            values = x[..., start:stop].reshape(*x.shape[:-1], *port.shape)
            feed[port.name] = np.ascontiguousarray(values, self._element)
            start = stop
        return feed


def _rows(name: str, results: dict[str, Any], leading: tuple[int, ...]) -> Floats:
    """One of the results as float64, (*leading, columns)."""
    values = np.asarray(results[name], np.float64)
    if values.shape[: len(leading)] != leading:
        raise ShapeMismatch(
            f"the output '{name}' has the shape {list(values.shape)} "
            f"where {list(leading)} rows go in",
            hint="A model may not mix its samples: its outputs have the batch as the first axis",
        )
    return values.reshape(*leading, -1)
