"""Elements by their order, as aggregations of networks.

The element of rank k is the median of all elements and of as many infinities as put it in the
middle. What is known of such signals lets an export come back as it was: the mean of the two
elements in the middle is the median, and the element at the first place of the largest magnitude is
the aggregation maxabs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from neat_onnx.lifting.pending import Pending
from neat_onnx.lifting.sums import aggregated
from neat_onnx.lifting.tape import Rank

_INFINITE = float(np.finfo(np.float32).max)
"""Stands for an infinity, which no neuron has."""


def ranked(x: Pending, ranks: Sequence[int]) -> Pending:
    """The elements of these ranks along the last axis, 1 for the smallest: (…, ranks).

    Elements are at most the largest number of float32.
    """
    tape, size = x.tape, x.shape[-1]
    rows = x.reshape(-1, size)
    ids, factor, shift = rows.linear()
    if np.any(np.asarray(shift)):
        ids, factor = rows.signals().reshape(-1, size), 1.0
    weight = np.broadcast_to(factor, ids.shape)
    made = np.empty((len(ids), len(ranks)), np.int64)
    for column, rank in enumerate(ranks):
        lacking = 0 if rank in (1, size) else size + 1 - 2 * rank
        name = "min" if rank == 1 else "max" if rank == size else "median"
        filling = tape.add_constants(
            np.full((len(ids), abs(lacking)), -np.sign(lacking) * _INFINITE)
        )
        made[:, column] = tape.add_neurons(
            np.concatenate([ids, filling], axis=1),
            np.concatenate([weight, np.ones(filling.shape)], axis=1),
            aggregation=name,
        )
        for row, signal in enumerate(made[:, column].tolist()):
            tape.ranks[signal] = Rank(ids[row].tobytes() + weight[row].tobytes(), rank, size)
    result: Pending = x.of(made.reshape(*x.shape[:-1], len(ranks)))
    _add_medians(result, rows, ranks)
    return result


def _add_medians(found: Pending, rows: Pending, ranks: Sequence[int]) -> None:
    """Keep the rows whose elements in the middle are two, for the sum of these."""
    middle = rows.shape[1] // 2
    if rows.shape[1] % 2 or not {middle, middle + 1} & set(ranks):
        return
    for row, signal in enumerate(found.ids.reshape(-1, len(ranks))[:, 0].tolist()):
        found.tape.middles.setdefault(found.tape.ranks[signal].key, rows[row : row + 1])


def remember_places(places: Any, rows: Any) -> None:
    """Keep that `places`, (…), are the first ones of the largest elements of `rows`, (…, n)."""
    if not (isinstance(places, Pending) and isinstance(rows, Pending) and rows.is_plain):
        return
    ids = rows.ids.reshape(-1, rows.shape[-1])
    for row, signal in enumerate(places.signals().ravel().tolist()):
        places.tape.places[signal] = ids[row].tobytes(), rows.formula


def at_largest(places: Pending, data: Pending, axis: int) -> Any:
    """The elements at places, if these are of the largest magnitude along the axis; else None."""
    tape, held = data.tape, data if data._settled is None else data._settled
    if not tape.places or not held.is_plain or places.shape[axis] != 1:
        return None
    rows = np.moveaxis(held.ids, axis, -1).reshape(-1, data.shape[axis])
    wanted = abs(held.formula)
    for row, signal in zip(rows, places.signals().ravel().tolist(), strict=True):
        if tape.places.get(signal) != (row.tobytes(), wanted):
            return None
    return aggregated(data, "maxabs", axis, keepdims=True)
