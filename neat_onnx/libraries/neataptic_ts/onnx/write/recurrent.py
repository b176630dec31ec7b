"""Recurrent layers: a single step, whose self-connections are the diagonal of a matrix."""

import numpy as np

from neat_onnx.libraries.neataptic_ts.onnx.write.dense import GEMM, weights_of
from neat_onnx.libraries.neataptic_ts.onnx.write.draft import Draft
from neat_onnx.libraries.neataptic_ts.onnx.write.plan import Form


def previous(k: int) -> str:
    """The name of the input that holds what the states of layer k were."""
    return "hidden_prev" if k == 1 else f"hidden_prev_l{k}"


def write_recurrent(draft: Draft, form: Form) -> None:
    """Two Gemms, their sum, which is the state, and its activation."""
    k = form.layer.index
    weights, biases = weights_of(draft, form.layer)
    matrix = draft.initializer(f"R{k - 1}", np.diag(form.layer.loop_weights))
    forward = draft.node(
        "Gemm", [draft.tensor, weights, biases], f"Gemm_in_{k}", f"gemm_in_l{k}", **GEMM
    )
    back = draft.node("Gemm", [previous(k), matrix], f"Gemm_rec_{k}", f"gemm_rec_l{k}", **GEMM)
    state = draft.node("Add", [forward, back], f"RecurrentSum_{k}", f"add_recurrent_l{k}")
    draft.tensor = draft.node(form.operators[0], [state], f"Layer_{k}", f"act_l{k}")
