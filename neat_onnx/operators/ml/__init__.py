"""The operators of ai.onnx.ml that scikit-learn's models are made of."""

from neat_onnx.operators.ml import encoders, features, linear, newer_trees, support_vectors, trees

__all__ = ["encoders", "features", "linear", "newer_trees", "support_vectors", "trees"]
