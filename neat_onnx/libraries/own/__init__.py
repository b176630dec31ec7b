"""neat-onnx's own network JSON, which `Network.save` writes."""
