"""The operators of the domain ai.onnx.ml declare in common."""

from typing import Literal

from neat_onnx.lifting.context import Operand
from neat_onnx.model import Attributes, Node
from neat_onnx.operators.algebra import Algebra

DOMAIN = "ai.onnx.ml"
Transform = Literal["NONE", "LOGISTIC", "SOFTMAX"]


class MlNode(Node, abstract=True):
    """A node of the domain ai.onnx.ml."""

    domain: str = DOMAIN
    attributes: Attributes = Attributes.defaults()


def transformed(tensors: Algebra, scores: Operand, transform: Transform) -> Operand:
    """The scores of each sample [N, M] as probabilities, where that is asked for."""
    if transform == "LOGISTIC":
        return tensors("sigmoid", scores)
    if transform == "SOFTMAX":
        top = tensors.reduced("max", scores, (-1,))
        spread = tensors("exp", tensors("sub", scores, top))
        return tensors("div", spread, tensors.reduced("sum", spread, (-1,)))
    return scores
