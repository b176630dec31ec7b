"""x - ReduceLogSumExp(x) is a LogSoftmax, and Exp of it a Softmax.

The probabilities of scikit-learn's naive Bayes classifiers and mixtures are exported so.
"""

from neat_onnx.model import Model, Node
from neat_onnx.passes.draft import Draft, is_one_of, make_node

_PLANE = 2


def log_shares(model: Model) -> Model:
    """The model with LogSoftmax and Softmax for rows less the logarithm of their exponentials."""
    if not any(is_one_of(node, "ReduceLogSumExp") for node in model.graph.node):
        return model
    draft, changed = Draft(model), dict[int, Node | None]()
    producers = {name: node for node in model.graph.node for name in node.output}
    rows: dict[str, str] = {}
    for at, node in enumerate(model.graph.node):
        operator, source = "Softmax", rows.get(node.input[0] if node.input else "")
        if is_one_of(node, "Sub") and _is_total(draft, producers, *node.input):
            operator, source = "LogSoftmax", node.input[0]
            rows[node.output[0]] = source
        elif not is_one_of(node, "Exp") or source is None:
            continue
        changed[at] = make_node(
            operator, [source], node.output, {"axis": 1}, name=node.name, opset=model.opset
        )
    return draft.replaced(changed)


def _is_total(draft: Draft, producers: dict[str, Node], rows: str, name: str) -> bool:
    """Whether a tensor [N, 1] holds the logarithm of the sum of exponentials of each row [N, F]."""
    node = producers.get(name)
    if node is not None and is_one_of(node, "Reshape"):
        shape = draft.tensors.get(node.input[1])
        if shape is None or shape.values.tolist() not in ([-1, 1], [0, 1]):
            return False
        node = producers.get(node.input[0])
    elif len(draft.facts(name).shape or ()) != _PLANE:
        return False
    if node is None or not is_one_of(node, "ReduceLogSumExp") or len(node.input) < 2:
        return False
    axes = draft.tensors.get(node.input[1])
    whole = axes is not None and axes.values.ravel().tolist() in ([1], [-1])
    return node.input[0] == rows and whole and len(draft.facts(rows).shape or ()) == _PLANE
