"""Facts about a tensor that its values do not say, for the nodes that read it."""

from dataclasses import dataclass

from neat_onnx.lifting.values import Operand


@dataclass(slots=True)
class OperandFacts:
    """Facts about one operand.

    Attributes:
        is_whole: it is of floats that are whole numbers, whatever the inputs are.
        adds_up_to_one: along its last axis, as the output of a softmax does.
        bounds: the least and the largest number, where it is of labels or of indices.
        chosen: where it is of indices along an axis, 1 for each element of that axis that it is
            the index of, else 0, along one more axis at the end.
        above_masked: where it may have a low number in place of −∞, one that is above it.
    """

    is_whole: bool = False
    adds_up_to_one: bool = False
    bounds: tuple[float, float] | None = None
    chosen: Operand | None = None
    above_masked: float | None = None
