"""Running a network: shapes in, a compiled program, shapes out.

One sample is computed by straight-line Python, many by arrays, a level at once.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from neat_onnx.errors import NetworkError
from neat_onnx.network.formulas import Registry
from neat_onnx.network.genes import Floats
from neat_onnx.network.port import shared_ports, static_ports
from neat_onnx.network.program import Program
from neat_onnx.network.schedule import schedule
from neat_onnx.network.signals import signals_of
from neat_onnx.network.straight_line import UNUSUAL, Step, is_faster, straight_line
from neat_onnx.network.structure import Structure


class Runner:
    """The compiled programs of a network, made when they are first needed.

    It does not refer to the network, which holds it: a network of a million connections is then
    freed at once, without waiting for the collector of cycles.
    """

    def __init__(self) -> None:
        self._changes = Registry.changes
        self._programs: dict[bool, Program] = {}
        self._step: tuple[Step | None] | None = None
        self._initial: list[float] = []

    def activate(self, net: Structure, x: Any) -> Any:
        """See `Network.activate`."""
        if (found := self._one(net, x)) is not None:
            return np.array(found, np.float64)
        flat = rows_of(net, x, (1, 2))
        return _shaped(net, x, self._computed(net, flat, (1, math.prod(flat.shape[:-1]))))

    def run(self, net: Structure, x: Any) -> Any:
        """See `Network.run`."""
        flat = rows_of(net, x, (2, 3))
        steps, *samples = flat.shape[:-1]
        if not samples and (found := self._steps(net, flat)) is not None:
            return _shaped(net, x, found[0])
        return _shaped(net, x, self._computed(net, flat, (steps, math.prod(samples))))

    def step(self, net: Structure, x: npt.ArrayLike, state: Floats) -> tuple[Floats, Floats]:
        """See `Network.step`."""
        flat = rows_of(net, x, (1, 2))
        lead, rows = flat.shape[:-1], flat.reshape(-1, flat.shape[-1])
        held = checked_state(state, self.initial_state(net, len(rows)))
        if len(rows) == 1 and (found := self._steps(net, rows, held[0].tolist())) is not None:
            return found[0].reshape(*lead, -1), np.array([found[1]], np.float64)
        outputs, following, finite = self._program(net, dense=True).step(rows, held)
        if not finite:
            outputs, following, _ = self._program(net, dense=False).step(rows, held)
        return outputs.reshape(*lead, -1), following

    def initial_state(self, net: Structure, samples: int) -> Floats:
        """See `Network.initial_state`."""
        return self._program(net, dense=True).initial_state(samples)

    def compile(self, net: Structure) -> Callable[[Sequence[float]], list[float]]:
        """See `Network.compile`."""
        self._straight_line(net)

        def activate(x: Sequence[float]) -> list[float]:
            found = self._one(net, x)
            return self.activate(net, x).tolist() if found is None else found

        return activate

    def _drop_outdated(self) -> None:
        """Drop the compiled forms if a name may stand for another function now."""
        if self._changes != Registry.changes:
            self._changes, self._programs, self._step = Registry.changes, {}, None

    def _program(self, net: Structure, *, dense: bool) -> Program:
        """The program of arrays; a sparse one for values that are not finite, as the padding of a
        dense one would make 0 · ∞ of an infinity.
        """
        self._drop_outdated()
        if dense not in self._programs:
            self._programs[dense] = Program(net, dense=dense)
        return self._programs[dense]

    def _straight_line(self, net: Structure) -> Step | None:
        """The step of one sample as straight-line code; None where arrays are faster."""
        self._drop_outdated()
        if self._step is None:
            levels = schedule(net).levels
            quick = is_faster(net, len(levels))
            self._step = (straight_line(net, levels) if quick else None,)
            self._initial = signals_of(net).registers.initial.tolist() if quick else []
        return self._step[0]

    def _one(self, net: Structure, x: Any) -> list[float] | None:
        """The outputs for one sample by straight-line code; None where arrays have to compute."""
        if type(x) is np.ndarray and x.ndim == 1:
            x = x.tolist()
        elif type(x) is not list and type(x) is not tuple:
            return None
        if (step := self._straight_line(net)) is None:
            return None
        try:
            return step(x, self._initial)[0]
        except UNUSUAL:
            return None

    def _steps(
        self, net: Structure, x: Floats, state: list[float] | None = None
    ) -> tuple[Floats, list[float]] | None:
        """(T, I) and the registers, or the initial ones, to (T, O) and the registers after; None as
        `_one` says.
        """
        if (step := self._straight_line(net)) is None:
            return None
        state, found = state or self._initial, []
        try:
            for row in x.tolist():
                outputs, state = step(row, state)
                found.append(outputs)
        except UNUSUAL:
            return None
        return np.array(found, np.float64).reshape(len(x), len(net.output_neurons)), state

    def _computed(self, net: Structure, flat: Floats, leading: tuple[int, int]) -> Floats:
        """(…, I) to (…, O), computed as (T, N, I)."""
        x = flat.reshape(*leading, flat.shape[-1])
        outputs, finite = self._program(net, dense=True).run(x)
        if not finite:
            outputs, _ = self._program(net, dense=False).run(x)
        return outputs.reshape(*flat.shape[:-1], outputs.shape[-1])


def _shaped(net: Structure, x: Any, outputs: Floats) -> Any:
    """Outputs (…, O) in the form of the inputs: a dictionary of ports if these are one."""
    if not isinstance(x, Mapping):
        return outputs
    lead, ends = outputs.shape[:-1], np.cumsum([port.neurons.size for port in net.outputs])
    parts = zip(net.outputs, np.split(outputs, ends[:-1], axis=-1), strict=True)
    return {port.name: part.reshape((*lead, *port.shape)) for port, part in parts}


def checked_state(state: Any, like: Floats) -> Floats:
    """Return the memory that a user gives as an array of the shape that it has at first."""
    held = numbers(state)
    if held.shape != like.shape:
        raise NetworkError(
            f"the state has shape {list(held.shape)}, expected {list(like.shape)}",
            hint=f"Start from initial_state({len(like)}) and pass on what step returns",
        )
    return held


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
        hint = f"Give {ranks[0]} or {ranks[1]} axes, the last of {wanted}, one for each input"
        raise NetworkError(f"x has shape {list(values.shape)}", hint=hint)
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
            hint = f"Its last axes are {list(port.shape)}, after {leading[0]} or {leading[1]}"
            raise NetworkError(f"x['{port.name}'] has shape {list(shape)}", hint=hint)
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
