"""Signals: the numbers of all values that connections read.

A connection reads its source's activation or its pre-activation, of this step or of an earlier
one; and so does its gate. Each such thing is a *signal*: first the activation of every neuron
(signal j is neuron j's), then the pre-activations that are read, then the registers. A register
holds the value that another signal had one step ago; a delay of d steps is a chain of d registers.
"""

from dataclasses import dataclass

import numpy as np

from neat_onnx.network.genes import NONE, Connections, Floats, Ints, distinct
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
    live = net.live
    pre_activation = np.full(len(net), NONE, np.int64)
    read = distinct(live.source[live.reads_state & ~net.is_input[live.source]])
    pre_activation[read] = len(net) + np.arange(len(read))
    chains = _Chains(len(net) + len(read))
    source, gain = _delayed(net, live, pre_activation, chains)
    registers = Registers(
        np.arange(len(net) + len(read), chains.count),
        np.array(chains.origin, np.int64),
        np.array(chains.initial, np.float64),
    )
    return Signals(chains.count, pre_activation, source, gain, registers)


def _delayed(
    net: Structure, live: Connections, pre_activation: Ints, chains: "_Chains"
) -> tuple[Ints, Ints]:
    """The source and the gain of each connection, through registers where they have a delay."""
    source, initial = live.source.copy(), net.neurons.initial
    reads = np.flatnonzero(live.reads_state)
    reads = reads[pre_activation[source[reads]] != NONE]
    source[reads] = pre_activation[source[reads]]
    late = np.flatnonzero(live.delay > 0)
    source[late] = chains.registers(source[late], initial[live.source[late]], live.delay[late])
    gain = live.gater.copy()
    late = np.flatnonzero((live.gater != NONE) & (live.gate_delay > 0))
    gain[late] = chains.registers(gain[late], live.initial_gain[late], live.gate_delay[late])
    return source, gain


class _Chains:
    """Makes each register once, whoever asks for it."""

    def __init__(self, first: int) -> None:
        self.count = first
        self.origin: list[int] = []
        self.initial: list[float] = []
        self._known: dict[tuple[int, float, int], int] = {}

    def registers(self, signal: Ints, initial: Floats, delay: Ints) -> Ints:
        """The register with the value that each of these signals had so many steps ago."""
        columns = zip(signal.tolist(), initial.tolist(), delay.tolist(), strict=True)
        return np.array([self._register(*each) for each in columns], np.int64)

    def _register(self, signal: int, initial: float, delay: int) -> int:
        """The register with the value that `signal` had `delay` steps ago."""
        held = signal
        for steps in range(1, delay + 1):
            key = (signal, initial, steps)
            if key not in self._known:
                self._known[key] = self.count
                self.origin.append(held)
                self.initial.append(initial)
                self.count += 1
            held = self._known[key]
        return held
