"""The operators that few models have: the command and the page start without them."""

# ruff: noqa: F401 (what registers itself)
from neat_onnx.model.node import find_operators_with
from neat_onnx.operators import branches, generated, without_neurons
from neat_onnx.operators.layout import padding
from neat_onnx.operators.products import integers
from neat_onnx.operators.running import running_totals
from neat_onnx.operators.spatial import resize


@find_operators_with
def _import_rare() -> None:
    import neat_onnx.operators.rare  # noqa: PLC0415 (the page fetches it for them alone)
