"""x - ReduceLogSumExp(x) is a LogSoftmax, and Exp of it a Softmax.

The probabilities of scikit-learn's naive Bayes classifiers and mixtures are exported so. Policies
with masks of actions are left as they are: where all of a row is masked by -1e8, the logarithm of a
sum is nothing beside that in float32, and LogSoftmax would say otherwise.
"""

import numpy as np

from neat_onnx.model import Model, Node
from neat_onnx.model.draft import Draft, is_one_of

_PLANE = 2
_MASKING = ("Where", "Add", "Sub", "Mul")
_MAX_MASKING_NODES = 4  # from a mask to the rows
_MIN_MASK = 1e4  # a number by which float32 loses 0.001


def log_softmax(model: Model) -> Model:
    """The model with LogSoftmax and Softmax for rows less the logarithm of their exponentials."""
    if not any(is_one_of(node, "ReduceLogSumExp") for node in model.graph.node):
        return model
    draft, changed = Draft(model), dict[int, Node | None]()
    rows: dict[str, tuple[str, int]] = {}
    for at, node in enumerate(model.graph.node):
        operator, source = "Softmax", rows.get(node.input[0] if node.input else "")
        if is_one_of(node, "Sub"):
            operator, source = "LogSoftmax", _rows_of(draft, *node.input)
            if source is not None:
                rows[node.output[0]] = source
        elif not is_one_of(node, "Exp"):
            continue
        if source is None:
            continue
        reads, axis = source
        changed[at] = draft.node(operator, [reads], node.output, name=node.name, axis=axis)
    return draft.replaced(changed)


def _rows_of(draft: Draft, rows: str, name: str) -> tuple[str, int] | None:
    """The tensor and the axis of which another, of as many axes, holds the logarithm of the sum of
    the exponentials; None if it does not.
    """
    node, rank = draft.producers.get(name), len(draft.facts(rows).shape or ())
    if node is not None and is_one_of(node, "Reshape"):
        shape = draft.tensors.get(node.input[1])
        if shape is None or shape.values.tolist() not in ([-1, 1], [0, 1]) or rank != _PLANE:
            return None
        node = draft.producers.get(node.input[0])
    elif not rank or len(draft.facts(name).shape or ()) != rank:
        return None
    if node is None or not is_one_of(node, "ReduceLogSumExp") or len(node.input) < 2:
        return None
    axes = draft.tensors.get(node.input[1])
    if axes is None or axes.values.size != 1 or node.input[0] != rows or _is_masked(draft, rows):
        return None
    axis = int(axes.values.ravel()[0]) % rank
    return (rows, axis) if axis > 0 else None


def _is_masked(draft: Draft, name: str) -> bool:
    """Whether a tensor is made of large constants by a few nodes that choose, add and multiply."""
    for _ in range(_MAX_MASKING_NODES):
        node = draft.maker(name, *_MASKING)
        if node is None:
            return False
        constants = [draft.tensors[each].values for each in node.input if each in draft.tensors]
        if any(np.any(np.abs(each.astype(np.float64)) >= _MIN_MASK) for each in constants):
            return True
        name = next((each for each in node.input[::-1] if each in draft.producers), "")
    return False
