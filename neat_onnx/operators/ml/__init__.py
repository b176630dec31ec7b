"""The operators of ai.onnx.ml that scikit-learn's models are made of."""
