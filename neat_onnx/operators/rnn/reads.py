"""The signals that neurons read, where a value of one step ago is one as a neuron's is."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.network.activations import activation_named
from neat_onnx.network.cells import Cell
from neat_onnx.network.genes import NONE, Bools, Ints
from neat_onnx.operators.rnn.cell_activations import CellFunction, are_clipped_alike, cell_function

MIN_STEPS = 2


class Read(NamedTuple):
    """A signal that a neuron reads, its weight, and the neuron that gates it."""

    signal: int
    weight: float
    gater: int


@dataclass(frozen=True, eq=False)
class Steps:
    """The units of one cell side by side, step by step.

    Attributes:
        cell: the table of its parts.
        functions: its activations, in the operator's order.
        steps: for each step the neurons of each part, (H,); a part that does nothing is left out.
        start: by state, as far as it is known, the signals that the first step reads of it, (H,);
            a state of zeros is not read.
    """

    cell: Cell
    functions: tuple[CellFunction, ...]
    steps: list[dict[str, Ints]]
    start: dict[str, Ints]

    @property
    def hidden(self) -> Ints:
        """The hidden neurons, (T, H)."""
        return np.stack([step["hidden"] for step in self.steps])

    @property
    def parts(self) -> dict[str, Ints]:
        """For each part, its neurons in the steps that have any, (steps, H)."""
        return {
            part.name: np.stack([step[part.name] for step in self.steps if part.name in step])
            for part in self.cell.parts
        }

    @property
    def is_clipped_alike(self) -> bool:
        """Whether all weighted sums are clipped at one bound, and nothing else is."""
        return are_clipped_alike(self.cell, self.functions)

    def states_after(self, steps: int) -> dict[str, Ints]:
        """Return the signals of the states after so many steps, as far as they are known."""
        if not steps:
            return self.start
        return {state: self.steps[steps - 1][state] for state in self.cell.states}


class Reads:
    """The signals that each neuron reads.

    Attributes:
        net: the network.
        signal: the signal that each live connection reads, (m,), before its gate.
        sums: which free neurons are sums of activations, with gates of the same step, (n,).
        have_functions: which neurons have an activation of the operators, (n,).
    """

    def __init__(self, ctx: LoweringContext, free: Bools) -> None:
        self.net, live = ctx.net, ctx.net.live
        self.signal: Ints = ctx.signals.read.copy()
        gated = ctx.signals.are_products(self.signal)
        self.signal[gated] = ctx.signals.factors(self.signal[gated])[0]
        late = live.reads_state | ((live.gater != NONE) & (live.gate_delay > 0))
        alike = (self.net.aggregation_names == "sum") & (self.net.neurons.response == 1.0)
        self.sums: Bools = free & alike
        self.sums[live.target[late]] = False
        formulas = [activation_named(name).expression for name in self.net.activations]
        self._formulas = formulas
        self._functions = [cell_function(formula) for formula in formulas]
        are_known = np.array([function is not None for function in self._functions], np.bool_)
        self.have_functions: Bools = are_known[self.net.neurons.activation]

    def into(self, neuron: int) -> list[Read]:
        """Return the signals that a neuron reads, by source."""
        start, stop = self.net.first_edge[neuron : neuron + 2].tolist()
        live = self.net.live
        columns = (self.signal, live.weight, live.gater)
        given = (column[start:stop].tolist() for column in columns)
        return list(map(Read._make, zip(*given, strict=True)))

    def signals_into(self, neuron: int) -> bytes:
        """Return the signals that a neuron reads, each once, as a key."""
        start, stop = self.net.first_edge[neuron : neuron + 2].tolist()
        return np.unique(self.signal[start:stop]).tobytes()

    def has(self, neuron: int, activation: str) -> bool:
        """Whether a neuron has an activation, by whatever name."""
        formula = self._formulas[int(self.net.neurons.activation[neuron])]
        return formula == activation_named(activation).expression

    def function(self, neuron: int) -> CellFunction | None:
        """Return the operators' function that is a neuron's activation; None if none is."""
        return self._functions[int(self.net.neurons.activation[neuron])]
