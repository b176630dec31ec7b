"""RNN, GRU and LSTM: one walk through time, and a cell of each.

Over a sequence of no fixed length, one step runs between registers, which hold the state.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from neat_onnx.lifting.memory import open_tape, run_one_step
from neat_onnx.lifting.neurons import (
    Function,
    Tensor,
    apart,
    concat,
    formula,
    is_neurons,
    matmul,
    relu,
    sigmoid,
    softplus,
    stack,
    tanh,
)
from neat_onnx.lifting.operator import Floats, Texts, operator, refuse
from neat_onnx.network import expression as e
from neat_onnx.network.expression import VARIABLE as z

Cell = Callable[..., tuple[Any, ...]]
Direction = Literal["forward", "reverse", "bidirectional"]
_FUNCTIONS: dict[str, Callable[[float, float], Function]] = {
    "sigmoid": lambda a, b: sigmoid, "tanh": lambda a, b: tanh, "relu": lambda a, b: relu,
    "softplus": lambda a, b: softplus, "softsign": lambda a, b: formula(e.softsign(z)),
    "affine": lambda a, b: formula(a * z + b), "elu": lambda a, b: formula(e.elu(z, a)),
    "leakyrelu": lambda a, b: formula(e.leaky_relu(z, a)),
    "thresholdedrelu": lambda a, b: formula(e.where(e.greater(z, a), z, 0.0)),
    "scaledtanh": lambda a, b: formula(a * e.tanh(b * z)),
    "hardsigmoid": lambda a, b: formula(e.clip(a * z + b, 0.0, 1.0)),
}  # fmt: skip
_OF_MEMORY = 2  # the function of an LSTM that reads no weighted sum, which `clip` is for
_DEFAULTS = {
    "affine": (1.0, 0.0), "elu": (1.0, 0.0), "leakyrelu": (0.01, 0.0),
    "thresholdedrelu": (1.0, 0.0), "scaledtanh": (1.0, 1.0), "hardsigmoid": (0.2, 0.5),
}  # fmt: skip


def _functions(names: Sequence[str], alpha: Floats, beta: Floats) -> list[Function]:
    """The functions by ONNX's names; each one with a parameter takes the next that is given."""
    alphas, betas, found = iter(alpha), iter(beta), list[Function]()
    for name in (each.lower() for each in names):
        if name not in _FUNCTIONS:
            raise refuse("activations", repr(name), " or ".join(_FUNCTIONS))
        a, b = _DEFAULTS.get(name, (0.0, 0.0))
        if name in _DEFAULTS:
            a = next(alphas, a)
            b = next(betas, b) if name in ("affine", "scaledtanh", "hardsigmoid") else b
        found.append(_FUNCTIONS[name](a, b))
    return found


def _clipped(function: Function, bound: float) -> Function:
    clip = formula(e.clip(z, -bound, bound))
    return lambda x: function(clip(x))


def _walk(
    cell: Cell, x: Tensor, weights: Sequence[Any], states: Sequence[Tensor], backwards: bool
) -> tuple[Tensor, list[Tensor]]:
    """Run a cell over [T, N, I]; returns [T, N, H] and the last states."""
    tape = open_tape(x.shape[0], x, *states)
    if tape is not None:
        if backwards:
            raise refuse("direction", "reverse over a sequence of open length", "forward")
        found = run_one_step(
            tape, lambda before: (list(cell(x[0], *before, *weights)), []), states, "initial_h"
        )
        return stack(found[0][:1]), found[0]
    outputs = []
    states = list(states)
    for t in range(x.shape[0])[:: -1 if backwards else 1]:
        states = list(cell(x[t], *states, *weights))
        outputs.append(states[0])
    return stack(outputs[::-1] if backwards else outputs), states


def _recurrent(
    make: Callable[[list[Function]], Cell], gates: int, functions: Texts, reads: Sequence[Any],
    states: Sequence[Any], extra: Sequence[Any] = (), *, hidden_size: int | None = None,
    direction: Direction = "forward", layout: bool = False, activations: Texts = (),
    activation_alpha: Floats = (), activation_beta: Floats = (), clip: float | None = None,
    output_sequence: int = 0,
) -> tuple[Tensor, ...]:  # fmt: skip
    x, w, r, b, sequence_lens = reads
    if layout:
        x, states = x.swapaxes(0, 1), [None if s is None else s.swapaxes(0, 1) for s in states]
    steps, batch, hidden, ways = x.shape[0], x.shape[1], r.shape[-1], w.shape[0]
    if ways != 1 + (direction == "bidirectional"):
        raise refuse("W", f"of {ways} directions", f"of those of {direction}")
    names, many = activations or functions * ways, len(functions)
    if len(names) != many * ways:
        raise refuse("activations", list(names), f"{many * ways} of them")
    bias = np.zeros((ways, 2 * gates * hidden)) if b is None else b
    starts = [np.zeros((ways, batch, hidden)) if s is None else s for s in states]
    known = _functions(names, activation_alpha, activation_beta)
    if clip:
        if clip < 0.0:
            raise refuse("clip", clip, "a positive number")
        known = [
            each if k % many == _OF_MEMORY else _clipped(each, clip) for k, each in enumerate(known)
        ]

    def run(x: Tensor, starts: list[Any]) -> tuple[Tensor, list[Tensor]]:
        outputs, lasts = [], []
        for k in range(ways):
            cell, back = make(known[k * many : (k + 1) * many]), direction == "reverse" or k == 1
            more = [None if p is None else p[k] for p in extra]
            y, last = _walk(
                cell, x, [w[k], r[k], *_parts(bias[k], 2), *more], [s[k] for s in starts], back
            )
            outputs.append(y)
            lasts.append(last)
        return stack(outputs, 1), [stack(each) for each in zip(*lasts, strict=True)]

    lengths = _lengths(sequence_lens, steps, batch)
    if set(lengths) <= {steps}:
        y, lasts = run(x, starts)
    else:  # one sample after the other
        found = [
            run(x[:t, n : n + 1], [s[:, n : n + 1] for s in starts]) for n, t in enumerate(lengths)
        ]
        zeros = [np.zeros((steps - t, ways, 1, hidden)) for t in lengths]
        y = concat([concat([one, rest], 0) for (one, _), rest in zip(found, zeros, strict=True)], 2)
        lasts = [concat(each, 1) for each in zip(*(last for _, last in found), strict=True)]
    if layout:
        return y.transpose(2, 0, 1, 3), *(each.swapaxes(0, 1) for each in lasts)
    return y, *lasts


def _lengths(sequence_lens: Any, steps: int, batch: int) -> list[int]:
    """How many steps each sample has; none where nothing is said."""
    if sequence_lens is None:
        return []
    lengths = [] if is_neurons(sequence_lens) else np.ravel(sequence_lens).tolist()
    if len(lengths) != batch or min(lengths) < 1 or max(lengths) > steps:
        raise refuse("sequence_lens", lengths or "computed", f"numbers of 1 to {steps}, {batch}")
    return lengths


def _parts(values: Any, count: int) -> list[Any]:
    size = values.shape[-1] // count
    return [values[..., k * size : (k + 1) * size] for k in range(count)]


def _rnn(functions: list[Function]) -> Cell:
    def cell(x: Any, h: Any, w: Any, r: Any, bw: Any, br: Any) -> tuple[Any, ...]:
        return (functions[0](matmul(x, w.T) + matmul(h, r.T) + (bw + br)),)

    return cell


def _lstm(functions: list[Function], *, coupled: bool) -> Cell:
    f, g, o = functions

    def cell(x: Any, h: Any, c: Any, w: Any, r: Any, bw: Any, br: Any, p: Any) -> tuple[Any, ...]:
        turn = np.arange(len(w)).reshape(4, -1)[[0, 2, 3, 1]].ravel()  # as neurons are numbered
        w, r, b = w[turn], r[turn], (bw + br)[turn]
        enter, forget, new, out = _parts(matmul(x, w.T) + matmul(h, r.T) + b, 4)
        if p is not None:
            at_enter, at_out, at_forget = _parts(p, 3)
            enter, forget = enter + c * at_enter, forget + c * at_forget
        enter = apart(f(enter)) if coupled else f(enter)
        kept = 1.0 - enter if coupled else f(forget)
        memory = apart(c * kept + g(new) * enter)  # what is gated comes first
        out = f(out if p is None else out + memory * at_out)
        return o(memory) * out, memory

    return cell


def _gru(functions: list[Function], *, linear: bool) -> Cell:
    f, g = functions

    def cell(x: Any, h: Any, w: Any, r: Any, bw: Any, br: Any) -> tuple[Any, ...]:
        update, reset, new = _parts(matmul(x, w.T) + bw, 3)
        (r_update, r_reset, r_new), (b_update, b_reset, b_new) = _parts(r.T, 3), _parts(br, 3)
        update = apart(f(update + matmul(h, r_update) + b_update))
        reset = f(reset + matmul(h, r_reset) + b_reset)
        inner = apart(matmul(h, r_new) + b_new) if linear else matmul(h * reset, r_new) + b_new
        new = g(new + (inner * reset if linear else inner))
        return (new * (1.0 - update) + h * update,)

    return cell


@operator("RNN", like=_recurrent)
def rnn(
    x: Tensor, w: Any, r: Any, b: Any = None, sequence_lens: Any = None, initial_h: Any = None,
    **given: Any,
) -> tuple[Tensor, ...]:  # fmt: skip
    return _recurrent(_rnn, 1, ("Tanh",), (x, w, r, b, sequence_lens), [initial_h], **given)


@operator("GRU", like=_recurrent)
def gru(
    x: Tensor, w: Any, r: Any, b: Any = None, sequence_lens: Any = None, initial_h: Any = None, *,
    linear_before_reset: bool = False, **given: Any,
) -> tuple[Tensor, ...]:  # fmt: skip
    make, reads = partial(_gru, linear=linear_before_reset), (x, w, r, b, sequence_lens)
    return _recurrent(make, 3, ("Sigmoid", "Tanh"), reads, [initial_h], **given)


@operator("LSTM", like=_recurrent)
def lstm(
    x: Tensor, w: Any, r: Any, b: Any = None, sequence_lens: Any = None, initial_h: Any = None,
    initial_c: Any = None, p: Any = None, *, input_forget: bool = False, **given: Any,
) -> tuple[Tensor, ...]:  # fmt: skip
    make, reads = partial(_lstm, coupled=input_forget), (x, w, r, b, sequence_lens)
    names, states = ("Sigmoid", "Tanh", "Tanh"), [initial_h, initial_c]
    return _recurrent(make, 4, names, reads, states, [p], **given)
