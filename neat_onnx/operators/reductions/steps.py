"""Reductions of a tensor along several of its axes, side by side.

Export gives neurons of one level the inputs of all of them in one list. The sums of rows and those
of columns, as a place of a picture is the mean of, are groups of elements with one step between
neighbours each, whether or not the tensor still has such axes.
"""

from math import prod

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.short_form.groups.search import Floats, Found, Ints, Search


def in_steps(search: Search, operator: str, source: str, groups: Ints, end: str) -> Found | None:
    """Reductions of all elements, one after the other, each of groups with one step.

    Factors of all of them are responses of the same neurons, so they stand before all are joined.

    Args:
        search: the graph.
        operator: of the reductions.
        source: the tensor.
        groups: the places in it that each element of the result is made of, ascending.
        end: the result.
    """
    length, rows = groups.shape[1], prod(search.draft.axes(source) or ()) // groups.shape[1]
    if length < 2 or rows < 1 or len(groups) % rows:
        return None
    end, factors = _multiplied(search, end, len(groups))
    nodes, parts = list[Node](), list[str]()
    for k, part in enumerate(np.split(groups, len(groups) // rows)):
        own = None if factors is None else factors[k * rows : (k + 1) * rows]
        made = _reduced(search, operator, source, part, own)
        if not made:
            return None
        nodes += made
        parts.append(made[-1].output[0])
    joined = search.draft.name(end)
    nodes.append(search.draft.node("Concat", parts, [joined], axis=1))
    return end, [*nodes, search.shaped(joined, end)]


def _multiplied(search: Search, name: str, count: int) -> tuple[str, Floats | None]:
    """The product by constants that a tensor alone is for, and these; else the tensor itself."""
    at = search.draft.sole_reader(name)
    reader = None if at is None else search.draft.model.graph.node[at]
    if reader is None or not is_one_of(reader, "Mul"):
        return name, None
    constant = search.constant(next(each for each in reader.input if each != name))
    if constant is None or constant.size != count:
        return name, None
    return reader.output[0], np.asarray(constant.values).ravel()


def _reduced(
    search: Search, operator: str, source: str, groups: Ints, factors: Floats | None
) -> list[Node]:
    """The nodes that reduce all elements in groups of one step, in a flat tensor; none if they are
    other groups.
    """
    (rows, length), step = groups.shape, int(groups[0, 1] - groups[0, 0])
    if step < 1 or rows % step:
        return []
    places = np.arange(groups.size).reshape(-1, length, step).swapaxes(1, 2)
    if not np.array_equal(places.reshape(-1, length), groups):
        return []
    nodes, reshaped = search.in_shape(source, (rows // step, length, step))
    result, product, flat = (search.draft.name("reduced") for _ in range(3))
    nodes.append(search.reduced(operator, reshaped, [2], result))
    if factors is not None:
        table = factors.reshape(-1, step)
        table = table[:1] if np.all(table == table[0]) else table
        by = search.draft.constant("by", table, search.kind(source))
        nodes.append(search.draft.node("Mul", [result, by], [product]))
        result = product
    return [*nodes, search.draft.node("Flatten", [result], [flat], axis=1)]
