"""How many features an input has that states no number of them, from the nodes that read it.

scikit-learn's converter writes [None, None] where nobody says how many columns there are. Weights
have a row or a column for each; a tree reads some of them, and the last one that any tree reads is
taken for the last there is. PyTorch's exporter calls the only axis of a vector the batch if it is
asked to; a product with a matrix says that it is not, and how long it is.
"""

from collections.abc import Callable

import numpy as np

from neat_onnx.errors import warn
from neat_onnx.model import Model, Node, Tensor, ValueInfo
from neat_onnx.passes.draft import attributes_of, with_graph

Count = Callable[[Node, dict[str, Tensor]], int | None]
_HANDED_ON = ("Cast", "Identity", "Normalizer", "Binarizer", "Add", "Sub", "Mul", "Div")


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
    """The length of a vector that a node multiplies with a matrix, and the node's label."""
    tensors = model.graph.tensors
    for node in model.graph.node:
        if node.op_type == "MatMul" and node.input[0] == name:
            count = _of_matrix(node, tensors)
            return None if count is None else (count, node.label)
    return None


def _count(model: Model, name: str) -> tuple[int, str] | None:
    """The largest number of features that a node reads of a tensor, and the node's label."""
    names, found, tensors = {name}, [], model.graph.tensors
    for node in model.graph.node:
        if not node.input or node.input[0] not in names:
            continue
        if node.op_type in _HANDED_ON and not any(name in names for name in node.input[1:]):
            names.add(node.output[0])
        count = _COUNTS[node.op_type](node, tensors) if node.op_type in _COUNTS else None
        if count:
            found.append((count, node.label))
    return max(found, default=None, key=lambda each: each[0])


def _of_matrix(node: Node, tensors: dict[str, Tensor]) -> int | None:
    """The rows of the matrix that a product reads, or its columns if it is transposed."""
    tensor = tensors.get(node.input[1])
    given = attributes_of(node)
    if tensor is None or len(tensor.dims) != 2 or given.get("transA"):
        return None
    return tensor.dims[1] if given.get("transB") else tensor.dims[0]


def _last_read(attribute: str) -> Count:
    """Count up to the last feature that trees read in a node that is no leaf."""

    def count(node: Node, tensors: dict[str, Tensor]) -> int | None:
        given = attributes_of(node)
        modes = given.get("nodes_modes", ())
        read = zip(given.get(attribute, ()), modes, strict=False)
        return max((int(feature) + 1 for feature, mode in read if mode != "LEAF"), default=None)

    return count


def _each(*attributes: str) -> Count:
    """Count the numbers of an attribute that has one for each feature; one alone is for all."""

    def count(node: Node, tensors: dict[str, Tensor]) -> int | None:
        given = attributes_of(node)
        sizes = [len(given[name]) for name in attributes if given.get(name)]
        return max((size for size in sizes if size > 1), default=None)

    return count


def _shared_by(several: str, *rows: str) -> Count:
    """Count the numbers of an attribute for each row, where others have one number for a row."""

    def count(node: Node, tensors: dict[str, Tensor]) -> int | None:
        given = attributes_of(node)
        sizes = [len(given[name]) for name in rows if given.get(name)]
        total = len(given.get(several) or ())
        return total // sizes[0] if sizes and total and total % sizes[0] == 0 else None

    return count


def _of_targets(node: Node, tensors: dict[str, Tensor]) -> int | None:
    given = attributes_of(node)
    total, targets = len(given.get("coefficients") or ()), int(given.get("targets", 1))
    return total // targets if targets > 0 and total % targets == 0 and total else None


def _of_vectors(node: Node, tensors: dict[str, Tensor]) -> int | None:
    """The length of a support vector; a linear machine has coefficients alone."""
    given = attributes_of(node)
    per_class = given.get("vectors_per_class") or ()
    vectors = int(given.get("n_supports", 0)) or sum(int(count) for count in per_class)
    total = len(given.get("support_vectors") or ())
    return total // vectors if vectors > 0 and total and total % vectors == 0 else None


def _beside(node: Node, tensors: dict[str, Tensor]) -> int | None:
    """The length of a constant's last axis, which an elementwise operator has as well."""
    tensor = tensors.get(node.input[1]) if len(node.input) > 1 else None
    return tensor.dims[-1] if tensor is not None and tensor.dims and tensor.dims[-1] > 1 else None


def _last_place(node: Node, tensors: dict[str, Tensor]) -> int | None:
    tensor = tensors.get(node.input[1])
    return None if tensor is None or not tensor.size else int(np.max(tensor.values)) + 1


_COUNTS: dict[str, Count] = {
    "Gemm": _of_matrix,
    "MatMul": _of_matrix,
    "TreeEnsemble": _last_read("nodes_featureids"),
    "TreeEnsembleClassifier": _last_read("nodes_featureids"),
    "TreeEnsembleRegressor": _last_read("nodes_featureids"),
    "LinearClassifier": _shared_by("coefficients", "intercepts"),
    "LinearRegressor": _of_targets,
    "SVMClassifier": _of_vectors,
    "SVMRegressor": _of_vectors,
    "Add": _beside,
    "Sub": _beside,
    "Mul": _beside,
    "Div": _beside,
    "Scaler": _each("offset", "scale"),
    "Imputer": _each("imputed_value_floats", "imputed_value_int64s"),
    "ArrayFeatureExtractor": _last_place,
}
