"""The operators of ai.onnx.ml that scikit-learn's models are made of."""

from neat_onnx.operators.ml import features, linear, trees

__all__ = ["features", "linear", "trees"]
