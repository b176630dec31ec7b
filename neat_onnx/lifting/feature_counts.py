"""How many features an input has that states no number of them, from the nodes that read it.

scikit-learn's converter writes [None, None] where nobody says how many columns there are. Weights
have a row or a column for each; a tree reads some of them, and the last one that any tree reads is
taken for the last there is. PyTorch's exporter calls the only axis of a vector the batch if it is
asked to; a product with a matrix says that it is not, and how long it is.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from neat_onnx.errors import ModelError, warn
from neat_onnx.model import Model, Node, Tensor, ValueInfo
from neat_onnx.model.draft import with_graph
from neat_onnx.passes.elementwise import is_elementwise

Tensors = dict[str, Tensor]
Count = Callable[[Any, Tensors], int | None]
"""Counts the features of a node's first input, from the node and the constants of its graph."""
Rule = TypeVar("Rule", bound=Count)

_COUNTS: dict[type[Node], Count] = {}
_KEEPING: set[type[Node]] = set()


def counts_features(*operators: type[Node]) -> Callable[[Rule], Rule]:
    """Register the decorated function to count the features of the first input of operators.

    Raises:
        ModelError: one of them has such a function already.
    """

    def register(count: Rule) -> Rule:
        for operator in operators:
            if operator in _COUNTS:
                raise ModelError(f"two functions count the features of {operator.__name__}")
            _COUNTS[operator] = count
        return count

    return register


def keeps_features(*operators: type[Node]) -> None:
    """Register operators that are not elementwise whose result has the features of its input."""
    _KEEPING.update(operators)


def feature_counts(model: Model) -> Model:
    """The model with the number of features of each input [N, unknown] or [N] that a node tells.

    A NeatOnnxWarning says where it is from.
    """
    counts = {
        entry.name: _length(model, entry.name) if _is_vector(entry) else _count(model, entry.name)
        for entry in model.graph.inputs
        if _is_open(entry) or _is_vector(entry)
    }
    known = {name: count for name, count in counts.items() if count is not None}
    if not known:
        return model
    for name, (features, label) in known.items():
        warn(
            f"the input '{name}' does not say how many features it has: {features}, "
            f"as {label} reads"
        )
    entries = [
        ValueInfo.of(entry.name, entry.elem_type, [*(entry.shape or ())[:-1], found[0]])
        if (found := known.get(entry.name))
        else entry
        for entry in model.graph.inputs
    ]
    return with_graph(model, inputs=entries)


def _is_open(entry: ValueInfo) -> bool:
    """Whether an input is a table of columns that are not counted."""
    shape = entry.shape or ()
    return len(shape) == 2 and shape[1] is None and not isinstance(shape[0], str)


def _is_vector(entry: ValueInfo) -> bool:
    """Whether an input has one axis, of no fixed size."""
    return len(entry.shape or ()) == 1 and not isinstance((entry.shape or (1,))[0], int)


def _length(model: Model, name: str) -> tuple[int, str] | None:
    """The length of a vector that a node has weights for, and the node's label."""
    for node in model.graph.node:
        if type(node) in _COUNTS and node.input[0] == name:
            count = _COUNTS[type(node)](node, model.graph.tensors)
            return None if count is None else (count, node.label)
    return None


def _count(model: Model, name: str) -> tuple[int, str] | None:
    """The largest number of features that a node reads of a tensor, and the node's label."""
    names, found = {name}, []
    for node in model.graph.node:
        if not node.input or node.input[0] not in names:
            continue
        kept = is_elementwise(node) or type(node) in _KEEPING
        if kept and not any(name in names for name in node.input[1:]):
            names.add(node.output[0])
        count = _COUNTS.get(type(node), _beside)(node, model.graph.tensors)
        if count:
            found.append((count, node.label))
    return max(found, default=None, key=lambda each: each[0])


def _beside(node: Node, tensors: Tensors) -> int | None:
    """The length of a constant's last axis, which an elementwise operator has as well."""
    tensor = tensors.get(node.input[1]) if len(node.input) > 1 else None
    if tensor is None or not is_elementwise(node):
        return None
    return tensor.dims[-1] if tensor.dims and tensor.dims[-1] > 1 else None
