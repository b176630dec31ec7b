"""The normalizations: of a batch by constants, of one sample by its own mean and spread.

BatchNormalization is a factor and a shift for each channel, which fold into the neurons before it.
The others are neurons: means, squares, a root, and gates by its reciprocal.
"""

from typing import Literal

from neat_onnx.model import Attributes, Node


class BatchNormalizationAttributes(Attributes):
    """Attributes of BatchNormalization: epsilon; momentum is for training, which is refused."""

    epsilon: float = 1e-5
    momentum: float = 0.9
    training_mode: Literal[0] = 0


class BatchNormalization(Node):
    """X [N, C, …], then scale, B, mean and variance, each [C]; momentum is for training only."""

    inputs = (5, 5)
    since = 9
    attributes: BatchNormalizationAttributes = BatchNormalizationAttributes.defaults()


# --- by its own mean and spread ------------------------------------------------------------------
