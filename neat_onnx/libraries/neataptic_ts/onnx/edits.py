"""Edits of a model by repairs, and the warning that each of them gives."""

from typing import Any

from neat_onnx.errors import warn
from neat_onnx.model import Model


def warn_repaired(text: str) -> None:
    """Warn that the document was repaired."""
    warn(f"repaired: {text}")


def with_graph(model: Model, **changes: Any) -> Model:
    """Return the model with fields of its graph replaced."""
    return model.model_copy(update={"graph": model.graph.model_copy(update=changes)})


def renamed(names: list[str], old: str, new: str) -> list[str]:
    """Return the names with `old` replaced by `new`."""
    return [new if name == old else name for name in names]
