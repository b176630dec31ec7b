"""`canonicalize`: rewrites of a model, each a pass in a file of its own, in their order.

A pass is `(Model) -> Model`, linear in the nodes and idempotent; it returns the model itself if
there was nothing for it to do. Passes write by `model/draft.py`.
"""

from collections.abc import Callable

from neat_onnx.errors import ModelError
from neat_onnx.model import Model
from neat_onnx.model.ports import with_data_inputs
from neat_onnx.model.wiring import without_dead
from neat_onnx.passes.fold_constants import fold_constants
from neat_onnx.passes.identities import identities
from neat_onnx.passes.modern_forms import modern_forms

Pass = Callable[[Model], Model]
_MAX_ROUNDS = 64

CANONICAL: tuple[Pass, ...] = (
    with_data_inputs,
    fold_constants,
    modern_forms,
    identities,
    without_dead,
)
"""All passes, in their order."""


def canonicalize(model: Model) -> Model:
    """The model after all passes, again and again until none of them changes anything.

    Raises:
        ModelError: a form has no modern one, or the model is too large.
    """
    for _ in range(_MAX_ROUNDS):
        before = model
        for each in CANONICAL:
            model = each(model)
        if model is before:
            return model
    hint = "Simplify it first, as onnxruntime or onnxsim do"
    raise ModelError(f"it is not simple after {_MAX_ROUNDS} rounds of rewriting", hint=hint)


__all__ = ["CANONICAL", "Pass", "canonicalize"]
