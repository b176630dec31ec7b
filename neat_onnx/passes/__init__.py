"""Rewrites of a model, each a pass in a file of its own, in their order.

A pass is `(Model) -> Model`, linear in the nodes and idempotent; it returns the model itself if
there was nothing for it to do. Passes share `draft.py` and `splice.py`, by which they write, and
`elementwise.py`, `control_flow.py` and `recurrent_layers.py`, by which they read. The checks in
`checks/` name operators, as the core of import, which calls them, may not.
"""

from collections.abc import Callable

from neat_onnx.errors import ModelError
from neat_onnx.model import Model
from neat_onnx.passes.batch_normalization import fold_batch_normalization
from neat_onnx.passes.batched_gather import batched_gather
from neat_onnx.passes.constants import constant_nodes, weights_among_inputs
from neat_onnx.passes.dense import matmul_add
from neat_onnx.model.drop_dead import drop_dead, without_dead
from neat_onnx.model.empty_inputs import empty_inputs
from neat_onnx.passes.flattened_elements import flattened_elements
from neat_onnx.passes.fold_constants import fold_constants
from neat_onnx.passes.identities import identities
from neat_onnx.passes.layout_pairs import double_reshapes, transpose_pairs
from neat_onnx.passes.local_functions import local_functions
from neat_onnx.passes.log_softmax import log_softmax
from neat_onnx.passes.microsoft.operators import microsoft_operators
from neat_onnx.passes.missing_reductions import missing_reductions, squeezes_as_reductions
from neat_onnx.passes.modern_forms import modern_forms
from neat_onnx.passes.padded_windows import padded_windows
from neat_onnx.passes.row_scatters import row_scatters
from neat_onnx.passes.scan_axes import scan_axes
from neat_onnx.passes.scanned_rows import scanned_rows
from neat_onnx.passes.sequences import sequences
from neat_onnx.passes.split_products import split_products
from neat_onnx.passes.static_shapes import static_shapes

Pass = Callable[[Model], Model]
_MAX_ROUNDS = 64


SIMPLE: tuple[Pass, ...] = (
    local_functions,
    weights_among_inputs,
    empty_inputs,
    constant_nodes,
    fold_constants,
    static_shapes,
    modern_forms,
    microsoft_operators,
    flattened_elements,
    scan_axes,
    scanned_rows,
    sequences,
    row_scatters,
    batched_gather,
    split_products,
    padded_windows,
    log_softmax,
    squeezes_as_reductions,
    missing_reductions,
    without_dead,
)
"""The passes that import needs: they leave the names of computed tensors as they are."""

CANONICAL: tuple[Pass, ...] = (
    *SIMPLE,
    identities,
    matmul_add,
    fold_batch_normalization,
    transpose_pairs,
    double_reshapes,
    without_dead,
)
"""All passes, in their order."""


def canonicalize(model: Model, passes: tuple[Pass, ...] = CANONICAL) -> Model:
    """The model after `passes`, again and again until none of them changes anything.

    Raises:
        ModelError: a form has no modern one, or the model is too large.
    """
    for _ in range(_MAX_ROUNDS):
        before = model
        for each in passes:
            model = each(model)
        if model is before:
            return model
    raise ModelError(
        f"it is not simple after {_MAX_ROUNDS} rounds of rewriting",
        hint="Simplify it first, as onnxruntime or onnxsim do",
    )


__all__ = ["CANONICAL", "SIMPLE", "Pass", "canonicalize", "drop_dead", "without_dead"]
