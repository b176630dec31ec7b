"""Elementwise nodes and reductions in the axes of one tensor, with no other shapes between them.

Export gives rows that it reduces axes of their own, repeats elements that stand beside several
others, and turns results back. In the axes of one tensor, or finer ones, none of this is needed.
"""

from collections.abc import Iterator
from itertools import accumulate, combinations, pairwise
from math import prod
from operator import mul

import numpy as np

from neat_onnx.model import Model
from neat_onnx.model.file_sizes import FileSizes
from neat_onnx.passes.draft import Draft, is_one_of
from neat_onnx.short_form.columns import REDUCTIONS, Sizes
from neat_onnx.short_form.constants_once import names_once
from neat_onnx.short_form.moves import Moves
from neat_onnx.short_form.straight import identity_outputs, straight
from neat_onnx.short_form.views import AxisFrame

_MOVES = ("Reshape", "Flatten", "Transpose", "Gather", "Tile")
_MAX_NODES = 256
_MAX_ELEMENTS = 1 << 20
_MAX_NODES_IN_VAIN = 4096  # that are written, try by try, for nothing shorter
Seed = tuple[str, Sizes]
"""A tensor, and axes for it, in which other nodes may compute."""


def in_common_axes(model: Model) -> Model:
    """The model whose nodes compute in axes of their sources, itself if that is not shorter.

    Args:
        model: nodes in topological order, without graphs inside of them.
    """
    if not any(is_one_of(node, *_MOVES) for node in model.graph.node):
        return model
    if len(model.graph.node) > _MAX_NODES:
        return model
    measured = FileSizes(model)
    tried, in_vain, size, moves = set[Seed](), 0, _size(model, measured), Moves(Draft(model))
    seeds = _seeds(moves)
    while (seed := next((each for each in seeds if each not in tried), None)) is not None:
        if in_vain * len(moves.draft.model.graph.node) >= _MAX_NODES_IN_VAIN:
            break
        tried.add(seed)
        in_vain += 1
        other = AxisFrame(moves, *seed).model()
        if other is None:
            continue
        other = straight(other, copies=identity_outputs(model)).model
        if (shorter := _size(other, measured)) < size:
            in_vain, size, moves = 0, shorter, Moves(Draft(other))
            seeds = _seeds(moves)
    return moves.draft.model


def _size(model: Model, measured: FileSizes) -> int:
    """The bytes of a model whose constants are there once."""
    return measured.of(model, names_once(model, measured.content))


def _seeds(moves: Moves) -> Iterator[Seed]:
    """Yield tensors that moves and reductions read or make, with axes for each."""
    draft = moves.draft
    nodes = draft.model.graph.node
    movers = [node for node in nodes if is_one_of(node, *_MOVES, *REDUCTIONS)]
    names = [_first(moves, name) for node in movers for name in (node.input[0], node.output[0])]
    axes = {name: draft.axes(name) for name in names if name not in draft.tensors}
    known = {draft.axes(name) or () for node in movers for name in (node.input[0], node.output[0])}
    known = {each for each in known if 1 < prod(each) <= _MAX_ELEMENTS}
    finer = {each for pair in combinations(sorted(known), 2) if (each := _finer(*pair))}
    for name, own in axes.items():
        alike = {each for each in known | finer if own and prod(each) == prod(own)}
        for each in sorted(alike, key=lambda sizes: (sizes != own, len(sizes), sizes)):
            yield name, each


def _first(moves: Moves, name: str) -> str:
    """The tensor that another one is in another shape, its elements in their order."""
    while (node := moves.draft.maker(name, "Reshape", "Flatten")) is not None:
        places = moves.moved(node)
        if places is None or not np.array_equal(places, range(len(places))):
            break
        name = node.input[0]
    return name


def _finer(one: Sizes, other: Sizes) -> Sizes | None:
    """The fewest axes of whose products, side by side, two tensors have theirs; None without."""
    strides = sorted({*accumulate(one, mul), *accumulate(other, mul), 1})
    steps = [*pairwise(strides)]
    if prod(one) != prod(other) or any(after % before for before, after in steps):
        return None
    return tuple(after // before for before, after in steps)
