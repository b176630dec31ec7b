"""The JSON ONNX of NeatapticTS: written to the letter, and repaired into valid ONNX."""
