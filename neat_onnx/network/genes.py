"""Genes in arrays: the neurons and the connections that a Network is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from neat_onnx.errors import NetworkError

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


NONE = -1  # no neuron
MAX_DELAY = 1000  # steps; each one is a register for every sample
_DTYPES: dict[str, type[np.generic]] = {
    **dict.fromkeys(
        ("id", "activation", "aggregation", "source", "target", "delay", "gater", "gate_delay"),
        np.int64,
    ),
    **dict.fromkeys(("bias", "response", "initial", "weight", "initial_gain"), np.float64),
    **dict.fromkeys(("enabled", "reads_state"), np.bool_),
    **dict.fromkeys(("neurons", "sources"), np.int64),  # of ports and of blocks
}
_MIN_COUNTED = 512  # values; to sort fewer is quicker than to look for their range
_FEW = 16  # times as many are possible
_DIGIT, _MAX_BITS = 16, 48  # of positions that are sorted by digits


def owned(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Make a fresh array read-only where it is, so that genes need not copy it."""
    array.setflags(write=False)
    return array


_PLAIN = {  # of a connection that is enabled, not delayed and not gated: a column repeats it
    name: owned(np.array([value], _DTYPES[name]))
    for name, value in {
        "enabled": True,
        "delay": 0,
        "reads_state": False,
        "gater": NONE,
        "gate_delay": 0,
        "initial_gain": 0.0,
    }.items()
}


def read_only(values: npt.ArrayLike, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return `values` as an array that nobody can write to: itself if it is one, else a copy.

    A NetworkError refuses values that are no numbers, or change when they become `dtype`.
    """
    given = np.asarray(values)
    array = given
    if given.dtype != dtype:
        if given.size and given.dtype.kind not in "biuf":
            raise NetworkError(f"an array of {given.dtype}, expected {np.dtype(dtype)}")
        with np.errstate(invalid="ignore"):  # a NaN as an integer is refused here
            array = given.astype(dtype)
        if not np.array_equal(array, given, equal_nan=True):
            raise NetworkError(f"an array of {given.dtype}, expected {np.dtype(dtype)}")
    if array is not given or isinstance(values, list):
        return owned(array)
    if array.flags.writeable or array.base is not None:
        return owned(array.copy())
    return array


class ReadOnly:
    """Base of frozen dataclasses of arrays: the arrays are read-only, in copies and pickles too."""

    def __post_init__(self) -> None:
        for name in _array_fields(type(self)):  # type: ignore[arg-type]
            values = getattr(self, name)
            if name in _PLAIN and getattr(values, "base", None) is _PLAIN[name]:
                continue
            try:
                array = read_only(values, _DTYPES[name])
            except NetworkError as error:
                raise NetworkError(f"{name} is {error.message}") from error
            object.__setattr__(self, name, array)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]


@cache
def _array_fields(kind: type[Any]) -> list[str]:
    return [field.name for field in fields(kind) if field.name in _DTYPES]


@dataclass(frozen=True, eq=False)
class Neurons(ReadOnly):
    """The neurons, as arrays of length n; a neuron is its position in them.

    Attributes:
        id: the gene's number; unique.
        activation, aggregation: position of the name in the network's tables.
        bias, response: finite.
        initial: the value that a delayed connection reads before the first step.
        name: for people; may be empty.
        spelling: the library's name of the activation, where it is not the usual one of several;
            may be empty.
    """

    id: Ints
    activation: Ints
    aggregation: Ints
    bias: Floats
    response: Floats
    initial: Floats
    name: tuple[str, ...] = ()
    spelling: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.id)

    @classmethod
    def of(
        cls,
        id: npt.ArrayLike,
        activation: Sequence[str],
        aggregation: Sequence[str] | None = None,
        *,
        bias: npt.ArrayLike = 0.0,
        response: npt.ArrayLike = 1.0,
        initial: npt.ArrayLike = 0.0,
        name: Sequence[str] = (),
        spelling: Sequence[str] = (),
    ) -> tuple[Neurons, tuple[str, ...], tuple[str, ...]]:
        """Make neurons from the names of their functions (None: sums), with numbers for each or one
        for all; and the tables of activations and aggregations that a network of them has.
        """
        ids = np.asarray(id)
        activations, activation_codes = codes_of(activation)
        aggregations, aggregation_codes = codes_of(aggregation or ["sum"] * len(ids))
        bias, response, initial = (
            each if each.shape == ids.shape else np.full(ids.shape, each)
            for each in (np.asarray(given, np.float64) for given in (bias, response, initial))
        )
        texts = (tuple(each) if any(each) else () for each in (name, spelling))
        neurons = cls(ids, activation_codes, aggregation_codes, bias, response, initial, *texts)
        return neurons, activations, aggregations


@dataclass(frozen=True, eq=False)
class Connections(ReadOnly):
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
        """Make connections from arrays; those not given are plain: enabled, no delay, no gate."""
        count = len(np.asarray(source))
        for name, value in _PLAIN.items():
            if name not in others:
                others[name] = np.ndarray(count, _DTYPES[name], value, strides=(0,))
        return cls(source, target, weight, **others)  # type: ignore[arg-type]

    def take(self, which: npt.NDArray[Any]) -> Connections:
        """Return the connections that `which` selects (positions or a mask), in that order."""
        return Connections(*(owned(getattr(self, field.name)[which]) for field in fields(self)))


def same_arrays(one: Any, other: Any, without: tuple[str, ...]) -> bool:
    """Whether two records of arrays have equal fields, but for the fields named in `without`."""
    return all(
        np.array_equal(getattr(one, field.name), getattr(other, field.name))
        for field in fields(one)
        if field.name not in without
    )


def distinct(values: Ints) -> Ints:
    """The different values, in ascending order, as `np.unique` gives them, and faster.

    That looks for masked arrays first, which takes longer than a level of a network has to sort.
    Many values in a narrow range are marked instead, in linear time.
    """
    if values.size > _MIN_COUNTED:
        least, most = int(values.min()), int(values.max())
        if most - least < values.size:
            found = np.zeros(most - least + 1, np.bool_)
            found[values - least] = True
            return np.flatnonzero(found) + least
    ordered = np.sort(values)
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def stable_order(positions: Ints) -> Ints:
    """The order that sorts positions, equal ones as they stand, by digits of two bytes: numpy sorts
    these by counting, several times as fast as longer numbers.
    """
    if len(positions) <= _MIN_COUNTED or positions.min() < 0 or positions.max() >> _MAX_BITS:
        return np.argsort(positions, kind="stable")
    order = np.argsort(positions.astype(np.uint16), kind="stable")
    for shift in range(_DIGIT, int(positions.max()).bit_length(), _DIGIT):
        digits = (positions >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
    return order


def concatenated_ranges(starts: Ints, counts: Ints) -> Ints:
    """The places of ranges with these starts and lengths, one range after the other."""
    places = np.repeat(starts - np.cumsum(counts) + counts, counts)
    places += np.arange(len(places))
    return places


def ranked(positions: Ints, count: int) -> tuple[Ints, Ints]:
    """The different positions in ascending order, and the place of each given one among them.

    Sorting is quicker where there are very few of `count` possible ones, marking else.
    """
    if len(positions) * _FEW < count and count > _MIN_COUNTED:
        return np.unique(positions, return_inverse=True)
    found, place = np.flatnonzero(marked(count, positions)), np.empty(count, np.int64)
    place[found] = np.arange(len(found))
    return found, place[positions]


def marked(count: int, *positions: Ints) -> Bools:
    """Which of `count` positions stand in one of these arrays, (count,)."""
    found = np.zeros(count, np.bool_)
    for each in positions:
        found[each] = True
    return found


def place_among(positions: Ints | Sequence[int], count: int) -> Ints:
    """The place of each of `count` positions among these different ones, or NONE, (count,)."""
    place = np.full(count, NONE, np.int64)
    place[positions] = np.arange(len(positions))
    return place


def codes_of(names: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """A sorted table of the distinct names, and each name's position in it."""
    table = sorted(set(names))
    code = {name: k for k, name in enumerate(table)}
    return tuple(str(name) for name in table), np.array([code[name] for name in names], np.int64)


Where = Literal["inputs", "outputs", "neurons", "connections", "blocks", "memory", "operators"]


def network_error(what: Where, position: int, message: str) -> NetworkError:
    """An error about the gene at `position` of one of the document's lists."""
    return NetworkError(message, where=f"{what}[{position}]")
