"""Delays of one value that start differently.

A neuron has one value before the first step, for all that read it later. Registers that hold it
from other values on read a copy, a neuron that hands it on: so does a register that delays another
one, unless both start alike.
"""

from collections import deque
from collections.abc import Iterable, Mapping

import numpy as np

from neat_onnx.lifting.context import MATERIALIZED, REGISTER, LiftingContext
from neat_onnx.lifting.neurons import Resolution
from neat_onnx.network.genes import Ints


def resolution_of(ctx: LiftingContext) -> Resolution:
    """The neurons of all signals of an import, and copies for delays that start differently."""
    _open_circles(ctx)
    resolution = Resolution(ctx)
    registers = _starting_differently(ctx, resolution.neuron_of) if ctx.initial else {}
    if not registers:
        return resolution
    copies = _copies(ctx, np.array([signal for signal, _ in registers], np.int64))
    for copy, some in zip(copies, registers.values(), strict=True):
        ctx.next.update(dict.fromkeys(some, copy))
    return Resolution(ctx)


def _copies(ctx: LiftingContext, sources: Ints) -> list[int]:
    """The signals of new neurons, each of which hands one signal on."""
    copies = ctx.add_neurons(len(sources))
    ctx.connect(copies, sources, np.arange(len(sources)), np.ones(len(sources)))
    signals: list[int] = copies.signals.tolist()
    return signals


def _open_circles(ctx: LiftingContext) -> None:
    """Put neurons between registers that delay one another, and no neuron's value."""
    ends = {each for each in ctx.next.values() if ctx.kind[each] != REGISTER}
    reach = _reaching(ctx.next, ends)
    held = sorted({each for register, each in ctx.next.items() if register not in reach})
    if not held:
        return
    copies = dict(zip(held, _copies(ctx, np.array(held, np.int64)), strict=True))
    ctx.next.update({one: copies[each] for one, each in ctx.next.items() if each in copies})


def _reaching(following: Mapping[int, int], ends: Iterable[int]) -> set[int]:
    """The registers that delay one of `ends`, by any number of steps."""
    before: dict[int, list[int]] = {}
    for register, each in following.items():
        before.setdefault(each, []).append(register)
    found: set[int] = set()
    waiting = [*ends]
    while waiting:
        new = before.get(waiting.pop(), [])
        found.update(new)
        waiting += new
    return found


def _starting_differently(
    ctx: LiftingContext, neuron_of: Ints
) -> dict[tuple[int, float], list[int]]:
    """The registers that need a copy, by the signal that is copied and their initial value."""
    sources, gates = _registers_read(ctx)
    queue = deque([*((each, False) for each in sources), *((each, True) for each in gates)])
    seen = set(queue)
    start: dict[int, float] = {}
    found: dict[tuple[int, float], list[int]] = {}
    while queue:
        register, gates_only = queue.popleft()
        following, first = ctx.next[register], ctx.initial.get(register, 0.0)
        if ctx.kind[following] == REGISTER:
            differs = ctx.initial.get(following, 0.0) != first
            more = following, gates_only and not differs
            if more not in seen:
                seen.add(more)
                queue.append(more)
        else:  # a connection has a value of its own for the gain before the first step
            neuron = int(neuron_of[following])
            differs = not gates_only and start.setdefault(neuron, first) != first
        if differs and register not in (some := found.setdefault((following, first), [])):
            some.append(register)
    return found


def _registers_read(ctx: LiftingContext) -> tuple[list[int], list[int]]:
    """The registers that connections read, and the ones that gate them."""
    made = [each for some in ctx.neurons if not some.merged for each in some.connections]
    materialized = ctx.origin[ctx.kind == MATERIALIZED]
    sources = np.unique(np.concatenate([materialized, *(each.source for each in made)]))
    gates = np.unique(np.concatenate([sources[:0], *(each.gate for each in made)]))
    are_registers = np.append(ctx.kind == REGISTER, False)  # the last place is that of NONE
    return sources[are_registers[sources]].tolist(), gates[are_registers[gates]].tolist()
