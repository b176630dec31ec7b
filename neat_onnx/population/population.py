"""Evaluating a population: batched matrix products over all members at once."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from neat_onnx.arguments import WHOLE, listed, shown, takes
from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.network.run import numbers
from neat_onnx.network.structure import Structure
from neat_onnx.population.layout import Layout, Stage, Sums


class Population:
    """Networks of different shapes with the same ports, evaluated together.

    Args:
        nets: the members, one or more, with ports of the same names and shapes.

    Raises:
        NetworkError: there is no member; ports differ; a member has a cycle without delay, or
            values that may overflow, which padding cannot carry; or all of it is too large.
    """

    def __init__(self, nets: Iterable[Network]) -> None:
        self.members = tuple(listed("nets", nets))
        for member in self.members:
            if not isinstance(member, Structure):
                raise OptionError(
                    f"a member is {shown(member)}, expected a Network",
                    where="nets",
                    hint="Read it with neat_onnx.load_network first",
                )
        from neat_onnx.population.planner import layout_of  # noqa: PLC0415 - the page has none

        self.layout: Layout = layout_of(self.members)

    def __len__(self) -> int:
        """How many members."""
        return len(self.members)

    def __repr__(self) -> str:
        """Describe the population in one line."""
        layout = self.layout
        return (
            f"<Population of {layout.members} networks, {layout.inputs} inputs, "
            f"{layout.outputs.shape[2]} outputs, {len(layout.stages)} stages>"
        )

    def activate(self, x: npt.ArrayLike) -> Floats:
        """Compute independent samples with every member, each from the reset state.

        Args:
            x: (N, I), the same samples for all members, or (P, N, I).

        Returns:
            (P, N, O), float64.

        Raises:
            NetworkError: the shape does not fit.
        """
        values = self._checked(x, (2, 3))
        return self._step(values, self._first(values.shape[-2]))[0]

    def run(self, x: npt.ArrayLike) -> Floats:
        """Compute sequences of consecutive steps with every member, from the reset state.

        Args:
            x: (T, N, I), the same sequences for all members, or (T, P, N, I).

        Returns:
            (T, P, N, O), float64.

        Raises:
            NetworkError: the shape does not fit.
        """
        values = self._checked(x, (3, 4))
        state = self._first(values.shape[-2])
        results = []
        for row in values:
            outputs, state = self._step(row, state)
            results.append(outputs)
        shape = (0, len(self), values.shape[-2], self.layout.outputs.shape[2])
        return np.stack(results) if results else np.empty(shape)

    @takes(n=WHOLE)
    def initial_state(self, n: int = 1) -> Floats:
        """Return the memory of `n` control loops of every member: (P, n, registers), float64."""
        return self._first(n)

    def step(self, x: npt.ArrayLike, state: Floats) -> tuple[Floats, Floats]:
        """Compute one step of N control loops with every member.

        Args:
            x: (N, I) or (P, N, I).
            state: (P, N, registers), from `initial_state` or from the step before.

        Returns:
            Outputs (P, N, O), and the state for the next step.

        Raises:
            NetworkError: a shape does not fit.
        """
        values = self._checked(x, (2, 3))
        wanted = (len(self), values.shape[-2], self.layout.registers)
        if np.shape(state) != wanted:
            raise NetworkError(
                f"the state has shape {list(np.shape(state))}, expected {list(wanted)}",
                hint="Start from initial_state and pass on what step returns",
            )
        return self._step(values, numbers(state))

    def _checked(self, x: npt.ArrayLike, ranks: tuple[int, int]) -> Floats:
        values = numbers(x)
        fits = values.ndim in ranks and values.shape[-1] == self.layout.inputs
        if not fits or (values.ndim == ranks[1] and values.shape[-3] != len(self)):
            raise NetworkError(
                f"x has shape {list(values.shape)}",
                hint=f"Give {ranks[0]} axes, or {ranks[1]} with one entry for each of the "
                f"{len(self)} members before the samples; the last has {self.layout.inputs}",
            )
        return values

    def _first(self, samples: int) -> Floats:
        return np.repeat(self.layout.initial[:, None], samples, axis=1)

    @np.errstate(all="ignore")
    def _step(self, x: Floats, state: Floats) -> tuple[Floats, Floats]:
        layout, samples = self.layout, x.shape[-2]
        values = np.empty((layout.members, samples, layout.outputs.shape[1]))
        values[..., : layout.inputs] = x
        done = layout.inputs + layout.registers
        values[..., layout.inputs : done] = state
        for stage in layout.stages:
            z = _aggregated(stage, values[..., :done]) * stage.scale + stage.bias
            at = done
            for activation, width in stage.activations:
                part = z[..., at - done : at - done + width]
                values[..., at : at + width] = activation(part)
                at += width
            if stage.keeps_pre_activation:
                values[..., at : at + stage.width] = z
                at += stage.width
            done = at
        return values @ layout.outputs, values @ layout.following


def _aggregated(stage: Stage, x: Floats) -> Floats:
    """Return the aggregates of a stage's neurons: (P, N, columns) to (P, N, width)."""
    parts = [] if stage.sums is None else [_summed(stage.sums, x)]
    for reduction in stage.reductions:
        inputs = reduction.inputs.of(x)
        shape = (*x.shape[:2], reduction.width, reduction.k)
        parts.append(reduction.aggregation(inputs.reshape(shape)))
    return np.concatenate(parts, axis=-1)


def _summed(sums: Sums, x: Floats) -> Floats:
    total = x @ sums.weight
    return total if sums.gains is None else total + sums.gains.of(x) @ sums.target
