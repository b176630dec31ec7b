"""Signals: the numbers of all values that connections read.

A connection reads its source's activation or its pre-activation, of this step or of an earlier
one; and so does its gate. Each such thing is a *signal*: first the activation of every neuron
(signal j is neuron j's), then the pre-activations that are read, then the registers. A register
holds the value that another signal had one step ago; a delay of d steps is a chain of d registers.
"""

from dataclasses import dataclass

import numpy as np

from neat_onnx.network.genes import NONE, Floats, Ints, distinct
from neat_onnx.network.structure import Structure


@dataclass(frozen=True)
class Registers:
    """The registers, as arrays: after each step, `signal` takes the value of `origin`; all at once.

    Attributes:
        signal: their own numbers, consecutive.
        origin: the signal each one holds the previous value of.
        initial: their values before the first step.
    """

    signal: Ints
    origin: Ints
    initial: Floats

    def __len__(self) -> int:
        return len(self.signal)


@dataclass(frozen=True)
class Signals:
    """The signals of a network.

    Attributes:
        count: how many there are.
        pre_activation: the signal of each neuron's, shape (n,); NONE where nobody reads it.
        source: the signal that each live connection reads.
        gain: the signal that gates each live connection; NONE for a gain of 1.
        registers: those that carry values from one step to the next.
    """

    count: int
    pre_activation: Ints
    source: Ints
    gain: Ints
    registers: Registers


def signals_of(net: Structure) -> Signals:
    """Number the signals of `net`."""
    live, initial = net.live, net.neurons.initial
    is_state = live.reads_state & ~net.is_input[live.source]
    read = distinct(live.source[is_state])
    first = len(net) + len(read)
    pre_activation = np.full(len(net), NONE, np.int64)
    pre_activation[read] = np.arange(len(net), first)
    known: dict[tuple[int, float, int], int] = {}
    origin: list[int] = []

    def register(signal: int, initial: float, delay: int) -> int:
        """The register with the value that `signal` had `delay` steps ago; each is made once."""
        held = signal
        for key in ((signal, initial, steps) for steps in range(1, delay + 1)):
            if key not in known:
                known[key] = first + len(known)
                origin.append(held)
            held = known[key]
        return held

    def delayed(signal: Ints, initial: Floats, delay: Ints) -> Ints:
        """The signals, through registers where they have a delay."""
        if not np.any(delay):
            return signal
        late, found = np.flatnonzero(delay > 0), signal.copy()
        columns = (each[late].tolist() for each in (signal, initial, delay))
        found[late] = [register(*each) for each in zip(*columns, strict=True)]
        return found

    source = live.source
    if len(read):
        source = np.where(is_state, pre_activation[source], source)
    source = delayed(source, initial[live.source], live.delay)
    gate_delay = live.gate_delay
    if np.any(gate_delay):
        gate_delay = np.where(live.gater == NONE, 0, gate_delay)
    gain = delayed(live.gater, live.initial_gain, gate_delay)
    registers = Registers(
        first + np.arange(len(known)),
        np.array(origin, np.int64),
        np.array([initial for _, initial, _ in known], np.float64),
    )
    return Signals(first + len(known), pre_activation, source, gain, registers)
