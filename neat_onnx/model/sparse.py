"""Sparse: in JSON, a tensor of mostly zeros as the values that are not zero.

    {"name": "W0", "data_type": 1, "dims": [2, 3],
     "sparse": {"coordinates": [[0, 2], [1, 0]], "values": [0.5, -0.25]}}

It holds the facts of ONNX's SparseTensorProto (`coordinates` are its `indices` of shape [NNZ,
rank]),
as an entry of `initializer` like any other. Coordinates are written in C order, and may be read in
any. -0.0 is a value: every other element is 0.0, so every bit comes back.

A tensor is written so where that is shorter than the list of all values, the zeros counted as
"0.0, " and each coordinate as the longest there is. Few bytes can ask for much memory: the sparse
tensors of a file may not be larger than `MAX_VALUES` together. Larger tensors are written dense.
"""

import math
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neat_onnx.model.data_type import check_finite, number_list

Floats = NDArray[np.float64]

MAX_VALUES = 1 << 23
"""How many values the sparse tensors of one document may be, zeros included: 64 MiB of float64."""

_FRAME_CHARACTERS = 80  # of the keys, brackets and line breaks that only this form has


class Room:
    """The part of `MAX_VALUES` that the sparse tensors of one document may still take."""

    def __init__(self) -> None:
        self.left = MAX_VALUES

    def take(self, size: int) -> bool:
        """Take `size` values, if they are left."""
        fits = size <= self.left
        self.left -= size if fits else 0
        return fits


def to_sparse(values: Floats, room: Room) -> dict[str, NDArray[Any]] | None:
    """The coordinates (n, rank) and values (n,) of the elements other than 0.0; None if not
    shorter.

    Args:
        values: contiguous, of any shape.
        room: is taken from; None is also returned if it does not suffice.
    """
    flat = values.ravel()
    at = np.flatnonzero(flat.view(np.int64))  # the bits: -0.0 has one
    longest = f"{[extent - 1 for extent in values.shape]}, "
    shorter = len("0.0, ") * (flat.size - at.size) > len(longest) * at.size + _FRAME_CHARACTERS
    if not shorter or not room.take(flat.size):
        return None
    coordinates = np.stack(np.unravel_index(at, values.shape), axis=1)
    return {"coordinates": coordinates, "values": flat[at]}


def from_sparse(content: Any, dims: tuple[int, ...], room: Room) -> Floats:
    """The tensor of shape `dims` that the JSON value `content` describes.

    Raises:
        ValueError: it is not as the module's text says, or there is no room for it. Nothing of the
            size of `dims` has been allocated then.
    """
    if not isinstance(content, dict) or set(content) != {"coordinates", "values"}:
        raise ValueError("sparse is not an object of coordinates and values")
    values = number_list(content["values"], "sparse.values", np.float64)
    check_finite(values, "sparse.values")
    coordinates = _coordinates(content["coordinates"], dims)
    if len(coordinates) != len(values):
        raise ValueError(f"sparse has {len(coordinates)} coordinates, but {len(values)} values")
    if not room.take(math.prod(dims)):
        raise ValueError(
            f"dims {list(dims)} are too large: the sparse tensors of a file may have "
            f"{MAX_VALUES} values, zeros included"
        )
    if not values.size:
        return np.zeros(dims)
    at = coordinates @ _strides(dims)
    ordered = np.sort(at)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if twice.size:
        where = coordinates[np.argmax(at == twice[0])].tolist()
        raise ValueError(f"sparse.coordinates has {where} twice")
    dense = np.zeros(dims)
    dense.ravel()[at] = values
    return dense


def _coordinates(content: Any, dims: tuple[int, ...]) -> NDArray[np.int64]:
    """The coordinates (n, rank), each within `dims`. Good ones cost no Python per number."""
    if not isinstance(content, list) or not set(map(type, content)) <= {list}:
        raise ValueError("sparse.coordinates is not a list of lists")
    rank = len(dims)
    numbers = list(chain.from_iterable(content))
    good = set(map(len, content)) <= {rank} and set(map(type, numbers)) <= {int}
    if content and good:
        columns = (numbers[axis::rank] for axis in range(rank))
        pairs = zip(columns, dims, strict=True)
        good = all(min(column) >= 0 and max(column) < extent for column, extent in pairs)
    if not good:
        at = next(at for at, entry in enumerate(content) if not _is_within(entry, dims))
        raise ValueError(f"sparse.coordinates[{at}] is no position in dims {list(dims)}")
    return np.array(numbers, np.int64).reshape(len(content), rank)


def _is_within(entry: list[Any], dims: tuple[int, ...]) -> bool:
    return len(entry) == len(dims) and all(
        type(at) is int and 0 <= at < extent for at, extent in zip(entry, dims, strict=True)
    )


def _strides(dims: tuple[int, ...]) -> NDArray[np.int64]:
    """How many values lie between neighbours along each axis, in C order."""
    return np.array([math.prod(dims[axis + 1 :]) for axis in range(len(dims))], np.int64)
