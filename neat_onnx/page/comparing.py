"""A network and its model, compared by onnx's evaluator where that can be done.

It has not every operator, and some of its own are wrong. Then the page's other runtime is the one
that compares.
"""

from typing import Any, Literal

import neat_onnx
from neat_onnx.errors import ModelError
from neat_onnx.model import Model
from neat_onnx.network.network import Network

# ruff: noqa: PLC0415 - the page imports these rooms with its first file, and words when it fails


def compared(
    net: Network, model: Model, kind: Literal["network", "model"], *, samples: Any, seed: Any
) -> tuple[dict[str, Any] | None, str]:
    """The report of onnx's evaluator; or None, and the reason why it does not run a dropped model.

    Args:
        net, model: the two sides.
        kind: which of them was dropped; the other was made of it.
        samples, seed: as for `verify`.

    Raises:
        ModelError: a network's own model does not run, or a model's samples are mixed.
    """
    from neat_onnx.verification.rows import ShapeMismatch

    try:
        return neat_onnx.verify(net, model, samples=samples, seed=seed).model_dump(), ""
    except ModelError as error:
        if kind == "network" or isinstance(error, ShapeMismatch):
            raise
        from neat_onnx.page.wording import for_visitors

        return None, for_visitors([error.message]) or ""
