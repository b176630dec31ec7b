"""Running a network: shapes in, a compiled program, shapes out.

One sample is computed by straight-line Python, many by arrays, a level at once.
"""

import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from neat_onnx.errors import NetworkError
from neat_onnx.network.activations import FORMULA, Activation, activation_named
from neat_onnx.network.aggregations import Aggregation, aggregation_named
from neat_onnx.network.genes import Floats
from neat_onnx.network.port import shared_ports, static_ports
from neat_onnx.network.program import Program
from neat_onnx.network.schedule import schedule
from neat_onnx.network.signals import signals_of
from neat_onnx.network.straight_line import UNUSUAL, Step, is_faster, straight_line
from neat_onnx.network.structure import Structure


class Runner:
    """A network with its compiled programs, which are made when they are first needed.

    It refers to the network weakly, as the network holds its runner: a network of a million
    connections is then freed at once, without waiting for the collector of cycles.
    """

    def __init__(self, net: Structure) -> None:
        self._reference = weakref.ref(net)
        self._functions: tuple[Activation | Aggregation, ...] = ()
        self._programs: dict[bool, Program] = {}
        self._step: tuple[Step | None] | None = None
        self._initial: list[float] = []
        self._may_change = True

    @property
    def _net(self) -> Structure:
        net = self._reference()
        if net is None:
            raise NetworkError("the network that this runner belongs to is gone")
        return net

    def activate(self, x: Any) -> Any:
        """See `Network.activate`."""
        if (found := self._one(x)) is not None:
            return np.array(found, np.float64)
        flat = rows_of(self._net, x, (1, 2))
        return self._shaped(x, self._computed(flat, (1, math.prod(flat.shape[:-1]))))

    def run(self, x: Any) -> Any:
        """See `Network.run`."""
        flat = rows_of(self._net, x, (2, 3))
        steps, *samples = flat.shape[:-1]
        if not samples and (found := self._steps(flat)) is not None:
            return self._shaped(x, found[0])
        return self._shaped(x, self._computed(flat, (steps, math.prod(samples))))

    def step(self, x: npt.ArrayLike, state: Floats) -> tuple[Floats, Floats]:
        """See `Network.step`."""
        flat = rows_of(self._net, x, (1, 2))
        lead, rows = flat.shape[:-1], flat.reshape(-1, flat.shape[-1])
        wanted = (len(rows), self.initial_state(0).shape[1])
        held = numbers(state)
        if held.shape != wanted:
            raise NetworkError(
                f"the state has shape {list(held.shape)}, expected {list(wanted)}",
                hint=f"Start from initial_state({len(rows)}) and pass on what step returns",
            )
        if len(rows) == 1 and (found := self._steps(rows, held[0].tolist())) is not None:
            return found[0].reshape(*lead, -1), np.array([found[1]], np.float64)
        outputs, following, finite = self._dense.step(rows, held)
        if not finite:
            outputs, following, _ = self._sparse.step(rows, held)
        return outputs.reshape(*lead, -1), following

    def initial_state(self, samples: int) -> Floats:
        """See `Network.initial_state`."""
        return self._dense.initial_state(samples)

    def compile(self) -> Callable[[Sequence[float]], list[float]]:
        """See `Network.compile`."""
        self._straight_line()

        def activate(x: Sequence[float]) -> list[float]:
            found = self._one(x)
            return self.activate(x).tolist() if found is None else found

        return activate

    @property
    def _dense(self) -> Program:
        return self._program(dense=True)

    @property
    def _sparse(self) -> Program:
        """The program for values that are not finite: padding would make 0 · ∞ of an infinity."""
        return self._program(dense=False)

    def _program(self, *, dense: bool) -> Program:
        self._drop_outdated()
        if dense not in self._programs:
            self._programs[dense] = Program(self._net, dense=dense)
        return self._programs[dense]

    def _drop_outdated(self) -> None:
        """Drop the compiled forms if a name stands for another function now.

        A builtin name never does, nor a formula that is its own name.
        """
        if not self._may_change:
            return
        net = self._net
        functions: tuple[Activation | Aggregation, ...] = (
            *(activation_named(name) for name in net.activations if not name.startswith(FORMULA)),
            *map(aggregation_named, net.aggregations),
        )
        if functions != self._functions:
            self._functions, self._programs, self._step = functions, {}, None
            self._may_change = not all(function.builtin for function in functions)

    def _straight_line(self) -> Step | None:
        """The step of one sample as straight-line code; None where arrays are faster."""
        self._drop_outdated()
        if self._step is None:
            net = self._net
            levels = schedule(net).levels
            quick = is_faster(net, len(levels))
            self._step = (straight_line(net, levels) if quick else None,)
            self._initial = signals_of(net).registers.initial.tolist() if quick else []
        return self._step[0]

    def _one(self, x: Any) -> list[float] | None:
        """The outputs for one sample by straight-line code; None where arrays have to compute."""
        if type(x) is np.ndarray and x.ndim == 1:
            x = x.tolist()
        elif type(x) is not list and type(x) is not tuple:
            return None
        if (step := self._straight_line()) is None:
            return None
        try:
            return step(x, self._initial)[0]
        except UNUSUAL:
            return None

    def _steps(
        self, x: Floats, state: list[float] | None = None
    ) -> tuple[Floats, list[float]] | None:
        """(T, I) and the registers, or the initial ones, to (T, O) and the registers after; None as
        `_one` says.
        """
        if (step := self._straight_line()) is None:
            return None
        state, found = state or self._initial, []
        try:
            for row in x.tolist():
                outputs, state = step(row, state)
                found.append(outputs)
        except UNUSUAL:
            return None
        return np.array(found, np.float64).reshape(len(x), len(self._net.output_neurons)), state

    def _computed(self, flat: Floats, leading: tuple[int, int]) -> Floats:
        """(…, I) to (…, O), computed as (T, N, I)."""
        x = flat.reshape(*leading, flat.shape[-1])
        outputs, finite = self._dense.run(x)
        if not finite:
            outputs, _ = self._sparse.run(x)
        return outputs.reshape(*flat.shape[:-1], outputs.shape[-1])

    def _shaped(self, x: Any, outputs: Floats) -> Any:
        """Outputs (…, O) in the form of the inputs: a dictionary of ports if these are one."""
        if not isinstance(x, Mapping):
            return outputs
        ports, lead = self._net.outputs, outputs.shape[:-1]
        ends = np.cumsum([port.neurons.size for port in ports])
        parts = np.split(outputs, ends[:-1], axis=-1)
        return {
            p.name: part.reshape((*lead, *p.shape)) for p, part in zip(ports, parts, strict=True)
        }


def rows_of(net: Structure, x: Any, ranks: tuple[int, int]) -> Floats:
    """Return inputs, an array or one for each port, as one array (…, I) of so many axes.

    Raises:
        NetworkError: they are no numbers, or have another shape.
    """
    if isinstance(x, Mapping):
        return _of_ports(net, x, (ranks[0] - 1, ranks[1] - 1))
    values = numbers(x)
    wanted = len(net.input_neurons)
    if values.ndim not in ranks or values.shape[-1] != wanted:
        raise NetworkError(
            f"x has shape {list(values.shape)}",
            hint=f"Give {ranks[0]} or {ranks[1]} axes, the last of {wanted}, one for each input",
        )
    return values


def _of_ports(net: Structure, x: Mapping[str, npt.ArrayLike], leading: tuple[int, int]) -> Floats:
    names = [port.name for port in net.inputs]
    if set(x) != set(names):
        raise NetworkError(f"x names the inputs {sorted(x)}", hint=f"Give exactly {names}")
    values = {port.name: numbers(x[port.name]) for port in net.inputs}
    shared = {port.name for port in shared_ports(net.inputs)}
    static = {port.name for port in static_ports(net.inputs)}
    lead: tuple[int, ...] | None = None
    for port in sorted(net.inputs, key=lambda port: port.name in static):
        shape = values[port.name].shape
        front = shape[: len(shape) - len(port.shape)]
        if port.name in shared and shape == port.shape:
            continue
        if port.name in static and lead and shape == (*lead[1:], *port.shape):
            continue
        if shape[len(front) :] != port.shape or len(front) not in leading:
            raise NetworkError(
                f"x['{port.name}'] has shape {list(shape)}",
                hint=f"Its last axes are {list(port.shape)}, after {leading[0]} or {leading[1]}",
            )
        if lead is not None and front != lead:
            raise NetworkError(f"x['{port.name}'] has other leading axes than the inputs before it")
        lead = front
    lead = lead or ()
    parts = [
        np.broadcast_to(values[port.name], (*lead, *port.shape)).reshape(*lead, -1)
        for port in net.inputs
    ]
    return np.concatenate(parts, axis=-1)


def numbers(x: npt.ArrayLike) -> Floats:
    """Inputs as an array of float64; what is no number is refused with a NetworkError."""
    try:
        return np.asarray(x, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise NetworkError(f"x is not an array of numbers: {error}") from error
