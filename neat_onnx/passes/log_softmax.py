"""x - ReduceLogSumExp(x) is a LogSoftmax, and Exp of it a Softmax.

The probabilities of scikit-learn's naive Bayes classifiers and mixtures are exported so.
"""

from neat_onnx.model import Model, Node
from neat_onnx.passes.draft import Draft, is_one_of, make_node

_PLANE = 2


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
        changed[at] = make_node(
            operator, [reads], node.output, {"axis": axis}, name=node.name, opset=model.opset
        )
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
    if axes is None or axes.values.size != 1 or node.input[0] != rows:
        return None
    axis = int(axes.values.ravel()[0]) % rank
    return (rows, axis) if axis > 0 else None
