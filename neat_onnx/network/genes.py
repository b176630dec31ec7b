"""Genes in arrays: the neurons, the connections and the ports that a Network is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from neat_onnx.errors import NetworkError

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


NONE = -1  # no neuron
MAX_DELAY = 1000  # steps; each one is a register for every sample


@dataclass(frozen=True)
class Port:
    """A named input or output: an array of neurons.

    Attributes:
        name: the name it has in the ONNX graph.
        shape: its shape without the batch dimension.
        neurons: positions in the network, in C order; their number is the product of `shape`.
    """

    name: str
    shape: tuple[int, ...]
    neurons: Ints

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Port)
            and (self.name, self.shape) == (other.name, other.shape)
            and np.array_equal(self.neurons, other.neurons)
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Neurons:
    """The neurons, as arrays of length n; a neuron is its position in them.

    Attributes:
        id: what the gene is called; unique.
        activation, aggregation: position of the name in the network's tables.
        bias, response: finite.
        initial: the value that a delayed connection reads before the first step.
        name: for people; may be empty.
    """

    id: Ints
    activation: Ints
    aggregation: Ints
    bias: Floats
    response: Floats
    initial: Floats
    name: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.id)


@dataclass(frozen=True, eq=False)
class Connections:
    """The connections, as arrays of length m, in the order in which a neuron adds its inputs.

    Attributes:
        source, target: positions of neurons.
        weight: finite.
        enabled: False for a gene that does not compute.
        delay: steps, 0 or more.
        reads_state: the source's z rather than its activation.
        gater: the neuron whose activation multiplies the weight, or NONE.
        gate_delay: steps, 0 or more.
        initial_gain: the gain while the gater has not been computed yet.
    """

    source: Ints
    target: Ints
    weight: Floats
    enabled: Bools
    delay: Ints
    reads_state: Bools
    gater: Ints
    gate_delay: Ints
    initial_gain: Floats

    def __len__(self) -> int:
        return len(self.source)

    @classmethod
    def of(
        cls,
        source: npt.ArrayLike,
        target: npt.ArrayLike,
        weight: npt.ArrayLike,
        **others: npt.ArrayLike,
    ) -> Connections:
        """Connections from arrays; what is not given is plain: enabled, no delay, no gate."""
        count = len(np.asarray(source, np.int64))
        plain: dict[str, Any] = {
            "enabled": np.ones(count, np.bool_),
            "delay": np.zeros(count, np.int64),
            "reads_state": np.zeros(count, np.bool_),
            "gater": np.full(count, NONE, np.int64),
            "gate_delay": np.zeros(count, np.int64),
            "initial_gain": np.zeros(count),
        }
        given = {name: np.asarray(value, plain[name].dtype) for name, value in others.items()}
        return cls(
            np.asarray(source, np.int64),
            np.asarray(target, np.int64),
            np.asarray(weight, np.float64),
            **(plain | given),
        )

    def take(self, which: npt.NDArray[Any]) -> Connections:
        """Those that `which` selects (positions or a mask), in that order."""
        return Connections(*(getattr(self, field.name)[which] for field in fields(self)))


def same_arrays(one: Any, other: Any, without: tuple[str, ...]) -> bool:
    return all(
        np.array_equal(getattr(one, field.name), getattr(other, field.name))
        for field in fields(one)
        if field.name not in without
    )


def distinct(values: Ints) -> Ints:
    """The different values, in ascending order, as `np.unique` gives them.

    That looks for masked arrays first: importing them, and each look, takes longer than a level of
    a network has to sort.
    """
    ordered = np.sort(values)
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def codes_of(names: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """A sorted table of the distinct names, and each name's position in it."""
    table, codes = np.unique(np.asarray(names, dtype=object), return_inverse=True)
    return tuple(str(name) for name in table), codes.astype(np.int64).reshape(-1)


Where = Literal["inputs", "outputs", "neurons", "connections", "blocks"]


def network_error(
    what: Where, position: int, message: str, hint: str | None = None
) -> NetworkError:
    """An error about the gene at `position` of one of the document's lists."""
    return NetworkError(message, where=f"{what}[{position}]", hint=hint)
