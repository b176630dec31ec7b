"""NeatapticTS: network JSON, and in `onnx/` the JSON ONNX that it writes."""
