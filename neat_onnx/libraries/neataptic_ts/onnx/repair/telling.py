"""What every repair says."""

from collections.abc import Iterable
from typing import Any

from neat_onnx.errors import warn
from neat_onnx.model import Model

_MOST_NAMED = 5


def tell(text: str) -> None:
    """Say what has been repaired."""
    warn(f"repaired: {text}")


def some(names: Iterable[str]) -> str:
    """The names in one line, the first of many."""
    listed = list(names)
    return ", ".join(listed[:_MOST_NAMED]) + (", …" if len(listed) > _MOST_NAMED else "")


def with_graph(model: Model, **changes: Any) -> Model:
    """The model with other fields in its graph."""
    return model.model_copy(update={"graph": model.graph.model_copy(update=changes)})
