"""A population: networks of different shapes with the same ports, computed as one network."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from neat_onnx.arguments import WHOLE, listed, shown, takes
from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.network.program import Program
from neat_onnx.network.run import checked_state, numbers
from neat_onnx.network.side_by_side import side_by_side
from neat_onnx.network.structure import Structure

# ruff: noqa: PLC0415 (libraries are imported for live genomes alone)


class Population:
    """Networks of different shapes with the same ports, evaluated together.

    Args:
        nets: the members, one or more, with ports of the same names and shapes.

    Attributes:
        network: all members as one network, whose input is [P, inputs] and output [P, outputs]. It
            can be exported like any other.

    Raises:
        NetworkError: there is no member, or their ports differ.
    """

    network: Network

    def __init__(self, nets: Iterable[Network]) -> None:
        members = listed("nets", nets)
        for member in members:
            if not isinstance(member, Structure):
                raise OptionError(
                    f"a member is {shown(member)}, expected a Network",
                    where="nets",
                    hint="Read it with neat_onnx.load_network first",
                )
        self.network = Network.of(side_by_side(members))

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
            A population in the order of the genomes.

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
        population.network = Network.of(
            found or side_by_side([_network_of(genome, config) for genome in members])
        )
        return population

    @cached_property
    def _program(self) -> Program:
        return Program(self.network, dense=False)

    def __len__(self) -> int:
        """How many members."""
        return self.network.inputs[0].shape[0]

    def __repr__(self) -> str:
        """Describe the population in one line."""
        inputs, outputs = (port.shape[1] for port in (*self.network.inputs, *self.network.outputs))
        return f"<Population of {len(self)} networks, {inputs} inputs, {outputs} outputs>"

    def activate(self, x: npt.ArrayLike) -> Floats:
        """Compute independent samples with every member, each from the reset state.

        Args:
            x: (N, I), the same samples for all members, or (P, N, I).

        Returns:
            (P, N, O), float64.

        Raises:
            NetworkError: the shape does not fit.
        """
        outputs: Floats = self._run(self._flat(x, 2)[None])[0]
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
        return self._run(self._flat(x, 3))

    @takes(n=WHOLE)
    def initial_state(self, n: int = 1) -> Floats:
        """Return the memory of `n` control loops of every member: (n, registers), float64.

        The registers are those of all members, one member's after the other's.
        """
        return self._program.initial_state(n)

    def step(self, x: npt.ArrayLike, state: Floats) -> tuple[Floats, Floats]:
        """Compute one step of N control loops with every member.

        Args:
            x: (N, I) or (P, N, I).
            state: (N, registers), from `initial_state` or from the step before.

        Returns:
            Outputs (P, N, O), and the state for the next step.

        Raises:
            NetworkError: a shape does not fit.
        """
        flat = self._flat(x, 2)
        held = checked_state(state, self.initial_state(len(flat)))
        outputs, following, _ = self._program.step(flat, held)
        return self._by_member(outputs), following

    def _flat(self, x: npt.ArrayLike, rank: int) -> Floats:
        """The inputs of all members in one axis, whether these share them or not: (…, N, P · I)."""
        values, shape = numbers(x), self.network.inputs[0].shape
        if values.ndim == rank and values.shape[-1] == shape[1]:
            return np.tile(values, len(self))
        if values.ndim != rank + 1 or (values.shape[-3], values.shape[-1]) != shape:
            raise NetworkError(
                f"x has shape {list(values.shape)}",
                hint=f"Give {rank} axes, or {rank + 1} with one entry for each of the "
                f"{len(self)} members before the samples; the last has {shape[1]}",
            )
        values = values.swapaxes(-3, -2)
        return values.reshape(*values.shape[:-2], -1)

    def _run(self, flat: Floats) -> Floats:
        return self._by_member(self._program.run(flat)[0])

    def _by_member(self, y: Floats) -> Floats:
        """(…, N, P · O) to (…, P, N, O)."""
        return y.reshape(*y.shape[:-1], *self.network.outputs[0].shape).swapaxes(-2, -3)


def _network_of(genome: Any, config: Any) -> Network:
    """Read one live genome; a refusal names it."""
    from neat_onnx.libraries.load import load_network

    try:
        return load_network((genome, config))
    except NetworkError as error:
        if f"genome {genome.key}" not in (error.where or ""):
            error.where = ", ".join(filter(None, [f"genome {genome.key}", error.where]))
        raise
