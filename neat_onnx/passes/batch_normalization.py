"""BatchNormalization folds into the Gemm, MatMul, Conv or ConvTranspose that it alone reads."""

import numpy as np
import numpy.typing as npt

from neat_onnx.model import Model, Node, Tensor
from neat_onnx.model.draft import Draft
from neat_onnx.passes.dense import is_dense

Floats = npt.NDArray[np.float64]


def fold_batch_normalization(model: Model) -> Model:
    """The model with new weights and biases in place of normalisations of constant statistics.

    The new numbers are rounded once, to the type of the weights.
    """
    draft = Draft(model)
    changed: dict[int, Node | None] = {}
    for at, node in enumerate(model.graph.node):
        linear: Node | None = node if node.output and _takes(node, draft) else None
        while linear is not None and (reader := draft.sole_reader(linear.output[0])) is not None:
            normalization = model.graph.node[reader]
            factors = _factors(normalization, draft)
            reads = linear.output[0] == normalization.input[0]
            linear = _folded(linear, normalization, factors, draft) if factors and reads else None
            changed |= {} if linear is None else {at: linear, reader: None}
    return draft.replaced(changed)


def _takes(node: Node, draft: Draft) -> bool:
    """Whether a node is linear in constant weights, with a bias for each channel."""
    given = node.given_attributes
    if node.op_type == "MatMul" and not node.domain:
        return is_dense(node, draft)
    if node.domain or node.op_type not in ("Gemm", "Conv", "ConvTranspose"):
        return False
    if node.op_type == "ConvTranspose" and given.get("group", 1) != 1:
        return False
    scaled = given.get("alpha", 1.0) != 1.0 or given.get("beta", 1.0) != 1.0
    return not scaled and all(name in draft.tensors for name in node.input[1:] if name)


def _factors(node: Node, draft: Draft) -> tuple[Floats, Floats] | None:
    """The factor and the addend of a normalisation for each channel."""
    if node.op_type != "BatchNormalization" or node.domain or len(node.output) > 1:
        return None
    given = node.given_attributes
    if given.get("training_mode", 0) or not all(name in draft.tensors for name in node.input[1:]):
        return None
    scale, bias, mean, variance = (draft.tensors[name].values for name in node.input[1:])
    if not scale.shape == bias.shape == mean.shape == variance.shape:
        return None
    with np.errstate(all="ignore"):  # a variance below 0 is NaN in runtimes, too
        factor = scale / np.sqrt(variance + np.float32(given.get("epsilon", 1e-5)))
        return factor, bias - mean * factor


def _folded(
    node: Node, normalization: Node, factors: tuple[Floats, Floats], draft: Draft
) -> Node | None:
    factor, shift = factors
    weight = draft.tensors[node.input[1]]
    bias = draft.tensors[node.input[2]] if len(node.input) > 2 and node.input[2] else None
    axis = 1 if node.op_type in ("ConvTranspose", "MatMul") else 0
    if node.op_type == "Gemm" and not node.given_attributes.get("transB", 0):
        axis = 1
    if weight.dims[axis] != factor.size or (bias is not None and bias.dims != factor.shape):
        return None
    along = [1] * len(weight.dims)
    along[axis] = -1
    with np.errstate(all="ignore"):  # looked for right here
        weights = _rounded(weight.values * factor.reshape(along), weight)
        biases = _rounded(shift if bias is None else bias.values * factor + shift, weight)
    if not (np.isfinite(weights).all() and np.isfinite(biases).all()):
        return None
    names = [
        draft.constant(f"{normalization.output[0]}_{what}", values, weight.data_type)
        for what, values in (("weight", weights), ("bias", biases))
    ]
    operator = "Gemm" if node.op_type == "MatMul" else node.op_type
    reads, given = [node.input[0], *names], node.given_attributes
    return draft.node(operator, reads, normalization.output, name=node.name, **given)


def _rounded(values: Floats, like: Tensor) -> Floats:
    """The values as the type of a tensor holds them."""
    return values.astype(like.data_type.dtype).astype(np.float64)
