"""Running a Network: shapes in, the compiled program, shapes out."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from neat_onnx.errors import NetworkError
from neat_onnx.network.genes import Floats, Port
from neat_onnx.network.network import Network
from neat_onnx.network.program import Program


def activate(net: Network, x: Any) -> Any:
    """See `Network.activate`."""
    if isinstance(x, Mapping):
        flat, lead = _gather_ports(net, x, (0, 1))
    else:
        flat, lead = _single(net, x, (1, 2))
    outputs = _computed(net, flat, (1, math.prod(lead))).reshape(*lead, len(net.output_neurons))
    return _split_ports(net, outputs) if isinstance(x, Mapping) else outputs


def run(net: Network, x: Any) -> Any:
    """See `Network.run`."""
    if isinstance(x, Mapping):
        flat, lead = _gather_ports(net, x, (1, 2))
    else:
        flat, lead = _single(net, x, (2, 3))
    leading = (lead[0], math.prod(lead[1:]))
    outputs = _computed(net, flat, leading).reshape(*lead, len(net.output_neurons))
    return _split_ports(net, outputs) if isinstance(x, Mapping) else outputs


def step(net: Network, x: npt.ArrayLike, state: Floats) -> tuple[Floats, Floats]:
    """See `Network.step`."""
    flat, lead = _single(net, x, (1, 2))
    rows = flat.reshape(-1, flat.shape[-1])
    wanted = (len(rows), initial_state(net, 0).shape[1])
    held = _numbers(state)
    if held.shape != wanted:
        raise NetworkError(
            f"the state has shape {list(held.shape)}, expected {list(wanted)}",
            hint=f"Start from initial_state({len(rows)}) and pass on what step returns",
        )
    outputs, following, finite = _program(net, dense=True).step(rows, held)
    if not finite:
        outputs, following, _ = _program(net, dense=False).step(rows, held)
    return outputs.reshape(*lead, -1), following


def initial_state(net: Network, samples: int) -> Floats:
    """See `Network.initial_state`."""
    return _program(net, dense=True).initial_state(samples)


def _computed(net: Network, flat: Floats, leading: tuple[int, int]) -> Floats:
    """(…, I) to (T, N, O); by a sparse program where padding would make 0 · ∞ of an infinity."""
    x = flat.reshape(*leading, flat.shape[-1])
    outputs, finite = _program(net, dense=True).run(x)
    return outputs if finite else _program(net, dense=False).run(x)[0]


def _program(net: Network, *, dense: bool) -> Program:
    programs: dict[bool, Program] = net.__dict__.setdefault("_programs", {})
    if dense not in programs:
        programs[dense] = Program(net, dense=dense)
    return programs[dense]


def _single(
    net: Network, x: npt.ArrayLike, ranks: tuple[int, int]
) -> tuple[Floats, tuple[int, ...]]:
    values = _numbers(x)
    wanted = len(net.input_neurons)
    if values.ndim not in ranks or values.shape[-1] != wanted:
        raise NetworkError(
            f"x has shape {list(values.shape)}",
            hint=f"Give {ranks[0]} or {ranks[1]} axes, the last of {wanted}, one for each input",
        )
    return values, values.shape[:-1]


def _gather_ports(
    net: Network, x: Mapping[str, npt.ArrayLike], leading: tuple[int, int]
) -> tuple[Floats, tuple[int, ...]]:
    names = [port.name for port in net.inputs]
    if set(x) != set(names):
        raise NetworkError(f"x names the inputs {sorted(x)}", hint=f"Give exactly {names}")
    parts, lead = [], None
    for port in net.inputs:
        values = _numbers(x[port.name])
        front = values.shape[: values.ndim - len(port.shape)]
        if values.shape[len(front) :] != port.shape or len(front) not in leading:
            raise NetworkError(
                f"x['{port.name}'] has shape {list(values.shape)}",
                hint=f"Its last axes are {list(port.shape)}, after {leading[0]} or {leading[1]}",
            )
        if lead is not None and front != lead:
            raise NetworkError(f"x['{port.name}'] has other leading axes than the inputs before it")
        lead = front
        parts.append(values.reshape(*front, -1))
    return np.concatenate(parts, axis=-1), lead or ()


def _split_ports(net: Network, outputs: Floats) -> dict[str, Floats]:
    found, start = {}, 0
    for port in net.outputs:
        found[port.name] = _part(port, outputs, start)
        start += port.neurons.size
    return found


def _part(port: Port, outputs: Floats, start: int) -> Floats:
    part = outputs[..., start : start + port.neurons.size]
    return part.reshape((*outputs.shape[:-1], *port.shape))


def _numbers(x: npt.ArrayLike) -> Floats:
    try:
        return np.asarray(x, np.float64)
    except (TypeError, ValueError) as error:
        raise NetworkError(f"x is not an array of numbers: {error}") from error
