"""Operators of onnxruntime's own domain, com.microsoft, in standard nodes."""
