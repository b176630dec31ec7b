"""Assignments to features of every sample, which PyTorch writes as a ScatterND of row numbers.

`x[:, 3] = y` becomes ScatterND(x, indices, y), where the indices are made of Range(0, size of the
batch): element [n, j] of y goes to row n of x, at a constant index. That is a choice between x and
y by a constant mask, which needs no row numbers and no size of the batch.

Which indices are of that form is found by computing them for two sizes of the batch.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neat_onnx.model import DataType, Model, Node, Tensor, ValueInfo
from neat_onnx.model.value import is_fixed
from neat_onnx.passes.constants import constant_nodes
from neat_onnx.model.draft import Draft, make_node, with_graph
from neat_onnx.model.drop_dead import without_dead
from neat_onnx.passes.fold_constants import fold_constants
from neat_onnx.passes.static_shapes import static_shapes

Ints = NDArray[np.int64]

_SIZES = (2, 3)  # of the batch, to compute indices for
_MAX_ROUNDS = 16
_MAX_INDICES = 1 << 20


class _Targets(NamedTuple):
    """Where the elements of each sample go.

    Attributes:
        shape: of the axes of the data that the indices are of, without that of the samples.
        of_update: the index, flat, of each element of an update, (k,).
    """

    shape: tuple[int, ...]
    of_update: Ints


def row_scatters(model: Model) -> Model:
    """The model with Where for ScatterND at the same constant indices of every sample."""
    tensors = model.graph.tensors
    indices = {node.input[1] for node in model.graph.node if _has_indices(node, tensors)}
    if not indices:
        return model
    known, draft = _computed(model, indices), Draft(model)

    def replaced(node: Node) -> list[Node] | None:
        found = known.get(node.input[1]) if _has_indices(node, tensors) else None
        targets = None if found is None else _targets(draft, node, found)
        return None if targets is None else _chosen(draft, node, targets)

    return draft.rewritten(replaced)


def _has_indices(node: Node, tensors: dict[str, Tensor]) -> bool:
    """Whether a node is a ScatterND that replaces elements at indices that are no constant."""
    if node.op_type != "ScatterND" or node.domain or node.input[1] in tensors:
        return False
    return node.given_attributes.get("reduction", "none") in ("none", b"none")


def _computed(model: Model, names: set[str]) -> dict[str, list[Ints]]:
    """The tensors that are integers for each size of the batch, whatever the inputs are."""
    found: dict[str, list[Ints]] = {name: [] for name in names}
    read = [
        make_node("Identity", [name], [f"{name} read"], opset=model.opset) for name in sorted(names)
    ]  # an output stays a node's, whatever is known of it
    outputs = [ValueInfo.of(node.output[0], DataType.INT64) for node in read]
    nodes = [*model.graph.node, *read]
    for size in _SIZES:
        inputs = [_of_batch(entry, size) for entry in model.graph.inputs]
        part = without_dead(with_graph(model, inputs=inputs, outputs=outputs, node=nodes))
        for _ in range(_MAX_ROUNDS):
            before = part
            for each in (constant_nodes, fold_constants, static_shapes):
                part = each(part)
            if part is before:
                break
        for name, tensor in part.graph.tensors.items():
            if name in found and tensor.values.dtype.kind == "i":
                found[name].append(tensor.values)
    return {name: values for name, values in found.items() if len(values) == len(_SIZES)}


def _of_batch(entry: ValueInfo, size: int) -> ValueInfo:
    """The input with the first axis of a fixed size, if it is open."""
    shape = list(entry.shape or ())
    if shape and not isinstance(shape[0], int):
        shape[0] = size
    return ValueInfo.of(entry.name, entry.elem_type, shape if entry.shape is not None else None)


def _targets(draft: Draft, node: Node, indices: list[Ints]) -> _Targets | None:
    """Where a node puts the elements of each sample; None if these are not the same indices."""
    shape = draft.facts(node.input[0]).shape
    depth = indices[0].shape[-1] if indices[0].ndim > 1 else 0
    if shape is None or isinstance(shape[0], int) or not 1 < depth <= len(shape):
        return None
    sizes = shape[1:]
    if not is_fixed(sizes):
        return None
    for size, index in zip(_SIZES, indices, strict=True):
        rows = np.arange(size).reshape(-1, *[1] * (index.ndim - 2))
        if index.ndim < 2 or len(index) != size or np.any(index[..., 0] != rows):
            return None
    first = indices[0][0, ..., 1:].reshape(-1, depth - 1)
    if any(np.any(row[..., 1:].reshape(-1, depth - 1) != first) for i in indices for row in i):
        return None
    inner = sizes[: depth - 1]
    if (
        np.any(first < -np.array(inner))
        or np.any(first >= inner)
        or math.prod(inner) > _MAX_INDICES
    ):
        return None
    flat = np.ravel_multi_index(tuple(np.moveaxis(first % inner, -1, 0)), inner)
    return _Targets(inner, flat) if len(np.unique(flat)) == len(flat) else None


def _chosen(draft: Draft, node: Node, targets: _Targets) -> list[Node]:
    """The nodes that choose between the data and the updates."""
    data, _, updates = node.input
    (result,) = node.output
    rest = list((draft.facts(data).shape or ())[1 + len(targets.shape) :])
    mask = np.zeros(math.prod(targets.shape), np.bool_)
    mask[targets.of_update] = True
    source = np.zeros(len(mask), np.int64)
    source[targets.of_update] = np.arange(len(targets.of_update))
    ones = [1] * len(rest)
    names = [draft.name(f"{result}_{part}") for part in ("updates", "spread", "placed")]
    sizes = draft.constant(f"{result}_each", [-1, len(targets.of_update), *rest])
    whole = draft.constant(f"{result}_sizes", [-1, *targets.shape, *rest])
    of_feature = draft.constant(f"{result}_indices", source)
    chosen = draft.constant(f"{result}_mask", mask.reshape(1, *targets.shape, *ones), DataType.BOOL)
    label = node.name

    def made(kind: str, reads: list[str], gives: str, **given: int) -> Node:
        name = label if gives == result else draft.node_name(label and f"{label}_{kind}")
        return draft.node(kind, reads, [gives], name=name, **given)

    return [
        made("Reshape", [updates, sizes], names[0]),
        made("Gather", [names[0], of_feature], names[1], axis=1),
        made("Reshape", [names[1], whole], names[2]),
        made("Where", [chosen, names[2], data], result),
    ]
