"""Running a model by somebody else's code: onnx's reference evaluator, or ONNX Runtime.

A model is one step, whose states are carried from call to call here, or a whole sequence.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from neat_onnx.errors import ModelError, OptionError
from neat_onnx.lifting.core import leading_axes
from neat_onnx.model import DataType, Model
from neat_onnx.model.states import initial_states, state_pairs
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network

Runtime = Literal["reference", "onnxruntime"]
Feed = dict[str, np.ndarray[Any, Any]]
Run = Callable[[Feed], dict[str, Any]]


class Player:
    """A model, loaded into a runtime, that plays sequences.

    Args:
        model: what to run.
        net: says which columns of the inputs belong to which port.
        runtime: "reference", or "onnxruntime", which has to be installed.

    Attributes:
        name: the runtime and its version.

    Raises:
        ModelError: the runtime refuses the model.
        OptionError: the runtime is unknown or not installed.
    """

    def __init__(self, model: Model, net: Network, runtime: Runtime) -> None:
        makers = {"reference": _reference, "onnxruntime": _onnxruntime}
        if runtime not in makers:
            raise OptionError(f"unknown runtime '{runtime}'", hint=f"Runtimes: {', '.join(makers)}")
        self._run, self.name = makers[runtime](model)
        self._model, self._net = model, net
        self._pairs = state_pairs(model)
        self._initial = initial_states(model)
        self._shapes = {entry.name: entry.shape or () for entry in model.graph.inputs}
        single = model.graph.inputs[0].elem_type is DataType.FLOAT
        self._element = np.float32 if single else np.float64

    def play(self, x: Floats, tensors: Sequence[str]) -> dict[str, Floats]:
        """What these graph outputs are for N sequences of T steps, each from the initial state.

        Args:
            x: (T, N, I), the inputs of all ports one after the other.

        Returns:
            For each tensor (T, N, columns).
        """
        batch_axis = leading_axes(self._shapes[self._net.inputs[0].name]) - 1
        fixed = self._shapes[self._net.inputs[0].name][batch_axis] == 1
        parts = np.split(x, x.shape[1], axis=1) if fixed else [x]
        played = [
            self._whole(part, tensors) if batch_axis else self._steps(part, tensors)
            for part in parts
        ]
        return {name: np.concatenate([each[name] for each in played], axis=1) for name in tensors}

    def _whole(self, x: Floats, tensors: Sequence[str]) -> dict[str, Floats]:
        results = self._run(self._feed(x))
        return {name: _float64(results[name]).reshape(*x.shape[:2], -1) for name in tensors}

    def _steps(self, x: Floats, tensors: Sequence[str]) -> dict[str, Floats]:
        states = {name: self._start(name, x.shape[1]) for name in self._pairs}
        history: dict[str, list[Floats]] = {name: [] for name in tensors}
        for step in x:
            results = self._run(self._feed(step) | states)
            states = {name: results[following] for name, following in self._pairs.items()}
            for name in tensors:
                history[name].append(_float64(results[name]).reshape(len(step), -1))
        return {name: np.array(values) for name, values in history.items()}

    def _start(self, name: str, samples: int) -> Any:
        shape = tuple(size for size in self._shapes[name][1:] if isinstance(size, int))
        held = np.reshape(self._initial.get(name, np.zeros(shape)), shape)
        return np.broadcast_to(held, (samples, *shape)).astype(self._element)

    def _feed(self, x: Floats) -> Feed:
        feed, start = {}, 0
        for port in self._net.inputs:
            stop = start + port.neurons.size
            values = x[..., start:stop].reshape(*x.shape[:-1], *port.shape)
            feed[port.name] = values.astype(self._element)
            start = stop
        return feed


def _float64(values: Any) -> Floats:
    return np.asarray(values, np.float64)


def _reference(model: Model) -> tuple[Run, str]:
    import onnx  # noqa: PLC0415 (slow to import)
    from onnx.reference import ReferenceEvaluator  # noqa: PLC0415

    evaluator = ReferenceEvaluator(model.to_proto())

    def run(feed: Feed) -> dict[str, Any]:
        with np.errstate(all="ignore"):
            return dict(zip(evaluator.output_names, evaluator.run(None, feed), strict=True))

    return run, f"onnx.reference {onnx.__version__}"


def _onnxruntime(model: Model) -> tuple[Run, str]:
    try:
        import onnxruntime  # noqa: PLC0415 (optional)
    except ImportError:
        raise OptionError(
            "onnxruntime is not installed", where="runtime", hint="pip install onnxruntime"
        ) from None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    data = model.to_bytes()
    try:
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # what it raises has no base of its own
        raise ModelError(f"onnxruntime does not load the model: {error}") from error
    names = [output.name for output in session.get_outputs()]

    def run(feed: Feed) -> dict[str, Any]:
        return dict(zip(names, session.run(names, feed), strict=True))

    return run, f"onnxruntime {onnxruntime.__version__}"
