"""NeatapticTS: `document.py` is its network JSON, `onnx/` its JSON ONNX."""
