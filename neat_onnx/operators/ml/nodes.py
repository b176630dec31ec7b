"""The operators of the domain ai.onnx.ml declare in common."""

from typing import Literal

from neat_onnx.lifting.context import LiftingContext, Operand
from neat_onnx.model import Attributes, Node
from neat_onnx.operators.algebra import Algebra
from neat_onnx.operators.rows.softmax import softmax_of

DOMAIN = "ai.onnx.ml"
Transform = Literal["NONE", "LOGISTIC", "SOFTMAX"]


class MlNode(Node, abstract=True):
    """A node of the domain ai.onnx.ml."""

    domain: str = DOMAIN
    attributes: Attributes = Attributes.defaults()


def features_of(*lists: tuple[object, ...] | None) -> int | None:
    """Count features by the lists that have a number for each; one alone is for all of them."""
    return max((len(each) for each in lists if each and len(each) > 1), default=None)


def quotient(numbers: int, rows: int) -> int | None:
    """How many numbers each row has, if all have as many, and some."""
    return numbers // rows if rows > 0 and numbers and numbers % rows == 0 else None


def transformed(ctx: LiftingContext, node: Node, scores: Operand, transform: Transform) -> Operand:
    """The scores of each sample [N, M] as probabilities, where that is asked for."""
    if transform == "LOGISTIC":
        return Algebra(ctx, node)("sigmoid", scores)
    if transform == "SOFTMAX":
        return softmax_of(ctx, node, scores, (len(scores.shape) - 1,))
    return scores
