"""Evaluating a population: all members side by side, as one network."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from neat_onnx.arguments import WHOLE, listed, shown, takes
from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.network.program import Program
from neat_onnx.network.run import numbers
from neat_onnx.network.side_by_side import SideBySide, side_by_side
from neat_onnx.network.structure import Structure

if TYPE_CHECKING:
    from neat_onnx.population.layout import Layout

# ruff: noqa: PLC0415 (what only some populations need)


class Population:
    """Networks of different shapes with the same ports, evaluated together.

    Args:
        nets: the members, one or more, with ports of the same names and shapes.

    Raises:
        NetworkError: there is no member; ports differ; or a member has a cycle without delay.
    """

    def __init__(self, nets: Iterable[Network]) -> None:
        members = listed("nets", nets)
        for member in members:
            if not isinstance(member, Structure):
                raise OptionError(
                    f"a member is {shown(member)}, expected a Network",
                    where="nets",
                    hint="Read it with neat_onnx.load_network first",
                )
        self._genomes: tuple[list[Any], Any] | None = None
        self.__dict__["members"] = tuple(members)
        self._set(side_by_side(members))

    @classmethod
    def from_neat_python(cls, genomes: Any, config: Any) -> Self:
        """Return the population of a generation of live genomes, for a fitness function.

        Genes become arrays at once for all genomes of neat-python 1.1 and newer, feed-forward and
        recurrent; others are read one by one.

        Args:
            genomes: [(id, genome), …], as neat-python gives them to a fitness function, or the
                genomes alone, or a dictionary of them.
            config: their `neat.Config`, or whatever `load_network` takes for one.

        Returns:
            A population in the order of the genomes, which may not be changed while it is used.

        Raises:
            NetworkError: there is no genome; or one is not a network, says which.
            OptionError: `config` is no configuration.
        """
        from neat_onnx.libraries.neat_python.generation import generation_of
        from neat_onnx.libraries.neat_python.settings import settings_of

        given = genomes.values() if isinstance(genomes, Mapping) else listed("genomes", genomes)
        members = [each[1] if isinstance(each, tuple) else each for each in given]
        found = generation_of(members, settings_of(config)) if members else None
        population = cls.__new__(cls)
        population._genomes = (members, config)
        population._set(found or side_by_side(population.members))
        return population

    @cached_property
    def members(self) -> tuple[Network, ...]:
        """The networks; genomes are read one by one when their networks are first asked for."""
        from neat_onnx.libraries.load import load_network

        assert self._genomes is not None
        genomes, config = self._genomes
        found = []
        for genome in genomes:
            try:
                found.append(load_network((genome, config)))
            except NetworkError as error:
                if f"genome {genome.key}" not in (error.where or ""):
                    error.where = ", ".join(filter(None, [f"genome {genome.key}", error.where]))
                raise
        return tuple(found)

    @cached_property
    def layout(self) -> "Layout":
        """The padded matrices of `export_population`.

        Raises:
            NetworkError: a member has values that may overflow, which padding cannot carry; or all
                of it is too large.
        """
        from neat_onnx.population.layout import layout_of

        return layout_of(self.members)

    def _set(self, nets: SideBySide) -> None:
        self._program = Program(nets.net, dense=False)
        self._size = nets.members
        self._inputs, self._outputs = (
            port.shape[-1] for port in (*nets.net.inputs, *nets.net.outputs)
        )
        *self._place, self._start = nets.registers()
        self._registers = int(self._place[1].max(initial=-1)) + 1

    def __len__(self) -> int:
        """How many members."""
        return self._size

    def __repr__(self) -> str:
        """Describe the population in one line."""
        return (
            f"<Population of {self._size} networks, {self._inputs} inputs, {self._outputs} outputs>"
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
        outputs: Floats = self._run(self._flat(x, (2, 3))[None])[0]
        return outputs

    def run(self, x: npt.ArrayLike) -> Floats:
        """Compute sequences of consecutive steps with every member, from the reset state.

        Args:
            x: (T, N, I), the same sequences for all members, or (T, P, N, I).

        Returns:
            (T, P, N, O), float64.

        Raises:
            NetworkError: the shape does not fit.
        """
        return self._run(self._flat(x, (3, 4)))

    @takes(n=WHOLE)
    def initial_state(self, n: int = 1) -> Floats:
        """Return the memory of `n` control loops of every member: (P, n, registers), float64.

        Members with fewer registers than others have zeros behind theirs.
        """
        state = np.zeros((self._size, n, self._registers))
        member, number = self._place
        state[member, :, number] = self._start[:, None]
        return state

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
        flat = self._flat(x, (2, 3))
        held = numbers(state)
        wanted = (self._size, len(flat), self._registers)
        if held.shape != wanted:
            raise NetworkError(
                f"the state has shape {list(held.shape)}, expected {list(wanted)}",
                hint="Start from initial_state and pass on what step returns",
            )
        member, number = self._place
        outputs, following, _ = self._program.step(flat, held[member, :, number].T)
        after = np.zeros_like(held)
        after[member, :, number] = following.T
        return self._by_member(outputs), after

    def _flat(self, x: npt.ArrayLike, ranks: tuple[int, int]) -> Floats:
        """The inputs of all members in one axis, whether these share them or not: (…, N, P · I)."""
        values = numbers(x)
        fits = values.ndim in ranks and values.shape[-1] == self._inputs
        if not fits or (values.ndim == ranks[1] and values.shape[-3] != self._size):
            raise NetworkError(
                f"x has shape {list(values.shape)}",
                hint=f"Give {ranks[0]} axes, or {ranks[1]} with one entry for each of the "
                f"{self._size} members before the samples; the last has {self._inputs}",
            )
        if values.ndim == ranks[0]:
            return np.tile(values, self._size)
        shape = (*values.shape[:-3], values.shape[-2], self._size * self._inputs)
        return values.swapaxes(-3, -2).reshape(shape)

    def _run(self, flat: Floats) -> Floats:
        return self._by_member(self._program.run(flat)[0])

    def _by_member(self, y: Floats) -> Floats:
        """(…, N, P · O) to (…, P, N, O)."""
        return y.reshape(*y.shape[:-1], self._size, self._outputs).swapaxes(-2, -3)
